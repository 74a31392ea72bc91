// What makes a split good: sums of the target over rows, and scores and impurities made of them.
//
// A criterion adds rows into `width` sums, beside their weight. `score` of a split is comparable within a
// node, the greater the better; `impurity` is that of a node, as scikit-learn defines it.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "span.h"

namespace surefit {

enum class Impurity : std::uint8_t {
  gini,
  entropy,
  misclassification,
  gain_ratio,
  chi_squared,
  squared,
  poisson,
  absolute
};

inline double x_log_x(double x) {
  return x > 0.0 ? x * std::log(x) : 0.0;
}

// y log(y / c) - (y - c) for y = c + gap and c > 0: how far a count lies from a mean, zero at the mean alone.
// Near it both terms are large beside what is left of them, so that a series in v = (y - c) / (y + c) takes
// over: (y - c) v + 2 y (v^3 / 3 + v^5 / 5 + ...).
inline double poisson_distance(double gap, double c) {
  const double y = c + gap, v = gap / (y + c);
  if (y <= 0.0) return -gap;
  if (std::abs(v) >= 0.1) return y * std::log(y / c) - gap;
  double sum = 0.0, power = v * v * v;
  for (int odd = 3; odd <= 15; odd += 2, power *= v * v)
    sum += power / odd;  // the next is below a last digit
  return gap * v + 2.0 * y * sum;
}

// Counts of classes, those of several outputs one after the other.
struct ClassSums {
  Impurity impurity_kind;
  const std::int32_t* y;  // rows by outputs
  const double* weight;   // null for ones
  Index outputs;
  std::vector<Index> start;  // of each output's classes; the last is the width
  std::vector<double>
      tabled;  // x log x for whole x up to the weight of all rows; empty where weights are not

  // Logarithms would take most of the time; whole weights look them up.
  void tabulate(Index rows) {
    if (impurity_kind != Impurity::entropy && impurity_kind != Impurity::gain_ratio) return;
    double total = 0.0;
    for (Index i = 0; i < rows; ++i) {
      const double w = weight_of(i);
      if (w != std::floor(w)) return;
      total += w;
    }
    constexpr double kMost = 4e6;
    if (total > kMost) return;
    tabled.resize(static_cast<std::size_t>(total) + 1);
    for (std::size_t i = 0; i < tabled.size(); ++i) tabled[i] = x_log_x(static_cast<double>(i));
  }
  double log_term(double x) const {
    return tabled.empty() ? x_log_x(x) : tabled[static_cast<std::size_t>(x)];
  }

  Index width() const { return start.back(); }
  double weight_of(Index row) const { return weight == nullptr ? 1.0 : weight[row]; }

  double add(double* sums, Index row) const {
    const double w = weight_of(row);
    for (Index o = 0; o < outputs; ++o) sums[start[static_cast<std::size_t>(o)] + y[row * outputs + o]] += w;
    return w;
  }

  static constexpr bool kMedians = false;
  bool pure(double impurity, const double*) const { return impurity <= 2.3e-16; }

  // Two classes of one output are told by one sum, that of the second: the gain of a split with sum s and
  // weight w on the left is proportional to gap^2 / (w (W - w)). The gap is exact for whole weights.
  bool paired() const { return width() == 2 && impurity_kind == Impurity::gini; }
  double pair_term(Index row, double) const { return static_cast<double>(y[row]); }
  double pair_sum(const double* left) const { return left[1]; }
  static double pair_gap(double s, double w, const double* totals, double W) { return s * W - totals[1] * w; }
  // Scores that differ by less are equal but for rounding.
  double rounding(double, const double*, double impurity, double W) const {
    return paired() ? 1e-14 * W * W * impurity : 0.0;
  }

  void centre(const double* sums, double, std::vector<double>& centre, std::vector<double>& totals) const {
    centre.assign(1, 0.0);
    totals.assign(sums, sums + width());
  }
  double add_about(double* sums, Index row, const double*) const { return add(sums, row); }
  double score_about(const double* left, double wl, const double* right, double wr, const double*) const {
    return score(left, wl, right, wr);
  }
  double monotone_value(const double* sums, double w) const { return sums[1] / w; }

