// Python's door to the leaves that rows end in.
#include "bind.h"
#include "tree_apply.h"

namespace surefit::bind {
namespace {

template <class T>
void apply(Matrix<T> X, Vector<std::int32_t> feature, Vector<double> threshold, Vector<std::int32_t> right,
           Vector<std::uint64_t> left_levels, Vector<std::int64_t> levels, OutVector<std::int64_t> leaf,
           int threads) {
  const Dense<T> table = dense(X);
  expect(static_cast<Index>(leaf.shape(0)) == table.rows, "leaf must have one entry for each row of X");
  expect(static_cast<Index>(levels.shape(0)) == table.cols,
         "levels must have one entry for each column of X");
  const TreeView tree{feature.data(), right.data(), threshold.data(), left_levels.data(), levels.data()};
  call(threads, [&](const Run& run) { tree_apply(run, tree, table, leaf.data()); });
}

template <class T>
void define_for(nb::module_& m) {
  m.def("tree_apply", &apply<T>, "X"_a.noconvert(), "feature"_a.noconvert(), "threshold"_a.noconvert(),
        "right"_a.noconvert(), "left_levels"_a.noconvert(), "levels"_a.noconvert(), "leaf"_a.noconvert(),
        "threads"_a);
}

void define(nb::module_& m) {
  define_for<float>(m);
  define_for<double>(m);
}

const Registered tree_apply_(&define);

}  // namespace
}  // namespace surefit::bind
