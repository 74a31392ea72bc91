// The best split of a small node, which sorts the ranks of each column that it looks at.
//
// Where few of many columns are looked at, that takes less than codes that all nodes below share. Sums are
// added up as by codes, so that both find the same split.
#pragma once

#include <vector>

#include "forest_columns.h"
#include "forest_keys.h"
#include "forest_search.h"

namespace surefit {

template <class Target>
class RankSearch {
 public:
  static constexpr bool kKeepsOrder = false;
  static constexpr bool kExact = true;

  RankSearch(const Target& target, const SearchRules& rules)
      : target_(target),
        rules_(rules),
        common_(static_cast<std::size_t>(target.width())),
        gone_(common_.size()),
        group_(common_.size()),
        left_(target.side()),
        with_missing_(target.side()) {}

  static bool is_missing(std::uint32_t rank) { return rank == kMissingCode; }
  static bool goes_left(std::uint32_t rank, const CodeSplit& split) {
    return static_cast<Index>(rank) <= split.left;
  }
  static bool is_at(std::uint32_t rank, Index wanted) { return static_cast<Index>(rank) == wanted; }
  void at_node(std::uint64_t, Index) {}

  template <class Place>
  static bool varies(const std::uint32_t* column, Index step, const Place* places, Index count) {
    const std::uint32_t first = column[static_cast<Index>(places[0]) * step];
    for (Index i = 1; i < count; ++i)
      if (column[static_cast<Index>(places[i]) * step] != first) return true;
    return false;
  }

  template <class Place>
  void look_at(const std::uint32_t* ranks, Index step, Index column_step, const Index* columns, Index many,
               const Place* places, Index count, const typename Target::Row* rows, const ForestSums& node,
               CodeSplit& best) {
    for (Index c = 0; c < many; ++c) {
      part(ranks + columns[c] * column_step, step, places, count, rows);
      scan(count, rows, node, columns[c], best);
      if (count == 2 && best.column >= 0) return;  // two rows part in one way: the first column has it
    }
  }

 private:
  // Parts rows into those that share the rank of the first, which are most of them where a column is sparse,
  // those that are missing, and the rest, which is sorted.
  template <class Place>
  void part(const std::uint32_t* column, Index step, const Place* places, Index count,
            const typename Target::Row* rows) {
    std::fill(common_.begin(), common_.end(), typename Target::Sum{0});
    std::fill(gone_.begin(), gone_.end(), typename Target::Sum{0});
    common_rank_ = column[static_cast<Index>(places[0]) * step];
    common_rows_ = gone_rows_ = 0;
    const bool known = common_rank_ != kMissingCode;
    RankedPlace* keys = sorter_.keys();
    std::uint32_t low = kMissingCode, high = 0;
    std::size_t others = 0;
    for (Index i = 0; i < count; ++i) {
      const std::uint32_t rank = column[static_cast<Index>(places[i]) * step];
      if (rank == common_rank_ && known) {
        Target::add(common_.data(), rows[i]);
        ++common_rows_;
      } else if (rank == kMissingCode) {
        Target::add(gone_.data(), rows[i]);
        ++gone_rows_;
      } else {
        low = std::min(low, rank), high = std::max(high, rank);
        keys[others++] = ranked_place(rank, i);
      }
    }
    sorted_ = sorter_.sorted(others, low, high);
    end_ = sorted_ + others;
  }

  void scan(Index count, const typename Target::Row* rows, const ForestSums& node, Index j, CodeSplit& best) {
    left_.clear();
    Index rows_left = 0, before = -1;
    bool pending = false;  // a split was taken whose right rank is the next
    auto try_here = [&](const typename Target::Side& side, Index rows_here, bool missing_left) {
      if (rows_here < rules_.min_rows_leaf || count - rows_here < rules_.min_rows_leaf) return;
      pending |= best.take(target_, rules_, node, side, j, before, missing_left);
    };
    auto boundary = [&](std::uint32_t rank) {  // between the ranks so far and this one
      if (before >= 0) {
        try_here(left_, rows_left, false);
        if (gone_rows_ > 0) {
          with_missing_ = left_;
          with_missing_.add(gone_.data());
          try_here(with_missing_, rows_left + gone_rows_, true);
        }
        if (pending) best.right = static_cast<Index>(rank), pending = false;
      }
      before = static_cast<Index>(rank);
    };
    auto add_common = [&] {
      boundary(common_rank_);
      left_.add(common_.data());
      rows_left += common_rows_;
    };
    const RankedPlace *sorted = sorted_, *const end = end_;
    bool waiting = common_rows_ > 0;
    while (sorted != end) {
      const std::uint32_t rank = rank_of(*sorted);
      if (waiting && common_rank_ < rank) {
        add_common();
        waiting = false;
      }
      boundary(rank);
      const RankedPlace* next = sorted + 1;
      if (next == end || rank_of(*next) != rank) {
        left_.add_row(rows[ranked_at(*sorted)]);
      } else {
        std::fill(group_.begin(), group_.end(), typename Target::Sum{0});
        for (next = sorted; next != end && rank_of(*next) == rank; ++next)
          Target::add(group_.data(), rows[ranked_at(*next)]);
        left_.add(group_.data());
      }
      rows_left += next - sorted;
      sorted = next;
    }
    if (waiting) add_common();
    if (gone_rows_ > 0 && before >= 0) try_here(left_, rows_left, false);  // only what is missing goes right
  }

  const Target& target_;
  const SearchRules& rules_;
  std::vector<typename Target::Sum> common_, gone_, group_;
  std::uint32_t common_rank_ = 0;
  Index common_rows_ = 0, gone_rows_ = 0;
  KeySorter sorter_;
  const RankedPlace *sorted_ = nullptr, *end_ = nullptr;
  typename Target::Side left_, with_missing_;
};

}  // namespace surefit
