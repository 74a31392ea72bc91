// Centres made ready for single precision: about a common origin, scaled near 1, sixteen side by side; and
// the exact distances that decide where single precision cannot.
//
// The score of centre c for row x, both less the origin and scaled, is |c|^2 / 2 - x.c, which orders centres
// as their distances do. `doubt` bounds what rounding can have done to a score, so that two scores further
// apart than twice that are in the right order, and others are compared again in double precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "buffer.h"
#include "four.h"
#include "span.h"

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#endif

namespace surefit {

typedef float Eight __attribute__((vector_size(32)));
typedef float EightAnywhere __attribute__((vector_size(32), aligned(4), may_alias));
typedef int EightPlaces __attribute__((vector_size(32)));

inline const EightAnywhere& eight(const float* from) {
  return *reinterpret_cast<const EightAnywhere*>(from);
}

inline void put_eight(float* to, const Eight& v) {
  *reinterpret_cast<EightAnywhere*>(to) = v;
}

inline void add_product(Eight& sum, const Eight& a, const Eight& b) {
#if defined(__AVX2__) && defined(__FMA__)
  sum = (Eight)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)sum);
#else
  sum += a * b;
#endif
}

// Puts the least of eight numbers everywhere.
inline void spread_least(Eight& v) {
  const Eight a = __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3);
  v = a < v ? a : v;
  const Eight b = __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5);
  v = b < v ? b : v;
  const Eight c = __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6);
  v = c < v ? c : v;
}

// One bit for each lane that is true.
inline int lanes_of(const EightPlaces& hit) {
#if defined(__AVX2__) && defined(__FMA__)
  return _mm256_movemask_ps((__m256)hit);
#else
  int bits = 0;
  for (int lane = 0; lane < 8; ++lane) bits |= (hit[lane] & 1) << lane;
  return bits;
#endif
}

// Floats in the memory of a Buffer, aligned and zeroed.
class FloatBuffer {
 public:
  FloatBuffer() = default;
  explicit FloatBuffer(Index size) : store_((size + 1) / 2) {}
  float* data() { return reinterpret_cast<float*>(store_.data()); }
  const float* data() const { return reinterpret_cast<const float*>(store_.data()); }

 private:
  Buffer store_;
};

// The squared distance, in the order of additions that every path here shares.
template <class T>
double exact_square(const T* x, const double* c, Index cols) {
  Four sum = {};
  Index j = 0;
  for (; j + 4 <= cols; j += 4) {
    const Four e = Four{static_cast<double>(x[j]), static_cast<double>(x[j + 1]),
                        static_cast<double>(x[j + 2]), static_cast<double>(x[j + 3])} -
                   four(c + j);
    sum += e * e;
  }
  double rest = 0;
  for (; j < cols; ++j) {
    const double e = static_cast<double>(x[j]) - c[j];
    rest += e * e;
  }
  return ((sum[0] + sum[2]) + (sum[1] + sum[3])) + rest;
}

// A row about an origin, scaled, in single precision.
template <class T>
void near_row(const T* x, const double* origin, double scale, Index cols, float* to) {
  for (Index j = 0; j < cols; ++j)
    to[j] = static_cast<float>((static_cast<double>(x[j]) - origin[j]) * scale);
}

class CentreTable {
 public:
  static constexpr Index wide = 16;

  CentreTable(const double* centres, Index count, Index cols)
      : centres_(centres),
        count_(count),
        cols_(cols),
        step_((cols + 7) / 8 * 8),
        tiles_((count + wide - 1) / wide),
        origin_(step_),
        packed_(tiles_ * wide * cols),
        half_(tiles_ * wide) {
    for (Index c = 0; c < count; ++c)
      for (Index j = 0; j < cols; ++j) origin_[j] += centres[c * cols + j] / static_cast<double>(count);
    double most = 0;
    for (Index c = 0; c < count; ++c)
      for (Index j = 0; j < cols; ++j) most = std::max(most, std::abs(centres[c * cols + j] - origin_[j]));
    int exponent = 0;
    if (most > 0 && std::isfinite(most)) std::frexp(most, &exponent);
    scale_ = std::ldexp(1.0, std::clamp(-exponent, -1000, 1000));
    for (Index c = 0; c < tiles_ * wide; ++c) {
      half_.data()[c] = std::numeric_limits<float>::infinity();
      if (c < count) fill(c);
    }
  }

