// The best split of a node: every threshold of every column, or one drawn at random.
#pragma once

#include <limits>
#include <numeric>

#include "median_scan.h"
#include "node_random.h"
#include "sorted_columns.h"
#include "split.h"
#include "split_criteria.h"

namespace surefit {

template <class T, class Criterion>
class SplitSearch {
 public:
  struct Scratch {
    std::vector<double> left, other, missing, with_missing, level_sums, level_weight;
    std::vector<Index> level, level_rows, order;
    MedianScan medians;
  };

  // levels: of each column, 0 for numbers. monotone: of each column, -1, 0 or 1; empty for none.
  SplitSearch(const SortedColumns<T>& sorted, const Criterion& criterion, const SearchRules& rules,
              const std::vector<Index>& levels, const std::vector<std::int8_t>& monotone)
      : sorted_(sorted),
        criterion_(criterion),
        rules_(rules),
        levels_(levels),
        monotone_(monotone),
        width_(criterion.width()) {
    for (const Index level : levels_) words_ = std::max(words_, (level + 63) / 64);
  }

  Index words() const { return words_; }

  // The columns to look at, in ascending order: of equal splits, the first column's is taken.
  void choose_columns(const TreeNode& node, std::vector<Index>& chosen) const {
    chosen.resize(size(sorted_.columns()));
    std::iota(chosen.begin(), chosen.end(), Index{0});
    if (rules_.max_columns == 0 || rules_.max_columns >= sorted_.columns()) return;
    NodeRandom random(node.seed);
    Index found = 0;
    // Constant columns do not count. The chosen ones gather at the end.
    for (Index left = sorted_.columns(); left > 0 && found < rules_.max_columns; --left) {
      std::swap(chosen[size(random.below(left))], chosen[size(left - 1)]);
      const Index j = chosen[size(left - 1)];
      if (!sorted_.constant(j, node.begin, node.end)) chosen[size(sorted_.columns() - ++found)] = j;
    }
    chosen.erase(chosen.begin(), chosen.end() - found);
    std::sort(chosen.begin(), chosen.end());
  }

  // Takes the best split of column j if it is better than the best so far.
  void look_at(const TreeNode& node, Index j, Split& best, Scratch& scratch) const {
    if (node.rows() == 2 && best.column >= 0) return;  // two rows part in one way: the first column has it
    if (sorted_.constant(j, node.begin, node.end)) return;
    const Index known = sorted_.present(j, node.begin, node.end);
    if constexpr (Criterion::kMedians)
      if (criterion_.medians()) return look_at_medians(node, j, known, best, scratch);
    const double missing_weight = known < node.rows() ? add_missing(node, j, known, scratch) : 0.0;
    if (levels_[size(j)] > 0)
      look_at_levels(node, j, known, missing_weight, best, scratch);
    else if (rules_.random_threshold)
      look_at_one_number(node, j, known, best, scratch);
    else if (criterion_.paired() && known == node.rows())
      criterion_.weight == nullptr ? look_at_pairs<false>(node, j, best) : look_at_pairs<true>(node, j, best);
    else
      look_at_numbers(node, j, known, missing_weight, best, scratch);
  }

 private:
  static constexpr Index kFewLevels = 10;  // up to which all subsets of them are tried
  static std::size_t size(Index n) { return static_cast<std::size_t>(n); }

  double add_missing(const TreeNode& node, Index j, Index known, Scratch& scratch) const {
    scratch.missing.assign(size(width_), 0.0);
    const Ranked* entries = sorted_.column(j) + node.begin;
    double weight = 0.0;
    for (Index i = known; i < node.rows(); ++i)
      weight += criterion_.add_about(scratch.missing.data(), entries[i].row, node.centre.data());
    return weight;
  }

  bool monotone_allows(const TreeNode& node, Index j, double left, double right) const {
    if (left < node.lowest || left > node.highest || right < node.lowest || right > node.highest)
      return false;
    const int sign = monotone_[size(j)];
    return sign == 0 || (sign > 0 ? left <= right : left >= right);
  }

