// A decision tree as arrays, one entry a node.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "span.h"

namespace surefit {

// A leaf has feature -1. Of a column of levels, the threshold says where its bits begin in left_levels;
// `words` 64-bit words of them belong to a split. sums: the criterion's, `width` of them a node.
struct GrownTree {
  Index width = 0, words = 0;
  std::vector<std::int32_t> feature, left, right;
  std::vector<double> threshold;
  std::vector<std::uint8_t> missing_left;
  std::vector<double> impurity, weight, sums;
  std::vector<std::int64_t> rows;
  std::vector<std::uint64_t> left_levels;

  Index size() const { return static_cast<Index>(feature.size()); }

  // Appends a leaf.
  Index append(double node_impurity, double node_weight, Index node_rows, const double* node_sums) {
    feature.push_back(-1);
    left.push_back(-1);
    right.push_back(-1);
    threshold.push_back(0.0);
    missing_left.push_back(0);
    impurity.push_back(node_impurity);
    weight.push_back(node_weight);
    rows.push_back(node_rows);
    sums.insert(sums.end(), node_sums, node_sums + width);
    return size() - 1;
  }

  // Turns a leaf into a split; its children are attached as they come.
  void split(Index at, Index column, double where, bool missing_to_left,
             const std::vector<std::uint64_t>& levels) {
    const auto i = static_cast<std::size_t>(at);
    feature[i] = static_cast<std::int32_t>(column);
    threshold[i] = levels.empty() ? where : static_cast<double>(left_levels.size());
    missing_left[i] = missing_to_left ? 1 : 0;
    left_levels.insert(left_levels.end(), levels.begin(), levels.end());
  }

  void attach(Index parent, bool is_left, Index child) {
    if (parent >= 0)
      (is_left ? left : right)[static_cast<std::size_t>(parent)] = static_cast<std::int32_t>(child);
  }
};

// Copies a tree into the order of a walk that goes left first. stands_for: of a node, the tree that it is the
// root of, or null for itself.
template <class StandsFor>
GrownTree in_order(const GrownTree& top, const std::vector<Index>& levels, const StandsFor& stands_for) {
  struct Place {
    const GrownTree* tree;
    Index at, parent;
    bool is_left;
  };
  GrownTree out;
  out.width = top.width;
  out.words = top.words;
  std::vector<Place> stack{{&top, 0, -1, false}};
  std::vector<std::uint64_t> bits;
  while (!stack.empty()) {
    Place place = stack.back();
    stack.pop_back();
    if (place.tree == &top)
      if (const GrownTree* below = stands_for(place.at)) place = {below, 0, place.parent, place.is_left};
    const GrownTree& tree = *place.tree;
    const auto i = static_cast<std::size_t>(place.at);
    const Index at = out.append(tree.impurity[i], tree.weight[i], static_cast<Index>(tree.rows[i]),
                                tree.sums.data() + place.at * tree.width);
    out.attach(place.parent, place.is_left, at);
    if (tree.feature[i] < 0) continue;
    bits.clear();
    if (levels[static_cast<std::size_t>(tree.feature[i])] > 0) {
      const auto from = tree.left_levels.begin() + static_cast<Index>(tree.threshold[i]);
      bits.assign(from, from + tree.words);
    }
    out.split(at, tree.feature[i], tree.threshold[i], tree.missing_left[i] != 0, bits);
    stack.push_back({&tree, tree.right[i], at, false});
    stack.push_back({&tree, tree.left[i], at, true});
  }
  return out;
}

}  // namespace surefit
