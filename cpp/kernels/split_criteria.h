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

// Counts of classes, those of several outputs one after the other.
struct ClassSums {
  Impurity impurity_kind;
  const std::int32_t* y;  // rows by outputs
  const double* weight;   // null for ones
  Index outputs;
  std::vector<Index> start;  // of each output's classes; the last is the width

  Index width() const { return start.back(); }
  double weight_of(Index row) const { return weight == nullptr ? 1.0 : weight[row]; }

  double add(double* sums, Index row) const {
    const double w = weight_of(row);
    for (Index o = 0; o < outputs; ++o) sums[start[static_cast<std::size_t>(o)] + y[row * outputs + o]] += w;
    return w;
  }

  // Two classes of one output are told by one sum, that of the second.
  bool paired() const { return width() == 2 && impurity_kind == Impurity::gini; }
  double pair_term(Index row) const { return static_cast<double>(y[row]); }
  double pair_total(const double* sums) const { return sums[1]; }
  static double pair_score(double s, double w) { return (s * s + (w - s) * (w - s)) / w; }
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
        double inside = -x_log_x(wl) - x_log_x(wr);
        for (Index i = 0; i < k; ++i) inside += x_log_x(l[i]) + x_log_x(r[i]);
        // The weight is the node's: it only keeps scores of pure sides, all zero but for rounding,
        // comparable.
        if (impurity_kind == Impurity::entropy) return inside + (wl + wr);
        const double w = wl + wr;
        double before = -x_log_x(w);
        for (Index i = 0; i < k; ++i) before += x_log_x(l[i] + r[i]);
        const double halves = x_log_x(w) - x_log_x(wl) - x_log_x(wr);
        return (inside - before) / halves;
      }
    }
  }
};

// Weighted sums of numbers, one an output; what the impurity needs besides, squares or y log y, follows.
// Numbers are centred first where squares are taken, so that a large mean costs no digits.
struct NumberSums {
  Impurity impurity_kind;
  const double* y;  // rows by outputs
  const double* weight;
  Index outputs;

  Index width() const { return 2 * outputs; }
  double weight_of(Index row) const { return weight == nullptr ? 1.0 : weight[row]; }

  double add(double* sums, Index row) const {
    const double w = weight_of(row);
    for (Index o = 0; o < outputs; ++o) {
      const double value = y[row * outputs + o];
      sums[o] += w * value;
      sums[outputs + o] += w * (impurity_kind == Impurity::poisson ? x_log_x(value) : value * value);
    }
    return w;
  }

  bool paired() const { return outputs == 1 && impurity_kind == Impurity::squared; }
  double pair_term(Index row) const { return y[row]; }
  double pair_total(const double* sums) const { return sums[0]; }
  static double pair_score(double s, double w) { return s * s / w; }
  double monotone_value(const double* sums, double w) const { return sums[0] / w; }

  Index level_orders() const { return outputs; }
  double level_key(const double* sums, double w, Index order) const { return sums[order] / w; }

  double score(const double* left, double wl, const double* right, double wr) const {
    double total = 0.0;
    for (Index o = 0; o < outputs; ++o) {
      const double l = left[o], r = right[o];
      switch (impurity_kind) {
        case Impurity::poisson: {
          // A mean of nothing would make a count impossible.
          if (l <= 0.0 || r <= 0.0) return -HUGE_VAL;
          total += l * std::log(l / wl) + r * std::log(r / wr);
          break;
        }
        default:
          total += l * l / wl + r * r / wr;
      }
    }
    return total;
  }

  double impurity(const double* sums, double w) const {
    double total = 0.0;
    for (Index o = 0; o < outputs; ++o) {
      const double mean = sums[o] / w;
      if (impurity_kind == Impurity::poisson) {
        total += mean > 0.0 ? std::max(sums[outputs + o] / w - mean * std::log(mean), 0.0) : 0.0;
        continue;
      }
      total += std::max(sums[outputs + o] / w - mean * mean, 0.0);
    }
    return total / static_cast<double>(outputs);
  }
};

}  // namespace surefit
