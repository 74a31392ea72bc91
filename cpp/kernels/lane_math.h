// Exponentials and logarithms of a few numbers side by side, to within two units in the last place.
#pragma once

#include "tile.h"

namespace surefit {

typedef long long LaneBits __attribute__((vector_size(sizeof(Lanes))));

inline Lanes absolute(Lanes x) {
  return (x < broadcast(0.0)) ? -x : x;
}
inline Lanes larger(Lanes a, Lanes b) {
  return (a > b) ? a : b;
}

inline Lanes smaller(Lanes a, Lanes b) {
  return (a < b) ? a : b;
}

inline double fused(double a, double b, double c) {
#ifdef __FMA__
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

// V is a double, or several side by side.
template <class V, int N>
inline V polynomial(const double (&terms)[N], V x) {
  V sum = V{} + terms[N - 1];
  for (int n = N - 2; n >= 0; --n) sum = fused(sum, x, V{} + terms[n]);
  return sum;
}

// exp(x) = 2^n exp(r), |r| <= log(2) / 2. Adding 1.5 * 2^52 rounds to an integer and leaves it in the lowest
// bits; 2^n is 2 * 2^(n - 1), so that the largest results come out right. What is below the smallest normal
// number is 0, and a NaN stays one.
inline Lanes exponential(Lanes x) {
  constexpr double round = 0x1.8p52, high = 0x1.62e42feep-1, low = 0x1.a39ef35793c76p-33;
  constexpr double terms[] = {1.0,
                              1.0,
                              1.0 / 2,
                              1.0 / 6,
                              1.0 / 24,
                              1.0 / 120,
                              1.0 / 720,
                              1.0 / 5040,
                              1.0 / 40320,
                              1.0 / 362880,
                              1.0 / 3628800,
                              1.0 / 39916800,
                              1.0 / 479001600,
                              1.0 / 6227020800.0};
  const auto tiny = x < broadcast(-707.0);
  x = tiny ? broadcast(0.0) : x;
  x = (x > broadcast(710.0)) ? broadcast(710.0) : x;
  const Lanes shifted = fused(x, broadcast(0x1.71547652b82fep0), broadcast(round));
  const Lanes n = shifted - broadcast(round);
  const Lanes r = fused(n, broadcast(-low), fused(n, broadcast(-high), x));
  const LaneBits power = reinterpret_cast<LaneBits>(shifted) - reinterpret_cast<LaneBits>(broadcast(round));
  const Lanes scale = reinterpret_cast<Lanes>((power + 1022) << 52);
  return tiny ? broadcast(0.0) : polynomial(terms, r) * scale * broadcast(2.0);
}

// log(1 + e) for e in [0, 1], as 2 atanh(r / (2 + r)) of what is left after a factor of 2.
template <class V>
inline V log_of_one_plus(V e) {
  constexpr double terms[] = {1.0,      1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9, 1.0 / 11,
                              1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21};
  const auto large = e > 0.41421356237309503;
  const V r = large ? 0.5 * (e - 1.0) : e;
  const V s = r / (2.0 + r);
  return fused(s + s, polynomial(terms, s * s), large ? V{} + 0x1.62e42fefa39efp-1 : V{});
}

// Replaces each number by its exponential. The array is aligned as Lanes are, and reaches to a multiple of
// their number.
inline void raise_all(double* numbers, Index count) {
  for (Index i = 0; i < count; i += lanes) store(numbers + i, exponential(load(numbers + i)));
}

}  // namespace surefit