  // One sum tells all of a side.
  template <bool kWeighted>
  void look_at_pairs(const TreeNode& node, Index j, Split& best) const {
    const Ranked* entries = sorted_.column(j) + node.begin;
    const Index rows = node.rows(), first = rules_.min_rows_leaf - 1, last = rows - rules_.min_rows_leaf;
    const double *totals = node.totals.data(), W = node.weight, centre = node.centre[0];
    double w = 0.0, s = 0.0, top = best.score, bar = best.bar;
    Index at = -1;
    for (Index i = 0; i < last; ++i) {
      const Index row = static_cast<Index>(entries[i].row);
      const double weight = kWeighted ? criterion_.weight[row] : 1.0;
      w += weight;
      s += weight * criterion_.pair_term(row, centre);
      if (entries[i + 1].code == entries[i].code || i < first) continue;
      const double gap = Criterion::pair_gap(s, w, totals, W), product = w * (W - w);
      if (!(gap * gap > bar * product)) continue;  // a division would take longer than all the rest
      if (w < rules_.min_weight_leaf || W - w < rules_.min_weight_leaf || !(product > 0.0)) continue;
      const double other = criterion_.pair_sum(totals) - s;
      if (!monotone_.empty() && !monotone_allows(node, j, s / w + centre, other / (W - w) + centre)) continue;
      top = gap * gap / product;
      bar = raised(node, top);
      at = i + 1;
    }
    if (at < 0) return;
    take(node, best, top, j, false);
    place(node, j, at, rows, best);
  }

  // Scores the split whose left side has these sums; takes it if it is better.
  bool improves(const TreeNode& node, Index j, const double* left, double wl, Index rows_left,
                bool missing_left, Split& best, Scratch& scratch) const {
    if (rows_left < rules_.min_rows_leaf || node.rows() - rows_left < rules_.min_rows_leaf) return false;
    const double wr = node.weight - wl;
    if (wl < rules_.min_weight_leaf || wr < rules_.min_weight_leaf) return false;
    scratch.other.resize(size(width_));
    double* right = scratch.other.data();
    for (Index k = 0; k < width_; ++k) right[k] = node.totals[size(k)] - left[k];
    if (!monotone_.empty() && !monotone_allows(node, j, criterion_.monotone_value(left, wl) + node.centre[0],
                                               criterion_.monotone_value(right, wr) + node.centre[0]))
      return false;
    const double score = score_of(node, left, wl, right, wr);
    if (!(score > best.bar)) return false;
    take(node, best, score, j, missing_left);
    return true;
  }

  double score_of(const TreeNode& node, const double* left, double wl, const double* right, double wr) const {
    if (!criterion_.paired()) return criterion_.score_about(left, wl, right, wr, node.centre.data());
    const double gap = Criterion::pair_gap(criterion_.pair_sum(left), wl, node.totals.data(), node.weight);
    return gap * gap / (wl * wr);
  }

  // Splits that differ by rounding alone are equal.
  double raised(const TreeNode& node, double score) const {
    return score + 1e-13 * std::abs(score) +
           criterion_.rounding(score, node.centre.data(), node.impurity, node.weight);
  }

  void take(const TreeNode& node, Split& best, double score, Index j, bool missing_left) const {
    best.score = score;
    best.bar = raised(node, score);
    best.column = j;
    best.missing_left = missing_left;
    best.levels.clear();
  }

  const double* with_missing(const double* left, Scratch& scratch) const {
    scratch.with_missing.resize(size(width_));
    for (Index k = 0; k < width_; ++k) scratch.with_missing[size(k)] = left[k] + scratch.missing[size(k)];
    return scratch.with_missing.data();
  }

  void look_at_numbers(const TreeNode& node, Index j, Index known, double missing_weight, Split& best,
                       Scratch& scratch) const {
    const Ranked* entries = sorted_.column(j) + node.begin;
    const Index gone = node.rows() - known;
    scratch.left.assign(size(width_), 0.0);
    const double* left = scratch.left.data();
    double wl = 0.0;
    Index at = -1;
    for (Index i = 0; i < known; ++i) {
      wl += criterion_.add_about(scratch.left.data(), entries[i].row, node.centre.data());
      const bool end = i + 1 == known;  // what is known against what is missing
      if (end ? gone == 0 : entries[i + 1].code == entries[i].code) continue;
      if (improves(node, j, left, wl, i + 1, false, best, scratch)) at = i + 1;
      if (gone > 0 && !end &&
          improves(node, j, with_missing(left, scratch), wl + missing_weight, i + 1 + gone, true, best,
                   scratch))
        at = i + 1;
    }
    if (at >= 0) place(node, j, at, known, best);
  }

