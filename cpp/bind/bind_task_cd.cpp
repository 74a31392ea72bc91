// Python's door to block coordinate descent with a Gram matrix.
#include <nanobind/stl/pair.h>

#include "bind.h"
#include "task_cd.h"

namespace surefit::bind {
namespace {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OutMatrix = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::pair<Index, double> descend(Matrix G, Matrix C, Vector<double> l1, Vector<double> l2, OutMatrix W,
                                 OutMatrix gradient, double outside, double tolerance, Index most) {
  const std::size_t m = C.shape(0), outputs = C.shape(1);
  expect(G.shape(0) >= m && G.shape(1) >= m, "G must have a row and a column for each row of C");
  expect(l1.shape(0) == m && l2.shape(0) == m, "l1 and l2 must have one entry for each row of C");
  expect(W.shape(0) == m && W.shape(1) == outputs && gradient.shape(0) == m && gradient.shape(1) == outputs,
         "W and gradient must have the shape of C");
  const TaskQuadratic q{static_cast<Index>(m),
                        static_cast<Index>(outputs),
                        G.data(),
                        static_cast<Index>(G.shape(1)),
                        C.data(),
                        l1.data(),
                        l2.data()};
  TaskEnd end{};
  call(1,
       [&](const Run& run) { end = task_cd(run, q, W.data(), gradient.data(), outside, tolerance, most); });
  return {end.sweeps, end.gap};
}

double gap(Matrix W, Matrix gradient, Vector<double> l1, Vector<double> l2, double rr) {
  const std::size_t m = W.shape(0), outputs = W.shape(1);
  expect(gradient.shape(0) == m && gradient.shape(1) == outputs, "gradient must have the shape of W");
  expect(l1.shape(0) == m && l2.shape(0) == m, "l1 and l2 must have one entry for each row of W");
  return row_gap(static_cast<Index>(m), static_cast<Index>(outputs), W.data(), gradient.data(), l1.data(),
                 l2.data(), rr);
}

void define(nb::module_& m) {
  m.def("task_cd", &descend, "G"_a.noconvert(), "C"_a.noconvert(), "l1"_a.noconvert(), "l2"_a.noconvert(),
        "W"_a.noconvert(), "gradient"_a.noconvert(), "outside"_a, "tolerance"_a, "most"_a);
  m.def("row_gap", &gap, "W"_a.noconvert(), "gradient"_a.noconvert(), "l1"_a.noconvert(), "l2"_a.noconvert(),
        "rr"_a);
}

const Registered task(&define);

}  // namespace
}  // namespace surefit::bind
