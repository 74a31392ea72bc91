// The register-blocked heart of the Gram kernels: C += A'B on packed slivers, upper triangle only.
//
// A panel of rows is packed into slivers: twelve columns wide, row after row, so that sliver s holds columns
// 12 s .. 12 s + 11. The same packing serves both sides of the product: as B it is read three vectors at a
// time, as A it is broadcast number by number. The last sliver counts only as many columns as it holds,
// rounded up to four.
#pragma once

#include <algorithm>

#include "span.h"

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#endif

namespace surefit {

#if defined(__AVX2__) && defined(__FMA__)
using Lanes = __m256d;
inline Lanes fused(Lanes a, Lanes b, Lanes c) {
  return _mm256_fmadd_pd(a, b, c);
}
inline Lanes load(const double* p) {
  return _mm256_load_pd(p);
}
inline Lanes load_anywhere(const double* p) {
  return _mm256_loadu_pd(p);
}
inline Lanes broadcast(double a) {
  return _mm256_set1_pd(a);
}
inline void store(double* p, Lanes a) {
  _mm256_store_pd(p, a);
}
#else
typedef double Lanes __attribute__((vector_size(16)));
inline Lanes fused(Lanes a, Lanes b, Lanes c) {
  return a * b + c;
}
inline Lanes load(const double* p) {
  return Lanes{p[0], p[1]};
}
inline Lanes load_anywhere(const double* p) {
  return load(p);
}
inline Lanes broadcast(double a) {
  return Lanes{a, a};
}
inline void store(double* p, Lanes a) {
  p[0] = a[0], p[1] = a[1];
}
#endif

inline constexpr int lanes = sizeof(Lanes) / sizeof(double);
inline constexpr int sliver_width = 12;

inline constexpr Index round_up(Index n, Index step) {
  return (n + step - 1) / step * step;
}

// c (M x W, row step ldc) += a' b over depth packed rows. Twelve accumulators and three of b fill sixteen
// registers.
template <int M, int W>
inline void tile(Index depth, const double* a, const double* b, double* c, Index ldc) {
  constexpr int V = W / lanes;
  if constexpr (M * V > 12) {
    tile<M / 2, W>(depth, a, b, c, ldc);
    tile<M - M / 2, W>(depth, a + M / 2, b, c + M / 2 * ldc, ldc);
  } else {
    for (int m = 0; m < M; ++m) __builtin_prefetch(c + m * ldc, 1);
    Lanes sum[M][V] = {};
    for (Index k = 0; k < depth; ++k) {
      Lanes right[V];
#pragma GCC unroll 6
      for (int v = 0; v < V; ++v) right[v] = load(b + v * lanes);
#pragma GCC unroll 12
      for (int m = 0; m < M; ++m) {
        const Lanes left = broadcast(a[m]);
#pragma GCC unroll 6
        for (int v = 0; v < V; ++v) sum[m][v] = fused(left, right[v], sum[m][v]);
      }
      a += sliver_width;
      b += sliver_width;
    }
#pragma GCC unroll 12
    for (int m = 0; m < M; ++m)
#pragma GCC unroll 6
      for (int v = 0; v < V; ++v) {
        double* out = c + m * ldc + v * lanes;
        store(out, load(out) + sum[m][v]);
      }
  }
}

// The upper triangle of an 8 x 8 square, but for the blocks of four on its diagonal, which are whole. Four
// sums side by side would wait for each other; with those of the rows above them there are twelve.
inline void triangle(Index depth, const double* a, const double* b, double* c, Index ldc) {
  if constexpr (lanes == 4) {
    Lanes upper[4][2] = {}, lower[4] = {};
    for (Index k = 0; k < depth; ++k, a += sliver_width, b += sliver_width) {
      const Lanes near = load(b), far = load(b + 4);
#pragma GCC unroll 4
      for (int m = 0; m < 4; ++m) {
        const Lanes left = broadcast(a[m]);
        upper[m][0] = fused(left, near, upper[m][0]);
        upper[m][1] = fused(left, far, upper[m][1]);
        lower[m] = fused(broadcast(a[m + 4]), far, lower[m]);
      }
    }
#pragma GCC unroll 4
    for (int m = 0; m < 4; ++m) {
      double *top = c + m * ldc, *bottom = c + (m + 4) * ldc + 4;
      store(top, load(top) + upper[m][0]);
      store(top + 4, load(top + 4) + upper[m][1]);
      store(bottom, load(bottom) + lower[m]);
    }
  } else {
    tile<4, 8>(depth, a, b, c, ldc);
    tile<4, 4>(depth, a + 4, b + 4, c + 4 * ldc + 4, ldc);
  }
}

// Memory that the next panel will be packed from, fetched a few lines at a time between tiles: the product
// hides the wait for main memory. `runs` stretches of `run_bytes` each, `run_step` bytes apart.
class Ahead {
 public:
  Ahead() = default;
  Ahead(const void* data, Index runs, Index run_bytes, Index run_step, Index steps)
      : run_(static_cast<const char*>(data)), runs_(runs), run_bytes_(run_bytes), run_step_(run_step) {
    lines_ = std::min<Index>(32, runs * (run_bytes / line + 1) / std::max<Index>(1, steps) + 1);
  }