  // Absolute deviations: the costs of all beginnings and of all ends of the sorted rows. Levels are put in
  // the order of their means, which need not hold the best subset.
  void look_at_medians(const TreeNode& node, Index j, Index known, Split& best, Scratch& scratch) const {
    const Ranked* entries = sorted_.column(j) + node.begin;
    const Index gone = node.rows() - known;
    MedianScan& scan = scratch.medians;
    scan.rank(criterion_, entries, node.begin, node.end);
    std::vector<Ranked> sequence(entries, entries + known);
    Index only = -1;
    bool drawn_left = false;
    double threshold = 0.0;
    if (levels_[size(j)] > 0) {
      order_by_level_mean(sequence, scratch);
    } else if (rules_.random_threshold) {
      if (!draw(node, j, known, threshold, only, drawn_left)) return;
    }
    for (const bool missing_left : {false, true}) {
      if (missing_left && gone == 0) break;
      if (only >= 0 && gone > 0 && missing_left != drawn_left) continue;
      scan.cost(criterion_, sequence, entries + known, missing_left ? gone : 0, missing_left ? 0 : gone);
      const Index here = scan.best(only, [&](Index cut, double score) {
        const Index rows_left = cut + (missing_left ? gone : 0);
        if (rows_left < rules_.min_rows_leaf || node.rows() - rows_left < rules_.min_rows_leaf) return false;
        const double wl = scan.left_weight(cut), wr = node.weight - wl;
        if (wl < rules_.min_weight_leaf || wr < rules_.min_weight_leaf) return false;
        if (!monotone_.empty() && !monotone_allows(node, j, scan.left_median(cut), scan.right_median(cut)))
          return false;
        if (!(score > best.bar)) return false;
        take(node, best, score, j, missing_left);
        return true;
      });
      if (here < 0) continue;
      if (levels_[size(j)] > 0) {
        best.levels.assign(size(words_), 0);
        for (Index i = 0; i < here; ++i) {
          const auto level = static_cast<std::uint64_t>(sorted_.value(sequence[size(i)], j));
          best.levels[level / 64] |= std::uint64_t{1} << (level % 64);
        }
      } else if (only >= 0) {
        best.position = only;
        best.threshold = threshold;
      } else {
        place(node, j, here, known, best);
      }
    }
  }

