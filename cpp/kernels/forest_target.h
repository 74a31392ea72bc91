// What the splits of a forest's trees are scored by: sums of a node, added up over codes of a column.
//
// A target says how a tree's sample keeps a row (`Given`), prepares the rows of a node once (`Row` each),
// adds them up in `width` numbers a code, and scores what lies left of a boundary. Scores, and when two of
// them are equal, are those of split_criteria.h.
#pragma once

#include <vector>

#include "split.h"
#include "split_criteria.h"

namespace surefit {

// A row of a tree's sample: how much it counts, and its number or its class.
struct SampleRow {
  double weight, value;
};

struct ForestSums {
  double weight = 0.0, sum = 0.0, impurity = 0.0, centre = 0.0;
  std::vector<double> counts;  // of classes
};

// One sum tells all of a side: numbers by squared error, and two classes by Gini.
template <bool kNumbers>
struct PairTarget {
  using Given = SampleRow;
  using Sum = double;
  struct Row {
    double weight, term;
  };
  static Given given(double weight, double value) { return {weight, value}; }
  static double weight_of(const Given& row) { return row.weight; }

  Index width() const { return 2; }
  Index values() const { return kNumbers ? 1 : 2; }

  // rows: those of the node, as the tree's sample has them.
  template <class Place>
  void prepare(const SampleRow* sample, const Place* places, Index count, Row* rows, ForestSums& node) const {
    double weight = 0.0, sum = 0.0;
    for (Index i = 0; i < count; ++i) {
      const SampleRow& row = sample[places[i]];
      weight += row.weight;
      sum += row.weight * row.value;
    }
    node.weight = weight;
    node.centre = kNumbers ? sum / weight : 0.0;
    double squares = 0.0;
    for (Index i = 0; i < count; ++i) {
      const SampleRow& row = sample[places[i]];
      const double gap = row.value - node.centre;
      rows[i] = {row.weight, row.weight * gap};
      if (kNumbers) squares += row.weight * gap * gap;
    }
    node.sum = kNumbers ? 0.0 : sum;
    if (kNumbers) {
      node.impurity = squares / weight;
      if (pure(node)) node.impurity = 0.0;  // equal numbers, whose mean is rounded
    } else {
      const double first = weight - sum;
      node.impurity = 1.0 - (sum * sum + first * first) / (weight * weight);
    }
  }

  bool pure(const ForestSums& node) const {
    return node.impurity <= (kNumbers ? 1e-30 * node.centre * node.centre : 2.3e-16);
  }
  void write(const ForestSums& node, double* out) const {
    if (kNumbers) {
      out[0] = node.centre;
    } else {
      out[0] = node.weight - node.sum;
      out[1] = node.sum;
    }
  }

  static void add(double* sums, const Row& row) {
    sums[0] += row.weight;
    sums[1] += row.term;
  }

  struct Side {
    double sums[2];
    void clear() { sums[0] = sums[1] = 0.0; }
    void add(const double* other) { sums[0] += other[0], sums[1] += other[1]; }
    void add(const std::uint64_t* other) {
      sums[0] += static_cast<double>(*other & 0xFFFFFFFFu);
      sums[1] += static_cast<double>(*other >> 32);
    }
    void add_row(const Row& row) { sums[0] += row.weight, sums[1] += row.term; }
    void add_row(std::uint64_t row) { add(&row); }
    double weight() const { return sums[0]; }
  };
  Side side() const { return {}; }

  // True if the split is better than `bar`; a division would take longer than all the rest.
  bool better(const ForestSums& node, const Side& left, double bar) const {
    const double gap = gap_of(node, left), product = left.sums[0] * (node.weight - left.sums[0]);
    return gap * gap > bar * product && product > 0.0;
  }
  double score(const ForestSums& node, const Side& left) const {
    const double gap = gap_of(node, left);
    return gap * gap / (left.sums[0] * (node.weight - left.sums[0]));
  }
  double raised(const ForestSums& node, double score) const {
    const double rounding = kNumbers
                                ? 1e-14 * node.impurity + 2e-15 * std::abs(node.centre) * std::sqrt(score)
                                : 1e-14 * node.weight * node.weight * node.impurity;
    return score + 1e-13 * std::abs(score) + rounding;
  }