  void step() {
    for (Index l = 0; l < lines_ && runs_ > 0; ++l) {
      __builtin_prefetch(run_ + at_, 0, 2);
      at_ += line;
      if (at_ < run_bytes_) continue;
      at_ = 0;
      run_ += run_step_;
      --runs_;
    }
  }

 private:
  static constexpr Index line = 64;
  const char* run_ = nullptr;
  Index runs_ = 0, run_bytes_ = 0, run_step_ = 0, at_ = 0, lines_ = 0;
};

// A packed panel: `step` doubles from one sliver to the next, `depth` rows of each in use.
struct Packed {
  const double* data = nullptr;
  Index step = 0;
  Index depth = 0;
  const double* sliver(Index s) const { return data + s * step; }
};

// One sliver against another, `depth` rows of each, into `out`; on the diagonal only what touches the upper
// triangle. `width` columns of the right one count.
inline void sliver_product(Index depth, const double* left, const double* right, bool diagonal, Index width,
                           double* out, Index ldc, Ahead& ahead) {
  if (diagonal) {
    ahead.step();
    if (width == 12) {
      tile<4, 12>(depth, left, right, out, ldc);
      ahead.step();
      triangle(depth, left + 4, right + 4, out + 4 * ldc + 4, ldc);
    } else if (width == 8) {
      triangle(depth, left, right, out, ldc);
    } else {
      tile<4, 4>(depth, left, right, out, ldc);
    }
  } else if (width == 12) {
    for (int m = 0; m < 12; m += 4) {
      ahead.step();
      tile<4, 12>(depth, left + m, right, out + m * ldc, ldc);
    }
  } else if (width == 8) {
    ahead.step();
    for (int m = 0; m < 12; m += 6) tile<6, 8>(depth, left + m, right, out + m * ldc, ldc);
  } else {
    ahead.step();
    tile<12, 4>(depth, left, right, out, ldc);
  }
}

inline Index width_of(Index sliver, Index cols) {
  return std::min<Index>(sliver_width, round_up(cols - sliver * sliver_width, 4));
}

// A square of slivers, the unit of work that keeps its part of A, B and C in the second-level cache.
inline constexpr Index square_side = 8;

// c += a' b for slivers [row, row + side) x [col, col + side) on or above the diagonal; `cols` columns in
// all.
inline void sliver_square(const Packed& a, const Packed& b, Index row, Index col, Index row_slivers,
                          Index cols, double* c, Index ldc, Ahead& ahead) {
  const Index col_end = std::min(col + square_side, round_up(cols, sliver_width) / sliver_width);
  for (Index j = col; j < col_end; ++j) {
    const Index width = width_of(j, cols), row_end = std::min({row + square_side, row_slivers, j + 1});
    for (Index i = row; i < row_end; ++i)
      sliver_product(a.depth, a.sliver(i), b.sliver(j), i == j, width,
                     c + i * sliver_width * ldc + j * sliver_width, ldc, ahead);
  }
}

}  // namespace surefit
