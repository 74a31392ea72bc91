// Four doubles side by side on every instruction set, so that sums over columns round alike on all of them.
#pragma once

namespace surefit {

typedef double Four __attribute__((vector_size(32)));
typedef double FourAnywhere __attribute__((vector_size(32), aligned(8), may_alias));

// By reference, since how a vector itself is returned differs between instruction sets.
inline const FourAnywhere& four(const double* from) {
  return *reinterpret_cast<const FourAnywhere*>(from);
}

}  // namespace surefit
