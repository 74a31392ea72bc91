// Comparisons of a few neighbouring numbers at once, and the least number of a row: loops that compilers,
// which must respect NaN, leave scalar or clumsy.
#pragma once

#include <cstring>
#include <limits>

#include "span.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace surefit {

// How many numbers are compared at once.
template <class T>
inline constexpr Index compared = 32 / static_cast<Index>(sizeof(T));

#if defined(__AVX2__)

// Bit l is set where x[l] == value.
inline unsigned equal_bits(const double* x, double value) {
  return static_cast<unsigned>(
      _mm256_movemask_pd(_mm256_cmp_pd(_mm256_loadu_pd(x), _mm256_set1_pd(value), _CMP_EQ_OQ)));
}
inline unsigned equal_bits(const float* x, float value) {
  return static_cast<unsigned>(
      _mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(x), _mm256_set1_ps(value), _CMP_EQ_OQ)));
}

// Bit l is set where x[l] < bound or either is NaN.
inline unsigned below_bits(const double* x, double bound) {
  return static_cast<unsigned>(
      _mm256_movemask_pd(_mm256_cmp_pd(_mm256_loadu_pd(x), _mm256_set1_pd(bound), _CMP_NGE_UQ)));
}
inline unsigned below_bits(const float* x, float bound) {
  return static_cast<unsigned>(
      _mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(x), _mm256_set1_ps(bound), _CMP_NGE_UQ)));
}

#else

template <class T>
unsigned equal_bits(const T* x, T value) {
  unsigned bits = 0;
  for (Index l = 0; l < compared<T>; ++l) bits |= static_cast<unsigned>(x[l] == value) << l;
  return bits;
}

template <class T>
unsigned below_bits(const T* x, T bound) {
  unsigned bits = 0;
  for (Index l = 0; l < compared<T>; ++l) bits |= static_cast<unsigned>(!(x[l] >= bound)) << l;
  return bits;
}

#endif

// The least number of a row; infinity when it holds none.
template <class T>
T least_number(const T* x, Index n) {
#if defined(__AVX2__)
  constexpr Index lanes = 32 / sizeof(T);
#else
  constexpr Index lanes = 16 / sizeof(T);
#endif
  typedef T Vector __attribute__((vector_size(lanes * sizeof(T))));
  constexpr Index parts = 4;  // independent minima, to hide the latency of one
  constexpr T none = std::numeric_limits<T>::infinity();
  T result = none;
  Index j = 0;
  if (n >= parts * lanes) {
    Vector least[parts];
    for (Vector& part : least) part = Vector{} + none;
    for (; j + parts * lanes <= n; j += parts * lanes)
      for (Index v = 0; v < parts; ++v) {
        Vector here;
        std::memcpy(&here, x + j + v * lanes, sizeof(here));
        least[v] = here < least[v] ? here : least[v];
      }
    for (Index v = 1; v < parts; ++v) least[0] = least[v] < least[0] ? least[v] : least[0];
    for (Index l = 0; l < lanes; ++l) result = least[0][l] < result ? least[0][l] : result;
  }
  for (; j < n; ++j) result = x[j] < result ? x[j] : result;
  return result;
}

}  // namespace surefit
