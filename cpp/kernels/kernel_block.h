// Blocks of kernel values between two sets of points: a product of matrices, then the kernel's function of
// it.
//
// Points are dense rows, CSR rows, or the numbers of rows of a Gram matrix. T is float, to search with, or
// double. Dense rows should be centred by the caller, so that squared distances keep their digits.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "buffer.h"
#include "csr_rows.h"
#include "lane_math.h"
#include "parallel.h"

namespace surefit {

enum class KernelKind : int { linear, poly, rbf, sigmoid };

struct KernelSpec {
  KernelKind kind = KernelKind::linear;
  double gamma = 1, coef0 = 0, degree = 1;
};

typedef float Singles __attribute__((vector_size(sizeof(Lanes))));
typedef int SingleBits __attribute__((vector_size(sizeof(Lanes))));
typedef float SinglesAnywhere __attribute__((vector_size(sizeof(Lanes)), aligned(4), may_alias));
inline constexpr int singles = sizeof(Singles) / sizeof(float);

// exp(x) for x <= 0 to two units in the last place of a float; below the smallest normal number it is 0.
inline Singles exponential(Singles x) {
  constexpr float round = 0x1.8p23f, high = 0x1.62e4p-1f, low = 0x1.7f7d1cp-20f;
  constexpr float terms[] = {1.0f, 1.0f, 1.0f / 2, 1.0f / 6, 1.0f / 24, 1.0f / 120, 1.0f / 720, 1.0f / 5040};
  const auto tiny = x < -87.0f;
  x = tiny ? Singles{} : x;
  const Singles shifted = x * 0x1.715476p0f + round;
  const Singles n = shifted - round;
  const Singles r = (x - n * high) - n * low;
  Singles sum = Singles{} + terms[7];
  for (int k = 6; k >= 0; --k) sum = sum * r + terms[k];
  const SingleBits power =
      reinterpret_cast<SingleBits>(shifted) - reinterpret_cast<SingleBits>(Singles{} + round);
  const Singles scale = reinterpret_cast<Singles>((power + 127) << 23);
  return tiny ? Singles{} : sum * scale;
}

// What a set of points is read from; exactly one of dense, indptr and gram is there.
struct PointData {
  Index rows = 0, cols = 0;
  const double* dense = nullptr;  // C order
  const double* data = nullptr;   // CSR
  const std::int64_t* indices = nullptr;
  const std::int64_t* indptr = nullptr;
  Index stored = 0;
  const double* gram = nullptr;  // rows x cols kernel values
};

class Points {
 public:
  Points(const KernelSpec& kernel, const PointData& from, bool with_single) : kernel(kernel), at(from) {
    if (at.gram != nullptr) return;
    norm_.resize(static_cast<std::size_t>(at.rows));
    if (at.indptr != nullptr) check();
    for (Index i = 0; i < at.rows; ++i) {
      double sum = 0;
      each(i, [&](Index, double value) { sum += value * value; });
      norm_[static_cast<std::size_t>(i)] = sum;
    }
    if (with_single && at.dense != nullptr) single_.assign(at.dense, at.dense + at.rows * at.cols);
  }

  double norm(Index i) const { return norm_[static_cast<std::size_t>(i)]; }

  // k(x_i, x_i).
  double diagonal(Index i) const {
    if (at.gram != nullptr) return at.gram[i * at.cols + i];
    switch (kernel.kind) {
      case KernelKind::linear:
        return norm(i);
      case KernelKind::poly:
        return power(kernel.gamma * norm(i) + kernel.coef0);
      case KernelKind::rbf:
        return 1.0;
      default:
        return std::tanh(kernel.gamma * norm(i) + kernel.coef0);
    }
  }

  double power(double base) const {
    const double degree = kernel.degree;
    if (degree != std::floor(degree) || degree < 0 || degree > 64) return std::pow(base, degree);
    double result = 1;
    for (auto left = static_cast<unsigned>(degree); left != 0; left >>= 1, base *= base)
      if (left & 1U) result *= base;
    return result;
  }

  template <class Visit>
  void each(Index i, const Visit& visit) const {
    if (at.dense != nullptr) {
      for (Index j = 0; j < at.cols; ++j) visit(j, at.dense[i * at.cols + j]);
    } else {
      for (std::int64_t k = at.indptr[i]; k < at.indptr[i + 1]; ++k) visit(at.indices[k], at.data[k]);
    }
  }

  template <class T>
  const T* row(Index i) const {
    if constexpr (std::is_same_v<T, float>)
      return single_.data() + i * at.cols;
    else
      return at.dense + i * at.cols;
  }

  const KernelSpec kernel;
  const PointData at;

 private:
  void check() const {
    const CsrReader<double, std::int64_t> reader({at.data, at.indices, at.indptr, at.rows, at.cols},
                                                 at.stored);
    for (Index i = 0; i < at.rows; ++i) {
      const auto [start, end] = reader.range(i);
      for (Index k = start; k < end; ++k) reader.column(k);
    }
  }

