// The matrix that a fit stacks up, sqrt(weight) [1 | [X | Y] - shift], written panel by panel as columns of
// doubles.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "csr_rows.h"
#include "span.h"

namespace surefit {

// What stands beside X. The ones are there only if asked for; Y, weight and shift (one number a column of [X
// | Y]) may be absent.
struct Design {
  bool ones = false;
  Dense<double> Y;
  const double* weight = nullptr;
  const double* shift = nullptr;

  Index cols(Index features) const { return (ones ? 1 : 0) + features + Y.cols; }
  double scale(Index row) const { return weight == nullptr ? 1.0 : std::sqrt(weight[row]); }
};

// A CSR matrix with the number of its stored entries, against which every index is checked.
template <class T, class I>
struct SparseRows {
  SparseRows(const Csr<T, I>& matrix, Index entries)
      : csr(matrix), stored(entries), rows(matrix.rows), cols(matrix.cols) {}
  Csr<T, I> csr;
  Index stored, rows, cols;
};

// Columns [0, X.cols) of the panel get rows [first, first + count) of X, shifted, then scaled.
template <class T>
void fill(const Dense<T>& X, Index first, Index count, const double* scale, const double* shift,
          double* panel, Index ld) {
  constexpr Index strip = 16;  // rows whose cache lines are open at once while a row-major block is turned
  if (X.order == Order::Fortran) {
    for (Index j = 0; j < X.cols; ++j)
      for (Index i = 0; i < count; ++i)
        panel[j * ld + i] = scale[i] * (static_cast<double>(X.data[j * X.rows + first + i]) - shift[j]);
    return;
  }
  for (Index start = 0; start < count; start += strip) {
    const Index stop = std::min(start + strip, count);
    for (Index j = 0; j < X.cols; ++j)
      for (Index i = start; i < stop; ++i)
        panel[j * ld + i] = scale[i] * (static_cast<double>(X.data[(first + i) * X.cols + j]) - shift[j]);
  }
}

template <class T, class I>
void fill(const SparseRows<T, I>& X, Index first, Index count, const double* scale, const double* shift,
          double* panel, Index ld) {
  const CsrReader<T, I> reader(X.csr, X.stored);
  for (Index j = 0; j < X.cols; ++j) std::fill_n(panel + j * ld, count, 0.0);
  for (Index i = 0; i < count; ++i) {
    const auto [start, end] = reader.range(first + i);
    for (Index k = start; k < end; ++k)
      panel[reader.column(k) * ld + i] += static_cast<double>(X.csr.data[k]);
  }
  for (Index j = 0; j < X.cols; ++j)
    for (Index i = 0; i < count; ++i) panel[j * ld + i] = scale[i] * (panel[j * ld + i] - shift[j]);
}

// All columns of the panel; a row of weight 0 is a row of zeros, whatever it holds.
template <class Rows>
void fill_panel(const Rows& X, const Design& design, Index first, Index count, double* panel, Index ld) {
  std::vector<double> scale(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) scale[static_cast<std::size_t>(i)] = design.scale(first + i);
  const std::vector<double> zeros(
      static_cast<std::size_t>(design.shift == nullptr ? X.cols + design.Y.cols : 0));
  const double* shift = design.shift == nullptr ? zeros.data() : design.shift;
  double* column = panel;
  if (design.ones) {
    std::copy(scale.begin(), scale.end(), column);
    column += ld;
  }
  fill(X, first, count, scale.data(), shift, column, ld);
  if (design.Y.cols > 0) fill(design.Y, first, count, scale.data(), shift + X.cols, column + X.cols * ld, ld);
  for (Index i = 0; i < count; ++i)
    if (scale[static_cast<std::size_t>(i)] == 0)
      for (Index j = 0; j < design.cols(X.cols); ++j) panel[j * ld + i] = 0;
}

}  // namespace surefit
