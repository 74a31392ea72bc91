// Anderson acceleration: of the last few iterates, the affine combination whose steps nearly cancel.
#pragma once

#include <array>
#include <cmath>

#include "span.h"

namespace surefit {

inline constexpr Index remembered = 5;  // steps that are combined

using Combination = std::array<double, remembered>;

// products is the Gram matrix of the steps, row after row. Returns false when it says nothing.
inline bool anderson(std::array<double, remembered * remembered> products, Combination& weights) {
  constexpr Index k = remembered;
  auto at = [&](Index i, Index j) -> double& { return products[static_cast<std::size_t>(i * k + j)]; };
  double trace = 0;
  for (Index i = 0; i < k; ++i) trace += at(i, i);
  if (!(trace > 0) || !std::isfinite(trace)) return false;
  // Steps become parallel as they shrink; a touch of the identity keeps the system solvable.
  for (Index i = 0; i < k; ++i) at(i, i) += 1e-14 * trace;
  weights.fill(1.0);
  for (Index i = 0; i < k; ++i) {  // Cholesky, then two triangular solves
    for (Index j = 0; j <= i; ++j) {
      double sum = at(i, j);
      for (Index l = 0; l < j; ++l) sum -= at(i, l) * at(j, l);
      if (i == j && !(sum > 0)) return false;
      at(i, j) = i == j ? std::sqrt(sum) : sum / at(j, j);
    }
  }
  for (Index i = 0; i < k; ++i) {
    auto& z = weights[static_cast<std::size_t>(i)];
    for (Index l = 0; l < i; ++l) z -= at(i, l) * weights[static_cast<std::size_t>(l)];
    z /= at(i, i);
  }
  double total = 0;
  for (Index i = k - 1; i >= 0; --i) {
    auto& z = weights[static_cast<std::size_t>(i)];
    for (Index l = i + 1; l < k; ++l) z -= at(l, i) * weights[static_cast<std::size_t>(l)];
    z /= at(i, i);
    total += z;
  }
  if (!(std::fabs(total) > 0) || !std::isfinite(total)) return false;
  for (double& z : weights) z /= total;
  return true;
}

}  // namespace surefit
