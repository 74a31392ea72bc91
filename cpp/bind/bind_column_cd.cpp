// Python's door to coordinate descent over columns with a residual.
#include "bind_columns.h"
#include "column_cd.h"

namespace surefit::bind {
namespace {

using Floats = Vector<double>;

template <class Columns>
nb::tuple descend(const Columns& x, const Chosen& which, const Floats& centre, const Floats& curvature,
                  const OptionalVector& weight, double total, const Floats& l1, const Floats& l2,
                  const Floats& lower, const Floats& upper, const OptionalVector& noise, OutVector<double>& w,
                  OutVector<double>& r, double tolerance, Index most) {
  const Which some = chosen(which, x.cols);
  const std::size_t m = static_cast<std::size_t>(some.count);
  expect(w.shape(0) == m && centre.shape(0) == m && curvature.shape(0) == m,
         "w, centre and curvature must have one entry for each chosen column");
  expect(static_cast<Index>(r.shape(0)) == x.rows, "the residual must have one entry for each row of X");
  const ColumnProblem problem{some,
                              centre.data(),
                              curvature.data(),
                              entries(weight, x.rows, "weight must have one entry for each row of X"),
                              total,
                              table(l1, l2, lower, upper, m),
                              entries(noise, some.count, "noise must have one entry for each chosen column")};
  Descent done;
  call(1, [&](const Run& run) { done = column_cd(run, x, problem, w.data(), r.data(), tolerance, most); });
  return nb::make_tuple(done.epochs, done.gap, done.still);
}

template <class T>
nb::tuple dense_cd(Matrix<T> X, Chosen which, Floats centre, Floats curvature, OptionalVector weight,
                   double total, Floats l1, Floats l2, Floats lower, Floats upper, OptionalVector noise,
                   OutVector<double> w, OutVector<double> r, double tolerance, Index most) {
  const Dense<T> x = dense(X);
  expect(x.order == Order::Fortran || x.rows <= 1 || x.cols <= 1, "X must be in Fortran order");
  return descend(fortran(x), which, centre, curvature, weight, total, l1, l2, lower, upper, noise, w, r,
                 tolerance, most);
}

template <class T, class I>
nb::tuple csc_cd(Vector<T> data, Vector<I> indices, Vector<I> indptr, Index rows, Chosen which, Floats centre,
                 Floats curvature, OptionalVector weight, double total, Floats l1, Floats l2, Floats lower,
                 Floats upper, OptionalVector noise, OutVector<double> w, OutVector<double> r,
                 double tolerance, Index most) {
  return descend(csc(data, indices, indptr, rows), which, centre, curvature, weight, total, l1, l2, lower,
                 upper, noise, w, r, tolerance, most);
}

template <class T, class I>
void define_csc(nb::module_& m) {
  m.def("column_cd_csc", &csc_cd<T, I>, "data"_a.noconvert(), "indices"_a.noconvert(), "indptr"_a.noconvert(),
        "rows"_a, "which"_a.noconvert().none(), "centre"_a.noconvert(), "curvature"_a.noconvert(),
        "weight"_a.noconvert().none(), "total"_a, "l1"_a.noconvert(), "l2"_a.noconvert(),
        "lower"_a.noconvert(), "upper"_a.noconvert(), "noise"_a.noconvert().none(), "w"_a.noconvert(),
        "r"_a.noconvert(), "tolerance"_a, "most"_a);
}

template <class T>
void define_for(nb::module_& m) {
  m.def("column_cd", &dense_cd<T>, "X"_a.noconvert(), "which"_a.noconvert().none(), "centre"_a.noconvert(),
        "curvature"_a.noconvert(), "weight"_a.noconvert().none(), "total"_a, "l1"_a.noconvert(),
        "l2"_a.noconvert(), "lower"_a.noconvert(), "upper"_a.noconvert(), "noise"_a.noconvert().none(),
        "w"_a.noconvert(), "r"_a.noconvert(), "tolerance"_a, "most"_a);
  define_csc<T, std::int32_t>(m);
  define_csc<T, std::int64_t>(m);
}

void define(nb::module_& m) {
  define_for<float>(m);
  define_for<double>(m);
}

const Registered columns(&define);

}  // namespace
}  // namespace surefit::bind