  // In how many ways levels are put in order, and by what.
  Index level_orders() const { return width() == 2 ? 1 : width(); }
  double level_key(const double* sums, double w, Index order) const {
    return sums[width() == 2 ? 1 : order] / w;
  }

  double score(const double* left, double wl, const double* right, double wr) const {
    double total = 0.0;
    for (Index o = 0; o < outputs; ++o) {
      const Index from = start[static_cast<std::size_t>(o)], to = start[static_cast<std::size_t>(o) + 1];
      total += score_of(left + from, wl, right + from, wr, to - from);
    }
    return total;
  }

  double impurity(const double* sums, double w) const {
    double total = 0.0;
    for (Index o = 0; o < outputs; ++o) {
      const Index from = start[static_cast<std::size_t>(o)], to = start[static_cast<std::size_t>(o) + 1];
      total += impurity_of(sums + from, w, to - from);
    }
    return total / static_cast<double>(outputs);
  }

 private:
  double impurity_of(const double* c, double w, Index k) const {
    switch (impurity_kind) {
      case Impurity::gini:
      case Impurity::chi_squared: {
        double squares = 0.0;
        for (Index i = 0; i < k; ++i) squares += c[i] * c[i];
        return 1.0 - squares / (w * w);
      }
      case Impurity::misclassification:
        return 1.0 - *std::max_element(c, c + k) / w;
      default: {
        double bits = 0.0;
        for (Index i = 0; i < k; ++i)
          if (c[i] > 0.0) bits -= c[i] / w * std::log2(c[i] / w);
        return bits;
      }
    }
  }

  double score_of(const double* l, double wl, const double* r, double wr, Index k) const {
    switch (impurity_kind) {
      case Impurity::gini: {
        double sl = 0.0, sr = 0.0;
        for (Index i = 0; i < k; ++i) sl += l[i] * l[i], sr += r[i] * r[i];
        return sl / wl + sr / wr;
      }
      case Impurity::misclassification:
        return *std::max_element(l, l + k) + *std::max_element(r, r + k);
      case Impurity::chi_squared: {
        const double w = wl + wr;
        double total = 0.0;
        for (Index i = 0; i < k; ++i) {
          const double both = l[i] + r[i];
          if (both <= 0.0) continue;
          const double gap = l[i] - both * wl / w;  // the right side's is its negative
          total += gap * gap / both * (w / wl + w / wr);
        }
        return total;
      }
      default: {
        double inside = -log_term(wl) - log_term(wr);
        for (Index i = 0; i < k; ++i) inside += log_term(l[i]) + log_term(r[i]);
        // The weight is the node's: it only keeps scores of pure sides, all zero but for rounding,
        // comparable.
        if (impurity_kind == Impurity::entropy) return inside + (wl + wr);
        const double w = wl + wr;
        double before = -log_term(w);
        for (Index i = 0; i < k; ++i) before += log_term(l[i] + r[i]);
        const double halves = log_term(w) - log_term(wl) - log_term(wr);
        return (inside - before) / halves;
      }
    }
  }
};

// Weighted sums of numbers, one an output; what the impurity needs besides follows: squares about the mean,
// Poisson distances from it, or deviations from the median.
struct NumberSums {
  Impurity impurity_kind;
  const double* y;  // rows by outputs
  const double* weight;
  Index outputs;

  Index width() const { return 2 * outputs; }
  double weight_of(Index row) const { return weight == nullptr ? 1.0 : weight[row]; }

  // Absolute deviations do not add up: see median_scan.h. Their sums are the median, times the weight, and
  // the deviations from it.
  static constexpr bool kMedians = true;
  bool medians() const { return impurity_kind == Impurity::absolute; }

  double add(double* sums, Index row) const {
    const double w = weight_of(row);
    for (Index o = 0; o < outputs; ++o) {
      sums[o] += w * y[row * outputs + o];
    }
    return w;
  }

  // Squares about the mean, or distances from it, once it is known.
  bool squares() const { return impurity_kind != Impurity::absolute; }
  void add_squares(double* sums, Index row, double weight_of_all) const {
    const double w = weight_of(row);
    for (Index o = 0; o < outputs; ++o) {
      const double value = y[row * outputs + o], mean = sums[o] / weight_of_all, gap = value - mean;
      if (impurity_kind == Impurity::squared)
        sums[outputs + o] += w * gap * gap;
      else if (mean > 0.0)
        sums[outputs + o] += w * poisson_distance(gap, mean);
    }
  }

