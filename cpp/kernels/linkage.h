// What all linkages share: the list of merges, its order by height, and the stretch between two merged
// clusters and a third (Lance and Williams).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "parallel.h"
#include "span.h"

namespace surefit {

enum class Linkage : int { Single, Complete, Average, Weighted, Ward, Centroid, Median };

// Two clusters, each named by one of its rows, and the height at which they join.
struct Merge {
  std::int64_t first, second;
  double height;
};

// Sorts merges by height, those of equal height by their order in the list, and names what they join by
// scipy's numbers: rows first, then merges from n on, the smaller number first. Writes n - 1 pairs, heights
// and how many rows each merge holds.
inline void number_merges(std::vector<Merge>& merges, Index n, std::int64_t* children, double* height,
                          std::int64_t* size, bool sorted) {
  if (!sorted)
    std::stable_sort(merges.begin(), merges.end(),
                     [](const Merge& a, const Merge& b) { return a.height < b.height; });
  std::vector<std::int64_t> parent(static_cast<std::size_t>(2 * n));
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](std::int64_t i) {
    while (parent[static_cast<std::size_t>(i)] != i) {
      std::int64_t& up = parent[static_cast<std::size_t>(i)];
      up = parent[static_cast<std::size_t>(up)];
      i = up;
    }
    return i;
  };
  for (std::size_t t = 0; t < merges.size(); ++t) {
    const std::int64_t a = root(merges[t].first), b = root(merges[t].second);
    const std::int64_t node = n + static_cast<std::int64_t>(t);
    children[2 * t] = std::min(a, b);
    children[2 * t + 1] = std::max(a, b);
    height[t] = merges[t].height;
    size[t] = (a < n ? 1 : size[a - n]) + (b < n ? 1 : size[b - n]);
    parent[static_cast<std::size_t>(a)] = parent[static_cast<std::size_t>(b)] = node;
  }
}

// How far a cluster is from the union of two others, given how far (k, i), (k, j) and (i, j) are and what the
// three weigh. Ward, centroid and median take squares.
template <Linkage L>
inline double stretch(double ki, double kj, double ij, double wi, double wj, double wk) {
  if constexpr (L == Linkage::Single) return ki < kj ? ki : kj;
  if constexpr (L == Linkage::Complete) return ki > kj ? ki : kj;
  if constexpr (L == Linkage::Average) return (wi * ki + wj * kj) / (wi + wj);
  if constexpr (L == Linkage::Weighted) return 0.5 * (ki + kj);
  if constexpr (L == Linkage::Ward) return ((wi + wk) * ki + (wj + wk) * kj - wk * ij) / (wi + wj + wk);
  if constexpr (L == Linkage::Centroid) return (wi * ki + wj * kj - wi * wj / (wi + wj) * ij) / (wi + wj);
  if constexpr (L == Linkage::Median) return 0.5 * (ki + kj) - 0.25 * ij;
}

// Calls body(constant) with the linkage as a type, so that loops are compiled for it.
template <class Body>
decltype(auto) with_linkage(Linkage linkage, const Body& body) {
  using enum Linkage;
  switch (linkage) {
    case Single:
      return body(std::integral_constant<Linkage, Single>{});
    case Complete:
      return body(std::integral_constant<Linkage, Complete>{});
    case Average:
      return body(std::integral_constant<Linkage, Average>{});
    case Weighted:
      return body(std::integral_constant<Linkage, Weighted>{});
    case Ward:
      return body(std::integral_constant<Linkage, Ward>{});
    case Centroid:
      return body(std::integral_constant<Linkage, Centroid>{});
    default:
      return body(std::integral_constant<Linkage, Median>{});
  }
}

}  // namespace surefit
