// The best split of a node of a forest's tree: rows are added up by the code of their value, then every
// boundary between codes is tried. Where a code is a value, the search is exact.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "forest_columns.h"
#include "forest_target.h"
#include "split.h"

namespace surefit {

constexpr Index kLocalRows = 1024;  // up to which a node's values are told apart: its sums stay in cache

struct CodeSplit {
  double score = -HUGE_VAL;
  double bar = -HUGE_VAL;  // what a better one must exceed
  Index column = -1;
  Index left = 0, right = -1;  // the codes on both sides; no right one where only missing values go right
  bool missing_left = false;
  double threshold = 0.0;  // where it was drawn and not found between codes
};

template <class Target, class Code>
class CodeSearch {
 public:
  static constexpr Index kMissing = sizeof(Code) == 1 ? Index{kMissingBin} : kLocalRows;

  CodeSearch(const Target& target, const SearchRules& rules)
      : target_(target),
        rules_(rules),
        width_(target.width()),
        sums_(static_cast<std::size_t>((kMissing + 1) * width_)),
        counts_(static_cast<std::size_t>(kMissing + 1)),
        left_(target.side()),
        with_missing_(target.side()) {}

  static bool is_missing(Code code) { return static_cast<Index>(code) == kMissing; }
  static bool goes_left(Code code, const CodeSplit& split) { return static_cast<Index>(code) <= split.left; }
  static bool is_at(Code code, Index wanted) { return static_cast<Index>(code) == wanted; }
  void at_node(std::uint64_t) {}

  template <class Place>
  static bool varies(const Code* column, Index step, const Place* places, Index count) {
    const Code first = column[static_cast<Index>(places[0]) * step];
    for (Index i = 1; i < count; ++i)
      if (column[static_cast<Index>(places[i]) * step] != first) return true;
    return false;
  }

  // Takes the best split of column j if it is better than the best so far. column: its codes, `step` apart.
  template <class Place>
  void look_at(const Code* column, Index step, const Place* places, Index count,
               const typename Target::Row* rows, const ForestSums& node, Index j, CodeSplit& best) {
    if (rules_.min_rows_leaf > 1)
      scan<true>(add_up<true>(column, step, places, count, rows), count, node, j, best);
    else
      scan<false>(add_up<false>(column, step, places, count, rows), count, node, j, best);
  }

 private:
  static constexpr Index kWords = kMissing / 64 + 1;

  // Returns how many rows are missing; only whether there are any, unless rows are counted.
  template <bool kCounted, class Place>
  Index add_up(const Code* column, Index step, const Place* places, Index count,
               const typename Target::Row* rows) {
    typename Target::Sum* sums = sums_.data();
    std::uint64_t* seen = seen_.data();
    for (Index i = 0; i < count; ++i) {
      const auto code = static_cast<Index>(column[static_cast<Index>(places[i]) * step]);
      Target::add(sums + code * width_, rows[i]);
      seen[code >> 6] |= std::uint64_t{1} << (code & 63);
      if (kCounted) ++counts_[static_cast<std::size_t>(code)];
    }
    std::uint64_t& word = seen[kMissing >> 6];
    const std::uint64_t bit = std::uint64_t{1} << (kMissing & 63);
    if ((word & bit) == 0) return 0;
    word ^= bit;
    if (!kCounted) return 1;
    return static_cast<Index>(std::exchange(counts_[static_cast<std::size_t>(kMissing)], 0u));
  }

  template <bool kCounted>
  void scan(Index gone, Index count, const ForestSums& node, Index j, CodeSplit& best) {
    left_.clear();
    Index rows_left = 0, before = -1;
    bool pending = false;  // a split was taken whose right code is the next
    auto try_here = [&](typename Target::Side& side, Index rows_here, bool missing_left, Index code) {
      if (kCounted && (rows_here < rules_.min_rows_leaf || count - rows_here < rules_.min_rows_leaf)) return;
      if (!target_.better(node, side, best.bar)) return;
      const double wl = side.weight();
      if (wl < rules_.min_weight_leaf || node.weight - wl < rules_.min_weight_leaf) return;
      best.score = target_.score(node, side);
      best.bar = target_.raised(node, best.score);
      best.column = j;
      best.left = code;
      best.right = -1;
      best.missing_left = missing_left;
      pending = true;
    };
    auto boundary = [&](Index code, bool end) {  // between this code and what follows
      if (end && gone == 0) return;
      try_here(left_, rows_left, false, code);
      if (gone == 0 || end) return;
      with_missing_ = left_;
      with_missing_.add(sums_.data() + kMissing * width_);
      try_here(with_missing_, rows_left + gone, true, code);
    };
    for (Index word = 0; word < kWords; ++word) {
      std::uint64_t bits = seen_[static_cast<std::size_t>(word)];
      seen_[static_cast<std::size_t>(word)] = 0;
      for (; bits != 0; bits &= bits - 1) {
        const Index code = word * 64 + std::countr_zero(bits);
        if (before >= 0) {
          boundary(before, false);
          if (pending) best.right = code, pending = false;
        }
        typename Target::Sum* own = sums_.data() + code * width_;
        left_.add(own);
        for (Index k = 0; k < width_; ++k) own[k] = 0;
        if (kCounted)
          rows_left += static_cast<Index>(std::exchange(counts_[static_cast<std::size_t>(code)], 0u));
        before = code;
      }
    }
    if (gone == 0) return;
    if (before >= 0) boundary(before, true);
    for (Index k = 0; k < width_; ++k) sums_[static_cast<std::size_t>(kMissing * width_ + k)] = 0;
  }

  const Target& target_;
  const SearchRules& rules_;
  Index width_;
  std::vector<typename Target::Sum> sums_;
  std::vector<std::uint32_t> counts_;
  std::array<std::uint64_t, static_cast<std::size_t>(kWords)> seen_{};
  typename Target::Side left_, with_missing_;
};

}  // namespace surefit