  // Equal numbers may differ from their rounded mean by a last digit.
  bool pure(double impurity, const double* centre) const {
    double size = 0.0;
    for (Index o = 0; o < outputs; ++o) size = std::max(size, std::abs(centre[o]));
    if (impurity_kind == Impurity::squared) return impurity <= 1e-30 * size * size;
    return impurity <= (impurity_kind == Impurity::poisson ? 1e-28 * size : 0.0);
  }

  bool paired() const { return outputs == 1 && impurity_kind == Impurity::squared; }
  double pair_term(Index row, double centre) const { return y[row] - centre; }
  double pair_sum(const double* left) const { return left[0]; }
  static double pair_gap(double s, double, const double*, double) { return s; }
  // The mean itself is rounded, which moves the root of a score by as much.
  double rounding(double score, const double* centre, double impurity, double W) const {
    if (medians()) return 0.0;
    double means = 0.0;
    for (Index o = 0; o < outputs; ++o) means += std::abs(centre[o]);
    // A distance is a square over twice the mean, where it is small; those of all rows are added up here.
    if (impurity_kind == Impurity::poisson)
      return 1e-14 * impurity * W * static_cast<double>(outputs) + 1e-15 * std::sqrt(2.0 * means * score * W);
    const double unit = outputs == 1 ? 1.0 : W;
    return 1e-14 * impurity * unit * static_cast<double>(outputs) + 2e-15 * means * std::sqrt(score * unit);
  }

  // Rows above zero are counted, for a sum of zeros alone is told from a small one by no rounded sum.
  void count_positive(std::vector<double>& found, Index row) const {
    if (impurity_kind != Impurity::poisson) return;
    found.resize(static_cast<std::size_t>(outputs), 0.0);
    for (std::size_t o = 0; o < found.size(); ++o) found[o] += y[row * outputs + static_cast<Index>(o)] > 0.0;
  }

  // Squares and distances are taken about the node's mean, so that one far from zero costs no digits.
  void centre(const double* sums, double w, std::vector<double>& centre, std::vector<double>& totals) const {
    centre.assign(static_cast<std::size_t>(outputs), 0.0);
    totals.assign(sums, sums + width());
    if (medians()) return;
    for (std::size_t o = 0; o < centre.size(); ++o) centre[o] = sums[o] / w, totals[o] = 0.0;
  }

  // As `add`, but only what scores are made of.
  double add_about(double* sums, Index row, const double* centre) const {
    const double w = weight_of(row);
    for (Index o = 0; o < outputs; ++o) {
      const double value = y[row * outputs + o];
      sums[o] += w * (value - centre[o]);
      if (impurity_kind == Impurity::poisson) sums[outputs + o] += value > 0.0;
    }
    return w;
  }
  double monotone_value(const double* sums, double w) const { return sums[0] / w; }

  Index level_orders() const { return outputs; }
  double level_key(const double* sums, double w, Index order) const { return sums[order] / w; }

  // Of sums about the node's mean: by how much a split lowers the impurity, times the weight. Of counts it is
  // the distance of both means from that of the node.
  double score_about(const double* left, double wl, const double* right, double wr,
                     const double* centre) const {
    double total = 0.0;
    for (Index o = 0; o < outputs; ++o) {
      if (impurity_kind != Impurity::poisson) {
        total += left[o] * left[o] / wl + right[o] * right[o] / wr;
        continue;
      }
      // A mean of nothing would make a count impossible.
      const double c = centre[o];
      if (std::min(left[outputs + o], right[outputs + o]) <= 0.0) return -HUGE_VAL;
      total += wl * poisson_distance(left[o] / wl, c) + wr * poisson_distance(right[o] / wr, c);
    }
    return total;
  }

  double impurity(const double* sums, double w) const {
    double total = 0.0;
    // Squares about the mean, distances from it, or deviations from the median.
    for (Index o = 0; o < outputs; ++o) total += sums[outputs + o] / w;
    return total / static_cast<double>(outputs);
  }
};

}  // namespace surefit
