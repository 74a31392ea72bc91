// Matrices by columns, dense in Fortran order or compressed (CSC): products of a column with a vector, and a
// column added to one. Sums are kept in a fixed number of parts, so that they round alike on every machine.
#pragma once

#include <algorithm>
#include <cmath>

#include "four.h"
#include "span.h"

namespace surefit {

typedef float FourFloats __attribute__((vector_size(16), aligned(4), may_alias));

inline void load_four(const double* from, Four& to) {
  to = four(from);
}
inline void load_four(const float* from, Four& to) {
  to = __builtin_convertvector(*reinterpret_cast<const FourFloats*>(from), Four);
}

inline double added(const Four& a) {
  return (a[0] + a[2]) + (a[1] + a[3]);
}

// sum_i (x_i - centre) v_i
template <class T>
double centred_dot(const T* x, double centre, const double* v, Index n) {
  Four a{}, b{}, c{}, d{}, x0, x1, x2, x3;
  const Four m = {centre, centre, centre, centre};
  Index i = 0;
  for (; i + 16 <= n; i += 16) {
    load_four(x + i, x0);
    load_four(x + i + 4, x1);
    load_four(x + i + 8, x2);
    load_four(x + i + 12, x3);
    a += (x0 - m) * four(v + i);
    b += (x1 - m) * four(v + i + 4);
    c += (x2 - m) * four(v + i + 8);
    d += (x3 - m) * four(v + i + 12);
  }
  double rest = 0;
  for (; i < n; ++i) rest += (static_cast<double>(x[i]) - centre) * v[i];
  return added((a + b) + (c + d)) + rest;
}

// sum_i weight_i (x_i - centre) v_i
template <class T>
double centred_dot(const T* x, double centre, const double* v, const double* weight, Index n) {
  Four a{}, b{}, x0, x1;
  const Four m = {centre, centre, centre, centre};
  Index i = 0;
  for (; i + 8 <= n; i += 8) {
    load_four(x + i, x0);
    load_four(x + i + 4, x1);
    a += (x0 - m) * (four(weight + i) * four(v + i));
    b += (x1 - m) * (four(weight + i + 4) * four(v + i + 4));
  }
  double rest = 0;
  for (; i < n; ++i) rest += (static_cast<double>(x[i]) - centre) * (weight[i] * v[i]);
  return added(a + b) + rest;
}

inline double plain_dot(const double* x, const double* v, Index n) {
  return centred_dot(x, 0.0, v, n);
}

// v += step (x - centre)
template <class T>
void add_centred(const T* x, double centre, double step, double* v, Index n) {
  for (Index i = 0; i < n; ++i) v[i] += step * (static_cast<double>(x[i]) - centre);
}

template <class T>
struct FortranColumns {
  static constexpr bool sparse = false;
  using Value = T;
  const T* data = nullptr;
  Index rows = 0;
  Index cols = 0;

  const T* column(Index j) const { return data + j * rows; }
  Index stored(Index) const { return rows; }
};

// I is int32 or int64, as scipy chooses. Row indices must increase within a column and lie in [0, rows):
// csc_is_sound() looks, once for all kernels.
template <class T, class I>
struct CscColumns {
  static constexpr bool sparse = true;
  using Value = T;
  const T* data = nullptr;
  const I* indices = nullptr;
  const I* indptr = nullptr;
  Index rows = 0;
  Index cols = 0;

  Index first(Index j) const { return static_cast<Index>(indptr[j]); }
  Index end(Index j) const { return static_cast<Index>(indptr[j + 1]); }
  Index stored(Index j) const { return end(j) - first(j); }

  // Asks for the entries of a column that comes soon; a long one brings itself in.
  void fetch(Index j) const {
    constexpr Index line = 64;
    const Index k = first(j), count = std::min<Index>(stored(j), 256);
    for (Index at = 0; at < count * Index{sizeof(T)}; at += line)
      __builtin_prefetch(reinterpret_cast<const char*>(data + k) + at);
    for (Index at = 0; at < count * Index{sizeof(I)}; at += line)
      __builtin_prefetch(reinterpret_cast<const char*>(indices + k) + at);
  }

  // sum over the stored entries of x_i v_i
  double dot(Index j, const double* v) const {
    double a = 0, b = 0, c = 0, d = 0;
    Index k = first(j);
    const Index last = end(j);
    for (; k + 4 <= last; k += 4) {
      a += static_cast<double>(data[k]) * v[indices[k]];
      b += static_cast<double>(data[k + 1]) * v[indices[k + 1]];
      c += static_cast<double>(data[k + 2]) * v[indices[k + 2]];
      d += static_cast<double>(data[k + 3]) * v[indices[k + 3]];
    }
    for (; k < last; ++k) a += static_cast<double>(data[k]) * v[indices[k]];
    return (a + b) + (c + d);
  }

  // sum over the stored entries of weight_i x_i v_i
  double dot(Index j, const double* v, const double* weight) const {
    double a = 0, b = 0;
    Index k = first(j);
    const Index last = end(j);
    for (; k + 2 <= last; k += 2) {
      a += static_cast<double>(data[k]) * (weight[indices[k]] * v[indices[k]]);
      b += static_cast<double>(data[k + 1]) * (weight[indices[k + 1]] * v[indices[k + 1]]);
    }
    for (; k < last; ++k) a += static_cast<double>(data[k]) * (weight[indices[k]] * v[indices[k]]);
    return a + b;
  }

  // v_i += step x_i on the stored entries
  void add(Index j, double step, double* v) const {
    for (Index k = first(j); k < end(j); ++k) v[indices[k]] += step * static_cast<double>(data[k]);
  }
};

// Whether indptr fits the stored entries and the row indices of every column increase within the matrix.
template <class T, class I>
bool csc_is_sound(const CscColumns<T, I>& x, Index stored, Index begin, Index end) {
  for (Index j = begin; j < end; ++j) {
    const Index first = x.first(j), last = x.end(j);
    if (first < 0 || first > last || last > stored) return false;
    bool rising =
        first == last || (x.indices[first] >= 0 && static_cast<Index>(x.indices[last - 1]) < x.rows);
    for (Index k = first + 1; k < last; ++k) rising &= x.indices[k - 1] < x.indices[k];
    if (!rising) return false;
  }
  return true;
}

}  // namespace surefit
