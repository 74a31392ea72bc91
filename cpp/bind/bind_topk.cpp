// Python's door to row-wise argmin and top-k.
#include "bind.h"
#include "topk.h"

namespace surefit::bind {
namespace {

template <class T>
void argmin(Matrix<T> A, OutVector<std::int64_t> index, OutVector<T> value, int threads) {
  const Dense<T> rows = dense(A);
  expect(rows.cols > 0, "A must have at least one column");
  expect(static_cast<Index>(index.shape(0)) == rows.rows && static_cast<Index>(value.shape(0)) == rows.rows,
         "index and value must have one entry for each row of A");
  call(threads, [&](const Run& run) { row_argmin(run, rows, index.data(), value.data()); });
}

template <class T>
void first_k(Matrix<T> A, bool largest, OutMatrix<std::int64_t> index, OutMatrix<T> value, int threads) {
  const Dense<T> rows = dense(A);
  const Index k = static_cast<Index>(index.shape(1));
  expect(k >= 1 && k <= rows.cols, "k must lie between 1 and the number of columns of A");
  expect(static_cast<Index>(index.shape(0)) == rows.rows && static_cast<Index>(value.shape(0)) == rows.rows &&
             static_cast<Index>(value.shape(1)) == k,
         "index and value must have one row for each row of A, and k columns");
  call(threads, [&](const Run& run) { top_k(run, rows, k, largest, index.data(), value.data()); });
}

template <class T>
void define_for(nb::module_& m) {
  m.def("row_argmin", &argmin<T>, "A"_a.noconvert(), "index"_a.noconvert(), "value"_a.noconvert(),
        "threads"_a);
  m.def("top_k", &first_k<T>, "A"_a.noconvert(), "largest"_a, "index"_a.noconvert(), "value"_a.noconvert(),
        "threads"_a);
}

void define(nb::module_& m) {
  define_for<float>(m);
  define_for<double>(m);
}

const Registered topk(&define);

}  // namespace
}  // namespace surefit::bind
