// One row after the other, for methods that learn from single rows: dense in C order, or CSR.
#pragma once

#include <algorithm>
#include <array>

#include "csr_rows.h"
#include "span.h"

namespace surefit {

// Adds up f(0) to f(n - 1), in sums kept apart so that they run side by side.
template <class F>
double in_lanes(Index n, F&& f) {
  constexpr Index lanes = 8;
  std::array<double, lanes> sums{};
  Index j = 0;
  for (; j + lanes <= n; j += lanes)
    for (Index l = 0; l < lanes; ++l) sums[static_cast<std::size_t>(l)] += f(j + l);
  double rest = 0;
  for (; j < n; ++j) rest += f(j);
  return (((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]))) + rest;
}

template <class T>
class DenseSamples {
 public:
  static constexpr bool sparse = false;
  explicit DenseSamples(const Dense<T>& x) : x_(x) {}
  Index rows() const { return x_.rows; }
  Index cols() const { return x_.cols; }

  void go_to(Index i) { row_ = x_.data + i * x_.cols; }
  // Asks for a row that will be needed soon.
  void fetch(Index i) const {
    const Index most = std::min<Index>(x_.cols, 1024 / static_cast<Index>(sizeof(T)));
    for (Index j = 0; j < most; j += 64 / static_cast<Index>(sizeof(T)))
      __builtin_prefetch(x_.data + i * x_.cols + j);
  }
  Index size() const { return x_.cols; }
  Index column(Index k) const { return k; }
  double value(Index k) const { return static_cast<double>(row_[k]); }

  double dot(const double* v) const {
    return in_lanes(x_.cols, [&](Index j) { return static_cast<double>(row_[j]) * v[j]; });
  }

  // Adds a multiple of the row, and returns its squared length.
  double add(double by, double* v) const {
    for (Index j = 0; j < x_.cols; ++j) v[j] += by * static_cast<double>(row_[j]);
    return squares();
  }

  double squares() const {
    return in_lanes(x_.cols, [&](Index j) {
      const double value = static_cast<double>(row_[j]);
      return value * value;
    });
  }

 private:
  Dense<T> x_;
  const T* row_ = nullptr;
};

// Entries stored twice add up, in the product and in the step alike.
template <class T, class I>
class CsrSamples {
 public:
  static constexpr bool sparse = true;
  CsrSamples(const Csr<T, I>& x, Index stored) : x_(x), reader_(x, stored) {
    for (Index i = 0; i < x.rows; ++i) {
      const auto [start, end] = reader_.range(i);
      for (Index k = start; k < end; ++k) reader_.column(k);  // checked once, so that no step has to
    }
  }
  Index rows() const { return x_.rows; }
  Index cols() const { return x_.cols; }

  void fetch(Index i) const {
    const Index start = static_cast<Index>(x_.indptr[i]);
    __builtin_prefetch(x_.data + start);
    __builtin_prefetch(x_.indices + start);
  }
  void go_to(Index i) {
    first_ = static_cast<Index>(x_.indptr[i]);
    size_ = static_cast<Index>(x_.indptr[i + 1]) - first_;
  }
  Index size() const { return size_; }
  Index column(Index k) const { return static_cast<Index>(x_.indices[first_ + k]); }
  double value(Index k) const { return static_cast<double>(x_.data[first_ + k]); }

  double dot(const double* v) const {
    double sum = 0;
    for (Index k = 0; k < size_; ++k) sum += value(k) * v[column(k)];
    return sum;
  }

  double squares() const {
    double sum = 0;
    for (Index k = 0; k < size_; ++k) sum += value(k) * value(k);
    return sum;
  }

  double add(double by, double* v) const {
    double sum = 0;
    for (Index k = 0; k < size_; ++k) {
      const double x = value(k);
      v[column(k)] += by * x;
      sum += x * x;
    }
    return sum;
  }

 private:
  Csr<T, I> x_;
  CsrReader<T, I> reader_;
  Index first_ = 0;
  Index size_ = 0;
};

}  // namespace surefit
