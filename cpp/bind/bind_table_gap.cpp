// Python's door to the duality gap of squares with a penalty a coefficient.
#include "bind_columns.h"

namespace surefit::bind {
namespace {

nb::tuple gap(Vector<double> w, Vector<double> u, Vector<double> l1, Vector<double> l2, Vector<double> lower,
              Vector<double> upper, OptionalVector noise, double rr, double yr) {
  const std::size_t m = w.shape(0);
  const Index size = static_cast<Index>(m);
  expect(u.shape(0) == m, "u must be as long as w");
  const double* rounding = entries(noise, size, "noise must have one entry for each coefficient");
  const GapAt found =
      duality_gap(size, w.data(), u.data(), table(l1, l2, lower, upper, m), {rr, yr, rounding});
  return nb::make_tuple(found.gap, found.factor);
}

void define(nb::module_& m) {
  m.def("table_gap", &gap, "w"_a.noconvert(), "u"_a.noconvert(), "l1"_a.noconvert(), "l2"_a.noconvert(),
        "lower"_a.noconvert(), "upper"_a.noconvert(), "noise"_a.noconvert().none(), "rr"_a, "yr"_a);
}

const Registered gaps(&define);

}  // namespace
}  // namespace surefit::bind
