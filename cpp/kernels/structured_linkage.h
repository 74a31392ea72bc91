// Linkage along the edges of a graph: only clusters that an edge joins may merge. The closest pair of all
// edges merges first; a cluster inherits the edges of what it was made of.
#pragma once

#include <queue>
#include <unordered_map>
#include <vector>

#include "linkage.h"

namespace surefit {

struct GraphEdge {
  double value;
  Index a, b;
};

// How far the union of two clusters is from a third that only one of the two has an edge to: as far as that
// one.
template <Linkage L, class Between>
std::vector<Merge> structured_rounds(const Run& run, Index n, const std::vector<GraphEdge>& edges,
                                     std::vector<double> weight, Index merges_wanted,
                                     const Between& between) {
  const auto at = [](Index i) { return static_cast<std::size_t>(i); };
  std::vector<std::unordered_map<Index, double>> near(at(n));
  const auto later = [](const GraphEdge& x, const GraphEdge& y) {
    if (x.value != y.value) return x.value > y.value;
    return x.a != y.a ? x.a > y.a : x.b > y.b;
  };
  std::vector<GraphEdge> start;
  for (const GraphEdge& edge : edges) {
    if (edge.a == edge.b || !near[at(edge.a)].emplace(edge.b, edge.value).second) continue;
    near[at(edge.b)].emplace(edge.a, edge.value);
    start.push_back({edge.value, std::min(edge.a, edge.b), std::max(edge.a, edge.b)});
  }
  std::priority_queue<GraphEdge, std::vector<GraphEdge>, decltype(later)> queue(later, std::move(start));
  std::vector<Merge> merges;
  std::vector<char> gone(at(n), 0);
  Poll poll(run);
  while (static_cast<Index>(merges.size()) < merges_wanted && !queue.empty()) {
    const GraphEdge edge = queue.top();
    queue.pop();
    poll();
    const Index i = edge.a, j = edge.b;
    if (gone[at(i)] || gone[at(j)]) continue;
    const Index k = static_cast<Index>(near.size());
    merges.push_back({i, j, edge.value});
    gone[at(i)] = gone[at(j)] = 1;
    gone.push_back(0);
    weight.push_back(weight[at(i)] + weight[at(j)]);
    near.emplace_back();
    between(i, j, k);
    std::unordered_map<Index, double> joined = std::move(near[at(i)]);
    joined.erase(j);
    for (const auto& [l, d] : near[at(j)]) {
      if (l == i) continue;
      const auto [place, fresh] = joined.emplace(l, d);
      if (!fresh)
        place->second = stretch<L>(place->second, d, 0.0, weight[at(i)], weight[at(j)], weight[at(l)]);
    }
    near[at(j)].clear();
    for (auto& [l, d] : joined) {
      if constexpr (L == Linkage::Ward) d = between(k, l);
      near[at(l)].erase(i);
      near[at(l)].erase(j);
      near[at(l)].emplace(k, d);
      queue.push({d, l, k});
    }
    near[at(k)] = std::move(joined);
  }
  return merges;
}

// X: rows, for Ward alone. The edges carry distances; Ward finds its own. Merges name nodes: rows, then
// merges from n on, in the order in which they happen.
inline std::vector<Merge> structured_linkage(const Run& run, Linkage linkage, const Dense<double>& X, Index n,
                                             std::vector<GraphEdge> edges, const double* weight,
                                             Index merges_wanted) {
  std::vector<double> weights(static_cast<std::size_t>(n), 1.0);
  if (weight != nullptr) std::copy_n(weight, n, weights.begin());
  struct Nothing {
    void operator()(Index, Index, Index) const {}
    double operator()(Index, Index) const { return 0.0; }
  };
  if (linkage == Linkage::Complete)
    return structured_rounds<Linkage::Complete>(run, n, edges, weights, merges_wanted, Nothing{});
  if (linkage == Linkage::Average)
    return structured_rounds<Linkage::Average>(run, n, edges, weights, merges_wanted, Nothing{});
  if (linkage == Linkage::Weighted)
    return structured_rounds<Linkage::Weighted>(run, n, edges, weights, merges_wanted, Nothing{});
  if (linkage == Linkage::Single)
    return structured_rounds<Linkage::Single>(run, n, edges, weights, merges_wanted, Nothing{});
  struct Centres {
    std::vector<double>& centre;
    std::vector<double>& weight;
    Index depth;
    void operator()(Index i, Index j, Index k) const {
      centre.resize(static_cast<std::size_t>((k + 1) * depth));
      const double wi = weight[static_cast<std::size_t>(i)], wj = weight[static_cast<std::size_t>(j)];
      weight.push_back(wi + wj);
      for (Index c = 0; c < depth; ++c) {
        const double a = centre[static_cast<std::size_t>(i * depth + c)];
        const double b = centre[static_cast<std::size_t>(j * depth + c)];
        centre[static_cast<std::size_t>(k * depth + c)] = a + (b - a) * (wj / (wi + wj));
      }
    }
    double operator()(Index i, Index j) const {
      const double wi = weight[static_cast<std::size_t>(i)], wj = weight[static_cast<std::size_t>(j)];
      double sum = 0;
      for (Index c = 0; c < depth; ++c) {
        const double apart =
            centre[static_cast<std::size_t>(i * depth + c)] - centre[static_cast<std::size_t>(j * depth + c)];
        sum += apart * apart;
      }
      return std::sqrt(2 * wi * wj / (wi + wj) * sum);
    }
  };
  std::vector<double> centre(X.data, X.data + n * X.cols), own = weights;
  const Centres between{centre, own, X.cols};
  for (GraphEdge& edge : edges) edge.value = between(edge.a, edge.b);
  return structured_rounds<Linkage::Ward>(run, n, edges, weights, merges_wanted, between);
}

}  // namespace surefit
