// Python's door to the numbering of items of a fixed number of bytes.
#include "bind.h"
#include "distinct_items.h"

namespace surefit::bind {
namespace {

nb::list numbered(Matrix<std::uint8_t> items, OutVector<std::int32_t> code, int threads) {
  const Dense<std::uint8_t> rows = dense(items);
  expect(rows.order == Order::C && rows.cols > 0, "items must be in C order and have at least one byte");
  expect(static_cast<Index>(code.shape(0)) == rows.rows, "code must have one entry for each item");
  std::vector<Index> found;
  call(threads,
       [&](const Run& run) { found = distinct_items(run, rows.data, rows.cols, rows.rows, code.data()); });
  nb::list first;
  for (const Index row : found) first.append(row);
  return first;
}

void define(nb::module_& m) {
  m.def("distinct_items", &numbered, "items"_a.noconvert(), "code"_a.noconvert(), "threads"_a);
}

const Registered items(&define);

}  // namespace
}  // namespace surefit::bind