  std::vector<double> norm_;
  std::vector<float> single_;
};

namespace kernel_detail {

inline constexpr Index tile_cols = 256;       // points of the other side that are worked on at once
inline constexpr Index wide_cells = 1 << 20;  // of a dense copy of sparse rows

inline void gemm(const Blas& blas, Index m, Index n, Index k, const float* a, const float* b, float* c,
                 Index ldc) {
  char yes = 'T', no = 'N';
  int mi = static_cast<int>(m), ni = static_cast<int>(n), ki = static_cast<int>(k),
      lead = static_cast<int>(ldc);
  int one_at_least = std::max(1, ki);
  float one = 1, zero = 0;
  blas.sgemm(&yes, &no, &mi, &ni, &ki, &one, const_cast<float*>(a), &one_at_least, const_cast<float*>(b),
             &one_at_least, &zero, c, &lead);
}

inline void gemm(const Blas& blas, Index m, Index n, Index k, const double* a, const double* b, double* c,
                 Index ldc) {
  char yes = 'T', no = 'N';
  int mi = static_cast<int>(m), ni = static_cast<int>(n), ki = static_cast<int>(k),
      lead = static_cast<int>(ldc);
  int one_at_least = std::max(1, ki);
  double one = 1, zero = 0;
  blas.dgemm(&yes, &no, &mi, &ni, &ki, &one, const_cast<double*>(a), &one_at_least, const_cast<double*>(b),
             &one_at_least, &zero, c, &lead);
}

inline void decay(float* v, Index count, double gamma, double norm, const float* other) {
  const float twice = static_cast<float>(2 * gamma), own = static_cast<float>(gamma * norm);
  Index i = 0;
  for (; i + singles <= count; i += singles) {
    Singles x = *reinterpret_cast<const SinglesAnywhere*>(v + i) * twice - own -
                *reinterpret_cast<const SinglesAnywhere*>(other + i);
    x = (x < 0.0f) ? x : Singles{};
    *reinterpret_cast<SinglesAnywhere*>(v + i) = exponential(x);
  }
  for (; i < count; ++i) {
    Singles x{};
    x[0] = std::min(0.0f, v[i] * twice - own - other[i]);
    v[i] = exponential(x)[0];
  }
}

inline void decay(double* v, Index count, double gamma, double norm, const double* other) {
  const double own = gamma * norm;
  Index i = 0;
  typedef double LanesAnywhere __attribute__((vector_size(sizeof(Lanes)), aligned(8), may_alias));
  for (; i + lanes <= count; i += lanes) {
    Lanes x = load_anywhere(v + i) * (2 * gamma) - own - load_anywhere(other + i);
    x = (x < broadcast(0.0)) ? x : broadcast(0.0);
    *reinterpret_cast<LanesAnywhere*>(v + i) = exponential(x);
  }
  for (; i < count; ++i) {
    const Lanes x = broadcast(std::min(0.0, v[i] * (2 * gamma) - own - other[i]));
    v[i] = exponential(x)[0];
  }
}

}  // namespace kernel_detail

// Scratch of one worker.
template <class T>
struct BlockDesk {
  std::vector<T> from, to, norms, tile;
};

// out[r * ld + c] = k(a[from[r]], b[to[c]]) for b rows `from` and m columns `to`; null counts up from
// `first`. For a Gram matrix, `a` holds it and `b` is not looked at.
template <class T>
void kernel_tile(const Blas& blas, const Points& a, const Index* from, Index count, const Points& b,
                 const Index* to, Index first, Index m, T* out, Index ld, BlockDesk<T>& desk,
                 bool packed = false) {
  const auto other = [&](Index c) { return to != nullptr ? to[c] : first + c; };
  if (a.at.gram != nullptr) {
    for (Index r = 0; r < count; ++r) {
      const double* row = a.at.gram + from[r] * a.at.cols;
      for (Index c = 0; c < m; ++c) out[r * ld + c] = static_cast<T>(row[other(c)]);
    }
    return;
  }
  const Index d = a.at.cols;
  if (a.at.dense != nullptr) {
    if (!packed) {
      desk.from.resize(static_cast<std::size_t>(count * d));
      for (Index r = 0; r < count; ++r) std::copy_n(a.row<T>(from[r]), d, desk.from.data() + r * d);
    }
    const T* right = b.row<T>(first);
    if (to != nullptr) {
      desk.to.resize(static_cast<std::size_t>(m * d));
      for (Index c = 0; c < m; ++c) std::copy_n(b.row<T>(to[c]), d, desk.to.data() + c * d);
      right = desk.to.data();
    }
    kernel_detail::gemm(blas, m, count, d, right, desk.from.data(), out, ld);
  } else {
    const Index most =
        std::max<Index>(1, std::min<Index>(64, kernel_detail::wide_cells / std::max<Index>(1, d)));
    for (Index start = 0; start < count; start += most) {
      const Index some = std::min(most, count - start);
      desk.from.assign(static_cast<std::size_t>(d * some), T(0));
      for (Index r = 0; r < some; ++r)
        a.each(from[start + r], [&](Index j, double v) {
          desk.from[static_cast<std::size_t>(j * some + r)] += static_cast<T>(v);
        });
      desk.tile.resize(static_cast<std::size_t>(some));
      for (Index c = 0; c < m; ++c) {
        std::fill(desk.tile.begin(), desk.tile.end(), T(0));
        T* sum = desk.tile.data();
        b.each(other(c), [&](Index j, double v) {
          const T value = static_cast<T>(v), *wide = desk.from.data() + j * some;
          for (Index r = 0; r < some; ++r) sum[r] += value * wide[r];
        });
        for (Index r = 0; r < some; ++r) out[(start + r) * ld + c] = sum[r];
      }
    }
  }
  const KernelSpec& kernel = a.kernel;
  if (kernel.kind == KernelKind::linear) return;
  if (kernel.kind == KernelKind::rbf) {
    desk.norms.resize(static_cast<std::size_t>(m));
    for (Index c = 0; c < m; ++c)
      desk.norms[static_cast<std::size_t>(c)] = static_cast<T>(kernel.gamma * b.norm(other(c)));
  }
  for (Index r = 0; r < count; ++r) {
    T* row = out + r * ld;
    if (kernel.kind == KernelKind::rbf) {
      kernel_detail::decay(row, m, kernel.gamma, a.norm(from[r]), desk.norms.data());
      continue;
    }
    for (Index c = 0; c < m; ++c) {
      const double inner = kernel.gamma * static_cast<double>(row[c]) + kernel.coef0;
      row[c] = static_cast<T>(kernel.kind == KernelKind::poly ? a.power(inner) : std::tanh(inner));
    }
  }
}

// The same for any number of columns, in parallel.
template <class T>
void kernel_block(const Run& run, const Points& points, const Index* from, Index count, const Index* to,
                  Index m, T* out, Index ld) {
  if (count == 0 || m == 0) return;
  std::vector<BlockDesk<T>> desks(static_cast<std::size_t>(run.threads));
  std::vector<char> packed(desks.size(), 0);
  const Index step = kernel_detail::tile_cols;
  Run quick = run;
  if (count * m < 1 << 14) quick.threads = 1;
  for_chunks(quick, (m + step - 1) / step, [&](Index chunk, int worker) {
    const auto w = static_cast<std::size_t>(worker);
    const Index start = chunk * step, size = std::min(step, m - start);
    kernel_tile(run.blas, points, from, count, points, to == nullptr ? nullptr : to + start, start, size,
                out + start, ld, desks[w], packed[w] != 0);
    packed[w] = 1;
  });
}

// out (m x k, C order) += sum over j of k(query, points[from[j]]) coef[j], in float64; coef is count x k,
// column by column. queries == nullptr: those of a Gram matrix, its own columns.
inline void kernel_sums(const Run& run, const Points& points, const Index* from, Index count,
                        const double* coef, Index k, const Points& queries, double* out) {
  const Index m = points.at.gram != nullptr ? points.at.cols : queries.at.rows,
              step = kernel_detail::tile_cols;
  if (count == 0) return;
  struct Desk {
    BlockDesk<double> block;
    std::vector<double> values, sums;
  };
  std::vector<Desk> desks(static_cast<std::size_t>(run.threads));
  for_chunks(run, (m + step - 1) / step, [&](Index chunk, int worker) {
    Desk& desk = desks[static_cast<std::size_t>(worker)];
    const Index start = chunk * step, size = std::min(step, m - start);
    const Index part = 128;
    desk.values.resize(static_cast<std::size_t>(part * size));
    desk.sums.assign(static_cast<std::size_t>(size * k), 0.0);
    for (Index j = 0; j < count; j += part) {
      const Index some = std::min(part, count - j);
      kernel_tile<double>(run.blas, points, from + j, some, queries, nullptr, start, size, desk.values.data(),
                          size, desk.block);
      for (Index t = 0; t < k; ++t) {
        double* sum = desk.sums.data() + t * size;
        for (Index r = 0; r < some; ++r) {
          const double by = coef[t * count + j + r], *row = desk.values.data() + r * size;
          if (by == 0) continue;
          for (Index c = 0; c < size; ++c) sum[c] += by * row[c];
        }
      }
    }
    for (Index c = 0; c < size; ++c)
      for (Index t = 0; t < k; ++t)
        out[(start + c) * k + t] += desk.sums[static_cast<std::size_t>(t * size + c)];
  });
}

}  // namespace surefit
