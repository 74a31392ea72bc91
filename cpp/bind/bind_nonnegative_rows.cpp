// Python's door to nonnegative least squares, row by row.
#include "bind.h"
#include "nonnegative_rows.h"

namespace surefit::bind {
namespace {

double rows(Matrix<double> square, Matrix<double> cross, Vector<std::int64_t> order, Index sweeps,
            double tolerance, OutMatrix<double> w, int threads) {
  const Dense<double> a = dense(square), b = dense(cross);
  const Index count = static_cast<Index>(w.shape(1)), n = static_cast<Index>(w.shape(0));
  expect(a.rows == count && a.cols == count && b.rows == n && b.cols == count, "sizes do not match");
  expect(b.order == Order::C || n <= 1 || count <= 1, "cross must be in C order");
  expect(static_cast<Index>(order.shape(0)) == count, "order must name every coordinate");
  for (Index s = 0; s < count; ++s)
    expect(order.data()[s] >= 0 && order.data()[s] < count, "order must name every coordinate");
  double violation = 0;
  call(threads, [&](const Run& run) {
    violation = nonnegative_rows(run, n, count, a.data, b.data, order.data(), sweeps, tolerance, w.data());
  });
  return violation;
}

void define(nb::module_& m) {
  m.def("nonnegative_rows", &rows, "square"_a.noconvert(), "cross"_a.noconvert(), "order"_a.noconvert(),
        "sweeps"_a, "tolerance"_a, "w"_a.noconvert(), "threads"_a);
}

const Registered nonnegative(&define);

}  // namespace
}  // namespace surefit::bind
