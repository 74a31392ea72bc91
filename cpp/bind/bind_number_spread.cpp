// Python's door to how numbers and the errors in them vary.
#include <nanobind/stl/optional.h>

#include "bind.h"
#include "number_spread.h"

namespace surefit::bind {
namespace {

nb::tuple tuple_of(const Spread& s) {
  return nb::make_tuple(s.weight, s.mean, s.low, s.scatter, s.least, s.most);
}

nb::tuple spread(Vector<double> truth, Vector<double> guess, std::optional<Vector<double>> weight,
                 bool with_errors, int threads) {
  const Index rows = static_cast<Index>(truth.shape(0));
  expect(
      static_cast<Index>(guess.shape(0)) == rows && (!weight || static_cast<Index>(weight->shape(0)) == rows),
      "guess and weight must have one entry for each of truth");
  Variation found;
  call(threads, [&](const Run& run) {
    found = variation(run, truth.data(), guess.data(), weight ? weight->data() : nullptr, rows, with_errors);
  });
  return nb::make_tuple(found.squares, tuple_of(found.truth), tuple_of(found.errors));
}

void define(nb::module_& m) {
  m.def("number_spread", &spread, "truth"_a.noconvert(), "guess"_a.noconvert(), "weight"_a.noconvert().none(),
        "with_errors"_a, "threads"_a);
}

const Registered spreads(&define);

}  // namespace
}  // namespace surefit::bind
