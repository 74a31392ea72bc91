// Python's door to block coordinate descent with a Gram matrix.
#include "bind.h"
#include "task_cd.h"

namespace surefit::bind {
namespace {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OutMatrix = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Index descend(Matrix G, Matrix C, Vector<double> l1, Vector<double> l2, OutMatrix W, OutMatrix gradient,
              double least, Index most) {
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
  Index epochs = 0;
  call(1, [&](const Run& run) { epochs = task_cd(run, q, W.data(), gradient.data(), least, most); });
  return epochs;
}

void define(nb::module_& m) {
  m.def("task_cd", &descend, "G"_a.noconvert(), "C"_a.noconvert(), "l1"_a.noconvert(), "l2"_a.noconvert(),
        "W"_a.noconvert(), "gradient"_a.noconvert(), "least"_a, "most"_a);
}

const Registered task(&define);

}  // namespace
}  // namespace surefit::bind
