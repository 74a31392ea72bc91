// Python's door to the column moments of groups of rows.
#include <nanobind/stl/optional.h>

#include "bind.h"
#include "grouped_moments.h"

namespace surefit::bind {
namespace {

using Codes = Vector<std::int64_t>;
using Weight = std::optional<Vector<double>>;

Groups checked(const Codes& group, const OutVector<double>& total, const Weight& weight, Index rows) {
  expect(static_cast<Index>(group.shape(0)) == rows, "group must have one entry for each row of X");
  expect(!weight || static_cast<Index>(weight->shape(0)) == rows,
         "weight must have one entry for each row of X");
  return {group.data(), static_cast<Index>(total.shape(0)), weight ? weight->data() : nullptr};
}

GroupedOut out(OutVector<double>& total, OutMatrix<double>& mean, OutMatrix<double>& scatter, Index cols) {
  for (const auto* matrix : {&mean, &scatter})
    expect(matrix->shape(0) == total.shape(0) && static_cast<Index>(matrix->shape(1)) == cols,
           "each output must have one row for each group and one column for each column of X");
  return {total.data(), mean.data(), scatter.data()};
}

template <class T>
void of_dense(Matrix<T> X, Codes group, Weight weight, OutVector<double> total, OutMatrix<double> mean,
              OutMatrix<double> scatter, int threads) {
  const Dense<T> x = dense(X);
  const Groups groups = checked(group, total, weight, x.rows);
  const GroupedOut to = out(total, mean, scatter, x.cols);
  call(threads, [&](const Run& run) { grouped_moments(run, x, groups, to); });
}

template <class T, class I>
void of_csr(Vector<T> data, Vector<I> indices, Vector<I> indptr, Index cols, Codes group, Weight weight,
            OutVector<double> total, OutMatrix<double> mean, OutMatrix<double> scatter, int threads) {
  expect(data.shape(0) == indices.shape(0) && indptr.shape(0) >= 1,
         "data and indices must be equally long and indptr must not be empty");
  const Index rows = static_cast<Index>(indptr.shape(0)) - 1, stored = static_cast<Index>(data.shape(0));
  const Csr<T, I> x{data.data(), indices.data(), indptr.data(), rows, cols};
  const Groups groups = checked(group, total, weight, rows);
  const GroupedOut to = out(total, mean, scatter, cols);
  call(threads, [&](const Run& run) { grouped_moments(run, x, stored, groups, to); });
}

template <class T, class I>
void define_csr(nb::module_& m) {
  m.def("grouped_moments_csr", &of_csr<T, I>, "data"_a.noconvert(), "indices"_a.noconvert(),
        "indptr"_a.noconvert(), "cols"_a, "group"_a.noconvert(), "weight"_a.noconvert().none(),
        "total"_a.noconvert(), "mean"_a.noconvert(), "scatter"_a.noconvert(), "threads"_a);
}

template <class T>
void define_for(nb::module_& m) {
  m.def("grouped_moments", &of_dense<T>, "X"_a.noconvert(), "group"_a.noconvert(),
        "weight"_a.noconvert().none(), "total"_a.noconvert(), "mean"_a.noconvert(), "scatter"_a.noconvert(),
        "threads"_a);
  define_csr<T, std::int32_t>(m);
  define_csr<T, std::int64_t>(m);
}

void define(nb::module_& m) {
  define_for<float>(m);
  define_for<double>(m);
}

const Registered grouped(&define);

}  // namespace
}  // namespace surefit::bind
