// Python's door to the growing of forests.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "bind.h"
#include "forest.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace surefit::bind {
namespace {

// The C library holds on to what threads gave back, which may be as much as the table itself.
void return_memory() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

template <class E>
nb::object array_of(std::vector<E>&& values) {
  auto* kept = new std::vector<E>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<E>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, E, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

nb::object array_of_nodes(std::vector<ForestNode>&& nodes) {
  auto* kept = new std::vector<ForestNode>(std::move(nodes));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<ForestNode>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, std::uint64_t, nb::ndim<2>>(
      reinterpret_cast<std::uint64_t*>(kept->data()), {kept->size(), 2}, owner));
}

// What Python reads of a tree; its arrays are moved.
nb::tuple parts_of(ForestTree&& tree) {
  return nb::make_tuple(array_of_nodes(std::move(tree.nodes)), array_of(std::move(tree.values)),
                        array_of(std::move(tree.weight)), array_of(std::move(tree.impurity)),
                        array_of(std::move(tree.rows)), array_of(std::move(tree.importance)),
                        array_of(std::move(tree.level_bits)), array_of(std::move(tree.inner)));
}

template <class T, class Y>
nb::list grow(Matrix<T> X, bool quick, bool small, std::optional<Vector<std::uint32_t>> rank,
              std::optional<Vector<std::uint32_t>> ascending, Vector<std::uint8_t> bins,
              Vector<double> lowest, Vector<double> highest, bool by_column, Vector<Y> y, Index outputs,
              std::optional<Vector<double>> weight, std::optional<Vector<double>> cumulative, Index draws,
              bool balanced, int criterion, std::vector<Index> starts, std::vector<Index> levels,
              std::vector<std::int8_t> monotone, Index max_depth, Index min_rows_split, Index min_rows_leaf,
              double min_weight_leaf, double min_decrease, double min_gain, double pure_below,
              Index max_leaves, Index max_columns, bool random_threshold, Vector<std::uint64_t> seeds,
              int threads) {
  const Dense<T> table = dense(X);
  const Index cells = table.rows * table.cols;
  expect(table.rows > 0 && table.cols > 0, "X must have rows and columns");
  expect(table.rows < static_cast<Index>(kMissingCode), "X has too many rows");
  expect(static_cast<Index>(y.shape(0)) == table.rows * outputs, "y must have one entry a row and output");
  expect(static_cast<Index>(levels.size()) == table.cols, "levels must have one entry a column");
  expect(!weight || static_cast<Index>(weight->shape(0)) == table.rows, "weight must have one entry a row");
  expect(!cumulative || static_cast<Index>(cumulative->shape(0)) == table.rows,
         "cumulative must have one entry a row");
  const auto* places = rank ? &*rank : ascending ? &*ascending : nullptr;
  expect(!(rank && ascending), "one of rank and ascending must be None");
  expect(places == nullptr ||
             (static_cast<Index>(places->shape(0)) == cells && static_cast<Index>(bins.shape(0)) == cells &&
              static_cast<Index>(lowest.shape(0)) == table.cols * kMostBins &&
              static_cast<Index>(highest.shape(0)) == table.cols * kMostBins),
         "the ranked columns must be those of X");
  TreeRules rules;
  rules.max_depth = max_depth;
  rules.min_rows_split = min_rows_split;
  rules.min_decrease = min_decrease;
  rules.min_gain = min_gain;
  rules.pure_below = pure_below;
  rules.max_leaves = max_leaves;
  rules.search = {min_rows_leaf, min_weight_leaf, max_columns, random_threshold};
  const ForestSample sample{draws, cumulative ? cumulative->data() : nullptr,
                            weight ? weight->data() : nullptr, balanced};
  const ForestTarget<Y> target{y.data(), outputs, static_cast<Impurity>(criterion), starts};
  ForestColumns columns{};
  if (places != nullptr)
    columns = {rank ? rank->data() : nullptr,
               ascending ? ascending->data() : nullptr,
               bins.data(),
               lowest.data(),
               highest.data(),
               CellOrder::of(table.rows, table.cols, by_column)};
  std::vector<ForestTree> trees;
  call(threads, [&](const Run& run) {
    return_memory();  // of trees before these
    trees = Forest<T, Y>(run, table, quick, small, columns, target, sample, rules, levels, monotone)
                .grow(seeds.data(), static_cast<Index>(seeds.shape(0)));
    return_memory();
  });
  nb::list found;
  for (ForestTree& tree : trees) found.append(parts_of(std::move(tree)));
  return found;
}

template <class T>
void columns(Matrix<T> X, OutVector<std::uint32_t> places, bool ascending, OutVector<std::uint8_t> bins,
             OutVector<double> lowest, OutVector<double> highest, bool by_column, int threads) {
  const Dense<T> table = dense(X);
  const Index cells = table.rows * table.cols;
  expect(table.rows < static_cast<Index>(ascending ? kMissingCode / 2 : kMissingCode), "X has too many rows");
  expect(static_cast<Index>(places.shape(0)) == cells && static_cast<Index>(bins.shape(0)) == cells,
         "ranks and bins must have one entry a cell of X");
  expect(static_cast<Index>(lowest.shape(0)) == table.cols * kMostBins &&
             static_cast<Index>(highest.shape(0)) == table.cols * kMostBins,
         "lowest and highest must have 255 entries a column");
  call(threads, [&](const Run& run) {
    forest_columns(run, table, by_column, ascending ? nullptr : places.data(),
                   ascending ? places.data() : nullptr, bins.data(), lowest.data(), highest.data());
    return_memory();
  });
}

void draws(std::uint64_t seed, Index number, std::optional<Vector<double>> cumulative,
           OutVector<std::uint32_t> counts) {
  const auto rows = static_cast<Index>(counts.shape(0));
  expect(rows > 0, "counts must have a row");
  expect(!cumulative || static_cast<Index>(cumulative->shape(0)) == rows,
         "cumulative must have one entry a row");
  draw_rows(seed, number, cumulative ? cumulative->data() : nullptr, rows, counts.data());
}

template <class T, class Y>
void define_grow(nb::module_& m, const char* name) {
  m.def(name, &grow<T, Y>, "X"_a.noconvert(), "quick"_a, "small"_a, "rank"_a.noconvert().none(),
        "ascending"_a.noconvert().none(), "bins"_a.noconvert(), "lowest"_a.noconvert(),
        "highest"_a.noconvert(), "by_column"_a, "y"_a.noconvert(), "outputs"_a, "weight"_a.noconvert().none(),
        "cumulative"_a.noconvert().none(), "draws"_a, "balanced"_a, "criterion"_a, "starts"_a, "levels"_a,
        "monotone"_a, "max_depth"_a, "min_rows_split"_a, "min_rows_leaf"_a, "min_weight_leaf"_a,
        "min_decrease"_a, "min_gain"_a, "pure_below"_a, "max_leaves"_a, "max_columns"_a, "random_threshold"_a,
        "seeds"_a.noconvert(), "threads"_a);
}

template <class T>
void define_columns(nb::module_& m) {
  m.def("forest_columns", &columns<T>, "X"_a.noconvert(), "places"_a.noconvert(), "ascending"_a,
        "bins"_a.noconvert(), "lowest"_a.noconvert(), "highest"_a.noconvert(), "by_column"_a, "threads"_a);
}

void define(nb::module_& m) {
  define_grow<float, std::int32_t>(m, "forest_grow_classes");
  define_grow<double, std::int32_t>(m, "forest_grow_classes");
  define_grow<float, double>(m, "forest_grow_numbers");
  define_grow<double, double>(m, "forest_grow_numbers");
  define_columns<float>(m);
  define_columns<double>(m);
  m.def("forest_draws", &draws, "seed"_a, "draws"_a, "cumulative"_a.noconvert().none(),
        "counts"_a.noconvert());
}

const Registered forest_(&define);

}  // namespace
}  // namespace surefit::bind
