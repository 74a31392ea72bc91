// Python's door to products with columns.
#include "bind_columns.h"
#include "csr_rows.h"

namespace surefit::bind {
namespace {

constexpr const char* bad_centre = "centre must have one entry for each column of X";

template <class T>
void dot_dense(Matrix<T> X, Vector<double> v, OptionalVector centre, Chosen which, OutVector<double> out,
               int threads) {
  const Dense<T> x = dense(X);
  const Which some = chosen(which, x.cols);
  const double* m = entries(centre, x.cols, bad_centre);
  expect(static_cast<Index>(v.shape(0)) == x.rows, "v must have one entry for each row of X");
  expect(static_cast<Index>(out.shape(0)) == some.count, "out must have one entry for each chosen column");
  if (x.order == Order::C && x.rows > 1 && x.cols > 1) {
    expect(!which, "columns can be chosen in Fortran order only");
    call(threads, [&](const Run& run) { columns_dot(run, x, m, v.data(), out.data()); });
  } else {
    call(threads, [&](const Run& run) { columns_dot(run, fortran(x), some, m, v.data(), out.data()); });
  }
}

template <class T, class I>
void dot_csc(Vector<T> data, Vector<I> indices, Vector<I> indptr, Index rows, Vector<double> v,
             OptionalVector centre, Chosen which, OutVector<double> out, int threads) {
  const CscColumns<T, I> x = csc(data, indices, indptr, rows);
  const Which some = chosen(which, x.cols);
  const double* m = entries(centre, x.cols, bad_centre);
  expect(static_cast<Index>(v.shape(0)) == rows, "v must have one entry for each row of X");
  expect(static_cast<Index>(out.shape(0)) == some.count, "out must have one entry for each chosen column");
  call(threads, [&](const Run& run) { columns_dot(run, x, some, m, v.data(), out.data()); });
}

template <class T, class I>
void dot_csr(Vector<T> data, Vector<I> indices, Vector<I> indptr, Index cols, Vector<double> v,
             OptionalVector centre, OutVector<double> out, int threads) {
  expect(data.shape(0) == indices.shape(0), "data and indices must be equally long");
  expect(indptr.shape(0) >= 1 && cols >= 0, "indptr must not be empty and the width must be 0 or more");
  const Csr<T, I> x{data.data(), indices.data(), indptr.data(), static_cast<Index>(indptr.shape(0)) - 1,
                    cols};
  const double* m = entries(centre, cols, bad_centre);
  expect(static_cast<Index>(v.shape(0)) == x.rows, "v must have one entry for each row of X");
  expect(static_cast<Index>(out.shape(0)) == cols, "out must have one entry for each column of X");
  const CsrReader<T, I> reader(x, static_cast<Index>(data.shape(0)));
  call(threads, [&](const Run& run) {
    for (Index i = 0; i < x.rows; ++i) {
      const auto [start, end] = reader.range(i);
      for (Index k = start; k < end; ++k) reader.column(k);
    }
    columns_dot(run, x, m, v.data(), out.data());
  });
}

template <class T>
void times_dense(Matrix<T> X, Vector<double> w, OptionalVector centre, Chosen which, OutVector<double> out,
                 int threads) {
  const Dense<T> x = dense(X);
  const Which some = chosen(which, x.cols);
  const double* m = entries(centre, x.cols, bad_centre);
  expect(static_cast<Index>(w.shape(0)) == some.count, "w must have one entry for each chosen column");
  expect(static_cast<Index>(out.shape(0)) == x.rows, "out must have one entry for each row of X");
  call(threads, [&](const Run& run) {
    if (x.order == Order::C)
      columns_times(run, x, some, m, w.data(), out.data());
    else
      columns_times(run, fortran(x), some, m, w.data(), out.data());
  });
}

template <class T, class I>
void times_csc(Vector<T> data, Vector<I> indices, Vector<I> indptr, Index rows, Vector<double> w,
               OptionalVector centre, Chosen which, OutVector<double> out, int threads) {
  const CscColumns<T, I> x = csc(data, indices, indptr, rows);
  const Which some = chosen(which, x.cols);
  const double* m = entries(centre, x.cols, bad_centre);
  expect(static_cast<Index>(w.shape(0)) == some.count, "w must have one entry for each chosen column");
  expect(static_cast<Index>(out.shape(0)) == rows, "out must have one entry for each row of X");
  call(threads, [&](const Run& run) { columns_times(run, x, some, m, w.data(), out.data()); });
}

template <class T, class I>
void define_sparse(nb::module_& m) {
  m.def("columns_dot_csc", &dot_csc<T, I>, "data"_a.noconvert(), "indices"_a.noconvert(),
        "indptr"_a.noconvert(), "rows"_a, "v"_a.noconvert(), "centre"_a.noconvert().none(),
        "which"_a.noconvert().none(), "out"_a.noconvert(), "threads"_a);
  m.def("columns_dot_csr", &dot_csr<T, I>, "data"_a.noconvert(), "indices"_a.noconvert(),
        "indptr"_a.noconvert(), "cols"_a, "v"_a.noconvert(), "centre"_a.noconvert().none(),
        "out"_a.noconvert(), "threads"_a);
  m.def("columns_times_csc", &times_csc<T, I>, "data"_a.noconvert(), "indices"_a.noconvert(),
        "indptr"_a.noconvert(), "rows"_a, "w"_a.noconvert(), "centre"_a.noconvert().none(),
        "which"_a.noconvert().none(), "out"_a.noconvert(), "threads"_a);
}

template <class T>
void define_for(nb::module_& m) {
  m.def("columns_dot", &dot_dense<T>, "X"_a.noconvert(), "v"_a.noconvert(), "centre"_a.noconvert().none(),
        "which"_a.noconvert().none(), "out"_a.noconvert(), "threads"_a);
  m.def("columns_times", &times_dense<T>, "X"_a.noconvert(), "w"_a.noconvert(), "centre"_a.noconvert().none(),
        "which"_a.noconvert().none(), "out"_a.noconvert(), "threads"_a);
  define_sparse<T, std::int32_t>(m);
  define_sparse<T, std::int64_t>(m);
}

void define(nb::module_& m) {
  define_for<float>(m);
  define_for<double>(m);
}

const Registered products(&define);

}  // namespace
}  // namespace surefit::bind
