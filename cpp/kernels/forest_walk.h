// Walks blocks of rows down the trees of a forest.
//
// All rows of a block take one step at a time. The node that a row comes to is asked for at once, and is
// there when its turn comes again.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "forest_tree.h"
#include "parallel.h"
#include "span.h"

namespace surefit {

constexpr Index kWalkRows = 256;  // their nodes and cells stay in cache from one step to the next

// The trees as their caller holds them; those of tree t begin at its `*_start`.
struct ForestView {
  const ForestNode* nodes;
  const std::int64_t* node_start;
  const std::int64_t* leaf_start;
  Index trees;
  const std::uint64_t* level_bits;
  const std::int64_t* level_start;
  const std::int64_t* levels;  // of each column, 0 for numbers; null where all are numbers
};

struct WalkScratch {
  std::array<std::uint32_t, static_cast<std::size_t>(kWalkRows)> at;
  std::array<std::uint16_t, static_cast<std::size_t>(kWalkRows)> active;
};

// A level that no split has seen goes where missing values go.
template <bool kPlain>
bool goes_right(const ForestView& forest, const std::uint64_t* bits, const ForestNode& node, Index column,
                double value) {
  if (kPlain) return !(value <= node.threshold);
  const bool otherwise = (node.feature & kMissingLeft) == 0;
  if (std::isnan(value)) return otherwise;
  const std::int64_t levels = forest.levels == nullptr ? 0 : forest.levels[column];
  if (levels == 0) return !(value <= node.threshold);
  if (value < 0.0 || value >= static_cast<double>(levels)) return otherwise;
  const auto level = static_cast<std::uint64_t>(value);
  return ((bits[static_cast<std::uint64_t>(node.threshold) + level / 64] >> (level % 64)) & 1) == 0;
}

// Leaves scratch.at[i] at the leaf of row begin + i, for the `count` rows in scratch.active.
template <bool kPlain, class T>
void walk(const ForestView& forest, Index tree, const Dense<T>& X, Index begin, Index count,
          WalkScratch& scratch) {
  const ForestNode* nodes = forest.nodes + forest.node_start[tree];
  const std::uint64_t* bits = kPlain ? nullptr : forest.level_bits + forest.level_start[tree];
  const Index row_step = X.order == Order::C ? X.cols : 1, column_step = X.order == Order::C ? 1 : X.rows;
  const T* data = X.data + begin * row_step;
  for (Index i = 0; i < count; ++i) scratch.at[scratch.active[static_cast<std::size_t>(i)]] = 0;
  while (count > 0) {
    Index still = 0;
    for (Index i = 0; i < count; ++i) {
      const std::uint16_t row = scratch.active[static_cast<std::size_t>(i)];
      const std::uint32_t at = scratch.at[row];
      const ForestNode node = nodes[at];
      const bool leaf = node.feature < 0;
      const Index column = leaf ? 0 : node.feature & ~kMissingLeft;
      const auto value = static_cast<double>(data[row * row_step + column * column_step]);
      const bool right = goes_right<kPlain>(forest, bits, node, column, value);
      const std::uint32_t next = leaf ? at : static_cast<std::uint32_t>(node.child) + right;
      __builtin_prefetch(nodes + next);
      scratch.at[row] = next;
      scratch.active[static_cast<std::size_t>(still)] = row;
      still += !leaf;
    }
    count = still;
  }
}

// Whether a block has neither missing values nor columns of levels.
template <class T>
bool plain_block(const ForestView& forest, const Dense<T>& X, Index begin, Index end) {
  if (forest.levels != nullptr) return false;
  bool found = false;
  if (X.order == Order::C) {
    for (const T* x = X.data + begin * X.cols; x < X.data + end * X.cols; ++x) found |= std::isnan(*x);
  } else {
    for (Index j = 0; j < X.cols; ++j)
      for (Index i = begin; i < end; ++i) found |= std::isnan(X(i, j));
  }
  return !found;
}

// Calls body(begin, end, tree, scratch) for each block of rows and, in order, each tree, with the leaves of
// the rows in scratch.at. left_out: null, or (trees, rows): 1 for rows that a tree does not see, whose place
// is then kNoLeaf.
constexpr std::uint32_t kNoLeaf = 0xFFFFFFFFu;

template <class T, class Body>
void for_leaves(const Run& run, const ForestView& forest, const Dense<T>& X, const std::uint8_t* left_out,
                const Body& body) {
  // A tree serves many rows while it is in cache; small tables are shared out all the same.
  const Index share = (X.rows / 16 + kWalkRows - 1) / kWalkRows;
  const Index chunk = kWalkRows * std::clamp(share, Index{1}, Index{16});
  for_chunks(run, (X.rows + chunk - 1) / chunk, [&](Index part, int worker) {
    Poll poll(run);
    const Index first = part * chunk, last = std::min(X.rows, first + chunk);
    const bool plain = plain_block(forest, X, first, last);
    WalkScratch scratch;
    for (Index t = 0; t < forest.trees; ++t) {
      for (Index begin = first; begin < last; begin += kWalkRows) {
        const Index end = std::min(last, begin + kWalkRows);
        Index count = 0;
        for (Index i = 0; i < end - begin; ++i) {
          scratch.active[static_cast<std::size_t>(count)] = static_cast<std::uint16_t>(i);
          scratch.at[static_cast<std::size_t>(i)] = kNoLeaf;
          count += left_out == nullptr || left_out[t * X.rows + begin + i] == 0;
        }
        if (plain)
          walk<true>(forest, t, X, begin, count, scratch);
        else
          walk<false>(forest, t, X, begin, count, scratch);
        body(begin, end, t, scratch);
      }
      if (worker == 0) poll();
    }
  });
}

// Adds up what the leaves of each row say: values are `width` numbers a leaf, out is (rows, width). Where
// leaves share them, values are `shared` times `width` numbers, and the threshold of a leaf says which are
// its own. Without values, the threshold of a leaf is what it says: a number, or the share of the second of
// two classes. counts: null, or how many trees saw each row.
template <class T>
void forest_sums(const Run& run, const ForestView& forest, const Dense<T>& X, const double* values,
                 Index width, const std::uint8_t* left_out, double* out, std::int64_t* counts,
                 Index shared = 0) {
  for_leaves(run, forest, X, left_out, [&](Index begin, Index end, Index t, const WalkScratch& scratch) {
    const ForestNode* nodes = forest.nodes + forest.node_start[t];
    const double* own = values == nullptr || shared > 0 ? values : values + forest.leaf_start[t] * width;
    for (Index i = begin; i < end; ++i) {
      const std::uint32_t at = scratch.at[static_cast<std::size_t>(i - begin)];
      if (at == kNoLeaf) continue;
      if (own == nullptr) {
        const double said = nodes[at].threshold;
        if (width == 2) out[2 * i] += 1.0 - said;
        out[(i + 1) * width - 1] += said;
      } else {
        const double which = shared > 0 ? nodes[at].threshold : nodes[at].child;
        if (shared > 0 && !(which >= 0.0 && which < static_cast<double>(shared))) continue;  // a damaged file
        const double* said = own + static_cast<Index>(which) * width;
        for (Index k = 0; k < width; ++k) out[i * width + k] += said[k];
      }
      if (counts != nullptr) ++counts[i];
    }
  });
}

// The number of each row's leaf among those of its tree: (rows, trees); -1 for rows that are left out.
template <class T>
void forest_apply(const Run& run, const ForestView& forest, const Dense<T>& X, const std::uint8_t* left_out,
                  std::int32_t* out) {
  for_leaves(run, forest, X, left_out, [&](Index begin, Index end, Index t, const WalkScratch& scratch) {
    const ForestNode* nodes = forest.nodes + forest.node_start[t];
    for (Index i = begin; i < end; ++i) {
      const std::uint32_t at = scratch.at[static_cast<std::size_t>(i - begin)];
      out[i * forest.trees + t] = at == kNoLeaf ? -1 : nodes[at].child;
    }
  });
}

}  // namespace surefit
