// Python's door to the growing of a tree.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "bind.h"
#include "tree_grow.h"

namespace surefit::bind {
namespace {

// A vector that becomes an array without a copy.
template <class E>
nb::object array_of(std::vector<E>&& values) {
  auto* kept = new std::vector<E>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<E>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, E, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

template <class T, class Y>
nb::tuple grow(Matrix<T> X, Vector<Y> y, Index outputs, std::optional<Vector<double>> weight, int criterion,
               std::vector<Index> starts, std::vector<Index> levels, std::vector<std::int8_t> monotone,
               Index max_depth, Index min_rows_split, Index min_rows_leaf, double min_weight_leaf,
               double min_decrease, double min_gain, double pure_below, Index max_leaves, Index max_columns,
               bool random_threshold, std::uint64_t seed, int threads) {
  const Dense<T> table = dense(X);
  expect(table.rows > 0 && table.cols > 0, "X must have rows and columns");
  expect(table.rows < static_cast<Index>(kMissingCode), "X has too many rows");
  expect(static_cast<Index>(y.shape(0)) == table.rows * outputs, "y must have one entry a row and output");
  expect(static_cast<Index>(levels.size()) == table.cols, "levels must have one entry a column");
  expect(!weight || static_cast<Index>(weight->shape(0)) == table.rows, "weight must have one entry a row");
  const double* weights = weight ? weight->data() : nullptr;
  TreeRules rules;
  rules.max_depth = max_depth;
  rules.min_rows_split = min_rows_split;
  rules.min_decrease = min_decrease;
  rules.min_gain = min_gain;
  rules.pure_below = pure_below;
  rules.max_leaves = max_leaves;
  rules.seed = seed;
  rules.search = {min_rows_leaf, min_weight_leaf, max_columns, random_threshold};
  GrownTree tree;
  call(threads, [&](const Run& run) {
    std::vector<std::uint32_t> rows;
    for (Index i = 0; i < table.rows; ++i)
      if (weights == nullptr || weights[i] > 0.0) rows.push_back(static_cast<std::uint32_t>(i));
    const auto kind = static_cast<Impurity>(criterion);
    if constexpr (std::is_same_v<Y, std::int32_t>) {
      ClassSums sums{kind, y.data(), weights, outputs, starts, {}};
      sums.tabulate(table.rows);
      tree = TreeGrower<T, ClassSums>(run, table, rows, sums, rules, levels, monotone).grow();
    } else {
      const NumberSums sums{kind, y.data(), weights, outputs};
      tree = TreeGrower<T, NumberSums>(run, table, rows, sums, rules, levels, monotone).grow();
    }
  });
  return nb::make_tuple(array_of(std::move(tree.feature)), array_of(std::move(tree.threshold)),
                        array_of(std::move(tree.left)), array_of(std::move(tree.right)),
                        array_of(std::move(tree.missing_left)), array_of(std::move(tree.impurity)),
                        array_of(std::move(tree.weight)), array_of(std::move(tree.rows)),
                        array_of(std::move(tree.sums)), array_of(std::move(tree.left_levels)));
}

template <class T, class Y>
void define_for(nb::module_& m, const char* name) {
  m.def(name, &grow<T, Y>, "X"_a.noconvert(), "y"_a.noconvert(), "outputs"_a, "weight"_a.noconvert().none(),
        "criterion"_a, "starts"_a, "levels"_a, "monotone"_a, "max_depth"_a, "min_rows_split"_a,
        "min_rows_leaf"_a, "min_weight_leaf"_a, "min_decrease"_a, "min_gain"_a, "pure_below"_a,
        "max_leaves"_a, "max_columns"_a, "random_threshold"_a, "seed"_a, "threads"_a);
}

void define(nb::module_& m) {
  define_for<float, std::int32_t>(m, "tree_grow_classes");
  define_for<double, std::int32_t>(m, "tree_grow_classes");
  define_for<float, double>(m, "tree_grow_numbers");
  define_for<double, double>(m, "tree_grow_numbers");
}

const Registered tree_grow(&define);

}  // namespace
}  // namespace surefit::bind
