// Python's door to scores grouped by value, and to the areas under their curves.
#include <nanobind/stl/optional.h>

#include "bind.h"
#include "score_groups.h"

namespace surefit::bind {
namespace {

template <class T>
Index grouped(Vector<T> score, Vector<std::uint8_t> positive, std::optional<Vector<double>> weight,
              OutVector<T> value, OutVector<double> above, OutVector<double> below, int threads) {
  const std::size_t rows = score.shape(0);
  expect(positive.shape(0) == rows && (!weight || weight->shape(0) == rows),
         "positive and weight must have one entry for each score");
  expect(value.shape(0) == rows && above.shape(0) == rows && below.shape(0) == rows,
         "value, above and below must have room for one entry a score");
  Index found = 0;
  call(threads, [&](const Run& run) {
    found = score_groups(run, score.data(), positive.data(), weight ? weight->data() : nullptr,
                         static_cast<Index>(rows), value.data(), above.data(), below.data());
  });
  return found;
}

nb::tuple areas(Vector<double> positive, Vector<double> negative, int threads) {
  expect(positive.shape(0) == negative.shape(0), "positive and negative must have the same length");
  Areas found;
  call(threads, [&](const Run& run) {
    found = score_areas(run, positive.data(), negative.data(), static_cast<Index>(positive.shape(0)));
  });
  return nb::make_tuple(found.pairs, found.precision);
}

template <class T>
void define_for(nb::module_& m) {
  m.def("score_groups", &grouped<T>, "score"_a.noconvert(), "positive"_a.noconvert(),
        "weight"_a.noconvert().none(), "value"_a.noconvert(), "above"_a.noconvert(), "below"_a.noconvert(),
        "threads"_a);
}

void define(nb::module_& m) {
  define_for<float>(m);
  define_for<double>(m);
  m.def("score_areas", &areas, "positive"_a.noconvert(), "negative"_a.noconvert(), "threads"_a);
}

const Registered groups(&define);

}  // namespace
}  // namespace surefit::bind
