// Python's door to how a tree answers when columns are shuffled.
#include "bind.h"
#include "tree_shuffle.h"

namespace surefit::bind {
namespace {

template <class T>
void shuffle(Matrix<T> X, Vector<std::int32_t> feature, Vector<double> threshold, Vector<std::int32_t> right,
             Vector<std::uint64_t> left_levels, Vector<std::int64_t> levels, Vector<double> values,
             Vector<std::int64_t> order, OutVector<double> change, bool plain, int threads) {
  const Dense<T> table = dense(X);
  const auto nodes = static_cast<Index>(feature.shape(0));
  const auto width = nodes > 0 ? static_cast<Index>(values.shape(0)) / nodes : Index{0};
  const auto repeats = table.rows > 0 ? static_cast<Index>(order.shape(0)) / table.rows : Index{0};
  expect(static_cast<Index>(levels.shape(0)) == table.cols,
         "levels must have one entry for each column of X");
  expect(static_cast<Index>(values.shape(0)) == nodes * width, "values must have as many numbers a node");
  expect(static_cast<Index>(order.shape(0)) == repeats * table.rows, "order must have one row for each row");
  expect(static_cast<Index>(change.shape(0)) == table.cols * repeats * table.rows * width,
         "change must have an entry for each column, repeat, row and value");
  for (Index i = 0; i < repeats * table.rows; ++i)
    expect(order.data()[i] >= 0 && order.data()[i] < table.rows, "order must name rows of X");
  const TreeView tree{feature.data(), right.data(), threshold.data(), left_levels.data(), levels.data()};
  call(threads, [&](const Run& run) {
    tree_shuffle(run, tree, nodes, values.data(), width, table, order.data(), repeats, change.data(), plain);
  });
}

template <class T>
void define_for(nb::module_& m) {
  m.def("tree_shuffle", &shuffle<T>, "X"_a.noconvert(), "feature"_a.noconvert(), "threshold"_a.noconvert(),
        "right"_a.noconvert(), "left_levels"_a.noconvert(), "levels"_a.noconvert(), "values"_a.noconvert(),
        "order"_a.noconvert(), "change"_a.noconvert(), "plain"_a, "threads"_a);
}

void define(nb::module_& m) {
  define_for<float>(m);
  define_for<double>(m);
}

const Registered tree_shuffle_(&define);

}  // namespace
}  // namespace surefit::bind
