// The best split of a node: every threshold of every column, or one drawn at random.
#pragma once

#include <limits>
#include <numeric>

#include "node_random.h"
#include "sorted_columns.h"
#include "split_criteria.h"

namespace surefit {

struct SearchRules {
  Index min_rows_leaf = 1;
  double min_weight_leaf = 0.0;
  Index max_columns = 0;  // looked at in each node; 0 for all
  bool random_threshold = false;
};

// A node that may still be split: its range of every sorted column.
struct TreeNode {
  Index begin = 0, end = 0, depth = 0;
  double weight = 0.0, impurity = 0.0;
  double lowest = -HUGE_VAL, highest = HUGE_VAL;  // what monotone columns above allow its value
  std::uint64_t seed = 0;
  std::vector<double> sums;
  Index rows() const { return end - begin; }
};

struct Split {
  double score = -HUGE_VAL;
  double bar = -HUGE_VAL;  // what a better one must exceed; mirrored splits differ by rounding alone
  Index column = -1;
  Index position = 0;  // how many of the range, missing ones apart, go left; not used for levels
  double threshold = 0.0;
  bool missing_left = false;
  std::vector<std::uint64_t> levels;  // the bits of those that go left
  bool found() const { return column >= 0; }
};

template <class T, class Criterion>
class SplitSearch {
 public:
  struct Scratch {
    std::vector<double> left, other, missing, with_missing, level_sums, level_weight;
    std::vector<Index> level, level_rows, order;
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
    if (sorted_.constant(j, node.begin, node.end)) return;
    const Index known = sorted_.present(j, node.begin, node.end);
    const double missing_weight = known < node.rows() ? add_missing(node, j, known, scratch) : 0.0;
    if (levels_[size(j)] > 0)
      look_at_levels(node, j, known, missing_weight, best, scratch);
    else if (rules_.random_threshold)
      look_at_one_number(node, j, known, best, scratch);
    else if (criterion_.paired() && known == node.rows())
      look_at_pairs(node, j, best);
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
      weight += criterion_.add(scratch.missing.data(), entries[i].row);
    return weight;
  }

  bool monotone_allows(const TreeNode& node, Index j, double left, double right) const {
    if (left < node.lowest || left > node.highest || right < node.lowest || right > node.highest)
      return false;
    const int sign = monotone_[size(j)];
    return sign == 0 || (sign > 0 ? left <= right : left >= right);
  }

  // One sum tells all of a side.
  void look_at_pairs(const TreeNode& node, Index j, Split& best) const {
    const Ranked* entries = sorted_.column(j) + node.begin;
    const Index rows = node.rows(), first = rules_.min_rows_leaf - 1, last = rows - rules_.min_rows_leaf;
    const double* weights = criterion_.weight;
    const double W = node.weight, S = criterion_.pair_total(node.sums.data());
    double w = 0.0, s = 0.0, top = best.score, bar = best.bar;
    Index at = -1;
    for (Index i = 0; i < last; ++i) {
      const Index row = static_cast<Index>(entries[i].row);
      const double weight = weights == nullptr ? 1.0 : weights[row];
      w += weight;
      s += weight * criterion_.pair_term(row);
      if (entries[i + 1].code == entries[i].code || i < first) continue;
      const double wr = W - w, sr = S - s;
      const double score = Criterion::pair_score(s, w) + Criterion::pair_score(sr, wr);
      if (!(score > bar)) continue;
      if (w < rules_.min_weight_leaf || wr < rules_.min_weight_leaf) continue;
      if (!monotone_.empty() && !monotone_allows(node, j, s / w, sr / wr)) continue;
      top = score;
      bar = raised(score);
      at = i + 1;
    }
    if (at < 0) return;
    take(best, top, j, false);
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
    for (Index k = 0; k < width_; ++k) right[k] = node.sums[size(k)] - left[k];
    if (!monotone_.empty() &&
        !monotone_allows(node, j, criterion_.monotone_value(left, wl), criterion_.monotone_value(right, wr)))
      return false;
    const double score = criterion_.score(left, wl, right, wr);
    if (!(score > best.bar)) return false;
    take(best, score, j, missing_left);
    return true;
  }

  static double raised(double score) { return score + 1e-13 * std::abs(score); }

  static void take(Split& best, double score, Index j, bool missing_left) {
    best.score = score;
    best.bar = raised(score);
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
      wl += criterion_.add(scratch.left.data(), entries[i].row);
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

  // One threshold, drawn between the least and the greatest value.
  void look_at_one_number(const TreeNode& node, Index j, Index known, Split& best, Scratch& scratch) const {
    const Ranked* entries = sorted_.column(j) + node.begin;
    if (known < 2 || entries[0].code == entries[known - 1].code) return;
    NodeRandom random(node.seed ^ mixed(static_cast<std::uint64_t>(j) + 1));
    const double low = sorted_.value(entries[0], j), high = sorted_.value(entries[known - 1], j);
    double threshold = low + (high - low) * random.unit();
    if (!(threshold < high)) threshold = low;
    scratch.left.assign(size(width_), 0.0);
    double wl = 0.0;
    Index at = 0;
    for (; at < known && sorted_.value(entries[at], j) <= threshold; ++at)
      wl += criterion_.add(scratch.left.data(), entries[at].row);
    const Index gone = node.rows() - known;
    const bool missing_left = gone > 0 && (random.bits() & 1) != 0;
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
      weights.back() += criterion_.add(sums.data() + (sums.size() - size(width_)), entries[i].row);
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
