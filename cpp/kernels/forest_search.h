// The best split of a node of a forest's tree: rows are added up by the code of their value, then every
// boundary between codes is tried. Where a code is a value, the search is exact.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "forest_codes.h"
#include "forest_target.h"
#include "split.h"

namespace surefit {

struct CodeSplit {
  double score = -HUGE_VAL;
  double bar = -HUGE_VAL;  // what a better one must exceed
  Index column = -1;
  Index left = 0, right = -1;  // the codes on both sides; no right one where only missing values go right
  bool missing_left = false;
  double threshold = 0.0;  // where it was drawn and not found between codes

  // Takes the split of column j with `side` to the left, up to the code `at`, if it is better than the best
  // so far and both sides weigh enough; says whether it did. What comes to the right is told later.
  template <class Target>
  bool take(const Target& target, const SearchRules& rules, const ForestSums& node,
            const typename Target::Side& side, Index j, Index at, bool with_missing) {
    if (!target.better(node, side, bar)) return false;
    const double wl = side.weight();
    if (wl < rules.min_weight_leaf || node.weight - wl < rules.min_weight_leaf) return false;
    score = target.score(node, side);
    bar = target.raised(node, score);
    column = j;
    left = at;
    right = -1;
    missing_left = with_missing;
    return true;
  }
};

// kMissing: the code of what is missing, and how many others there are at the most.
template <class Target, class Code, Index kMissing>
class CodeSearch {
 public:
  static constexpr bool kKeepsOrder = false;
  static constexpr bool kExact = kMissing != Index{kMissingBin};  // equal codes are equal values

  CodeSearch(const Target& target, const SearchRules& rules)
      : target_(target),
        rules_(rules),
        width_(target.width()),
        sums_(static_cast<std::size_t>(kTogether * (kMissing + 1) * width_)),
        counts_(static_cast<std::size_t>(kTogether * (kMissing + 1))),
        left_(target.side()),
        with_missing_(target.side()) {}

  static bool is_missing(Code code) { return static_cast<Index>(code) == kMissing; }
  static bool goes_left(Code code, const CodeSplit& split) { return static_cast<Index>(code) <= split.left; }
  static bool is_at(Code code, Index wanted) { return static_cast<Index>(code) == wanted; }
  void at_node(std::uint64_t, Index) {}

  template <class Place>
  static bool varies(const Code* column, Index step, const Place* places, Index count) {
    const Code first = column[static_cast<Index>(places[0]) * step];
    for (Index i = 1; i < count; ++i)
      if (column[static_cast<Index>(places[i]) * step] != first) return true;
    return false;
  }

  // Takes the best split of some columns if it is better than the best so far. codes: those of row i and
  // column j are at i * step + j * column_step.
  template <class Place>
  void look_at(const Code* codes, Index step, Index column_step, const Index* columns, Index many,
               const Place* places, Index count, const typename Target::Row* rows, const ForestSums& node,
               CodeSplit& best) {
    for (Index first = 0; first < many; first += kTogether) {
      const Index some = std::min(kTogether, many - first);
      std::array<const Code*, static_cast<std::size_t>(kTogether)> column;
      for (Index c = 0; c < some; ++c)
        column[static_cast<std::size_t>(c)] = codes + columns[first + c] * column_step;
      const bool counted = rules_.min_rows_leaf > 1;
      if (counted)
        add_up<true>(column.data(), some, step, places, count, rows);
      else
        add_up<false>(column.data(), some, step, places, count, rows);
      for (Index c = 0; c < some; ++c) {
        if (counted)
          scan<true>(c, count, node, columns[first + c], best);
        else
          scan<false>(c, count, node, columns[first + c], best);
      }
      if (count == 2 && best.column >= 0) return;  // two rows part in one way: the first column has it
    }
  }

 private:
  static constexpr Index kWords = kMissing / 64 + 1;
  // Columns whose sums are made in one walk over the rows, which lie apart where codes are bins.
  static constexpr Index kTogether = kMissing == Index{kMissingBin} ? 6 : 1;

  template <bool kCounted, class Place>
  void add_up(const Code* const* column, Index some, Index step, const Place* places, Index count,
              const typename Target::Row* rows) {
    for (Index i = 0; i < count; ++i) {
      const Index at = static_cast<Index>(places[i]) * step;
      for (Index c = 0; c < some; ++c) {
        const auto code = static_cast<Index>(column[c][at]), slot = c * (kMissing + 1) + code;
        Target::add(sums_.data() + slot * width_, rows[i]);
        seen_[static_cast<std::size_t>(c * kWords + (code >> 6))] |= std::uint64_t{1} << (code & 63);
        if (kCounted) ++counts_[static_cast<std::size_t>(slot)];
      }
    }
  }

  // How many rows of a column are missing; only whether there are any, unless rows are counted.
  template <bool kCounted>
  Index missing(Index c) {
    std::uint64_t& word = seen_[static_cast<std::size_t>(c * kWords + (kMissing >> 6))];
    const std::uint64_t bit = std::uint64_t{1} << (kMissing & 63);
    if ((word & bit) == 0) return 0;
    word ^= bit;
    if (!kCounted) return 1;
    return static_cast<Index>(
        std::exchange(counts_[static_cast<std::size_t>(c * (kMissing + 1) + kMissing)], 0u));
  }

  // c: which of the columns added up together; j: its number.
  template <bool kCounted>
  void scan(Index c, Index count, const ForestSums& node, Index j, CodeSplit& best) {
    const Index gone = missing<kCounted>(c);
    typename Target::Sum* sums = sums_.data() + c * (kMissing + 1) * width_;
    std::uint32_t* counts = counts_.data() + c * (kMissing + 1);
    std::uint64_t* seen = seen_.data() + c * kWords;
    left_.clear();
    Index rows_left = 0, before = -1;
    bool pending = false;  // a split was taken whose right code is the next
    auto try_here = [&](const typename Target::Side& side, Index rows_here, bool missing_left, Index code) {
      if (kCounted && (rows_here < rules_.min_rows_leaf || count - rows_here < rules_.min_rows_leaf)) return;
      pending |= best.take(target_, rules_, node, side, j, code, missing_left);
    };
    auto boundary = [&](Index code, bool end) {  // between this code and what follows
      if (end && gone == 0) return;
      try_here(left_, rows_left, false, code);
      if (gone == 0 || end) return;
      with_missing_ = left_;
      with_missing_.add(sums + kMissing * width_);
      try_here(with_missing_, rows_left + gone, true, code);
    };
    for (Index word = 0; word < kWords; ++word) {
      std::uint64_t bits = std::exchange(seen[word], 0u);
      for (; bits != 0; bits &= bits - 1) {
        const Index code = word * 64 + std::countr_zero(bits);
        if (before >= 0) {
          boundary(before, false);
          if (pending) best.right = code, pending = false;
        }
        typename Target::Sum* own = sums + code * width_;
        left_.add(own);
        for (Index k = 0; k < width_; ++k) own[k] = 0;
        if (kCounted) rows_left += static_cast<Index>(std::exchange(counts[code], 0u));
        before = code;
      }
    }
    if (gone == 0) return;
    if (before >= 0) boundary(before, true);
    for (Index k = 0; k < width_; ++k) sums[kMissing * width_ + k] = 0;
  }

  const Target& target_;
  const SearchRules& rules_;
  Index width_;
  std::vector<typename Target::Sum> sums_;
  std::vector<std::uint32_t> counts_;
  std::array<std::uint64_t, static_cast<std::size_t>(kTogether* kWords)> seen_{};
  typename Target::Side left_, with_missing_;
};

}  // namespace surefit
