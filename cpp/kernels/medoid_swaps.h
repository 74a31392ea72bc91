// k-medoids by swaps (FasterPAM: Schubert and Rousseeuw 2021): every row is tried in turn as a medoid in
// place of the one whose loss it lowers most, and taken at once if it lowers it.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "parallel.h"

namespace surefit {

namespace medoid_detail {

struct Nearest {
  Index first = 0, second = 0;
  double near = 0, next = 0;
};

}  // namespace medoid_detail

// distances: rows x rows, distances[i * rows + j] from row i to row j as a medoid is read at column j;
// `turned` is its transpose, or itself where it is symmetric. medoids are changed in place; at most `limit`
// rounds over all rows. Returns the number of swaps, and in `rounds` how many rounds were made.
inline std::int64_t medoid_swaps(const Run& run, const double* turned, const double* weight, Index rows,
                                 Index count, Index limit, std::int64_t* medoids, std::int64_t* rounds) {
  using medoid_detail::Nearest;
  Poll poll(run);
  std::vector<Nearest> near(static_cast<std::size_t>(rows));
  std::vector<double> removal(static_cast<std::size_t>(count)), change(static_cast<std::size_t>(count));
  std::vector<char> is_medoid(static_cast<std::size_t>(rows), 0);
  const auto assign = [&](Index o) {
    Nearest& n = near[static_cast<std::size_t>(o)];
    n.near = n.next = std::numeric_limits<double>::infinity();
    for (Index m = 0; m < count; ++m) {
      const double d = turned[medoids[m] * rows + o];
      if (d < n.near)
        n.second = n.first, n.next = n.near, n.first = m, n.near = d;
      else if (d < n.next)
        n.second = m, n.next = d;
    }
  };
  const auto assign_all = [&] {
    std::fill(removal.begin(), removal.end(), 0.0);
    for (Index o = 0; o < rows; ++o) {
      assign(o);
      const Nearest& n = near[static_cast<std::size_t>(o)];
      const double s = weight == nullptr ? 1.0 : weight[o];
      if (count > 1 && s > 0) removal[static_cast<std::size_t>(n.first)] += s * (n.next - n.near);
    }
  };
  for (Index m = 0; m < count; ++m) is_medoid[static_cast<std::size_t>(medoids[m])] = 1;
  assign_all();
  std::int64_t swaps = 0;
  Index since = 0;  // rows that have been tried in vain since the last swap
  *rounds = 0;
  for (Index round = 0; round < limit && since < rows; ++round) {
    ++*rounds;
    for (Index c = 0; c < rows && since < rows; ++c) {
      ++since;
      if (is_medoid[static_cast<std::size_t>(c)] || (weight != nullptr && weight[c] == 0)) continue;
      poll();
      change = removal;
      double gain = 0, scale = 0;
      const double* to = turned + c * rows;
      for (Index o = 0; o < rows; ++o) {
        const Nearest& n = near[static_cast<std::size_t>(o)];
        const double s = weight == nullptr ? 1.0 : weight[o], d = to[o];
        if (s == 0) continue;
        scale += s * n.near;
        if (d < n.near) {
          gain += s * (d - n.near);
          if (count > 1) change[static_cast<std::size_t>(n.first)] += s * (n.near - n.next);
        } else if (count == 1) {
          change[0] += s * (d - n.near);
        } else if (d < n.next) {
          change[static_cast<std::size_t>(n.first)] += s * (d - n.next);
        }
      }
      Index best = 0;
      for (Index m = 1; m < count; ++m)
        if (change[static_cast<std::size_t>(m)] < change[static_cast<std::size_t>(best)]) best = m;
      if (change[static_cast<std::size_t>(best)] + gain >= -1e-12 * scale) continue;
      is_medoid[static_cast<std::size_t>(medoids[best])] = 0;
      is_medoid[static_cast<std::size_t>(c)] = 1;
      medoids[best] = c;
      assign_all();
      ++swaps;
      since = 0;
    }
  }
  return swaps;
}

}  // namespace surefit
