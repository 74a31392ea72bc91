// Python's door to the sums of a step of expectation and maximisation.
#include <nanobind/stl/optional.h>

#include "bind.h"
#include "mixture_sums.h"

namespace surefit::bind {
namespace {

NormalMixture checked(const Matrix<double>& mean, const Vector<double>& factor, const Vector<double>& offset,
                      bool diagonal, Index cols) {
  const Dense<double> means = dense(mean);
  expect(means.cols == cols, "mean must have one column for each column of X");
  expect(means.rows == static_cast<Index>(offset.shape(0)), "mean and offset must be equally many");
  expect(means.order == Order::C || means.rows <= 1 || means.cols <= 1, "mean must be in C order");
  const NormalMixture m{means.data, factor.data(), offset.data(), means.rows, cols, diagonal};
  expect(static_cast<Index>(factor.shape(0)) == m.count * m.square(), "factor has the wrong size");
  return m;
}

template <class T>
double sums(Matrix<T> X, std::optional<Vector<double>> weight, Matrix<double> mean, Vector<double> factor,
            Vector<double> offset, bool diagonal, OutVector<double> total, OutMatrix<double> first,
            OutVector<double> square, int threads) {
  const Dense<T> x = dense(X);
  const NormalMixture m = checked(mean, factor, offset, diagonal, x.cols);
  if (weight) expect(static_cast<Index>(weight->shape(0)) == x.rows, "one weight for each row");
  expect(static_cast<Index>(total.shape(0)) == m.count && static_cast<Index>(first.shape(0)) == m.count &&
             static_cast<Index>(first.shape(1)) == m.cols &&
             static_cast<Index>(square.shape(0)) == m.count * m.square(),
         "the outputs have the wrong sizes");
  double likelihood = 0;
  call(threads, [&](const Run& run) {
    likelihood =
        mixture_sums(run, x, weight ? weight->data() : nullptr, m, total.data(), first.data(), square.data());
  });
  return likelihood;
}

template <class T>
void scores(Matrix<T> X, Matrix<double> mean, Vector<double> factor, Vector<double> offset, bool diagonal,
            OutMatrix<double> out, int threads) {
  const Dense<T> x = dense(X);
  const NormalMixture m = checked(mean, factor, offset, diagonal, x.cols);
  expect(static_cast<Index>(out.shape(0)) == x.rows && static_cast<Index>(out.shape(1)) == m.count,
         "the output must have one row for each row of X and one column for each component");
  call(threads, [&](const Run& run) { mixture_scores(run, x, m, out.data()); });
}

template <class T>
void define_for(nb::module_& m) {
  m.def("mixture_sums", &sums<T>, "X"_a.noconvert(), "weight"_a.noconvert().none(), "mean"_a.noconvert(),
        "factor"_a.noconvert(), "offset"_a.noconvert(), "diagonal"_a, "total"_a.noconvert(),
        "first"_a.noconvert(), "square"_a.noconvert(), "threads"_a);
  m.def("mixture_scores", &scores<T>, "X"_a.noconvert(), "mean"_a.noconvert(), "factor"_a.noconvert(),
        "offset"_a.noconvert(), "diagonal"_a, "out"_a.noconvert(), "threads"_a);
}

void define(nb::module_& m) {
  define_for<float>(m);
  define_for<double>(m);
}

const Registered mixture(&define);

}  // namespace
}  // namespace surefit::bind