 private:
  static double gap_of(const ForestSums& node, const Side& left) {
    return kNumbers ? left.sums[1] : left.sums[1] * node.weight - node.sum * left.sums[0];
  }
};

// Two classes by Gini whose rows count whole times: both sums of a code share one number.
struct CountTarget : PairTarget<false> {
  using Given = std::uint32_t;  // the weight, and the class in the last bit
  using Sum = std::uint64_t;
  using Row = std::uint64_t;
  Index width() const { return 1; }
  static Given given(double weight, double value) {
    return static_cast<Given>(weight) << 1 | static_cast<Given>(value > 0.5);
  }
  static double weight_of(Given row) { return static_cast<double>(row >> 1); }

  template <class Place>
  void prepare(const Given* sample, const Place* places, Index count, Row* rows, ForestSums& node) const {
    std::uint64_t total = 0;
    for (Index i = 0; i < count; ++i) {
      const Given row = sample[places[i]];
      rows[i] = static_cast<Row>(row >> 1) * (1 + (static_cast<Row>(row & 1) << 32));
      total += rows[i];
    }
    node.weight = static_cast<double>(total & 0xFFFFFFFFu);
    node.sum = static_cast<double>(total >> 32);
    const double first = node.weight - node.sum;
    node.impurity = 1.0 - (node.sum * node.sum + first * first) / (node.weight * node.weight);
  }
  static void add(Sum* sums, const Row& row) { *sums += row; }
};

// Any number of classes, by any criterion of theirs.
struct ClassTarget {
  using Given = SampleRow;
  using Sum = double;
  struct Row {
    double weight;
    Index at;
  };
  static Given given(double weight, double value) { return {weight, value}; }
  static double weight_of(const Given& row) { return row.weight; }

  const ClassSums& criterion;

  Index width() const { return criterion.width(); }
  Index values() const { return criterion.width(); }

  template <class Place>
  void prepare(const SampleRow* sample, const Place* places, Index count, Row* rows, ForestSums& node) const {
    node.counts.assign(static_cast<std::size_t>(width()), 0.0);
    node.weight = 0.0;
    for (Index i = 0; i < count; ++i) {
      const SampleRow& row = sample[places[i]];
      rows[i] = {row.weight, static_cast<Index>(row.value)};
      node.counts[static_cast<std::size_t>(rows[i].at)] += row.weight;
      node.weight += row.weight;
    }
    node.impurity = criterion.impurity(node.counts.data(), node.weight);
  }

  bool pure(const ForestSums& node) const { return criterion.pure(node.impurity, nullptr); }
  void write(const ForestSums& node, double* out) const {
    std::copy(node.counts.begin(), node.counts.end(), out);
  }

  static void add(double* sums, const Row& row) { sums[row.at] += row.weight; }

  struct Side {
    std::vector<double> sums;
    double total = 0.0;
    void clear() { std::fill(sums.begin(), sums.end(), 0.0), total = 0.0; }
    void add(const double* other) {
      for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += other[k], total += other[k];
    }
    void add_row(const Row& row) {
      sums[static_cast<std::size_t>(row.at)] += row.weight, total += row.weight;
    }
    double weight() const { return total; }
  };
  Side side() const { return {std::vector<double>(static_cast<std::size_t>(width()), 0.0), 0.0}; }

  bool better(const ForestSums& node, const Side& left, double bar) const { return score(node, left) > bar; }
  double score(const ForestSums& node, const Side& left) const {
    right_.resize(left.sums.size());
    for (std::size_t k = 0; k < right_.size(); ++k) right_[k] = node.counts[k] - left.sums[k];
    return criterion.score(left.sums.data(), left.total, right_.data(), node.weight - left.total);
  }
  double raised(const ForestSums&, double score) const { return score + 1e-13 * std::abs(score); }

 private:
  mutable std::vector<double> right_;

 public:
  explicit ClassTarget(const ClassSums& sums) : criterion(sums) {}
};

}  // namespace surefit
