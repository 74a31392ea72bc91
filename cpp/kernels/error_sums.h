// Sums over rows of what a prediction costs: squared, absolute or relative errors, logarithms, deviances.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "four.h"
#include "parallel.h"

namespace surefit {

struct ErrorSums {
  double weight = 0.0;
  double sum = 0.0;
  double least_weight = std::numeric_limits<double>::infinity();
  double least_truth = std::numeric_limits<double>::infinity();
  double least_guess = std::numeric_limits<double>::infinity();
  double greatest = -std::numeric_limits<double>::infinity();  // cost of a row
};

// Costs with a logarithm take four rows at a time: the compiler makes no vectors of their conditions by
// itself.
typedef std::uint64_t FourBits __attribute__((vector_size(32)));

// log(u) for 2^-1000 < u < 2^1000, without a branch: u = 2^k (1 + f) with 1 + f near 1, s = f / (2 + f), and
// log(1 + f) = 2 atanh(s) = f - s (f - 2 s^2 / 3 - 2 s^4 / 5 - ...). |s| < 0.172, so that the first term left
// out is below the rounding of the last one kept.
inline void four_logs(const Four& u, Four& found) {
  constexpr std::uint64_t root_half = 0x3fe6a09e667f3bcd, lifted = std::uint64_t{1024} << 52;
  const FourBits bits = (FourBits)u;
  const FourBits power = (bits - root_half + lifted) >> 52;  // k + 1024
  const Four k = (Four)(power | 0x4330000000000000) - (0x1p52 + 1024.0);
  const Four f = (Four)(bits - (power << 52) + lifted) - 1.0;
  const Four s = f / (2.0 + f), z = s * s;
  Four rest = 2.0 / 21.0 - 0.0 * z;
  for (double odd = 19.0; odd > 2.0; odd -= 2.0) rest = rest * z + 2.0 / odd;
  constexpr double high = 0x1.62e42fefap-1, low = 0x1.cf79abc9e3b39p-40;  // log 2 in two parts
  found = k * high + (f - (s * (f - z * rest) - k * low));
}

// log(top / base) with apart = top - base, to the digits of apart where the two are close; NaN where the
// ratio is out of the range of four_logs, and 0 for top = 0.
inline void four_log_ratios(const Four& apart, const Four& top, const Four& base, Four& found) {
  const Four away = apart / base, ratio = top / base, near = 1.0 + away;
  const auto far = away < -0.9;  // where 1 + away has lost digits of the ratio
  const Four u = far ? ratio : near;
  const Four missed = (away - (near - 1.0)) / near;
  four_logs(u, found);
  found = far ? found : found + missed;
  found = (u > 0x1p-1000) & (u < 0x1p1000) ? found : found * std::numeric_limits<double>::quiet_NaN();
  found = top == 0.0 ? top : found;
}

struct SquaredError {
  double operator()(double y, double g) const { return (y - g) * (y - g); }
};
struct AbsoluteError {
  double operator()(double y, double g) const { return std::abs(y - g); }
};
struct RelativeError {
  double operator()(double y, double g) const {
    const double size = std::abs(y), least = std::numeric_limits<double>::epsilon();
    return std::abs(y - g) / (size > least ? size : least);
  }
};
struct PinballError {
  double alpha;
  double operator()(double y, double g) const {
    const double apart = y - g;
    return alpha * apart + (apart < 0.0 ? -apart : 0.0);
  }
};
// (log(shift + y) - log(shift + g))^2
struct SquaredLogError {
  double shift;
  void operator()(const Four& y, const Four& g, Four& cost) const {
    Four found;
    four_log_ratios(y - g, shift + y, shift + g, found);
    cost = found * found;
  }
};
struct PoissonDeviance {
  void operator()(const Four& y, const Four& g, Four& cost) const {
    Four found;
    four_log_ratios(y - g, y, g, found);
    cost = 2.0 * (y * found - (y - g));
  }
};
struct GammaDeviance {
  void operator()(const Four& y, const Four& g, Four& cost) const {
    Four found;
    four_log_ratios(y - g, y, g, found);
    cost = 2.0 * ((y - g) / g - found);
  }
};

// What each of some rows costs.
template <class Cost>
void costs_of(const Cost& cost, const double* y, const double* g, Index count, double* value) {
  if constexpr (std::is_invocable_v<Cost, double, double>) {
    for (Index i = 0; i < count; ++i) value[i] = cost(y[i], g[i]);
  } else {
    Index i = 0;
    Four found;
    for (; i + 4 <= count; i += 4) {
      const Four truth = four(y + i), guess = four(g + i);
      cost(truth, guess, found);
      for (int k = 0; k < 4; ++k) value[i + k] = found[k];
    }
    for (; i < count; ++i) {
      const Four truth = {y[i], 1.0, 1.0, 1.0}, guess = {g[i], 1.0, 1.0, 1.0};
      cost(truth, guess, found);
      value[i] = found[0];
    }
  }
}

// A sum of a few thousand numbers in eight lanes, so that it rounds alike on every instruction set.
class LaneSum {
 public:
  void add(const double* x, Index count) {
    Index i = 0;
    for (; i + 8 <= count; i += 8)
      for (Index k = 0; k < 8; ++k) lane_[static_cast<std::size_t>(k)] += x[i + k];
    for (Index k = 0; i < count; ++i, ++k) lane_[static_cast<std::size_t>(k)] += x[i];
  }
  double total() const {
    return ((lane_[0] + lane_[4]) + (lane_[1] + lane_[5])) + ((lane_[2] + lane_[6]) + (lane_[3] + lane_[7]));
  }

