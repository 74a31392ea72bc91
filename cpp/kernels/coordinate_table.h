// The penalty of single coefficients, l1 |w| + l2/2 w^2 on [lower, upper], and what a duality gap needs of
// it.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "span.h"

namespace surefit {

inline constexpr double infinite = std::numeric_limits<double>::infinity();

inline double soft(double v, double by) {
  return v > by ? v - by : v < -by ? v + by : 0.0;
}

// One entry a coefficient in each of the four.
struct CoordinateTable {
  const double* l1;
  const double* l2;
  const double* lower;
  const double* upper;

  double value(Index j, double w) const { return l1[j] * std::fabs(w) + 0.5 * l2[j] * w * w; }

  // The minimiser of curvature/2 w^2 - pull w + penalty; curvature + l2 must be positive.
  double minimiser(Index j, double curvature, double pull) const {
    return std::min(std::max(soft(pull, l1[j]) / (curvature + l2[j]), lower[j]), upper[j]);
  }

  // The greatest |u| on u's side at which the conjugate is finite.
  double limit(Index j, double u) const {
    if (l2[j] > 0 || !std::isinf(u > 0 ? upper[j] : lower[j])) return infinite;
    return l1[j];
  }

  // Whether the conjugate is something else than 0 or infinity.
  bool bends(Index j) const {
    return l2[j] > 0 || (std::isfinite(lower[j]) && lower[j] != 0) ||
           (std::isfinite(upper[j]) && upper[j] != 0);
  }

  // penalty(w) + conjugate(u) - w u >= 0, for u within its limit; there, rounding counts as none.
  double excess(Index j, double w, double u) const {
    const double slope = soft(u, l1[j]);
    if (w == 0 && slope == 0) return 0;
    double best = slope == 0 || l2[j] == 0 ? 0.0 : slope / l2[j];
    if (slope != 0 && l2[j] == 0) best = slope > 0 ? upper[j] : lower[j];
    best = std::min(std::max(best, lower[j]), upper[j]);
    if (std::isinf(best)) best = 0;
    const double mine = value(j, w) - w * u, least = value(j, best) - best * u;
    return std::max(mine - least, 0.0);
  }
};

// What the gap of mean squares + table needs beside the coefficients and slopes: <r, r>/W, <y, r>/W, and for
// each column how large a slope rounding alone can make (null: none).
struct GapSums {
  double rr;
  double yr;
  const double* noise = nullptr;
};

// A gap, and the factor of the residual that makes its dual point.
struct GapAt {
  double gap;
  double factor;
};

// P - D for the dual point tau r, u being the slopes A'r/W: a sum of terms of which none is negative. tau is
// the best factor that the table allows; slopes that must vanish may be as large as rounding makes them.
inline GapAt duality_gap(Index m, const double* w, const double* u, const CoordinateTable& table,
                         const GapSums& sums) {
  double most = infinite;
  bool bent = false, strict = false;
  for (Index j = 0; j < m; ++j) {
    bent = bent || table.bends(j);
    const double size = std::fabs(u[j]), limit = table.limit(j, u[j]);
    strict = strict || table.l1[j] == 0;
    if (limit == 0 && sums.noise != nullptr && size <= sums.noise[j]) continue;
    if (size * most > limit) most = limit / size;
  }
  auto at = [&](double tau) {
    double gap = 0.5 * (1 - tau) * (1 - tau) * sums.rr;
    for (Index j = 0; j < m; ++j) gap += table.excess(j, w[j], tau * u[j]);
    return GapAt{gap, tau};
  };
  // Beyond one, slopes that only rounding keeps from vanishing would grow.
  if (!bent)
    return at(sums.rr > 0 && !strict ? std::clamp(sums.yr / sums.rr, 0.0, most) : std::min(1.0, most));
  // One is best near the optimum; far from it, what makes no slope exceed its l1.
  double within = std::min(1.0, most);
  for (Index j = 0; j < m; ++j)
    if (std::fabs(u[j]) > table.l1[j]) within = std::min(within, table.l1[j] / std::fabs(u[j]));
  const GapAt whole = at(std::min(1.0, most));
  if (within == whole.factor) return whole;
  const GapAt part = at(within);
  return part.gap < whole.gap ? part : whole;
}

}  // namespace surefit
