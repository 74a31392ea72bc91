// What the doors to the losses share: vectors that may be missing, checked for length, and rows in any form.
#pragma once

#include <nanobind/stl/optional.h>

#include <vector>

#include "bind.h"
#include "row_tile.h"

namespace surefit::bind {

using Floats = std::optional<Vector<double>>;
using Out = std::optional<OutVector<double>>;

template <class Optional>
auto* sized(Optional& vector, Index size) {
  expect(!vector || static_cast<Index>(vector->shape(0)) == size,
         "a vector has another length than the rows or columns it stands beside");
  return vector ? vector->data() : nullptr;
}

inline void expect_together(const Out& bends, const Out& sums, const Out& squares, const Out& signs) {
  expect((bends && sums && squares && signs) || (!bends && !sums && !squares && !signs),
         "bends, sums, squares and signs come together");
}

// Calls f with the rows that X is a view of: a matrix, or a list of columns that lie apart, all equally long.
template <class F>
auto with_rows(const nb::object& X, std::size_t rows, const F& f) {
  if (nb::isinstance<nb::list>(X)) {
    std::vector<const double*> columns;
    for (const nb::handle item : nb::cast<nb::list>(X)) {
      Vector<double> column;
      if (!nb::try_cast(item, column, false)) throw nb::type_error("columns must be float64 vectors");
      expect(column.shape(0) == rows, "all columns must have one entry a row");
      columns.push_back(column.data());
    }
    return f(ApartColumns{columns.data(), static_cast<Index>(rows), static_cast<Index>(columns.size())});
  }
  Matrix<float> single;
  if (nb::try_cast(X, single, false)) return f(dense(single));
  Matrix<double> whole;
  if (nb::try_cast(X, whole, false)) return f(dense(whole));
  throw nb::type_error("X must be a matrix of float32 or float64, or a list of columns");
}

}  // namespace surefit::bind
