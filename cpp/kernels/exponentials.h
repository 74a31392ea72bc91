// exp and log1p of several numbers at once, without branches or calls.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "four.h"
#include "span.h"

namespace surefit {

namespace exponentials_detail {

typedef std::uint64_t FourWhole __attribute__((vector_size(32)));

// 0 below -708, infinity beyond the largest double.
inline void raise(Four& x) {
  constexpr double kShift = 0x1.8p52;                // leaves a whole number in the lowest bits
  constexpr double kLog2E = 0x1.71547652b82fep0;     // 1 / log(2)
  constexpr double kLn2High = 0x1.62e42fefa3800p-1;  // its product with a power is exact
  constexpr double kLn2Low = 0x1.ef35793c76730p-45;  // the rest of log(2)
  constexpr double kLeast = -708.0, kMost = 0x1.62e42fefa39efp9;
  constexpr double kSeries[] = {
      1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
      1.0 / 720,        1.0 / 120,       1.0 / 24,       1.0 / 6,       1.0 / 2,      1.0,         1.0};
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Four inside = x < kLeast ? Four{} + kLeast : x;
  inside = inside > kMost ? Four{} + kMost : inside;
  const Four shifted = inside * kLog2E + kShift, power = shifted - kShift;
  const Four r = (inside - power * kLn2High) - power * kLn2Low;  // within log(2) / 2 of zero
  Four sum{};
  for (const double term : kSeries) sum = sum * r + term;
  // The power of two is added to the exponent.
  const Four found =
      reinterpret_cast<Four>(reinterpret_cast<FourWhole>(sum) + (reinterpret_cast<FourWhole>(shifted) << 52));
  const Four within = x < kLeast ? Four{} : x > kMost ? Four{} + kInfinity : found;
  x = x == x ? within : x;
}

}  // namespace exponentials_detail

// Replaces each number by its exponential, to within two units of the last place. The array must reach to a
// multiple of four.
inline void raise_all(double* numbers, Index count) {
  for (Index i = 0; i < count; i += 4) {
    Four x = four(numbers + i);
    exponentials_detail::raise(x);
    *reinterpret_cast<FourAnywhere*>(numbers + i) = x;
  }
}

// log(1 + x) for x in [0, 1], to within two units of the last place: 2 artanh(x / (2 + x)).
inline double log1p_of(double x) {
  const double s = x / (2.0 + x), q = s * s;  // q is 1/9 at most
  double sum = 1.0 / 33.0;
  sum = sum * q + 1.0 / 31.0;
  sum = sum * q + 1.0 / 29.0;
  sum = sum * q + 1.0 / 27.0;
  sum = sum * q + 1.0 / 25.0;
  sum = sum * q + 1.0 / 23.0;
  sum = sum * q + 1.0 / 21.0;
  sum = sum * q + 1.0 / 19.0;
  sum = sum * q + 1.0 / 17.0;
  sum = sum * q + 1.0 / 15.0;
  sum = sum * q + 1.0 / 13.0;
  sum = sum * q + 1.0 / 11.0;
  sum = sum * q + 1.0 / 9.0;
  sum = sum * q + 1.0 / 7.0;
  sum = sum * q + 1.0 / 5.0;
  sum = sum * q + 1.0 / 3.0;
  return 2.0 * s * (sum * q + 1.0);
}

}  // namespace surefit
