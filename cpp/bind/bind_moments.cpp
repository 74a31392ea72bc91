// Python's door to the column moments.
#include <nanobind/stl/optional.h>

#include "bind.h"
#include "moments.h"

namespace surefit::bind {
namespace {

using Weight = std::optional<Vector<double>>;

const double* checked(const Weight& weight, Index rows) {
  if (!weight) return nullptr;
  expect(static_cast<Index>(weight->shape(0)) == rows, "weight must have one entry for each row of X");
  return weight->data();
}

MomentsOut out(OutVector<double>& mean, OutVector<double>& scatter, OutVector<double>& minimum,
               OutVector<double>& maximum, Index cols) {
  for (const auto* vector : {&mean, &scatter, &minimum, &maximum})
    expect(static_cast<Index>(vector->shape(0)) == cols,
           "each output must have one entry for each column of X");
  return {mean.data(), scatter.data(), minimum.data(), maximum.data()};
}

template <class T>
double of_dense(Matrix<T> X, Weight weight, OutVector<double> mean, OutVector<double> scatter,
                OutVector<double> minimum, OutVector<double> maximum, int threads) {
  const Dense<T> x = dense(X);
  const double* s = checked(weight, x.rows);
  const MomentsOut to = out(mean, scatter, minimum, maximum, x.cols);
  double total = 0;
  call(threads, [&](const Run& run) { total = column_moments(run, x, s, to); });
  return total;
}

template <class T, class I>
double of_csr(Vector<T> data, Vector<I> indices, Vector<I> indptr, Index cols, Weight weight,
              OutVector<double> mean, OutVector<double> scatter, OutVector<double> minimum,
              OutVector<double> maximum, int threads) {
  expect(data.shape(0) == indices.shape(0) && indptr.shape(0) >= 1,
         "data and indices must be equally long and indptr must not be empty");
  const Index rows = static_cast<Index>(indptr.shape(0)) - 1, stored = static_cast<Index>(data.shape(0));
  const Csr<T, I> x{data.data(), indices.data(), indptr.data(), rows, cols};
  const double* s = checked(weight, rows);
  const MomentsOut to = out(mean, scatter, minimum, maximum, cols);
  double total = 0;
  call(threads, [&](const Run& run) { total = column_moments(run, x, stored, s, to); });
  return total;
}

template <class T, class I>
void define_csr(nb::module_& m) {
  m.def("column_moments_csr", &of_csr<T, I>, "data"_a.noconvert(), "indices"_a.noconvert(),
        "indptr"_a.noconvert(), "cols"_a, "weight"_a.noconvert().none(), "mean"_a.noconvert(),
        "scatter"_a.noconvert(), "minimum"_a.noconvert(), "maximum"_a.noconvert(), "threads"_a);
}

template <class T>
void define_for(nb::module_& m) {
  m.def("column_moments", &of_dense<T>, "X"_a.noconvert(), "weight"_a.noconvert().none(),
        "mean"_a.noconvert(), "scatter"_a.noconvert(), "minimum"_a.noconvert(), "maximum"_a.noconvert(),
        "threads"_a);
  define_csr<T, std::int32_t>(m);
  define_csr<T, std::int64_t>(m);
}

void define(nb::module_& m) {
  define_for<float>(m);
  define_for<double>(m);
}

const Registered moments(&define);

}  // namespace
}  // namespace surefit::bind
