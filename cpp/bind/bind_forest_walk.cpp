// Python's door to what a forest says of rows.
#include <nanobind/stl/optional.h>

#include "bind.h"
#include "forest_walk.h"

namespace surefit::bind {
namespace {

using Nodes = nb::ndarray<const std::uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Starts = Vector<std::int64_t>;
using LeftOut = std::optional<Vector<std::uint8_t>>;

ForestView view_of(const Nodes& nodes, const Starts& node_start, const Starts& leaf_start,
                   const Vector<std::uint64_t>& bits, const Starts& level_start,
                   const std::optional<Starts>& levels, Index columns) {
  const auto trees = static_cast<Index>(node_start.shape(0)) - 1;
  expect(nodes.shape(1) == 2, "nodes must have two words each");
  expect(trees >= 0 && static_cast<Index>(leaf_start.shape(0)) == trees + 1 &&
             static_cast<Index>(level_start.shape(0)) == trees + 1,
         "every tree must have a start");
  expect(!levels || static_cast<Index>(levels->shape(0)) == columns,
         "levels must have one entry for each column of X");
  return {reinterpret_cast<const ForestNode*>(nodes.data()),
          node_start.data(),
          leaf_start.data(),
          trees,
          bits.data(),
          level_start.data(),
          levels ? levels->data() : nullptr};
}

template <class T>
void sums(Matrix<T> X, Nodes nodes, Starts node_start, Starts leaf_start, Vector<std::uint64_t> bits,
          Starts level_start, std::optional<Starts> levels, std::optional<Vector<double>> values, Index width,
          LeftOut left_out, OutVector<double> out, std::optional<OutVector<std::int64_t>> counts, int threads,
          bool shared) {
  const Dense<T> table = dense(X);
  const ForestView forest = view_of(nodes, node_start, leaf_start, bits, level_start, levels, table.cols);
  const Index different = shared && values ? static_cast<Index>(values->shape(0)) / width : 0;
  expect(values || width == 1 || width == 2,
         "leaves by themselves say one number, or a share of two classes");
  expect(!values || static_cast<Index>(values->shape(0)) ==
                        (different > 0 ? different : forest.leaf_start[forest.trees]) * width,
         "values must have width entries a leaf, or for each that leaves share");
  expect(static_cast<Index>(out.shape(0)) == table.rows * width, "out must have width entries a row");
  expect(!left_out || static_cast<Index>(left_out->shape(0)) == table.rows * forest.trees,
         "left_out must have one entry a tree and row");
  call(threads, [&](const Run& run) {
    forest_sums(run, forest, table, values ? values->data() : nullptr, width,
                left_out ? left_out->data() : nullptr, out.data(), counts ? counts->data() : nullptr,
                different);
  });
}

template <class T>
void apply(Matrix<T> X, Nodes nodes, Starts node_start, Starts leaf_start, Vector<std::uint64_t> bits,
           Starts level_start, std::optional<Starts> levels, LeftOut left_out, OutVector<std::int32_t> out,
           int threads) {
  const Dense<T> table = dense(X);
  const ForestView forest = view_of(nodes, node_start, leaf_start, bits, level_start, levels, table.cols);
  expect(static_cast<Index>(out.shape(0)) == table.rows * forest.trees,
         "out must have one entry a row and tree");
  expect(!left_out || static_cast<Index>(left_out->shape(0)) == table.rows * forest.trees,
         "left_out must have one entry a tree and row");
  call(threads, [&](const Run& run) {
    forest_apply(run, forest, table, left_out ? left_out->data() : nullptr, out.data());
  });
}

template <class T>
void define_for(nb::module_& m) {
  m.def("forest_sums", &sums<T>, "X"_a.noconvert(), "nodes"_a.noconvert(), "node_start"_a.noconvert(),
        "leaf_start"_a.noconvert(), "bits"_a.noconvert(), "level_start"_a.noconvert(),
        "levels"_a.noconvert().none(), "values"_a.noconvert().none(), "width"_a,
        "left_out"_a.noconvert().none(), "out"_a.noconvert(), "counts"_a.noconvert().none(), "threads"_a,
        "shared"_a = false);
  m.def("forest_apply", &apply<T>, "X"_a.noconvert(), "nodes"_a.noconvert(), "node_start"_a.noconvert(),
        "leaf_start"_a.noconvert(), "bits"_a.noconvert(), "level_start"_a.noconvert(),
        "levels"_a.noconvert().none(), "left_out"_a.noconvert().none(), "out"_a.noconvert(), "threads"_a);
}

void define(nb::module_& m) {
  define_for<float>(m);
  define_for<double>(m);
}

const Registered forest_walk_(&define);

}  // namespace
}  // namespace surefit::bind
