// Python's door to coordinate descent with a Gram matrix.
#include "bind_columns.h"
#include "quad_cd.h"

namespace surefit::bind {
namespace {

nb::tuple descend(nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu> G, Vector<double> c,
                  double energy, Vector<double> l1, Vector<double> l2, Vector<double> lower,
                  Vector<double> upper, OptionalVector noise, OutVector<double> w, OutVector<double> gradient,
                  double tolerance, Index most) {
  const std::size_t m = c.shape(0);
  expect(G.shape(0) >= m && G.shape(1) >= m, "G must have a row and a column for each coefficient");
  expect(w.shape(0) == m && gradient.shape(0) == m, "w and gradient must be as long as c");
  const Index size = static_cast<Index>(m);
  const Quadratic q{size,
                    G.data(),
                    static_cast<Index>(G.shape(1)),
                    c.data(),
                    energy,
                    table(l1, l2, lower, upper, m),
                    entries(noise, size, "noise must have one entry for each coefficient")};
  Descent done;
  call(1, [&](const Run& run) { done = quad_cd(run, q, w.data(), gradient.data(), tolerance, most); });
  return nb::make_tuple(done.epochs, done.gap, done.still);
}

void define(nb::module_& m) {
  m.def("quad_cd", &descend, "G"_a.noconvert(), "c"_a.noconvert(), "energy"_a, "l1"_a.noconvert(),
        "l2"_a.noconvert(), "lower"_a.noconvert(), "upper"_a.noconvert(), "noise"_a.noconvert().none(),
        "w"_a.noconvert(), "gradient"_a.noconvert(), "tolerance"_a, "most"_a);
}

const Registered quad(&define);

}  // namespace
}  // namespace surefit::bind
