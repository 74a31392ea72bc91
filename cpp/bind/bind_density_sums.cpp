// Python's door to sums of smoothing kernels over a tree of points.
#include <nanobind/stl/optional.h>

#include "bind.h"
#include "density_sums.h"

namespace surefit::bind {
namespace {

void tree(Matrix<double> X, Index levels, OutVector<std::int64_t> order, OutMatrix<double> boxes) {
  const Dense<double> x = dense(X);
  expect(levels >= 0 && levels < 40 && static_cast<Index>(boxes.shape(0)) == (Index{2} << levels) - 1,
         "boxes must have one row for each node of the tree");
  expect(static_cast<Index>(order.shape(0)) == x.rows && static_cast<Index>(boxes.shape(1)) == 2 * x.cols,
         "order must have one entry for each row, and boxes two columns for each column of X");
  call(1, [&](const Run&) { density_tree(x, levels, order.data(), boxes.data()); });
}

void sums(Matrix<double> columns, Vector<double> weight, Matrix<double> boxes, Vector<double> totals,
          Matrix<double> queries, int kind, double h, double relative, double absolute,
          std::optional<Vector<std::int64_t>> skip, OutVector<double> log_sum, OutVector<double> error,
          int threads) {
  const Dense<double> x = dense(columns), q = dense(queries), b = dense(boxes);
  const Index rows = x.cols, cols = x.rows;
  Index levels = 0;
  while ((Index{2} << levels) - 1 < b.rows) ++levels;
  expect((Index{2} << levels) - 1 == b.rows && static_cast<Index>(totals.shape(0)) == b.rows,
         "boxes and totals must have one row for each node of the tree");
  expect(b.cols == 2 * cols && static_cast<Index>(weight.shape(0)) == rows && q.cols == cols,
         "points, weights, boxes and queries do not fit");
  for (const Dense<double>* each : {&x, &q, &b})
    expect(each->order == Order::C || each->rows <= 1 || each->cols <= 1,
           "columns, boxes and queries must be in C order");
  expect(static_cast<Index>(log_sum.shape(0)) == q.rows && static_cast<Index>(error.shape(0)) == q.rows &&
             (!skip || static_cast<Index>(skip->shape(0)) == q.rows),
         "each output must have one entry for each query");
  expect(kind >= 0 && kind <= 5 && h > 0 && relative >= 0 && absolute >= 0 && rows > 0,
         "there must be points, a positive bandwidth, a known kernel and tolerances of at least 0");
  const DensityPoints points{x.data, weight.data(), b.data, totals.data(), rows, cols, levels};
  const DensityRule rule{static_cast<Smooth>(kind), h, relative, absolute};
  call(threads, [&](const Run& run) {
    density_sums(run, points, rule, q.data, q.rows, skip ? skip->data() : nullptr, log_sum.data(),
                 error.data());
  });
}

void define(nb::module_& m) {
  m.def("density_tree", &tree, "X"_a.noconvert(), "levels"_a, "order"_a.noconvert(), "boxes"_a.noconvert());
  m.def("density_sums", &sums, "columns"_a.noconvert(), "weight"_a.noconvert(), "boxes"_a.noconvert(),
        "totals"_a.noconvert(), "queries"_a.noconvert(), "kind"_a, "h"_a, "relative"_a, "absolute"_a,
        "skip"_a.noconvert().none(), "log_sum"_a.noconvert(), "error"_a.noconvert(), "threads"_a);
}

const Registered densities(&define);

}  // namespace
}  // namespace surefit::bind