  Index count() const { return count_; }
  Index cols() const { return cols_; }
  Index step() const { return step_; }
  double scale() const { return scale_; }
  const double* origin() const { return origin_.data(); }
  const double* centre(Index c) const { return centres_ + c * cols_; }

  // The most by which rounding changes a score of a row of squared length `square`.
  float doubt(float square) const {
    constexpr float unit = 0x1p-24f;
    return static_cast<float>(cols_ + 8) * (1.7f * unit) * (square + largest_);
  }

  // The two least scores of R rows, and the place of the least.
  template <int R>
  void scan(const float* x, float* best, float* second, int* which) const {
    Eight least[R], next[R];
    EightPlaces at[R];
    const Eight infinite = Eight{} + std::numeric_limits<float>::infinity();
    for (int r = 0; r < R; ++r) least[r] = next[r] = infinite, at[r] = EightPlaces{};
    const float *c = packed_.data(), *half = half_.data();
    const Index cols = cols_, step = step_, tiles = tiles_;
    for (Index t = 0; t < tiles; ++t) {
      Eight sum[R][2];
#pragma GCC unroll 6
      for (int r = 0; r < R; ++r) {
        sum[r][0] = eight(half + t * wide);
        sum[r][1] = eight(half + t * wide + 8);
      }
      for (Index j = 0; j < cols; ++j, c += wide) {
        const Eight low = eight(c), high = eight(c + 8);
#pragma GCC unroll 6
        for (int r = 0; r < R; ++r) {
          const Eight value = Eight{} + x[r * step + j];
          add_product(sum[r][0], value, low);
          add_product(sum[r][1], value, high);
        }
      }
#pragma GCC unroll 2
      for (int h = 0; h < 2; ++h) {
        const EightPlaces here = EightPlaces{} + static_cast<int>(2 * t + h);
#pragma GCC unroll 6
        for (int r = 0; r < R; ++r) {
          const Eight v = sum[r][h];
          const EightPlaces less = v < least[r];
          const Eight other = less ? least[r] : v;
          next[r] = other < next[r] ? other : next[r];
          least[r] = less ? v : least[r];
          at[r] = less ? here : at[r];
        }
      }
    }
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r) {
      Eight low = least[r];
      spread_least(low);
      const EightPlaces hit = least[r] == low;
      const int lanes_hit = lanes_of(hit);
      best[r] = low[0];
      if ((lanes_hit & (lanes_hit - 1)) != 0) {  // a tie, or no number at all
        second[r] = low[0], which[r] = 0;
        continue;
      }
      Eight other = hit ? next[r] : least[r];
      spread_least(other);
      second[r] = other[0];
      const int lane = __builtin_ctz(static_cast<unsigned>(lanes_hit));
      which[r] = at[r][lane] * 8 + lane;
    }
  }

  // Exact squared distances to all centres: the nearest, the first of equals, and that after it.
  template <class T>
  int decide(const T* x, double& best, double& second) const {
    int place = 0;
    best = second = std::numeric_limits<double>::infinity();
    for (Index c = 0; c < count_; ++c) {
      const double square = exact_square(x, centre(c), cols_);
      if (square < best)
        second = best, best = square, place = static_cast<int>(c);
      else if (square < second)
        second = square;
    }
    return place;
  }

 private:
  void fill(Index c) {
    double square = 0;
    float* to = packed_.data() + c / wide * wide * cols_ + c % wide;
    for (Index j = 0; j < cols_; ++j) {
      const double value = (centres_[c * cols_ + j] - origin_[j]) * scale_;
      to[j * wide] = static_cast<float>(-value);
      square += value * value;
    }
    half_.data()[c] = static_cast<float>(square / 2);
    largest_ = std::max(largest_, static_cast<float>(square));
  }

  const double* centres_;
  Index count_, cols_, step_, tiles_;
  Buffer origin_;
  FloatBuffer packed_, half_;
  double scale_ = 1;
  float largest_ = 0;
};

}  // namespace surefit
