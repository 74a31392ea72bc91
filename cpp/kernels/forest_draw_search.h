// The best of thresholds drawn at random, one a column, between the least and the greatest value of a node.
#pragma once

#include "forest_search.h"
#include "node_random.h"

namespace surefit {

template <class Target, class T>
class DrawSearch {
 public:
  static constexpr bool kKeepsOrder = false;
  static constexpr bool kExact = true;

  DrawSearch(const Target& target, const SearchRules& rules)
      : target_(target),
        rules_(rules),
        left_(target.side()),
        sums_(static_cast<std::size_t>(target.width())) {}

  static bool is_missing(T value) { return std::isnan(value); }
  static bool goes_left(T value, const CodeSplit& split) {
    return static_cast<double>(value) <= split.threshold;
  }
  static bool is_at(T, Index) { return false; }
  void at_node(std::uint64_t seed, Index) { seed_ = seed; }

  template <class Place>
  static bool varies(const T* column, Index step, const Place* places, Index count) {
    const T first = column[static_cast<Index>(places[0]) * step];
    for (Index i = 1; i < count; ++i) {
      const T value = column[static_cast<Index>(places[i]) * step];
      if (value != first && !(std::isnan(value) && std::isnan(first))) return true;
    }
    return false;
  }

  template <class Place>
  void look_at(const T* cells, Index step, Index column_step, const Index* columns, Index many,
               const Place* places, Index count, const typename Target::Row* rows, const ForestSums& node,
               CodeSplit& best) {
    for (Index c = 0; c < many; ++c) {
      look_at(cells + columns[c] * column_step, step, places, count, rows, node, columns[c], best);
      if (count == 2 && best.column >= 0) return;  // two rows part in one way: the first column has it
    }
  }

 private:
  template <class Place>
  void look_at(const T* column, Index step, const Place* places, Index count,
               const typename Target::Row* rows, const ForestSums& node, Index j, CodeSplit& best) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    Index known = 0;
    for (Index i = 0; i < count; ++i) {
      const auto value = static_cast<double>(column[static_cast<Index>(places[i]) * step]);
      low = value < low ? value : low;
      high = value > high ? value : high;
      known += value == value;
    }
    if (known < 2 || !(low < high)) return;
    NodeRandom random(seed_ ^ mixed(static_cast<std::uint64_t>(j) + 1));
    double threshold = low + (high - low) * random.unit();
    if (!(threshold < high)) threshold = low;
    const bool missing_left = known < count && (random.bits() & 1) != 0;
    std::fill(sums_.begin(), sums_.end(), typename Target::Sum{0});
    Index rows_left = 0;
    for (Index i = 0; i < count; ++i) {
      const auto value = static_cast<double>(column[static_cast<Index>(places[i]) * step]);
      if (!(value <= threshold) && !(missing_left && value != value)) continue;
      Target::add(sums_.data(), rows[i]);
      ++rows_left;
    }
    if (rows_left < rules_.min_rows_leaf || count - rows_left < rules_.min_rows_leaf) return;
    left_.clear();
    left_.add(sums_.data());
    if (!best.take(target_, rules_, node, left_, j, 0, missing_left)) return;
    best.right = 0;
    best.threshold = threshold;
  }

  const Target& target_;
  const SearchRules& rules_;
  typename Target::Side left_;
  std::vector<typename Target::Sum> sums_;
  std::uint64_t seed_ = 0;
};

}  // namespace surefit
