// Python's door to the scores of normal densities.
#include "bind.h"
#include "normal_scores.h"

namespace surefit::bind {
namespace {

Normals checked(const Matrix<double>& mean, const Matrix<double>& scale, const Vector<double>& offset,
                Index cols) {
  const Dense<double> means = dense(mean), scales = dense(scale);
  for (const Dense<double>* each : {&means, &scales}) {
    expect(each->cols == cols, "mean and scale must have one column for each column of X");
    expect(each->rows == static_cast<Index>(offset.shape(0)), "mean, scale and offset must be equally many");
    expect(each->order == Order::C || each->rows <= 1 || each->cols <= 1,
           "mean and scale must be in C order");
  }
  return {means.data, scales.data, offset.data(), means.rows, cols};
}

template <class T>
void scores(Matrix<T> X, Matrix<double> mean, Matrix<double> scale, Vector<double> offset,
            OutMatrix<double> out, int threads) {
  const Dense<T> x = dense(X);
  const Normals normals = checked(mean, scale, offset, x.cols);
  expect(static_cast<Index>(out.shape(0)) == x.rows && out.shape(1) == offset.shape(0),
         "the output must have one row for each row of X and one column for each density");
  call(threads, [&](const Run& run) { normal_scores(run, x, normals, out.data()); });
}

template <class T>
void best(Matrix<T> X, Matrix<double> mean, Matrix<double> scale, Vector<double> offset, Index otherwise,
          OutVector<std::int64_t> out, int threads) {
  const Dense<T> x = dense(X);
  const Normals normals = checked(mean, scale, offset, x.cols);
  expect(static_cast<Index>(out.shape(0)) == x.rows, "the output must have one entry for each row of X");
  call(threads, [&](const Run& run) { best_normal(run, x, normals, otherwise, out.data()); });
}

template <class T>
void define_for(nb::module_& m) {
  m.def("normal_scores", &scores<T>, "X"_a.noconvert(), "mean"_a.noconvert(), "scale"_a.noconvert(),
        "offset"_a.noconvert(), "out"_a.noconvert(), "threads"_a);
  m.def("best_normal", &best<T>, "X"_a.noconvert(), "mean"_a.noconvert(), "scale"_a.noconvert(),
        "offset"_a.noconvert(), "otherwise"_a, "out"_a.noconvert(), "threads"_a);
}

void define(nb::module_& m) {
  define_for<float>(m);
  define_for<double>(m);
}

const Registered normals(&define);

}  // namespace
}  // namespace surefit::bind
