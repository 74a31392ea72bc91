// Python's door to the counts of pairs of codes.
#include <nanobind/stl/optional.h>

#include "bind.h"
#include "pair_counts.h"

namespace surefit::bind {
namespace {

template <class I>
Index counted(Vector<I> a, Vector<I> b, std::optional<Vector<double>> weight, std::int64_t low,
              OutMatrix<double> table, int threads) {
  const std::size_t rows = a.shape(0);
  expect(b.shape(0) == rows && (!weight || weight->shape(0) == rows),
         "a, b and weight must be of one length");
  expect(table.shape(0) == table.shape(1), "table must be square");
  Index outside = 0;
  call(threads, [&](const Run& run) {
    outside = pair_counts(run, a.data(), b.data(), weight ? weight->data() : nullptr,
                          static_cast<Index>(rows), low, static_cast<Index>(table.shape(0)), table.data());
  });
  return outside;
}

template <class I>
void define_for(nb::module_& m) {
  m.def("pair_counts", &counted<I>, "a"_a.noconvert(), "b"_a.noconvert(), "weight"_a.noconvert().none(),
        "low"_a, "table"_a.noconvert(), "threads"_a);
}

void define(nb::module_& m) {
  define_for<std::uint8_t>(m);
  define_for<std::int32_t>(m);
  define_for<std::int64_t>(m);
}

const Registered pairs(&define);

}  // namespace
}  // namespace surefit::bind
