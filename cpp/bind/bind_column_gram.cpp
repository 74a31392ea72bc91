// Python's door to the Gram matrix of chosen columns.
#include "bind_columns.h"
#include "column_gram.h"

namespace surefit::bind {
namespace {

ColumnGram job(const Vector<std::int64_t>& which, Index old, const OptionalVector& centre,
               const OptionalVector& weight, double factor, OutMatrix<double>& G, Index rows, Index cols) {
  ColumnGram made;
  made.which = chosen(which, cols);
  made.old = old;
  made.centre = entries(centre, cols, "centre must have one entry for each column of X");
  made.weight = entries(weight, rows, "weight must have one entry for each row of X");
  made.factor = factor;
  made.G = G.data();
  made.ld = static_cast<Index>(G.shape(1));
  expect(static_cast<Index>(G.shape(0)) >= made.which.count && made.ld >= made.which.count,
         "G must have a row and a column for each chosen column");
  expect(old >= 0 && old <= made.which.count, "old must count some of the chosen columns");
  return made;
}

template <class T>
void gram_dense(Matrix<T> X, Vector<std::int64_t> which, Index old, OptionalVector centre,
                OptionalVector weight, double factor, OutMatrix<double> G, int threads) {
  const Dense<T> x = dense(X);
  const ColumnGram made = job(which, old, centre, weight, factor, G, x.rows, x.cols);
  call(threads, [&](const Run& run) {
    if (x.order == Order::C)
      column_gram(run, x, made);
    else
      column_gram(run, fortran(x), made);
  });
}

template <class T, class I>
void gram_csc(Vector<T> data, Vector<I> indices, Vector<I> indptr, Index rows, Vector<std::int64_t> which,
              Index old, OptionalVector centre, OptionalVector weight, double factor, OutMatrix<double> G,
              int threads) {
  const CscColumns<T, I> x = csc(data, indices, indptr, rows);
  const ColumnGram made = job(which, old, centre, weight, factor, G, rows, x.cols);
  call(threads, [&](const Run& run) { column_gram(run, x, made); });
}

template <class T, class I>
void define_csc(nb::module_& m) {
  m.def("column_gram_csc", &gram_csc<T, I>, "data"_a.noconvert(), "indices"_a.noconvert(),
        "indptr"_a.noconvert(), "rows"_a, "which"_a.noconvert(), "old"_a, "centre"_a.noconvert().none(),
        "weight"_a.noconvert().none(), "factor"_a, "G"_a.noconvert(), "threads"_a);
}

template <class T>
void define_for(nb::module_& m) {
  m.def("column_gram", &gram_dense<T>, "X"_a.noconvert(), "which"_a.noconvert(), "old"_a,
        "centre"_a.noconvert().none(), "weight"_a.noconvert().none(), "factor"_a, "G"_a.noconvert(),
        "threads"_a);
  define_csc<T, std::int32_t>(m);
  define_csc<T, std::int64_t>(m);
}

void define(nb::module_& m) {
  define_for<float>(m);
  define_for<double>(m);
}

const Registered grams(&define);

}  // namespace
}  // namespace surefit::bind
