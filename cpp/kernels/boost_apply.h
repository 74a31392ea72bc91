// Adds up the leaves that rows end in, tree after tree.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "binned_columns.h"

namespace surefit {

// The nodes of all trees one after the other; a leaf has column -1, and its number is its value. Of a split
// by levels, the number says where its four words of bits begin.
struct BoostNode {
  double number;
  std::int32_t column;
  std::int32_t left, right;  // within all nodes
  std::uint8_t missing_left, by_levels;
};

struct BoostTrees {
  std::vector<BoostNode> nodes;
  const std::int64_t* root;  // of each tree
  const std::uint64_t* bits;
};

inline double number_of(double x) {
  return x;
}
inline double number_of(float x) {
  return static_cast<double>(x);
}
inline double number_of(std::uint8_t code) {
  return code == kMissingBin ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(code);
}

inline bool goes_left(const BoostTrees& trees, const BoostNode& node, double x) {
  if (std::isnan(x)) return node.missing_left != 0;
  if (node.by_levels == 0) return x <= node.number;
  const auto level = static_cast<std::uint64_t>(x);
  return ((trees.bits[static_cast<std::uint64_t>(node.number) + level / 64] >> (level % 64)) & 1) != 0;
}

// score: outputs x rows; tree t adds to output t % outputs, for t in [first, last). Levels lie below 256.
template <class T>
void boost_apply(const Run& run, const BoostTrees& trees, const Dense<T>& X, Index first, Index last,
                 Index outputs, double* score) {
  const Index block = std::clamp<Index>(32768 / std::max<Index>(1, X.cols), 16, 256);
  for_chunks(run, (X.rows + block - 1) / block, [&](Index k, int) {
    const Index begin = k * block, rows = std::min(block, X.rows - begin);
    std::vector<double> near(static_cast<std::size_t>(rows * X.cols));
    for (Index j = 0; j < X.cols; ++j)
      for (Index i = 0; i < rows; ++i)
        near[static_cast<std::size_t>(i * X.cols + j)] = number_of(X(begin + i, j));
    for (Index t = first; t < last; ++t) {
      double* out = score + (t % outputs) * X.rows + begin;
      for (Index i = 0; i < rows; ++i) {
        const double* row = near.data() + i * X.cols;
        const BoostNode* node = &trees.nodes[static_cast<std::size_t>(trees.root[t])];
        while (node->column >= 0)
          node = &trees.nodes[static_cast<std::size_t>(
              goes_left(trees, *node, row[node->column]) ? node->left : node->right)];
        out[i] += node->number;
      }
    }
  });
}

}  // namespace surefit
