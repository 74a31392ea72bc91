// The best split of a node, read off its histogram.
//
// A node with gradient G and curvature H predicts -G / (H + l2), which lowers the loss by G^2 / (H + l2) / 2;
// a split gains what its sides lower more. Missing values go to the side where they gain more; levels are put
// in the order of their gradients and cut as numbers are.
#pragma once

#include <algorithm>
#include <array>
#include <limits>

#include "boost_histogram.h"

namespace surefit {

using LevelBits = std::array<std::uint64_t, 4>;

struct BoostSearchRules {
  Index min_rows_leaf = 1;
  double l2 = 0.0;
  double min_curvature = 1e-3;
};

struct BoostColumns {
  Index width;
  const Index* offset;           // of each column's sums in a histogram
  const std::int64_t* counts;    // bins of each column, without missing values
  const std::uint8_t* is_level;  // whether a column's codes are levels
  const std::uint8_t* has_missing;
  const std::int8_t* monotone;  // null for none
};

struct NodeSums {
  double gradient = 0.0, curvature = 0.0, value = 0.0;
  Index rows = 0;
  double lowest = -std::numeric_limits<double>::infinity();
  double highest = std::numeric_limits<double>::infinity();
  bool bounded() const { return std::isfinite(lowest) || std::isfinite(highest); }
};

struct BoostSplit {
  double gain = 0.0;  // only gains above zero count
  Index column = -1;
  Index bin = 0;  // codes up to it go left
  bool missing_left = false;
  Sums left;
  LevelBits levels{};  // of a column of levels, those that go left
  bool found() const { return column >= 0; }
};

class BoostSearch {
 public:
  BoostSearch(const BoostColumns& columns, const BoostSearchRules& rules, const FixedPoint& unit)
      : columns_(columns), rules_(rules), unit_(unit) {}

  double value_of(double gradient, double curvature, double lowest, double highest) const {
    return std::clamp(-gradient / (curvature + rules_.l2 + kTiny), lowest, highest);
  }

  // Looks at one column and keeps the best so far; of equal gains the first column's stays.
  void look_at(const NodeSums& node, const Sums* histogram, Index j, BoostSplit& best) const {
    const Sums* bins = histogram + columns_.offset[j];
    if (columns_.is_level[j] != 0)
      look_at_levels(node, bins, j, best);
    else
      look_at_numbers(node, bins, j, best);
  }

 private:
  static constexpr double kTiny = 1e-15;
  static constexpr double kSame = 1e-12;         // of gains that are equal but for rounding, relative
  static constexpr double kLevelSupport = 10.0;  // rows below which a level's mean is mostly noise
  static constexpr double kNone = -std::numeric_limits<double>::infinity();

  struct Prefix {
    std::array<double, 256> gradient, curvature, rows, score;
    std::array<Sums, 256> left;
  };

  void look_at_numbers(const NodeSums& node, const Sums* bins, Index j, BoostSplit& best) const {
    const auto count = static_cast<Index>(columns_.counts[j]);
    const bool missing = columns_.has_missing[j] != 0;
    const int sign = columns_.monotone == nullptr ? 0 : columns_.monotone[j];
    static thread_local Prefix prefix;
    const Index ends = missing ? count : count - 1;
    fill(bins, ends, Sums{}, prefix);
    score(node, ends, sign, prefix);
    const double before = node.gradient * node.value;
    keep(j, first_best(prefix, ends, before), false, before, prefix, best);
    if (!missing || bins[count].curvature_and_rows == 0) return;
    fill(bins, count - 1, bins[count], prefix);
    score(node, count - 1, sign, prefix);
    keep(j, last_best(prefix, count - 1, before), true, before, prefix, best);
  }

  void fill(const Sums* bins, Index ends, Sums start, Prefix& prefix) const {
    for (Index b = 0; b < ends; ++b) prefix.left[static_cast<std::size_t>(b)] = start = start + bins[b];
    decode(ends, prefix);
  }

  void decode(Index ends, Prefix& prefix) const {
    const double g = 1.0 / unit_.gradient, h = 1.0 / unit_.curvature;
    const int bits = unit_.row_bits;
    const std::int64_t mask = (std::int64_t{1} << bits) - 1;
    for (std::size_t b = 0; b < static_cast<std::size_t>(ends); ++b) {
      prefix.gradient[b] = static_cast<double>(prefix.left[b].gradient) * g;
      prefix.curvature[b] = static_cast<double>(prefix.left[b].curvature_and_rows >> bits) * h;
      prefix.rows[b] = static_cast<double>(prefix.left[b].curvature_and_rows & mask);
    }
  }

