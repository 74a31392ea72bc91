// The minimum spanning tree of all pairs of rows by the rounds of Boruvka, in memory proportional to the
// rows: each component joins the one that is nearest to it. Single linkage is this tree, sorted.
//
// A row's nearest in another component only moves away as components grow, so what it was is a bound from
// below, and a row whose bound is no better than what its component has found need not be asked.
#pragma once

#include <vector>

#include "linkage.h"
#include "row_panels.h"

namespace surefit {

namespace tree_detail {

struct Edge {
  double value = std::numeric_limits<double>::infinity();
  Index from = -1, to = -1;
};

// A strict order of all edges, whichever end names them, so that rounds close no ring.
inline bool before(const Edge& a, const Edge& b) {
  if (a.value != b.value) return a.value < b.value;
  const Index a0 = std::min(a.from, a.to), a1 = std::max(a.from, a.to);
  const Index b0 = std::min(b.from, b.to), b1 = std::max(b.from, b.to);
  return a0 != b0 ? a0 < b0 : a1 < b1;
}

}  // namespace tree_detail

// core: with it, the distance of two rows is at least the core distance of either; null for none. Edges come
// with the distances themselves, not squared.
inline std::vector<Merge> spanning_tree(const Run& run, const Dense<double>& X, const double* core) {
  using tree_detail::Edge;
  const Index n = X.rows, depth = X.cols;
  const auto at = [](Index i) { return static_cast<std::size_t>(i); };
  std::vector<Merge> edges;
  if (n < 2) return edges;
  const auto row = [&](Index i) { return X.data + i * depth; };
  const RowPanels panels(n, depth, row);
  const Index padded = round_up(n, RowPanels::width);
  Buffer component(padded), square_core(padded);
  for (Index i = 0; i < padded; ++i) component[i] = i < n ? static_cast<double>(i) : -1.0;
  if (core != nullptr)
    for (Index i = 0; i < n; ++i) square_core[i] = core[i] * core[i];
  std::vector<Nearest> nearest(at(n), Nearest{0.0, -1}), found;
  std::vector<Index> asked, parent(at(n));
  std::vector<Edge> best(at(n));
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](Index i) {
    while (parent[at(i)] != i) i = parent[at(i)] = parent[at(parent[at(i)])];
    return i;
  };
  const auto of = [&](Index i) { return static_cast<Index>(component[i]); };
  const auto value = [&](double* eight, Index i, Index first) {
    const Lanes own = broadcast(component[i]), none = broadcast(std::numeric_limits<double>::infinity());
    const Lanes least = broadcast(square_core[i]);
    for (Index v = 0; v < RowPanels::width; v += lanes) {
      Lanes d = load(eight + v);
      if (core != nullptr) {
        const Lanes other = load(square_core.data() + first + v);
        d = (d > least) ? d : least;
        d = (d > other) ? d : other;
      }
      store(eight + v, (load(component.data() + first + v) == own) ? none : d);
    }
  };

  while (static_cast<Index>(edges.size()) < n - 1) {
    std::fill(best.begin(), best.end(), Edge{});
    const auto offer = [&](Index i) {
      const Edge edge{nearest[at(i)].value, i, nearest[at(i)].index};
      if (Edge& found_so_far = best[at(of(i))];
          found_so_far.from < 0 || tree_detail::before(edge, found_so_far))
        found_so_far = edge;
    };
    for (Index i = 0; i < n; ++i) {
      if (nearest[at(i)].index >= 0 && of(nearest[at(i)].index) == of(i)) nearest[at(i)].index = -1;
      if (nearest[at(i)].index >= 0) offer(i);
    }
    asked.clear();
    for (Index i = 0; i < n; ++i)
      if (nearest[at(i)].index < 0 && nearest[at(i)].value <= best[at(of(i))].value) asked.push_back(i);
    found.resize(asked.size());
    nearest_rows(run, panels, row, asked.data(), static_cast<Index>(asked.size()), value, found.data());
    for (std::size_t r = 0; r < asked.size(); ++r) {
      nearest[at(asked[r])] = found[r];
      if (found[r].index >= 0) offer(asked[r]);
    }
    bool joined = false;
    for (Index c = 0; c < n; ++c) {
      const Edge& edge = best[at(c)];
      if (edge.from < 0) continue;
      const Index a = root(edge.from), b = root(edge.to);
      if (a == b) continue;
      parent[at(std::max(a, b))] = std::min(a, b);
      edges.push_back({edge.from, edge.to, std::sqrt(edge.value)});
      joined = true;
    }
    if (!joined) {  // distances beyond the largest number: any edges will do
      for (Index i = 1; i < n; ++i)
        if (const Index a = root(0), b = root(i); a != b) {
          parent[at(std::max(a, b))] = std::min(a, b);
          edges.push_back({a, b, std::numeric_limits<double>::infinity()});
        }
    }
    for (Index i = 0; i < n; ++i) component[i] = static_cast<double>(root(i));
  }
  return edges;
}

// The same of a square of distances, by Prim's steps.
inline std::vector<Merge> spanning_tree_of_square(const Run& run, const double* square, Index n) {
  std::vector<Merge> edges;
  if (n < 2) return edges;
  const auto at = [](Index i) { return static_cast<std::size_t>(i); };
  std::vector<double> near(at(n), std::numeric_limits<double>::infinity());
  std::vector<Index> from(at(n), 0);
  std::vector<char> inside(at(n), 0);
  Poll poll(run);
  Index now = 0;
  for (Index t = 1; t < n; ++t) {
    inside[at(now)] = 1;
    Index next = -1;
    for (Index j = 0; j < n; ++j) {
      if (inside[at(j)]) continue;
      if (const double d = square[now * n + j]; d < near[at(j)]) {
        near[at(j)] = d;
        from[at(j)] = now;
      }
      if (next < 0 || near[at(j)] < near[at(next)]) next = j;
    }
    edges.push_back({from[at(next)], next, near[at(next)]});
    now = next;
    poll();
  }
  return edges;
}

}  // namespace surefit
