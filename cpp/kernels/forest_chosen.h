// The columns that a node of a forest's tree looks at, drawn from a seed; columns that do not vary do not
// count.
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "node_random.h"
#include "span.h"

namespace surefit {

class ChosenColumns {
 public:
  // most: how many are looked at, 0 for all.
  ChosenColumns(Index width, Index most)
      : width_(width), most_(most), pool_(static_cast<std::size_t>(width)) {
    std::iota(pool_.begin(), pool_.end(), Index{0});
    chosen_ = drawn_ = pool_;
  }

  const Index* data() const { return chosen_.data(); }

  // Before each tree.
  void forget() { constant_.assign(pool_.size(), Range{}); }

  // As SplitSearch draws them, in ascending order; returns how many. varies: whether the column does, in the
  // rows from begin to end. lasting: what does not vary there does not vary in any part of them either, and
  // is not asked again.
  template <class Varies>
  Index choose(std::uint64_t seed, Index begin, Index end, bool lasting, const Varies& varies) {
    if (most_ == 0 || most_ >= width_) return width_;
    NodeRandom random(seed);
    const Range own{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
    Index found = 0, left = width_;
    for (; left > 0 && found < most_; --left) {
      const Index at = random.below(left);
      const Index j = pool_[static_cast<std::size_t>(at)];
      std::swap(pool_[static_cast<std::size_t>(at)], pool_[static_cast<std::size_t>(left - 1)]);
      drawn_[static_cast<std::size_t>(left - 1)] = at;
      Range& constant = constant_[static_cast<std::size_t>(j)];
      if (lasting && constant.begin <= own.begin && own.end <= constant.end) continue;
      if (varies(j))
        chosen_[static_cast<std::size_t>(found++)] = j;
      else if (lasting)
        constant = own;
    }
    for (; left < width_; ++left) {  // the columns as they were, the last draw first
      const Index at = drawn_[static_cast<std::size_t>(left)];
      std::swap(pool_[static_cast<std::size_t>(at)], pool_[static_cast<std::size_t>(left)]);
    }
    std::sort(chosen_.begin(), chosen_.begin() + found);
    return found;
  }

 private:
  // Nodes are ranges of rows: one that lies within another is below it.
  struct Range {
    std::uint32_t begin = 0, end = 0;
  };

  Index width_, most_;
  std::vector<Index> pool_, chosen_, drawn_;
  std::vector<Range> constant_;  // in which each column was last seen not to vary
};

}  // namespace surefit
