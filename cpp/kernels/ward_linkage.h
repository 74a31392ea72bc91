// Ward's linkage in memory proportional to the rows: clusters are centroids, and in each round all pairs that
// are each other's nearest merge at once.
//
// No merge brings two other clusters closer than they were, so merging such pairs in any order gives the tree
// that the closest-first order gives, and a cluster whose nearest has not merged keeps it. One whose nearest
// has merged knows a bound from below, and is asked again only while its bound is among the lower half.
#pragma once

#include <vector>

#include "linkage.h"
#include "row_panels.h"

namespace surefit {

namespace ward_detail {

struct Cluster {
  Index row;  // where its centroid is
  std::int64_t name;
  double weight, height;
  Nearest nearest;  // by value, an index among the clusters; an index of -1 leaves only a bound
};

// Where all were asked, rounding or infinite distances may still leave no two that point at each other.
inline void pair_the_closest(std::vector<Cluster>& clusters) {
  Index first = 0;
  for (std::size_t i = 1; i < clusters.size(); ++i)
    if (clusters[i].nearest.value < clusters[static_cast<std::size_t>(first)].nearest.value)
      first = static_cast<Index>(i);
  Cluster& a = clusters[static_cast<std::size_t>(first)];
  if (a.nearest.index < 0) a.nearest.index = first == 0 ? 1 : 0;
  clusters[static_cast<std::size_t>(a.nearest.index)].nearest = {a.nearest.value, first};
}

}  // namespace ward_detail

// X: n rows in C order. Heights are the distances that scipy gives: sqrt(2 w v / (w + v)) |a - b|.
inline std::vector<Merge> ward_linkage(const Run& run, const Dense<double>& X, const double* weight) {
  using ward_detail::Cluster;
  const Index n = X.rows, depth = X.cols;
  std::vector<Merge> merges;
  if (n < 2) return merges;
  merges.reserve(static_cast<std::size_t>(n - 1));
  std::vector<double> centre(X.data, X.data + n * depth);
  std::vector<Cluster> clusters(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i)
    clusters[static_cast<std::size_t>(i)] = {i, i, weight == nullptr ? 1.0 : weight[i], 0.0, {0.0, -1}};
  std::vector<Index> asked, place;
  std::vector<Nearest> found;
  std::vector<double> bounds;
  std::vector<char> gone;
  Buffer weights(round_up(n, RowPanels::width));
  bool all = true;
  int idle = 0;

  while (clusters.size() > 1) {
    const Index m = static_cast<Index>(clusters.size());
    const auto at = [&](Index i) -> Cluster& { return clusters[static_cast<std::size_t>(i)]; };
    const auto row = [&](Index i) { return centre.data() + at(i).row * depth; };
    bounds.clear();
    for (const Cluster& each : clusters) bounds.push_back(each.nearest.value);
    std::nth_element(bounds.begin(), bounds.begin() + m / 2, bounds.end());
    const double middle = bounds[static_cast<std::size_t>(m / 2)];
    asked.clear();
    for (Index i = 0; i < m; ++i)
      if (all || (at(i).nearest.index < 0 && at(i).nearest.value <= middle)) asked.push_back(i);
    if (!asked.empty()) {
      const RowPanels panels(m, depth, row);
      std::fill_n(weights.data(), round_up(m, RowPanels::width), 1.0);
      for (Index i = 0; i < m; ++i) weights[i] = at(i).weight;
      const auto value = [&](double* eight, Index i, Index first) {
        const Lanes own = broadcast(weights[i]);
        for (Index v = 0; v < RowPanels::width; v += lanes) {
          const Lanes other = load(weights.data() + first + v);
          store(eight + v, load(eight + v) * (own * other / (own + other)));
        }
      };
      found.resize(asked.size());
      nearest_rows(run, panels, row, asked.data(), static_cast<Index>(asked.size()), value, found.data());
      for (std::size_t r = 0; r < asked.size(); ++r) at(asked[r]).nearest = found[r];
    }

    gone.assign(static_cast<std::size_t>(m), 0);
    bool merged = false;
    if (all) ward_detail::pair_the_closest(clusters);
    for (Index i = 0; i < m; ++i) {
      const Index j = at(i).nearest.index;
      if (j <= i || at(j).nearest.index != i) continue;
      Cluster &a = at(i), &b = at(j);
      const double total = a.weight + b.weight;
      double* into = centre.data() + a.row * depth;
      const double* from = centre.data() + b.row * depth;
      for (Index k = 0; k < depth; ++k) into[k] += (from[k] - into[k]) * (b.weight / total);
      a.height = std::max({std::sqrt(2 * a.nearest.value), a.height, b.height});
      merges.push_back({a.name, b.name, a.height});
      a.weight = total;
      gone[static_cast<std::size_t>(i)] = 1;  // changed
      gone[static_cast<std::size_t>(j)] = 2;  // no more
      merged = true;
    }
    // Among equal or infinite distances clusters may point around a ring, until all are asked together.
    idle = merged ? 0 : idle + 1;
    all = idle > 2;
    if (!merged) continue;

    place.assign(static_cast<std::size_t>(m), -1);
    Index next = 0;
    for (Index i = 0; i < m; ++i)
      if (gone[static_cast<std::size_t>(i)] != 2) place[static_cast<std::size_t>(i)] = next++;
    for (Index i = 0; i < m; ++i) {
      if (place[static_cast<std::size_t>(i)] < 0) continue;
      Cluster& each = at(i);
      Nearest& nearest = each.nearest;
      const bool changed = gone[static_cast<std::size_t>(i)] == 1;
      if (changed || (nearest.index >= 0 && gone[static_cast<std::size_t>(nearest.index)] != 0))
        nearest.index = -1;
      else if (nearest.index >= 0)
        nearest.index = place[static_cast<std::size_t>(nearest.index)];
      clusters[static_cast<std::size_t>(place[static_cast<std::size_t>(i)])] = each;
    }
    clusters.resize(static_cast<std::size_t>(next));
  }
  return merges;
}

}  // namespace surefit
