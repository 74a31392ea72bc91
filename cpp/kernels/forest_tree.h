// A tree of a forest: 16 bytes a node, and what its leaves say apart.
#pragma once

#include <cstdint>
#include <vector>

#include "span.h"

namespace surefit {

// Both children stand side by side, the left one first. feature: the column, and kMissingLeft where missing
// values go left; of a leaf -1, and its number is in `child`. Of a column of levels, the threshold says where
// its bits begin.
struct ForestNode {
  double threshold;
  std::int32_t feature;
  std::int32_t child;
};
static_assert(sizeof(ForestNode) == 16);

constexpr std::int32_t kMissingLeft = 1 << 30;

struct ForestTree {
  std::vector<ForestNode> nodes;
  std::vector<double> values;  // of each leaf: the weights of classes, or the prediction of each output
  std::vector<double> weight, impurity;
  std::vector<std::int64_t> rows;
  std::vector<double> importance;  // by how much the splits of each column lower weight times impurity
  std::vector<std::uint64_t> level_bits;
  std::vector<double> inner;  // impurity and values of all nodes, where those of leaves do not tell them

  std::int32_t append_pair() {
    const auto first = static_cast<std::int32_t>(nodes.size());
    nodes.resize(nodes.size() + 2);
    return first;
  }
  // Room for so many leaves: what is not written to takes no memory, and nothing is moved on the way.
  void reserve(std::size_t leaves, Index width) {
    nodes.reserve(2 * leaves);
    values.reserve(leaves * static_cast<std::size_t>(width));
    weight.reserve(leaves), impurity.reserve(leaves), rows.reserve(leaves);
  }
  // Gives back room for leaves that did not come.
  void trim() {
    if (2 * weight.size() > weight.capacity()) return;
    nodes.shrink_to_fit(), values.shrink_to_fit(), weight.shrink_to_fit(), impurity.shrink_to_fit();
    rows.shrink_to_fit();
  }
  void make_leaf(Index at) {
    nodes[static_cast<std::size_t>(at)] = {0.0, -1, static_cast<std::int32_t>(weight.size())};
  }
};

}  // namespace surefit
