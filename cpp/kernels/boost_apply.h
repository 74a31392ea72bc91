// Adds up the leaves that rows end in, tree after tree.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "binned_columns.h"

namespace surefit {

// A split, or a leaf that looks as its parent does but leads to itself, so that rows walk on side by side
// until all of them stand still. Of a split by levels, the number says where its four words of bits begin.
struct BoostNode {
  double number = 0.0;
  std::int32_t column = 0;
  std::array<std::int32_t, 2> child{};  // right and left, within all nodes
  std::uint8_t missing_left = 0, by_levels = 0;
};

// The nodes of all trees one after the other, parents first.
struct BoostTrees {
  std::vector<BoostNode> nodes;
  std::vector<double> value;  // of each leaf
  const std::int64_t* root;   // of each tree
  const std::uint64_t* bits;
  bool any_levels = false;

  BoostTrees(const std::int64_t* roots, const std::uint64_t* words) : root(roots), bits(words) {}

  // column: -1 for a leaf, whose number is its value.
  void append(double number, std::int32_t column, std::int32_t left, std::int32_t right, bool missing_left,
              bool by_levels) {
    const auto at = static_cast<std::int32_t>(nodes.size());
    value.push_back(number);
    parent_.resize(static_cast<std::size_t>(std::max({at, left, right, last_})) + 1, -1);
    last_ = static_cast<std::int32_t>(parent_.size()) - 1;
    if (column < 0) {
      const std::int32_t above = parent_[nodes.size()];
      nodes.push_back(above < 0 ? BoostNode{} : nodes[static_cast<std::size_t>(above)]);
      nodes.back().child = {at, at};
      return;
    }
    parent_[static_cast<std::size_t>(left)] = parent_[static_cast<std::size_t>(right)] = at;
    nodes.push_back({number, column, {right, left}, missing_left, by_levels});
    any_levels = any_levels || by_levels;
  }

 private:
  std::vector<std::int32_t> parent_;  // of the nodes so far and of their children
  std::int32_t last_ = -1;
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

template <bool kLevels>
std::int32_t next_node(const BoostTrees& trees, std::int32_t at, const double* row) {
  const BoostNode& node = trees.nodes[static_cast<std::size_t>(at)];
  const double x = row[node.column];
  const bool missing = std::isnan(x);
  bool left = (x <= node.number) | (missing & (node.missing_left != 0));
  if (kLevels && node.by_levels != 0) {
    const std::uint64_t level = missing ? 0 : static_cast<std::uint64_t>(x);
    const std::uint64_t word = trees.bits[static_cast<std::uint64_t>(node.number) + level / 64];
    left = missing ? node.missing_left != 0 : ((word >> (level % 64)) & 1) != 0;
  }
  return node.child[left];
}

// Adds what one tree says of rows of doubles; eight walk at a time, so that none waits for another's memory.
template <bool kLevels>
void walk_rows(const BoostTrees& trees, std::int32_t root, const double* table, Index rows, Index cols,
               double* score) {
  constexpr Index kLanes = 8;
  for (Index first = 0; first < rows; first += kLanes) {
    std::array<std::int32_t, kLanes> at;
    std::array<const double*, kLanes> row;
    at.fill(root);
    for (Index r = 0; r < kLanes; ++r)
      row[static_cast<std::size_t>(r)] = table + std::min(first + r, rows - 1) * cols;
    std::int32_t moved = 1;
    while (moved != 0) {
      moved = 0;
      for (std::size_t r = 0; r < kLanes; ++r) {
        const std::int32_t next = next_node<kLevels>(trees, at[r], row[r]);
        moved |= next ^ at[r];
        at[r] = next;
      }
    }
    for (Index r = 0; r < std::min(kLanes, rows - first); ++r)
      score[first + r] += trees.value[static_cast<std::size_t>(at[static_cast<std::size_t>(r)])];
  }
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
    const auto walk = trees.any_levels ? walk_rows<true> : walk_rows<false>;
    for (Index t = first; t < last; ++t)
      walk(trees, static_cast<std::int32_t>(trees.root[t]), near.data(), rows, X.cols,
           score + (t % outputs) * X.rows + begin);
  });
}

}  // namespace surefit
