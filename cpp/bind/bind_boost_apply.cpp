// Python's door to the answers of boosted trees.
#include "bind.h"
#include "boost_apply.h"

namespace surefit::bind {
namespace {

template <class T>
void apply(Matrix<T> X, Vector<std::int32_t> column, Vector<double> number, Vector<std::int32_t> left,
           Vector<std::int32_t> right, Vector<std::uint8_t> missing_left, Vector<std::uint8_t> by_levels,
           Vector<std::uint64_t> bits, Vector<std::int64_t> root, Index first, Index last,
           OutMatrix<double> score, int threads) {
  const Dense<T> table = dense(X);
  const std::size_t nodes = column.shape(0);
  expect(number.shape(0) == nodes && left.shape(0) == nodes && right.shape(0) == nodes &&
             missing_left.shape(0) == nodes && by_levels.shape(0) == nodes,
         "nodes must have one entry each");
  expect(static_cast<Index>(score.shape(1)) == table.rows, "score must have one entry a row");
  expect(first >= 0 && first <= last && last <= static_cast<Index>(root.shape(0)), "there are fewer trees");
  BoostTrees trees(root.data(), bits.data());
  for (std::size_t i = 0; i < nodes; ++i) {
    const std::int32_t j = column.data()[i];
    expect(j < static_cast<std::int32_t>(table.cols), "X has too few columns");
    // A child stands after its parent, so that no walk is endless.
    const auto at = static_cast<std::int32_t>(i), most = static_cast<std::int32_t>(nodes);
    const std::int32_t l = left.data()[i], r = right.data()[i];
    expect(j < 0 || (l > at && l < most && r > at && r < most), "children must stand after their parent");
    expect(j < 0 || by_levels.data()[i] == 0 ||
               (number.data()[i] >= 0.0 && number.data()[i] + 4.0 <= static_cast<double>(bits.shape(0))),
           "levels must have their bits");
    trees.append(number.data()[i], j, l, r, missing_left.data()[i] != 0, by_levels.data()[i] != 0);
  }
  for (std::size_t t = 0; t < root.shape(0); ++t)
    expect(root.data()[t] >= 0 && root.data()[t] < static_cast<std::int64_t>(nodes), "roots must be nodes");
  call(threads, [&](const Run& run) {
    boost_apply(run, trees, table, first, last, static_cast<Index>(score.shape(0)), score.data());
  });
}

template <class T>
void define_for(nb::module_& m) {
  m.def("boost_apply", &apply<T>, "X"_a.noconvert(), "column"_a.noconvert(), "number"_a.noconvert(),
        "left"_a.noconvert(), "right"_a.noconvert(), "missing_left"_a.noconvert(), "by_levels"_a.noconvert(),
        "bits"_a.noconvert(), "root"_a.noconvert(), "first"_a, "last"_a, "score"_a.noconvert(), "threads"_a);
}

void define(nb::module_& m) {
  define_for<float>(m);
  define_for<double>(m);
  define_for<std::uint8_t>(m);
}

const Registered boost_apply_(&define);

}  // namespace
}  // namespace surefit::bind
