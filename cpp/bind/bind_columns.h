// Matrices by columns at the border: CSC arrays, chosen columns, and per-column vectors, checked once.
#pragma once

#include <nanobind/stl/optional.h>

#include "bind.h"
#include "columns_dot.h"
#include "coordinate_table.h"

namespace surefit::bind {

using OptionalVector = std::optional<Vector<double>>;
using Chosen = std::optional<Vector<std::int64_t>>;

template <class T, class I>
CscColumns<T, I> csc(const Vector<T>& data, const Vector<I>& indices, const Vector<I>& indptr, Index rows) {
  expect(data.shape(0) == indices.shape(0), "data and indices must be equally long");
  expect(indptr.shape(0) >= 1 && rows >= 0, "indptr must not be empty and the height must be 0 or more");
  return {data.data(), indices.data(), indptr.data(), rows, static_cast<Index>(indptr.shape(0)) - 1};
}

template <class T>
FortranColumns<T> fortran(const Dense<T>& x) {
  return {x.data, x.rows, x.cols};
}

inline const double* entries(const OptionalVector& vector, Index size, const char* message) {
  if (!vector) return nullptr;
  expect(static_cast<Index>(vector->shape(0)) == size, message);
  return vector->data();
}

inline Which chosen(const Chosen& which, Index cols) {
  if (!which) return {nullptr, cols};
  const Which found{which->data(), static_cast<Index>(which->shape(0))};
  for (Index k = 0; k < found.count; ++k)
    expect(found[k] >= 0 && found[k] < cols, "which must hold numbers of columns of X");
  return found;
}

inline CoordinateTable table(const Vector<double>& l1, const Vector<double>& l2, const Vector<double>& lower,
                             const Vector<double>& upper, std::size_t size) {
  expect(l1.shape(0) == size && l2.shape(0) == size && lower.shape(0) == size && upper.shape(0) == size,
         "the table must have one entry for each coefficient");
  return {l1.data(), l2.data(), lower.data(), upper.data()};
}

}  // namespace surefit::bind
