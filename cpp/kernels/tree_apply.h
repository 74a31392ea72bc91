// Which leaf each row ends in.
#pragma once

#include <cmath>

#include "forest_tree.h"
#include "parallel.h"
#include "span.h"

namespace surefit {

// A tree as its caller holds it, in the order of a walk that goes left first: the left child comes next.
struct TreeView {
  const std::int32_t* feature;  // with kMissingLeft where missing values go left; below 0 of a leaf
  const std::int32_t* right;
  const double* threshold;
  const std::uint64_t* left_levels;
  const std::int64_t* levels;  // of each column, 0 for numbers

  bool leaf(std::int32_t node) const { return feature[node] < 0; }
  std::int32_t column(std::int32_t node) const { return feature[node] & ~kMissingLeft; }
  bool missing_left(std::int32_t node) const { return (feature[node] & kMissingLeft) != 0; }
};

// A level that no split has seen goes where missing values go.
inline bool goes_left(const TreeView& tree, std::int32_t node, double value) {
  if (std::isnan(value)) return tree.missing_left(node);
  const std::int64_t levels = tree.levels[tree.column(node)];
  if (levels == 0) return value <= tree.threshold[node];
  if (value < 0.0 || value >= static_cast<double>(levels)) return tree.missing_left(node);
  const auto level = static_cast<std::uint64_t>(value);
  const auto from = static_cast<std::uint64_t>(tree.threshold[node]);
  return ((tree.left_levels[from + level / 64] >> (level % 64)) & 1) != 0;
}

template <class T>
void tree_apply(const Run& run, const TreeView& tree, const Dense<T>& X, std::int64_t* leaf) {
  constexpr Index kBlock = 4096;
  for_chunks(run, (X.rows + kBlock - 1) / kBlock, [&](Index block, int) {
    const Index end = std::min(X.rows, (block + 1) * kBlock);
    for (Index i = block * kBlock; i < end; ++i) {
      std::int32_t node = 0;
      while (!tree.leaf(node)) {
        const auto value = static_cast<double>(X(i, tree.column(node)));
        node = goes_left(tree, node, value) ? node + 1 : tree.right[node];
      }
      leaf[i] = node;
    }
  });
}

}  // namespace surefit
