// Python's door to the Gram kernels.
#include <nanobind/stl/optional.h>

#include "bind.h"
#include "gram_columns.h"
#include "gram_csr.h"

namespace surefit::bind {
namespace {

using Weight = std::optional<Vector<double>>;
using Extra = std::optional<Matrix<double>>;

// What every variant takes beside X, checked against its shape.
struct Inputs {
  Dense<double> extra;
  const double* weight = nullptr;

  Inputs(const Extra& matrix, const Weight& vector, Index rows) {
    if (matrix) extra = dense(*matrix);
    if (vector) weight = vector->data();
    expect(!matrix || extra.rows == rows, "the second matrix must have as many rows as X");
    expect(!vector || static_cast<Index>(vector->shape(0)) == rows,
           "weight must have one entry for each row of X");
  }
};

void expect_shape(const OutMatrix<double>& a, Index rows, Index cols) {
  expect(static_cast<Index>(a.shape(0)) == rows && static_cast<Index>(a.shape(1)) == cols,
         "an output matrix does not have the shape of the result");
}

void expect_size(const OutVector<double>& a, Index size) {
  expect(static_cast<Index>(a.shape(0)) == size, "an output vector does not have the size of the result");
}

template <class T, class I>
Csr<T, I> csr(const Vector<T>& data, const Vector<I>& indices, const Vector<I>& indptr, Index cols) {
  expect(data.shape(0) == indices.shape(0), "data and indices must be equally long");
  expect(indptr.shape(0) >= 1 && cols >= 0, "indptr must not be empty and the width must be 0 or more");
  return {data.data(), indices.data(), indptr.data(), static_cast<Index>(indptr.shape(0)) - 1, cols};
}

// The mean takes d places, or twice as many: then its rounding errors follow.
CentredOut centred_out(OutVector<double>& mean, OutMatrix<double>& scatter, Index d) {
  const bool low = static_cast<Index>(mean.shape(0)) == 2 * d;
  expect_size(mean, low ? 2 * d : d);
  expect_shape(scatter, d, d);
  return {mean.data(), scatter.data(), low ? mean.data() + d : nullptr};
}

template <class T>
double centred_dense(Matrix<T> X, Extra Y, Weight weight, OutVector<double> mean, OutMatrix<double> scatter,
                     int threads) {
  const Dense<T> x = dense(X);
  const Inputs in(Y, weight, x.rows);
  const CentredOut out = centred_out(mean, scatter, x.cols + in.extra.cols);
  double total = 0;
  call(threads, [&](const Run& run) { total = centred_gram(run, x, in.extra, in.weight, out); });
  return total;
}

template <class T, class I>
double centred_csr(Vector<T> data, Vector<I> indices, Vector<I> indptr, Index cols, Extra Y, Weight weight,
                   OutVector<double> mean, OutMatrix<double> scatter, int threads) {
  const Csr<T, I> x = csr(data, indices, indptr, cols);
  const Inputs in(Y, weight, x.rows);
  const Index stored = static_cast<Index>(data.shape(0));
  const CentredOut out = centred_out(mean, scatter, cols + in.extra.cols);
  double total = 0;
  call(threads, [&](const Run& run) { total = centred_gram(run, x, stored, in.extra, in.weight, out); });
  return total;
}

// Columns that lie apart: one vector each, all equally long.
std::vector<const double*> apart(const nb::list& list, Index rows) {
  std::vector<const double*> columns;
  for (const nb::handle item : list) {
    const auto column = nb::cast<Vector<double>>(item, false);
    expect(static_cast<Index>(column.shape(0)) == rows, "all columns must have the given number of rows");
    columns.push_back(column.data());
  }
  return columns;
}

double centred_columns(nb::list columns, Index rows, Extra Y, Weight weight, OutVector<double> mean,
                       OutMatrix<double> scatter, int threads) {
  const std::vector<const double*> x = apart(columns, rows);
  const Inputs in(Y, weight, rows);
  const CentredOut out = centred_out(mean, scatter, static_cast<Index>(x.size()) + in.extra.cols);
  double total = 0;
  call(threads, [&](const Run& run) { total = centred_gram(run, x, rows, in.extra, in.weight, out); });
  return total;
}

template <class T>
void sandwich_dense(Matrix<T> X, Extra G, Weight weight, OutMatrix<double> gram, OutMatrix<double> cross,
                    OutVector<double> sums, int threads) {
  const Dense<T> x = dense(X);
  const Inputs in(G, weight, x.rows);
  expect_shape(gram, x.cols, x.cols);
  expect_shape(cross, x.cols, in.extra.cols);
  expect_size(sums, x.cols);
  call(threads, [&](const Run& run) {
    sandwich(run, x, in.extra, in.weight, {gram.data(), cross.data(), sums.data()});
  });
}

template <class T, class I>
void sandwich_csr(Vector<T> data, Vector<I> indices, Vector<I> indptr, Index cols, Extra G, Weight weight,
                  OutMatrix<double> gram, OutMatrix<double> cross, OutVector<double> sums, int threads) {
  const Csr<T, I> x = csr(data, indices, indptr, cols);
  const Inputs in(G, weight, x.rows);
  const Index stored = static_cast<Index>(data.shape(0));
  expect_shape(gram, cols, cols);
  expect_shape(cross, cols, in.extra.cols);
  expect_size(sums, cols);
  call(threads, [&](const Run& run) {
    sandwich(run, x, stored, in.extra, in.weight, {gram.data(), cross.data(), sums.data()});
  });
}

template <class T, class I>
void define_csr(nb::module_& m) {
  m.def("centred_gram_csr", &centred_csr<T, I>, "data"_a.noconvert(), "indices"_a.noconvert(),
        "indptr"_a.noconvert(), "cols"_a, "Y"_a.noconvert().none(), "weight"_a.noconvert().none(),
        "mean"_a.noconvert(), "scatter"_a.noconvert(), "threads"_a);
  m.def("sandwich_csr", &sandwich_csr<T, I>, "data"_a.noconvert(), "indices"_a.noconvert(),
        "indptr"_a.noconvert(), "cols"_a, "G"_a.noconvert().none(), "weight"_a.noconvert().none(),
        "gram"_a.noconvert(), "cross"_a.noconvert(), "sums"_a.noconvert(), "threads"_a);
}

template <class T>
void define_for(nb::module_& m) {
  m.def("centred_gram", &centred_dense<T>, "X"_a.noconvert(), "Y"_a.noconvert().none(),
        "weight"_a.noconvert().none(), "mean"_a.noconvert(), "scatter"_a.noconvert(), "threads"_a);
  m.def("sandwich", &sandwich_dense<T>, "X"_a.noconvert(), "G"_a.noconvert().none(),
        "weight"_a.noconvert().none(), "gram"_a.noconvert(), "cross"_a.noconvert(), "sums"_a.noconvert(),
        "threads"_a);
  define_csr<T, std::int32_t>(m);
  define_csr<T, std::int64_t>(m);
}

void define(nb::module_& m) {
  define_for<float>(m);
  define_for<double>(m);
  m.def("centred_gram_columns", &centred_columns, "columns"_a, "rows"_a, "Y"_a.noconvert().none(),
        "weight"_a.noconvert().none(), "mean"_a.noconvert(), "scatter"_a.noconvert(), "threads"_a);
}

const Registered gram(&define);

}  // namespace
}  // namespace surefit::bind