  // What a split gains; minus infinity where a side is too small.
  void score(const NodeSums& node, Index ends, int sign, Prefix& prefix) const {
    if (node.bounded() || sign != 0) {
      for (std::size_t b = 0; b < static_cast<std::size_t>(ends); ++b)
        prefix.score[b] = bounded_score(node, prefix.gradient[b], prefix.curvature[b], prefix.rows[b], sign);
      return;
    }
    const double G = node.gradient, H = node.curvature, N = static_cast<double>(node.rows);
    const double least = static_cast<double>(rules_.min_rows_leaf), bend = rules_.min_curvature;
    const double l2 = rules_.l2 + kTiny, before = G * node.value;
    for (std::size_t b = 0; b < static_cast<std::size_t>(ends); ++b) {
      const double g = prefix.gradient[b], h = prefix.curvature[b], n = prefix.rows[b];
      const double value = before - g * (-g / (h + l2)) - (G - g) * (-(G - g) / (H - h + l2));
      const bool enough = (n >= least) & (N - n >= least) & (h >= bend) & (H - h >= bend);
      prefix.score[b] = enough ? value : kNone;
    }
  }

  double bounded_score(const NodeSums& node, double g, double h, double n, int sign) const {
    const double rest = static_cast<double>(node.rows) - n, least = static_cast<double>(rules_.min_rows_leaf);
    const double G = node.gradient - g, H = node.curvature - h;
    if (n < least || rest < least || h < rules_.min_curvature || H < rules_.min_curvature) return kNone;
    const double left = value_of(g, h, node.lowest, node.highest);
    const double right = value_of(G, H, node.lowest, node.highest);
    if (static_cast<double>(sign) * (right - left) < 0.0) return kNone;
    return node.gradient * node.value - g * left - G * right;
  }

  // Gains that differ by rounding alone are equal, and a gain of rounding is none.
  static bool beats(double score, double most, double before) {
    return score > most + kSame * (std::fabs(before) + std::fabs(score));
  }
  static Index first_best(const Prefix& prefix, Index ends, double before) {
    Index at = -1;
    double most = kNone;
    for (Index b = 0; b < ends; ++b)
      if (beats(prefix.score[static_cast<std::size_t>(b)], most, before))
        most = prefix.score[static_cast<std::size_t>(at = b)];
    return at;
  }
  static Index last_best(const Prefix& prefix, Index ends, double before) {
    Index at = -1;
    double most = kNone;
    for (Index b = ends - 1; b >= 0; --b)
      if (beats(prefix.score[static_cast<std::size_t>(b)], most, before))
        most = prefix.score[static_cast<std::size_t>(at = b)];
    return at;
  }

  static bool keep(Index j, Index at, bool missing_left, double before, const Prefix& prefix,
                   BoostSplit& best) {
    if (at < 0 || !beats(prefix.score[static_cast<std::size_t>(at)], best.gain, before)) return false;
    best.gain = prefix.score[static_cast<std::size_t>(at)];
    best.column = j;
    best.bin = at;
    best.missing_left = missing_left;
    best.left = prefix.left[static_cast<std::size_t>(at)];
    best.levels = {};
    return true;
  }

  // Levels with enough rows, in the order of their means; the others go right, with the larger half.
  void look_at_levels(const NodeSums& node, const Sums* bins, Index j, BoostSplit& best) const {
    const auto count = static_cast<Index>(columns_.counts[j]) + (columns_.has_missing[j] != 0 ? 1 : 0);
    const double factor = static_cast<double>(node.rows) / node.curvature;
    std::array<std::pair<double, Index>, 257> order;
    std::size_t used = 0;
    for (Index b = 0; b < count; ++b) {
      const double h = unit_.curvature_of(bins[b]);
      if (bins[b].curvature_and_rows == 0 || h * factor < kLevelSupport) continue;
      order[used++] = {unit_.gradient_of(bins[b]) / (h + kLevelSupport), b};
    }
    if (used <= 1) return;
    std::sort(order.begin(), order.begin() + static_cast<Index>(used));
    static thread_local Prefix prefix;
    const std::size_t middle = (used + 1) / 2;
    for (const bool upwards : {true, false}) {
      const std::size_t ends = upwards ? middle : middle - 1;
      Sums left;
      for (std::size_t i = 0; i < ends; ++i)
        prefix.left[i] = left = left + bins[order[upwards ? i : used - 1 - i].second];
      decode(static_cast<Index>(ends), prefix);
      score(node, static_cast<Index>(ends), 0, prefix);
      const double before = node.gradient * node.value;
      const Index at = first_best(prefix, static_cast<Index>(ends), before);
      if (!keep(j, at, false, before, prefix, best)) continue;
      best.bin = 0;
      for (std::size_t i = 0; i <= static_cast<std::size_t>(at); ++i) {
        const auto level = static_cast<std::size_t>(order[upwards ? i : used - 1 - i].second);
        if (level == static_cast<std::size_t>(columns_.counts[j]))
          best.missing_left = true;
        else
          best.levels[level / 64] |= std::uint64_t{1} << (level % 64);
      }
    }
  }

  BoostColumns columns_;
  BoostSearchRules rules_;
  FixedPoint unit_;
};

}  // namespace surefit
