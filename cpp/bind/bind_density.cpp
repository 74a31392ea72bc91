// Python's door to clusters by density.
#include "bind.h"
#include "grid_density.h"

namespace surefit::bind {
namespace {

template <int D>
void solve(const Run& run, const Dense<double>& rows, const double* weight, double eps, double least,
           bool nearest, std::uint8_t* core, std::int64_t* label) {
  GridDensity<D>(run, rows.data, rows.rows, eps, weight, least).solve(nearest, core, label);
}

void grid(Matrix<double> X, Vector<double> weight, double eps, double least, bool nearest,
          OutVector<std::uint8_t> core, OutVector<std::int64_t> label, int threads) {
  const Dense<double> rows = dense(X);
  expect(rows.order == Order::C || rows.cols == 1 || rows.rows == 1, "X must be in C order");
  expect(rows.cols >= 1 && rows.cols <= 3, "a grid has one to three columns");
  expect(rows.rows < (Index{1} << 31), "there are too many rows");
  expect(weight.shape(0) == 0 || static_cast<Index>(weight.shape(0)) == rows.rows,
         "there must be a weight for each row");
  expect(static_cast<Index>(core.shape(0)) == rows.rows && static_cast<Index>(label.shape(0)) == rows.rows,
         "core and label must have one entry for each row");
  expect(eps > 0, "eps must be positive");
  const double* weights = weight.shape(0) == 0 ? nullptr : weight.data();
  call(threads, [&](const Run& run) {
    const auto with = [&](auto solver) {
      solver(run, rows, weights, eps, least, nearest, core.data(), label.data());
    };
    if (rows.cols == 1) with(solve<1>);
    if (rows.cols == 2) with(solve<2>);
    if (rows.cols == 3) with(solve<3>);
  });
}

void define(nb::module_& m) {
  m.def("grid_density", &grid, "X"_a.noconvert(), "weight"_a.noconvert(), "eps"_a, "least"_a, "nearest"_a,
        "core"_a.noconvert(), "label"_a.noconvert(), "threads"_a);
}

const Registered density(&define);

}  // namespace
}  // namespace surefit::bind
