// Products with a centred matrix A = X - 1 centre': A'v for all or some columns, and A_S w for some. The
// first is the pass that looks for columns to let in, the second makes a residual. Chunks are cut by shape
// alone.
#pragma once

#include <vector>

#include "buffer.h"
#include "columns.h"
#include "parallel.h"

namespace surefit {

// Some columns of a matrix, in any order; null means all.
struct Which {
  const std::int64_t* index = nullptr;
  Index count = 0;
  Index operator[](Index k) const { return index == nullptr ? k : static_cast<Index>(index[k]); }
};

namespace columns_detail {

inline constexpr Index chunk_work = Index{1} << 17;  // entries of a chunk: a fraction of a millisecond
inline constexpr Index small_work = Index{1} << 18;  // done before another thread wakes up

inline Run for_work(const Run& run, Index work) {
  Run quick = run;
  if (work < small_work) quick.threads = 1;
  return quick;
}

inline double at(const double* values, Index j) {
  return values == nullptr ? 0.0 : values[j];
}

}  // namespace columns_detail

// out[k] = sum_i (x_ij - centre_j) v_i for j = which[k]; centre has an entry a column of X, or is null.
template <class T>
void columns_dot(const Run& run, const FortranColumns<T>& x, Which which, const double* centre,
                 const double* v, double* out) {
  using namespace columns_detail;
  const Index step = std::max<Index>(1, chunk_work / std::max<Index>(1, x.rows));
  const Index chunks = (which.count + step - 1) / step;
  for_chunks(for_work(run, which.count * x.rows), chunks, [&](Index chunk, int) {
    const Index end = std::min(which.count, (chunk + 1) * step);
    for (Index k = chunk * step; k < end; ++k) {
      const Index j = which[k];
      out[k] = centred_dot(x.column(j), at(centre, j), v, x.rows);
    }
  });
}

template <class T, class I>
void columns_dot(const Run& run, const CscColumns<T, I>& x, Which which, const double* centre,
                 const double* v, double* out) {
  using namespace columns_detail;
  double total = 0;
  if (centre != nullptr)
    for (Index i = 0; i < x.rows; ++i) total += v[i];
  const Index stored = x.cols > 0 ? x.end(x.cols - 1) : 0;
  const Index step = std::max<Index>(1, chunk_work / (1 + stored / std::max<Index>(1, x.cols)));
  const Index chunks = (which.count + step - 1) / step;
  for_chunks(for_work(run, chunks * chunk_work), chunks, [&](Index chunk, int) {
    const Index end = std::min(which.count, (chunk + 1) * step);
    for (Index k = chunk * step; k < end; ++k) {
      const Index j = which[k];
      out[k] = x.dot(j, v) - at(centre, j) * total;
    }
  });
}

// The same for all columns of a matrix in C order: blocks of columns by blocks of rows, merged in order.
template <class T>
void columns_dot(const Run& run, const Dense<T>& x, const double* centre, const double* v, double* out) {
  using namespace columns_detail;
  constexpr Index width = 512;
  const Index p = x.cols, bands = std::clamp<Index>(x.rows / 1024, 1, 16);
  const Index blocks = (p + width - 1) / width;
  Buffer parts(bands * p);
  for_chunks(for_work(run, x.rows * p), bands * blocks, [&](Index chunk, int) {
    const Index band = chunk / blocks, left = (chunk % blocks) * width, count = std::min(width, p - left);
    const Index end = x.rows * (band + 1) / bands;
    double* to = parts.data() + band * p + left;
    const Buffer zeros(centre == nullptr ? width : 0);
    const double* m = centre == nullptr ? zeros.data() : centre + left;
    Index i = x.rows * band / bands;
    for (; i + 4 <= end; i += 4) {
      const T *a = x.data + i * p + left, *b = a + p, *c = b + p, *d = c + p;
      const double va = v[i], vb = v[i + 1], vc = v[i + 2], vd = v[i + 3];
      for (Index j = 0; j < count; ++j)
        to[j] += ((static_cast<double>(a[j]) - m[j]) * va + (static_cast<double>(b[j]) - m[j]) * vb) +
                 ((static_cast<double>(c[j]) - m[j]) * vc + (static_cast<double>(d[j]) - m[j]) * vd);
    }
    for (; i < end; ++i) {
      const T* a = x.data + i * p + left;
      for (Index j = 0; j < count; ++j) to[j] += (static_cast<double>(a[j]) - m[j]) * v[i];
    }
  });
  std::fill_n(out, p, 0.0);
  for (Index band = 0; band < bands; ++band)
    for (Index j = 0; j < p; ++j) out[j] += parts[band * p + j];
}

// The same for all columns of a CSR matrix, whose indices the caller has checked.
template <class T, class I>
void columns_dot(const Run& run, const Csr<T, I>& x, const double* centre, const double* v, double* out) {
  using namespace columns_detail;
  const Index p = x.cols, stored = x.rows > 0 ? static_cast<Index>(x.indptr[x.rows]) : 0;
  const Index bands = std::clamp<Index>(stored / (8 * std::max<Index>(1, p)), 1, 16);
  Buffer parts(bands * p);
  double total = 0;
  for (Index i = 0; i < x.rows; ++i) total += v[i];
  for_chunks(for_work(run, stored), bands, [&](Index band, int) {
    double* to = parts.data() + band * p;
    for (Index i = x.rows * band / bands; i < x.rows * (band + 1) / bands; ++i)
      for (Index k = static_cast<Index>(x.indptr[i]); k < static_cast<Index>(x.indptr[i + 1]); ++k)
        to[x.indices[k]] += static_cast<double>(x.data[k]) * v[i];
  });
  for (Index j = 0; j < p; ++j) {
    double sum = 0;
    for (Index band = 0; band < bands; ++band) sum += parts[band * p + j];
    out[j] = sum - at(centre, j) * total;
  }
}

// out[i] += sum_k w_k (x_ij - centre_j) for j = which[k].
template <class T>
void columns_times(const Run& run, const FortranColumns<T>& x, Which which, const double* centre,
                   const double* w, double* out) {
  using namespace columns_detail;
  constexpr Index band = 512;
  for_chunks(for_work(run, which.count * x.rows), (x.rows + band - 1) / band, [&](Index chunk, int) {
    const Index start = chunk * band, count = std::min(band, x.rows - start);
    for (Index k = 0; k < which.count; ++k) {
      const Index j = which[k];
      if (w[k] != 0) add_centred(x.column(j) + start, at(centre, j), w[k], out + start, count);
    }
  });
}

template <class T>
void columns_times(const Run& run, const Dense<T>& x, Which which, const double* centre, const double* w,
                   double* out) {
  using namespace columns_detail;
  constexpr Index band = 256;
  for_chunks(for_work(run, 8 * which.count * x.rows), (x.rows + band - 1) / band, [&](Index chunk, int) {
    for (Index i = chunk * band; i < std::min(x.rows, (chunk + 1) * band); ++i) {
      const T* row = x.data + i * x.cols;
      double sum = 0;
      for (Index k = 0; k < which.count; ++k) {
        const Index j = which[k];
        sum += w[k] * (static_cast<double>(row[j]) - at(centre, j));
      }
      out[i] += sum;
    }
  });
}

// Bands of columns have sums of their own, added in order.
template <class T, class I>
void columns_times(const Run& run, const CscColumns<T, I>& x, Which which, const double* centre,
                   const double* w, double* out) {
  using namespace columns_detail;
  const Index stored = x.cols > 0 ? x.end(x.cols - 1) / x.cols * which.count : 0;
  const Index bands = std::clamp<Index>(stored / (16 * std::max<Index>(1, x.rows)), 1, 8);
  Buffer parts((bands - 1) * x.rows), shifts(bands);
  for_chunks(for_work(run, stored), bands, [&](Index band, int) {
    double* to = band == 0 ? out : parts.data() + (band - 1) * x.rows;
    for (Index k = which.count * band / bands; k < which.count * (band + 1) / bands; ++k) {
      if (w[k] == 0) continue;
      x.add(which[k], w[k], to);
      shifts[band] += w[k] * at(centre, which[k]);
    }
  });
  double shift = 0;
  for (Index band = 0; band < bands; ++band) shift += shifts[band];
  for (Index band = 1; band < bands; ++band)
    for (Index i = 0; i < x.rows; ++i) out[i] += parts[(band - 1) * x.rows + i];
  if (shift != 0)
    for (Index i = 0; i < x.rows; ++i) out[i] -= shift;
}

}  // namespace surefit
