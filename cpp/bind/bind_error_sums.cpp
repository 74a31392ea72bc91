// Python's door to the sums of errors.
#include <nanobind/stl/optional.h>

#include "bind.h"
#include "error_sums.h"

namespace surefit::bind {
namespace {

nb::tuple summed(int kind, double option, Vector<double> truth, Vector<double> guess,
                 std::optional<Vector<double>> weight, bool least, int threads) {
  const Index rows = static_cast<Index>(truth.shape(0));
  expect(
      static_cast<Index>(guess.shape(0)) == rows && (!weight || static_cast<Index>(weight->shape(0)) == rows),
      "guess and weight must have one entry for each of truth");
  expect(kind >= 0 && kind <= 6, "kind is out of range");
  ErrorSums found;
  call(threads, [&](const Run& run) {
    const auto of = [&](const auto& cost) {
      found =
          error_sums(run, cost, truth.data(), guess.data(), weight ? weight->data() : nullptr, rows, least);
    };
    switch (kind) {
      case 0:
        return of(SquaredError{});
      case 1:
        return of(AbsoluteError{});
      case 2:
        return of(RelativeError{});
      case 3:
        return of(PinballError{option});
      case 4:
        return of(SquaredLogError{option});
      case 5:
        return of(PoissonDeviance{});
      default:
        return of(GammaDeviance{});
    }
  });
  return nb::make_tuple(found.weight, found.sum, found.least_weight, found.least_truth, found.least_guess,
                        found.greatest);
}

void define(nb::module_& m) {
  m.def("error_sums", &summed, "kind"_a, "option"_a, "truth"_a.noconvert(), "guess"_a.noconvert(),
        "weight"_a.noconvert().none(), "least"_a, "threads"_a);
}

const Registered sums(&define);

}  // namespace
}  // namespace surefit::bind
