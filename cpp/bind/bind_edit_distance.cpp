// Python's door to the edit distances of all pairs of words.
#include "bind.h"
#include "edit_distance.h"

namespace surefit::bind {
namespace {

Words words(const Vector<std::uint32_t>& letters, const Vector<std::int64_t>& start) {
  expect(start.shape(0) > 0 && start.data()[0] == 0, "start must begin with 0");
  for (std::size_t i = 1; i < start.shape(0); ++i)
    expect(start.data()[i] >= start.data()[i - 1], "start must rise");
  expect(start.data()[start.shape(0) - 1] == static_cast<std::int64_t>(letters.shape(0)),
         "start must end with the number of letters");
  return {letters.data(), start.data(), static_cast<Index>(start.shape(0)) - 1};
}

void distances(Vector<std::uint32_t> left, Vector<std::int64_t> left_start, Vector<std::uint32_t> right,
               Vector<std::int64_t> right_start, OutMatrix<double> out, int threads) {
  const Words a = words(left, left_start), b = words(right, right_start);
  expect(static_cast<Index>(out.shape(0)) == a.count && static_cast<Index>(out.shape(1)) == b.count,
         "out must have one row for each word on the left and one column for each on the right");
  call(threads, [&](const Run& run) { edit_distances(run, a, b, out.data()); });
}

void define(nb::module_& m) {
  m.def("edit_distances", &distances, "left"_a.noconvert(), "left_start"_a.noconvert(), "right"_a.noconvert(),
        "right_start"_a.noconvert(), "out"_a.noconvert(), "threads"_a);
}

const Registered edits(&define);

}  // namespace
}  // namespace surefit::bind
