// Matrices row by row at the border, for the methods that learn from single rows.
#pragma once

#include <nanobind/stl/optional.h>

#include "bind.h"
#include "sample_rows.h"

namespace surefit::bind {

template <class T>
DenseSamples<T> dense_samples(const Matrix<T>& X) {
  const Dense<T> x = dense(X);
  expect(x.order == Order::C || x.rows <= 1 || x.cols <= 1, "X must be in C order");
  return DenseSamples<T>(x);
}

template <class T, class I>
CsrSamples<T, I> csr_samples(const Vector<T>& data, const Vector<I>& indices, const Vector<I>& indptr,
                             Index cols) {
  expect(data.shape(0) == indices.shape(0), "data and indices must be equally long");
  expect(indptr.shape(0) >= 1 && cols >= 0, "indptr must not be empty and the width must be 0 or more");
  const Csr<T, I> x{data.data(), indices.data(), indptr.data(), static_cast<Index>(indptr.shape(0)) - 1,
                    cols};
  return CsrSamples<T, I>(x, static_cast<Index>(data.shape(0)));
}

inline void expect_order(const std::int64_t* order, Index size, Index rows) {
  for (Index n = 0; n < size; ++n)
    expect(order[n] >= 0 && order[n] < rows, "order must hold numbers of rows of X");
}

}  // namespace surefit::bind
