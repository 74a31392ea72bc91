// The best split of a small node whose rows stand in the order of each column, and are kept in it.
//
// Where most columns are looked at, parting every order at each split takes less than adding up by codes.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "forest_codes.h"
#include "forest_search.h"

namespace surefit {

template <class Target>
class OrderSearch {
 public:
  static constexpr bool kKeepsOrder = true;
  static constexpr bool kExact = true;
  using Codes = CodeSearch<Target, std::uint16_t, kOrderedRows>;

  OrderSearch(const Target& target, const SearchRules& rules)
      : target_(target),
        rules_(rules),
        left_(target.side()),
        with_missing_(target.side()),
        gone_(static_cast<std::size_t>(target.width())),
        rows_(static_cast<std::size_t>(kOrderedRows)) {}

  static bool is_missing(std::uint16_t code) { return Codes::is_missing(code); }
  static bool goes_left(std::uint16_t code, const CodeSplit& split) { return Codes::goes_left(code, split); }
  static bool is_at(std::uint16_t code, Index wanted) { return Codes::is_at(code, wanted); }
  void at_node(std::uint64_t, Index begin) { begin_ = begin; }

  // The places of a small node: `order` has those of each column, by their codes; missing ones come last.
  void start(PlacedCode* order, Index width, Index count) { order_ = order, width_ = width, count_ = count; }

  template <class Place>
  static bool varies(const std::uint16_t* column, Index step, const Place* places, Index count) {
    return Codes::varies(column, step, places, count);
  }

  template <class Place>
  void look_at(const std::uint16_t*, Index, Index, const Index* columns, Index many, const Place* places,
               Index count, const typename Target::Row* rows, const ForestSums& node, CodeSplit& best) {
    for (Index i = 0; i < count; ++i) rows_[places[i]] = rows[i];
    for (Index c = 0; c < many; ++c) {
      const PlacedCode* order = order_ + columns[c] * count_ + begin_;
      if (code_of(order[0]) == code_of(order[count - 1])) continue;
      if (code_of(order[count - 1]) == kOrderedRows)
        scan<true>(order, count, node, columns[c], best);
      else
        scan<false>(order, count, node, columns[c], best);
      if (count == 2 && best.column >= 0) return;  // two rows part in one way: the first column has it
    }
  }

  void send(std::uint16_t place, bool left) { goes_left_[place] = left; }

  // Keeps every order within the two sides of a node, once all its places have been sent to one of them.
  void part(Index count) {
    for (Index j = 0; j < width_; ++j) {
      PlacedCode *order = order_ + j * count_ + begin_, *kept = order, *away = spare_.data();
      for (Index i = 0; i < count; ++i) {
        const PlacedCode entry = order[i];
        const bool left = goes_left_[place_of(entry)];
        *kept = *away = entry;  // both, since a branch would be guessed wrong half of the time
        kept += left;
        away += !left;
      }
      std::copy(spare_.data(), away, kept);
    }
  }

 private:
  template <bool kMissing>
  void scan(const PlacedCode* order, Index count, const ForestSums& node, Index j, CodeSplit& best) {
    Index known = count;
    if (kMissing) {
      std::fill(gone_.begin(), gone_.end(), typename Target::Sum{0});
      for (; code_of(order[known - 1]) == kOrderedRows; --known) {
      }
      for (Index i = known; i < count; ++i) Target::add(gone_.data(), rows_[place_of(order[i])]);
    }
    const Index least = rules_.min_rows_leaf;
    auto try_here = [&](const typename Target::Side& side, Index rows_left, bool missing_left, Index i) {
      if (rows_left < least || count - rows_left < least) return;
      if (best.take(target_, rules_, node, side, j, code_of(order[i]), missing_left))
        best.right = i + 1 < known ? code_of(order[i + 1]) : -1;
    };
    left_.clear();
    const Index last = kMissing ? known : known - 1;
    for (Index i = 0; i < last; ++i) {
      left_.add_row(rows_[place_of(order[i])]);
      if (i + 1 < known && code_of(order[i + 1]) == code_of(order[i])) continue;
      try_here(left_, i + 1, false, i);
      if (!kMissing || i + 1 == known) continue;
      with_missing_ = left_;
      with_missing_.add(gone_.data());
      try_here(with_missing_, i + 1 + count - known, true, i);
    }
  }

  const Target& target_;
  const SearchRules& rules_;
  typename Target::Side left_, with_missing_;
  std::vector<typename Target::Sum> gone_;
  std::vector<typename Target::Row> rows_;  // by their places
  std::array<PlacedCode, static_cast<std::size_t>(kOrderedRows)> spare_;
  std::array<bool, static_cast<std::size_t>(kOrderedRows)> goes_left_;
  PlacedCode* order_ = nullptr;
  Index width_ = 0, count_ = 0, begin_ = 0;
};

}  // namespace surefit
