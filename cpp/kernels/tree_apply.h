// Which leaf each row ends in.
#pragma once

#include <cmath>

#include "parallel.h"
#include "span.h"

namespace surefit {

// A tree as its caller holds it; see GrownTree.
struct TreeView {
  const std::int32_t* feature;
  const std::int32_t* left;
  const std::int32_t* right;
  const double* threshold;
  const std::uint8_t* missing_left;
  const std::uint64_t* left_levels;
  const std::int64_t* levels;  // of each column, 0 for numbers
};

// A level that no split has seen goes where missing values go.
inline bool goes_left(const TreeView& tree, std::int32_t node, double value) {
  if (std::isnan(value)) return tree.missing_left[node] != 0;
  const std::int64_t levels = tree.levels[tree.feature[node]];
  if (levels == 0) return value <= tree.threshold[node];
  if (value < 0.0 || value >= static_cast<double>(levels)) return tree.missing_left[node] != 0;
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
      while (tree.feature[node] >= 0) {
        const auto value = static_cast<double>(X(i, tree.feature[node]));
        node = goes_left(tree, node, value) ? tree.left[node] : tree.right[node];
      }
      leaf[i] = node;
    }
  });
}

}  // namespace surefit
