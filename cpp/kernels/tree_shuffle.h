// How the answer of a tree changes for each row, when one column is exchanged for that of another row.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "parallel.h"
#include "span.h"
#include "tree_apply.h"

namespace surefit {

// A node with both children side by side, so that a step is a load and not a jump. A leaf leads to itself.
struct PackedNode {
  std::int32_t column, child[2];
  bool leaf;
  double threshold;
};

inline std::vector<PackedNode> packed(const TreeView& tree, Index nodes) {
  std::vector<PackedNode> found(static_cast<std::size_t>(nodes));
  for (Index k = 0; k < nodes; ++k) {
    const auto own = static_cast<std::int32_t>(k);
    PackedNode& node = found[static_cast<std::size_t>(k)];
    node.leaf = tree.leaf(own);
    node.column = node.leaf ? 0 : tree.column(own);
    node.child[0] = node.leaf ? own : own + 1;
    node.child[1] = node.leaf ? own : tree.right[k];
    node.threshold = node.leaf ? 0.0 : tree.threshold[k];
  }
  return found;
}

// A column on the path of a row: where it is asked first, and between which values nothing changes.
struct PathColumn {
  std::int32_t column, first;
  double above, up_to;
};

// Steps that know of levels and missing values.
struct GeneralSteps {
  const TreeView& tree;
  bool leaf(std::int32_t node) const { return tree.leaf(node); }
  std::int32_t column(std::int32_t node) const { return tree.column(node); }
  double threshold(std::int32_t node) const { return tree.threshold[node]; }
  std::int32_t next(std::int32_t node, double value) const {
    return goes_left(tree, node, value) ? node + 1 : tree.right[node];
  }
  // Beyond which values of a column a row leaves its path; a level or a missing value has no such ends.
  bool bounded(std::int32_t column, double value) const {
    return tree.levels[column] == 0 && !std::isnan(value);
  }
};

// Steps among numbers alone.
struct PlainSteps {
  const PackedNode* nodes;
  bool leaf(std::int32_t node) const { return nodes[node].leaf; }
  std::int32_t column(std::int32_t node) const { return nodes[node].column; }
  double threshold(std::int32_t node) const { return nodes[node].threshold; }
  std::int32_t next(std::int32_t node, double value) const {
    return nodes[node].child[value <= nodes[node].threshold ? 0 : 1];
  }
  bool bounded(std::int32_t, double) const { return true; }
};

template <class T, class Steps>
void shuffled_row(const Steps& steps, const double* values, Index width, const Dense<T>& X, Index i,
                  const std::int64_t* order, Index repeats, double* change, std::vector<PathColumn>& path) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  path.clear();
  std::int32_t node = 0;
  while (!steps.leaf(node)) {
    const std::int32_t column = steps.column(node);
    const auto value = static_cast<double>(X(i, column));
    std::size_t k = 0;
    while (k < path.size() && path[k].column != column) ++k;
    if (k == path.size()) {
      const bool bounded = steps.bounded(column, value);
      path.push_back({column, node, bounded ? -kInfinity : kInfinity, kInfinity});
    }
    const std::int32_t next = steps.next(node, value);
    const double threshold = steps.threshold(node);
    if (value <= threshold)
      path[k].up_to = std::min(path[k].up_to, threshold);
    else
      path[k].above = std::max(path[k].above, threshold);
    node = next;
  }
  constexpr Index kTogether = 8;
  std::int32_t to[kTogether];
  double other[kTogether];
  Index of[kTogether];
  const double* now = values + node * width;
  for (const PathColumn& at : path) {
    Index r = 0;
    while (r < repeats) {
      Index count = 0;
      for (; r < repeats && count < kTogether; ++r) {
        const auto value = static_cast<double>(X(order[r * X.rows + i], at.column));
        if (value > at.above && value <= at.up_to) continue;
        other[count] = value;
        of[count] = r;
        to[count++] = at.first;
      }
      // All walks take a step in turn, so that none waits for its own memory.
      for (bool moved = true; moved;) {
        moved = false;
        for (Index k = 0; k < count; ++k) {
          if (steps.leaf(to[k])) continue;
          const std::int32_t column = steps.column(to[k]);
          to[k] = steps.next(to[k], column == at.column ? other[k] : static_cast<double>(X(i, column)));
          moved = true;
        }
      }
      for (Index k = 0; k < count; ++k) {
        if (to[k] == node) continue;
        double* out = change + ((at.column * repeats + of[k]) * X.rows + i) * width;
        const double* then = values + to[k] * width;
        for (Index w = 0; w < width; ++w) out[w] += then[w] - now[w];
      }
    }
  }
}

// values: `width` numbers a node. order: `repeats` lists of the rows to take the column from, each `X.rows`
// long. change: (columns, repeats, rows, width), to which the changes are added. A row is walked once; a
// column that is not on its path changes nothing, and one that is starts where it is asked first. plain:
// there are neither levels nor missing values.
template <class T>
void tree_shuffle(const Run& run, const TreeView& tree, Index nodes, const double* values, Index width,
                  const Dense<T>& X, const std::int64_t* order, Index repeats, double* change, bool plain) {
  constexpr Index kBlock = 512;
  const std::vector<PackedNode> all = plain ? packed(tree, nodes) : std::vector<PackedNode>{};
  for_chunks(run, (X.rows + kBlock - 1) / kBlock, [&](Index block, int) {
    const Index end = std::min(X.rows, (block + 1) * kBlock);
    std::vector<PathColumn> path;
    for (Index i = block * kBlock; i < end; ++i) {
      if (plain)
        shuffled_row(PlainSteps{all.data()}, values, width, X, i, order, repeats, change, path);
      else
        shuffled_row(GeneralSteps{tree}, values, width, X, i, order, repeats, change, path);
    }
  });
}

}  // namespace surefit
