// Python's door to the forces of t-SNE.
#include "bind.h"
#include "force_tree.h"

namespace surefit::bind {
namespace {

double forces(Matrix<double> Y, Vector<double> mass, Vector<std::int64_t> starts, Vector<std::int64_t> ends,
              Vector<double> weight, double angle, OutMatrix<double> repulsion, OutMatrix<double> attraction,
              int threads) {
  const Dense<double> y = dense(Y);
  const Index n = y.rows;
  expect(y.order == Order::C || n <= 1 || y.cols <= 1, "Y must be in C order");
  expect(y.cols == 2 || y.cols == 3, "a tree of points has two or three columns");
  expect(static_cast<Index>(mass.shape(0)) == n && static_cast<Index>(starts.shape(0)) == n + 1 &&
             ends.shape(0) == weight.shape(0) && static_cast<Index>(repulsion.shape(0)) == n &&
             static_cast<Index>(repulsion.shape(1)) == y.cols &&
             static_cast<Index>(attraction.shape(0)) == n &&
             static_cast<Index>(attraction.shape(1)) == y.cols,
         "sizes do not match");
  const auto edges = static_cast<std::int64_t>(ends.shape(0));
  expect(starts.data()[0] == 0 && starts.data()[n] == edges, "starts must span all edges");
  for (Index i = 0; i < n; ++i) expect(starts.data()[i] <= starts.data()[i + 1], "starts must not fall");
  for (std::int64_t e = 0; e < edges; ++e)
    expect(ends.data()[e] >= 0 && ends.data()[e] < n, "an edge ends at no point");
  double sum = 0;
  call(threads, [&](const Run& run) {
    const auto go = [&](auto of) {
      sum = of(run, y.data, mass.data(), n, starts.data(), ends.data(), weight.data(), angle,
               repulsion.data(), attraction.data());
    };
    y.cols == 2 ? go(t_forces<2>) : go(t_forces<3>);
  });
  return sum;
}

void define(nb::module_& m) {
  m.def("t_forces", &forces, "Y"_a.noconvert(), "mass"_a.noconvert(), "starts"_a.noconvert(),
        "ends"_a.noconvert(), "weight"_a.noconvert(), "angle"_a, "repulsion"_a.noconvert(),
        "attraction"_a.noconvert(), "threads"_a);
}

const Registered tree(&define);

}  // namespace
}  // namespace surefit::bind
