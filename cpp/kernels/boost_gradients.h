// Gradients and curvatures of the losses that boosting knows, and their sum, in one pass over the rows.
#pragma once

#include <cmath>
#include <vector>

#include "parallel.h"
#include "span.h"

namespace surefit {

// One row: f, f' and f'' by the score z. Constant parts of f that only y decides are left out.
struct LossAt {
  double value, gradient, curvature;
};

struct BoostSquared {
  LossAt operator()(double y, double z) const { return {0.5 * (z - y) * (z - y), z - y, 1.0}; }
};
struct BoostAbsolute {
  LossAt operator()(double y, double z) const { return {std::fabs(z - y), y >= z ? -1.0 : 1.0, 1.0}; }
};
struct BoostQuantile {
  double q;
  LossAt operator()(double y, double z) const {
    return {y > z ? q * (y - z) : (1.0 - q) * (z - y), y >= z ? -q : 1.0 - q, 1.0};
  }
};
struct BoostPoisson {
  LossAt operator()(double y, double z) const {
    const double mean = std::exp(z);
    return {mean - y * z, mean - y, mean};
  }
};
struct BoostGamma {
  LossAt operator()(double y, double z) const {
    const double ratio = y * std::exp(-z);
    return {z + ratio, 1.0 - ratio, ratio};
  }
};
struct BoostLogistic {  // y is 0 or 1
  LossAt operator()(double y, double z) const {
    const double e = std::exp(-std::fabs(z)), p = (z > 0.0 ? 1.0 : e) / (1.0 + e);
    return {std::log1p(e) + std::max(z, 0.0) - y * z, p - y, e / ((1.0 + e) * (1.0 + e))};
  }
};

struct GradientFacts {
  double loss = 0.0, largest_gradient = 0.0, largest_curvature = 0.0, total_curvature = 0.0;
  void add(const GradientFacts& other) {
    loss += other.loss;
    largest_gradient = std::max(largest_gradient, other.largest_gradient);
    largest_curvature = std::max(largest_curvature, other.largest_curvature);
    total_curvature += other.total_curvature;
  }
  void add_row(double weight, const LossAt& at) {
    loss += weight * at.value;
    largest_gradient = std::max(largest_gradient, std::fabs(weight * at.gradient));
    largest_curvature = std::max(largest_curvature, weight * at.curvature);
    total_curvature += weight * at.curvature;
  }
};

namespace gradients_detail {

// Chunks have sums of their own, merged in order, so the number of threads changes no bit.
template <class Body>
GradientFacts over_rows(const Run& run, Index rows, const Body& body) {
  constexpr Index kRows = 8192;
  std::vector<GradientFacts> each(static_cast<std::size_t>((rows + kRows - 1) / kRows));
  for_chunks(run, static_cast<Index>(each.size()), [&](Index k, int) {
    each[static_cast<std::size_t>(k)] = body(k * kRows, std::min(rows, (k + 1) * kRows));
  });
  GradientFacts all;
  for (const auto& facts : each) all.add(facts);
  return all;
}

}  // namespace gradients_detail

// weight: null for ones. gradient and curvature: one a row, weighted; null where only the loss is wanted.
template <class Loss>
GradientFacts boost_gradients(const Run& run, const Loss& loss, const double* y, const double* score,
                              const double* weight, Index rows, double* gradient, double* curvature) {
  return gradients_detail::over_rows(run, rows, [&](Index begin, Index end) {
    GradientFacts facts;
    for (Index i = begin; i < end; ++i) {
      const double w = weight == nullptr ? 1.0 : weight[i];
      const LossAt at = loss(y[i], score[i]);
      facts.add_row(w, at);
      if (gradient == nullptr) continue;
      gradient[i] = w * at.gradient;
      curvature[i] = w * at.curvature;
    }
    return facts;
  });
}

// The softmax of several scores, class by class: score, gradient and curvature are classes x rows.
inline GradientFacts boost_softmax(const Run& run, const double* y, const double* score, const double* weight,
                                   Index rows, Index classes, double* gradient, double* curvature) {
  return gradients_detail::over_rows(run, rows, [&](Index begin, Index end) {
    GradientFacts facts;
    std::vector<double> p(static_cast<std::size_t>(classes));
    for (Index i = begin; i < end; ++i) {
      const double w = weight == nullptr ? 1.0 : weight[i];
      double top = score[i], sum = 0.0;
      for (Index k = 1; k < classes; ++k) top = std::max(top, score[k * rows + i]);
      for (Index k = 0; k < classes; ++k)
        sum += p[static_cast<std::size_t>(k)] = std::exp(score[k * rows + i] - top);
      const auto own = static_cast<Index>(y[i]);
      facts.loss += w * (std::log(sum) + top - score[own * rows + i]);
      if (gradient == nullptr) continue;
      for (Index k = 0; k < classes; ++k) {
        const double share = p[static_cast<std::size_t>(k)] / sum;
        const LossAt at{0.0, share - (k == own ? 1.0 : 0.0), share * (1.0 - share)};
        facts.add_row(w, at);
        gradient[k * rows + i] = w * at.gradient;
        curvature[k * rows + i] = w * at.curvature;
      }
    }
    return facts;
  });
}

// Calls f with the loss of that number; core/native/boost_gradients.py has the same list.
template <class F>
auto with_boost_loss(int kind, double parameter, F&& f) {
  switch (kind) {
    case 0:
      return f(BoostSquared{});
    case 1:
      return f(BoostAbsolute{});
    case 2:
      return f(BoostQuantile{parameter});
    case 3:
      return f(BoostPoisson{});
    case 4:
      return f(BoostGamma{});
    default:
      return f(BoostLogistic{});
  }
}

}  // namespace surefit
