// Python's door to the sums of columns within classes.
#include <nanobind/stl/optional.h>

#include "bind.h"
#include "class_sums.h"

namespace surefit::bind {
namespace {

using Codes = Vector<std::int64_t>;
using Weight = std::optional<Vector<double>>;

ClassOf checked(const Codes& codes, const Weight& weight, const std::optional<double>& threshold, Index rows,
                Index cols, const OutMatrix<double>& sums, const OutVector<double>& least) {
  expect(static_cast<Index>(codes.shape(0)) == rows, "codes must have one entry for each row of X");
  expect(!weight || static_cast<Index>(weight->shape(0)) == rows,
         "weight must have one entry for each row of X");
  expect(static_cast<Index>(sums.shape(1)) == cols && least.shape(0) == 1,
         "sums must have one column for each column of X, and least one entry");
  return {codes.data(), static_cast<Index>(sums.shape(0)), weight ? weight->data() : nullptr,
          threshold ? &*threshold : nullptr};
}

template <class T>
void of_dense(Matrix<T> X, Codes codes, Weight weight, std::optional<double> threshold,
              OutMatrix<double> sums, OutVector<double> least, int threads) {
  const Dense<T> x = dense(X);
  const ClassOf classes = checked(codes, weight, threshold, x.rows, x.cols, sums, least);
  call(threads, [&](const Run& run) { class_sums(run, x, classes, sums.data(), least.data()); });
}

template <class T, class I>
void of_csr(Vector<T> data, Vector<I> indices, Vector<I> indptr, Index cols, Codes codes, Weight weight,
            std::optional<double> threshold, OutMatrix<double> sums, OutVector<double> least, int threads) {
  expect(data.shape(0) == indices.shape(0) && indptr.shape(0) >= 1,
         "data and indices must be equally long and indptr must not be empty");
  const Index rows = static_cast<Index>(indptr.shape(0)) - 1, stored = static_cast<Index>(data.shape(0));
  const Csr<T, I> x{data.data(), indices.data(), indptr.data(), rows, cols};
  const ClassOf classes = checked(codes, weight, threshold, rows, cols, sums, least);
  call(threads, [&](const Run& run) { class_sums(run, x, stored, classes, sums.data(), least.data()); });
}

template <class T, class I>
void define_csr(nb::module_& m) {
  m.def("class_sums_csr", &of_csr<T, I>, "data"_a.noconvert(), "indices"_a.noconvert(),
        "indptr"_a.noconvert(), "cols"_a, "codes"_a.noconvert(), "weight"_a.noconvert().none(),
        "threshold"_a.none(), "sums"_a.noconvert(), "least"_a.noconvert(), "threads"_a);
}

template <class T>
void define_for(nb::module_& m) {
  m.def("class_sums", &of_dense<T>, "X"_a.noconvert(), "codes"_a.noconvert(), "weight"_a.noconvert().none(),
        "threshold"_a.none(), "sums"_a.noconvert(), "least"_a.noconvert(), "threads"_a);
  define_csr<T, std::int32_t>(m);
  define_csr<T, std::int64_t>(m);
}

void define(nb::module_& m) {
  define_for<float>(m);
  define_for<double>(m);
}

const Registered sums_of_classes(&define);

}  // namespace
}  // namespace surefit::bind
