// Dual coordinate descent for losses of one score with a squared penalty: one slope a row, and the
// coefficients they make, w = -X'(s u) / strength, kept up to date.
//
// A row's conjugate is u at + tube |u| + bend u^2/2 on [low, high]: hinge (bend 0, slopes between 0 and 1),
// its square (bend 1/2, no end on one side), the tube of support vector regression and its square. Rows whose
// slope sits at an end, or at 0 within the tube, and wants to stay by a margin are left out until the rest is
// done.
#pragma once

#include <cmath>
#include <numeric>
#include <vector>

#include "buffer.h"
#include "node_random.h"
#include "parallel.h"
#include "sample_rows.h"

namespace surefit {

struct DualRows {
  const double* at;
  const double* low;
  const double* high;
  const double* weight;  // null for ones
  double tube = 0;
  double bend = 0;
  double strength = 1;
};

struct DualDescent {
  Index epochs = 0;
  double violation = 0;  // how far the worst score is from where its slope wants it, over all rows
};

namespace dual_cd_detail {

// Of the slope's derivative: what is left after the ends and the tube take their share, 0 where it may stay.
inline double pull(const DualRows& rows, Index i, double u, double z) {
  const double g = rows.at[i] + rows.bend * u - z;
  double down = g, up = g;  // derivatives towards smaller and larger slopes
  down += u > 0 ? rows.tube : -rows.tube;
  up += u < 0 ? -rows.tube : rows.tube;
  if (down > 0 && u > rows.low[i]) return down;
  if (up < 0 && u < rows.high[i]) return up;
  return 0;
}

// How firmly a slope stays where it is: the least derivative that would have to change its sign.
inline double firmness(const DualRows& rows, Index i, double u, double z) {
  const double g = rows.at[i] + rows.bend * u - z;
  const double up = g + (u < 0 ? -rows.tube : rows.tube), down = -(g + (u > 0 ? rows.tube : -rows.tube));
  const double far = std::numeric_limits<double>::infinity();
  return std::min(u < rows.high[i] ? up : far, u > rows.low[i] ? down : far);
}

// The score of a row; sparse products in sums kept apart, since each entry waits for a coefficient.
template <class Samples>
double score(const Samples& x, const double* w) {
  if constexpr (Samples::sparse)
    return in_lanes(x.size(), [&](Index k) { return x.value(k) * w[x.column(k)]; });
  else
    return x.dot(w);
}

}  // namespace dual_cd_detail

// u and w belong together at the start and at the end. Stops after `most` epochs, or when no score of any row
// is off by more than the tolerance.
template <class Samples>
DualDescent dual_cd(const Run& run, Samples& x, const DualRows& rows, double* u, double* w, double tolerance,
                    Index most, std::uint64_t seed) {
  using namespace dual_cd_detail;
  const Index n = x.rows();
  Poll poll(run);
  Buffer bends(n);
  for (Index i = 0; i < n; ++i) {
    x.go_to(i);
    const double s = rows.weight == nullptr ? 1.0 : rows.weight[i];
    bends[i] = s * x.squares() / rows.strength;
    if (i % 4096 == 0) poll();
  }
  std::vector<Index> active(static_cast<std::size_t>(n));
  std::iota(active.begin(), active.end(), Index{0});
  Index count = n;
  NodeRandom random(seed);
  double margin = std::numeric_limits<double>::infinity();
  DualDescent done;
  while (done.epochs < most) {
    for (Index k = 0; k < count - 1; ++k)
      std::swap(active[static_cast<std::size_t>(k)],
                active[static_cast<std::size_t>(k + random.below(count - k))]);
    double worst = 0;
    for (Index k = 0; k < count; ++k) {
      const Index i = active[static_cast<std::size_t>(k)];
      if (k + 2 < count) x.fetch(active[static_cast<std::size_t>(k + 2)]);
      x.go_to(i);
      const double z = score(x, w), old = u[i];
      if (firmness(rows, i, old, z) > margin) {
        std::swap(active[static_cast<std::size_t>(k)], active[static_cast<std::size_t>(count - 1)]);
        --count;
        --k;
        continue;
      }
      const double off = std::fabs(pull(rows, i, old, z));
      if (off == 0) continue;
      worst = std::max(worst, off);
      const double h = bends[i], slope = z - rows.at[i] + h * old;
      const double shrunk = slope > rows.tube    ? slope - rows.tube
                            : slope < -rows.tube ? slope + rows.tube
                                                 : 0;
      double next = h + rows.bend > 0 ? shrunk / (h + rows.bend) : shrunk > 0 ? rows.high[i] : rows.low[i];
      next = std::min(std::max(next, rows.low[i]), rows.high[i]);
      if (next == old || !std::isfinite(next)) continue;
      const double s = rows.weight == nullptr ? 1.0 : rows.weight[i];
      u[i] = next;
      x.add(s * (old - next) / rows.strength, w);
      if (k % 256 == 0) poll();
    }
    ++done.epochs;
    done.violation = worst;
    poll();
    if (worst <= tolerance) {
      if (count == n) break;
      count = n;  // look at all rows once more
      margin = std::numeric_limits<double>::infinity();
    } else {
      margin = worst;
    }
  }
  return done;
}

}  // namespace surefit
