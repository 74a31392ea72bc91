// Losses of one score a row, by number: value and derivatives of f(y, z) for several rows side by side, and
// what Fenchel's inequality leaves open for another slope.
#pragma once

#include <cmath>
#include <limits>
#include <stdexcept>

#include "lane_math.h"

namespace surefit {

// Value and derivatives of f(y, z) for as many rows as there are lanes.
struct Derivatives {
  Lanes value, slope, bend;
};

// A row and another slope than its own, `u`; `change` is how far it is from that.
struct MovedRow {
  double y, z, u, change;
};

inline constexpr double no_bound = std::numeric_limits<double>::infinity();

// v log(v / m) - (v - m) for v = m + change, given log m: near m by its own terms, so that nothing cancels.
inline double divergence(double v, double m, double log_m, double change) {
  if (m > 0 && std::fabs(change) <= 0.5 * m) {
    const double x = change / m;
    return m * ((1.0 + x) * std::log1p(x) - x);
  }
  return (v > 0 ? v * (std::log(v) - log_m) : 0.0) - change;
}

// With t the share of the class that z speaks against, f = t |z| + log(1 + exp(-|z|)): nothing cancels.
struct LogisticRows {
  Derivatives operator()(Lanes y, Lanes z) const {
    const Lanes one = broadcast(1.0), size = absolute(z), e = exponential(-size);
    const Lanes share = larger(y, broadcast(0.0)), rest = e / (one + e);
    const auto positive = z >= broadcast(0.0);
    const Lanes against = positive ? one - share : share, slope = against - rest;
    return {against * size + log_of_one_plus(e), positive ? slope : -slope, rest / (one + e)};
  }
  double excess(const MovedRow& row) const {
    const double y = std::max(row.y, 0.0), share = y + row.u, other = (1.0 - y) - row.u;
    if (!(share >= 0 && other >= 0)) return no_bound;
    const double e = std::exp(-std::fabs(row.z)), high = 1.0 / (1.0 + e), low = e / (1.0 + e);
    const double log_high = -std::log1p(e), log_low = log_high - std::fabs(row.z);
    const bool positive = row.z >= 0;
    return divergence(share, positive ? high : low, positive ? log_high : log_low, row.change) +
           divergence(other, positive ? low : high, positive ? log_low : log_high, -row.change);
  }
};

struct PoissonRows {
  Derivatives operator()(Lanes y, Lanes z) const {
    const Lanes mean = exponential(z);
    return {mean - y * z, mean - y, mean};
  }
  double excess(const MovedRow& row) const {
    const double mean = row.y + row.u;
    return mean >= 0 ? divergence(mean, std::exp(row.z), row.z, row.change) : no_bound;
  }
};

struct GammaRows {
  Derivatives operator()(Lanes y, Lanes z) const {
    const Lanes ratio = y * exponential(-z);
    return {z + ratio, broadcast(1.0) - ratio, ratio};
  }
  double excess(const MovedRow& row) const {
    const double ratio = 1.0 - row.u, own = row.y * std::exp(-row.z);
    return ratio > 0 ? divergence(ratio, own, std::log(row.y) - row.z, -row.change) : no_bound;
  }
};

struct SquaredHingeRows {
  Derivatives operator()(Lanes y, Lanes z) const {
    const Lanes one = broadcast(1.0), two = broadcast(2.0), zero = broadcast(0.0);
    const Lanes side = (y > zero) ? one : -one, margin = side * z, missing = larger(one - margin, zero);
    return {missing * missing, -two * side * missing, (margin <= one) ? two : zero};
  }
  double excess(const MovedRow& row) const {
    const double side = row.y > 0 ? 1.0 : -1.0, missing = 1.0 - side * row.z, half = 0.5 * side * row.u;
    if (half > 0) return no_bound;
    return missing > 0 ? (missing + half) * (missing + half) : half * half + 2.0 * half * missing;
  }
};

// Squares up to `threshold` widths and lines beyond, times height; a scale of the residuals adds a constant.
struct HuberRows {
  double threshold, width, height, constant;

  Derivatives operator()(Lanes y, Lanes z) const {
    const Lanes r = (z - y) / broadcast(width), a = absolute(r), t = broadcast(threshold);
    const Lanes close = smaller(a, t), slope = broadcast(height) * close;
    const Lanes value = fused(slope * broadcast(width), a - broadcast(0.5) * close, broadcast(constant));
    const Lanes bend = (a <= t) ? broadcast(height / width) : broadcast(0.0);
    return {value, (r < broadcast(0.0)) ? -slope : slope, bend};
  }
  double excess(const MovedRow& row) const {
    const double steepest = height * threshold, curve = height / width, r = row.z - row.y;
    if (!(std::fabs(row.u) <= steepest)) return no_bound;
    const double close = std::min(std::max(r, -threshold * width), threshold * width);
    const double off = curve * close - row.u;
    return off * off / (2.0 * curve) + (std::copysign(steepest, r) - row.u) * (r - close);
  }
};

// Calls f with the loss of that number, its options being as many numbers as it has;
// core/native/linear/linear_loss.py has the same list.
template <class F>
auto with_linear_loss(int kind, const double* options, Index count, F&& f) {
  if (count != (kind == 4 ? 4 : 0)) throw std::invalid_argument("the loss has another number of options.");
  switch (kind) {
    case 0:
      return f(LogisticRows{});
    case 1:
      return f(PoissonRows{});
    case 2:
      return f(GammaRows{});
    case 3:
      return f(SquaredHingeRows{});
    case 4:
      return f(HuberRows{options[0], options[1], options[2], options[3]});
    default:
      throw std::invalid_argument("there is no loss of that number.");
  }
}

}  // namespace surefit
