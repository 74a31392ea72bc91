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

  // The best split by one column alone, from its own sums.
  BoostSplit best_of(const NodeSums& node, const Sums* bins, Index j) const {
    BoostSplit best;
    if (columns_.is_level[j] != 0)
      look_at_levels(node, bins, j, best);
    else
      look_at_numbers(node, bins, j, best);
    return best;
  }

  // Of equal gains the first column's stays.
  static void keep_better(const NodeSums& node, const BoostSplit& found, BoostSplit& best) {
    if (found.found() && beats(found.gain, best.gain, node.gradient * node.value)) best = found;
  }

  // Looks at one column of a histogram and keeps the best so far.
  void look_at(const NodeSums& node, const Sums* histogram, Index j, BoostSplit& best) const {
    keep_better(node, best_of(node, histogram + columns_.offset[j], j), best);
  }

 private:
  static constexpr double kTiny = 1e-15;
  static constexpr double kSame = 1e-12;         // of gains that are equal but for rounding, relative
  static constexpr double kLevelSupport = 10.0;  // rows below which a level's mean is mostly noise
  static constexpr double kNone = -std::numeric_limits<double>::infinity();

  // What goes left of each cut: whole numbers, and what they stand for.
  struct Prefix {
    alignas(32) std::array<std::uint64_t, 256> whole_gradient, whole_curvature;
    alignas(32) std::array<double, 256> gradient, curvature, rows, score;
    void set(std::size_t b, const Sums& left) {
      whole_gradient[b] = static_cast<std::uint64_t>(left.gradient);
      whole_curvature[b] = static_cast<std::uint64_t>(left.curvature_and_rows);
    }
    Sums left(std::size_t b) const {
      return {static_cast<std::int64_t>(whole_gradient[b]), static_cast<std::int64_t>(whole_curvature[b])};
    }
  };

  // The nearest double to a whole number of 64 bits. By its halves, since processors convert two or four of
  // them at once only so.
  static double nearest(std::uint64_t whole) {
    constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
    const std::uint64_t shifted = whole ^ kSign;
    const auto high = std::bit_cast<double>((shifted >> 32) | 0x4530000000000000u);  // 2^84 and the half
    const auto low = std::bit_cast<double>((shifted & 0xFFFFFFFFu) | 0x4330000000000000u);  // 2^52 and it
    return (high - (0x1p84 + 0x1p63 + 0x1p52)) + low;
  }

  void look_at_numbers(const NodeSums& node, const Sums* bins, Index j, BoostSplit& best) const {
    const auto count = static_cast<Index>(columns_.counts[j]);
    const bool missing = columns_.has_missing[j] != 0;
    const int sign = columns_.monotone == nullptr ? 0 : columns_.monotone[j];
    Prefix prefix;
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
    for (Index b = 0; b < ends; ++b) prefix.set(static_cast<std::size_t>(b), start = start + bins[b]);
    decode(ends, prefix);
  }

  void decode(Index ends, Prefix& prefix) const {
    const double g = 1.0 / unit_.gradient, h = 1.0 / unit_.curvature;
    const int bits = unit_.row_bits;
    const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    for (std::size_t b = 0; b < static_cast<std::size_t>(ends); ++b) {
      const std::uint64_t both = prefix.whole_curvature[b];
      prefix.gradient[b] = nearest(prefix.whole_gradient[b]) * g;
      prefix.curvature[b] = nearest(both >> bits) * h;
      prefix.rows[b] = nearest(both & mask);
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
      const double g = prefix.gradient[b], h = prefix.curvature[b];
      prefix.score[b] = before - g * (-g / (h + l2)) - (G - g) * (-(G - g) / (H - h + l2));
    }
    for (std::size_t b = 0; b < static_cast<std::size_t>(ends); ++b) {
      const double h = prefix.curvature[b], n = prefix.rows[b];
      const bool enough = (n >= least) & (N - n >= least) & (h >= bend) & (H - h >= bend);
      prefix.score[b] = enough ? prefix.score[b] : kNone;
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
    constexpr Index kBlock = 8;  // of which most are passed over by their greatest score
    Index at = -1;
    double most = kNone;
    for (Index from = 0; from < ends; from += kBlock) {
      const Index to = std::min(ends, from + kBlock);
      double greatest = kNone;
      for (Index b = from; b < to; ++b)
        greatest = std::max(greatest, prefix.score[static_cast<std::size_t>(b)]);
      if (!beats(greatest, most, before)) continue;
      for (Index b = from; b < to; ++b)
        if (beats(prefix.score[static_cast<std::size_t>(b)], most, before))
          most = prefix.score[static_cast<std::size_t>(at = b)];
    }
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
    best.left = prefix.left(static_cast<std::size_t>(at));
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
    Prefix prefix;
    const std::size_t middle = (used + 1) / 2;
    for (const bool upwards : {true, false}) {
      const std::size_t ends = upwards ? middle : middle - 1;
      Sums left;
      for (std::size_t i = 0; i < ends; ++i)
        prefix.set(i, left = left + bins[order[upwards ? i : used - 1 - i].second]);
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