 private:
  std::array<double, 8> lane_{};
};

// The least, or the greatest, of some numbers and `so_far`, in eight lanes; NaN is passed over.
template <bool greatest = false>
double extreme_of(const double* x, Index count, double so_far) {
  const auto better = [](double a, double b) { return greatest ? (a > b ? a : b) : (a < b ? a : b); };
  std::array<double, 8> lane;
  lane.fill(so_far);
  Index i = 0;
  for (; i + 8 <= count; i += 8)
    for (Index k = 0; k < 8; ++k) {
      double& kept = lane[static_cast<std::size_t>(k)];
      kept = better(x[i + k], kept);
    }
  for (; i < count; ++i) lane[0] = better(x[i], lane[0]);
  for (const double kept : lane) so_far = better(kept, so_far);
  return so_far;
}

// Rows that are not finite make the sum not finite. weight may be null. With `least` the least truth and the
// least prediction and the greatest cost are looked for as well. The same bits for any number of threads.
template <class Cost>
ErrorSums error_sums(const Run& run, const Cost& cost, const double* truth, const double* guess,
                     const double* weight, Index rows, bool least) {
  constexpr Index piece = 1 << 15, block = 512;
  const Index chunks = (rows + piece - 1) / piece;
  std::vector<ErrorSums> part(static_cast<std::size_t>(chunks));
  for_chunks(run, chunks, [&](Index chunk, int) {
    ErrorSums found;
    LaneSum sum, weights;
    std::array<double, block> value;
    const Index end = std::min(rows, (chunk + 1) * piece);
    for (Index start = chunk * piece; start < end; start += block) {
      const Index count = std::min(block, end - start);
      const double *y = truth + start, *g = guess + start;
      costs_of(cost, y, g, count, value.data());
      if (least) found.greatest = extreme_of<true>(value.data(), count, found.greatest);
      if (weight != nullptr) {
        const double* w = weight + start;
        for (Index i = 0; i < count; ++i) value[static_cast<std::size_t>(i)] *= w[i];
        weights.add(w, count);
        found.least_weight = extreme_of(w, count, found.least_weight);
      }
      sum.add(value.data(), count);
      if (least) {
        found.least_truth = extreme_of(y, count, found.least_truth);
        found.least_guess = extreme_of(g, count, found.least_guess);
      }
    }
    found.sum = sum.total();
    found.weight = weights.total();
    part[static_cast<std::size_t>(chunk)] = found;
  });
  ErrorSums total;
  for (const ErrorSums& found : part) {
    total.sum += found.sum;
    total.weight += found.weight;
    total.least_weight = std::min(total.least_weight, found.least_weight);
    total.least_truth = std::min(total.least_truth, found.least_truth);
    total.least_guess = std::min(total.least_guess, found.least_guess);
    total.greatest = std::max(total.greatest, found.greatest);
  }
  if (weight == nullptr) total.weight = static_cast<double>(rows);
  return total;
}

}  // namespace surefit
