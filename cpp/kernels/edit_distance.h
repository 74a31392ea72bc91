// How many letters must be put in, taken out or changed to turn one word into another, for all pairs.
//
// Words are runs of code points, one behind the other; the table of the usual recurrence is kept a row at a
// time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "parallel.h"
#include "span.h"

namespace surefit {

struct Words {
  const std::uint32_t* letters = nullptr;
  const std::int64_t* start = nullptr;  // count + 1 places, rising
  Index count = 0;
};

inline Index edit_distance(const std::uint32_t* a, Index n, const std::uint32_t* b, Index m,
                           std::vector<Index>& row) {
  while (n > 0 && m > 0 && a[0] == b[0]) ++a, ++b, --n, --m;
  while (n > 0 && m > 0 && a[n - 1] == b[m - 1]) --n, --m;
  row.resize(static_cast<std::size_t>(m + 1));
  std::iota(row.begin(), row.end(), Index{0});
  Index* cost = row.data();
  for (Index i = 0; i < n; ++i) {
    Index corner = cost[0];
    cost[0] = i + 1;
    for (Index j = 0; j < m; ++j) {
      const Index changed = corner + (a[i] == b[j] ? 0 : 1);
      corner = cost[j + 1];
      cost[j + 1] = std::min(changed, std::min(corner, cost[j]) + 1);
    }
  }
  return cost[m];
}

// out (left.count x right.count), in C order.
inline void edit_distances(const Run& run, const Words& left, const Words& right, double* out) {
  std::vector<std::vector<Index>> rooms(static_cast<std::size_t>(std::max(run.threads, 1)));
  constexpr Index step = 256;
  const Index strips = (right.count + step - 1) / step;
  for_chunks(run, left.count * strips, [&](Index chunk, int worker) {
    const Index i = chunk / strips, first = chunk % strips * step;
    for (Index j = first; j < std::min(right.count, first + step); ++j)
      out[i * right.count + j] = static_cast<double>(edit_distance(
          left.letters + left.start[i], static_cast<Index>(left.start[i + 1] - left.start[i]),
          right.letters + right.start[j], static_cast<Index>(right.start[j + 1] - right.start[j]),
          rooms[static_cast<std::size_t>(worker)]));
  });
}

}  // namespace surefit