  // Groups rows by level, the levels in the order of their means of the first output.
  void order_by_level_mean(std::vector<Ranked>& sequence, Scratch& scratch) const {
    auto &order = scratch.order, &start = scratch.level;
    start.clear(), scratch.level_sums.clear();
    std::vector<double> sums(size(width_));
    for (std::size_t i = 0; i < sequence.size();) {
      start.push_back(static_cast<Index>(i));
      std::fill(sums.begin(), sums.end(), 0.0);
      double weight = 0.0;
      const std::uint32_t code = sequence[i].code;
      for (; i < sequence.size() && sequence[i].code == code; ++i)
        weight += criterion_.add(sums.data(), sequence[i].row);
      scratch.level_sums.push_back(sums[0] / weight);
    }
    order.resize(start.size());
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
      return scratch.level_sums[size(a)] < scratch.level_sums[size(b)];
    });
    start.push_back(static_cast<Index>(sequence.size()));
    std::vector<Ranked> grouped;
    grouped.reserve(sequence.size());
    for (const Index k : order)
      grouped.insert(grouped.end(), sequence.begin() + start[size(k)], sequence.begin() + start[size(k) + 1]);
    sequence.swap(grouped);
  }

  // Draws a threshold between the least and the greatest value, and a side for missing rows.
  bool draw(const TreeNode& node, Index j, Index known, double& threshold, Index& at,
            bool& missing_left) const {
    const Ranked* entries = sorted_.column(j) + node.begin;
    if (known < 2 || entries[0].code == entries[known - 1].code) return false;
    NodeRandom random(node.seed ^ mixed(static_cast<std::uint64_t>(j) + 1));
    const double low = sorted_.value(entries[0], j), high = sorted_.value(entries[known - 1], j);
    threshold = low + (high - low) * random.unit();
    if (!(threshold < high)) threshold = low;
    for (at = 0; at < known && sorted_.value(entries[at], j) <= threshold;) ++at;
    missing_left = known < node.rows() && (random.bits() & 1) != 0;
    return true;
  }

  // One threshold, drawn at random.
  void look_at_one_number(const TreeNode& node, Index j, Index known, Split& best, Scratch& scratch) const {
    const Ranked* entries = sorted_.column(j) + node.begin;
    double threshold = 0.0, wl = 0.0;
    Index at = 0;
    bool missing_left = false;
    if (!draw(node, j, known, threshold, at, missing_left)) return;
    const Index gone = node.rows() - known;
    scratch.left.assign(size(width_), 0.0);
    for (Index i = 0; i < at; ++i)
      wl += criterion_.add_about(scratch.left.data(), entries[i].row, node.centre.data());
    const double* left = scratch.left.data();
    if (missing_left) {
      left = with_missing(left, scratch);
      wl = 0.0;
      for (Index i = 0; i < at; ++i) wl += criterion_.weight_of(entries[i].row);
      for (Index i = known; i < node.rows(); ++i) wl += criterion_.weight_of(entries[i].row);
    }
    if (!improves(node, j, left, wl, at + (missing_left ? gone : 0), missing_left, best, scratch)) return;
    best.position = at;
    best.threshold = threshold;
  }

  // The threshold lies half-way between its neighbours.
  void place(const TreeNode& node, Index j, Index at, Index known, Split& best) const {
    const Ranked* entries = sorted_.column(j) + node.begin;
    best.position = at;
    if (at == known) {
      best.threshold = std::numeric_limits<double>::infinity();
      return;
    }
    const double low = sorted_.value(entries[at - 1], j), high = sorted_.value(entries[at], j);
    // Halves are added, so that the largest numbers do not overflow. What rounds up to the right neighbour
    // would take it along.
    const double middle = low / 2.0 + high / 2.0;
    best.threshold = middle >= low && middle < high ? middle : low;
  }

  // For two classes and for numbers, the best subset of levels is a beginning of their order by mean. With
  // more classes or outputs each one's order is tried, or all subsets where levels are few.
  void look_at_levels(const TreeNode& node, Index j, Index known, double missing_weight, Split& best,
                      Scratch& scratch) const {
    const Ranked* entries = sorted_.column(j) + node.begin;
    const Index gone = node.rows() - known;
    auto &left = scratch.left, &sums = scratch.level_sums, &weights = scratch.level_weight;
    auto &level = scratch.level, &rows = scratch.level_rows, &order = scratch.order;
    level.clear(), rows.clear(), weights.clear(), sums.clear();
    for (Index i = 0; i < known; ++i) {
      if (i == 0 || entries[i].code != entries[i - 1].code) {
        level.push_back(static_cast<Index>(sorted_.value(entries[i], j)));
        rows.push_back(0), weights.push_back(0.0), sums.resize(sums.size() + size(width_), 0.0);
      }
      weights.back() += criterion_.add_about(sums.data() + (sums.size() - size(width_)), entries[i].row,
                                             node.centre.data());
      ++rows.back();
    }
    const Index number = static_cast<Index>(level.size()), orders = criterion_.level_orders();
    double wl = 0.0;
    Index rows_left = 0;
    auto clear = [&] { left.assign(size(width_), 0.0), wl = 0.0, rows_left = 0; };
    auto put_left = [&](Index i) {
      for (Index k = 0; k < width_; ++k) left[size(k)] += sums[size(i * width_ + k)];
      wl += weights[size(i)], rows_left += rows[size(i)];
    };
    // Tries what is on the left, with missing rows on either side; `holds` tells whether level i is in it.
    auto try_left = [&](const auto& holds) {
      for (const bool missing_left : {false, true}) {
        if (missing_left && gone == 0) break;
        const double* tried = missing_left ? with_missing(left.data(), scratch) : left.data();
        const Index count = rows_left + (missing_left ? gone : 0);
        if (count == 0 || count == node.rows()) continue;
        if (!improves(node, j, tried, wl + (missing_left ? missing_weight : 0.0), count, missing_left, best,
                      scratch))
          continue;
        best.levels.assign(size(words_), 0);
        for (Index i = 0; i < number; ++i)
          if (holds(i)) best.levels[size(level[size(i)] / 64)] |= std::uint64_t{1} << (level[size(i)] % 64);
      }
    };
    if (orders > 1 && number <= kFewLevels) {
      // The last level stays right: a set and the rest are the same split, unless missing rows tell them
      // apart.
      const Index sets = Index{1} << (gone > 0 ? number : number - 1);
      for (Index set = 1; set < sets; ++set) {
        clear();
        for (Index i = 0; i < number; ++i)
          if ((set >> i & 1) != 0) put_left(i);
        try_left([set](Index i) { return (set >> i & 1) != 0; });
      }
      return;
    }
    std::vector<double> key(size(number));
    std::vector<Index> place_of(size(number));
    for (Index which = 0; which < orders; ++which) {
      for (Index i = 0; i < number; ++i)
        key[size(i)] = criterion_.level_key(sums.data() + i * width_, weights[size(i)], which);
      order.resize(size(number));
      std::iota(order.begin(), order.end(), Index{0});
      std::stable_sort(order.begin(), order.end(),
                       [&](Index a, Index b) { return key[size(a)] < key[size(b)]; });
      for (Index i = 0; i < number; ++i) place_of[size(order[size(i)])] = i;
      clear();
      for (Index i = 0; i < number; ++i) {
        put_left(order[size(i)]);
        try_left([&](Index l) { return place_of[size(l)] <= i; });
      }
    }
  }

  const SortedColumns<T>& sorted_;
  const Criterion& criterion_;
  const SearchRules& rules_;
  const std::vector<Index>& levels_;
  const std::vector<std::int8_t>& monotone_;
  Index width_, words_ = 0;
};

}  // namespace surefit
