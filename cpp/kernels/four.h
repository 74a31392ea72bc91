// Four doubles side by side on every instruction set, so that sums over columns round alike on all of them.
#pragma once

namespace surefit {

typedef double Four __attribute__((vector_size(32)));
typedef double FourAnywhere __attribute__((vector_size(32), aligned(8), may_alias));

// By reference, since how a vector itself is returned differs between instruction sets.
inline const FourAnywhere& four(const double* from) {
  return *reinterpret_cast<const FourAnywhere*>(from);
}

inline void put_four(double* to, const Four& v) {
  *reinterpret_cast<FourAnywhere*>(to) = v;
}

// Four columns of four rows, so that each row stands together.
inline void across(Four& a, Four& b, Four& c, Four& d) {
  const Four ab0 = __builtin_shufflevector(a, b, 0, 4, 2, 6), ab1 = __builtin_shufflevector(a, b, 1, 5, 3, 7);
  const Four cd0 = __builtin_shufflevector(c, d, 0, 4, 2, 6), cd1 = __builtin_shufflevector(c, d, 1, 5, 3, 7);
  a = __builtin_shufflevector(ab0, cd0, 0, 1, 4, 5);
  b = __builtin_shufflevector(ab1, cd1, 0, 1, 4, 5);
  c = __builtin_shufflevector(ab0, cd0, 2, 3, 6, 7);
  d = __builtin_shufflevector(ab1, cd1, 2, 3, 6, 7);
}

}  // namespace surefit
