// Sums of a smoothing kernel over weighted points, sum_i w_i K(|q - x_i| / h), for many queries at once.
//
// The points lie in the order of a balanced tree of boxes: node k of level l holds the places n k / 2^l to
// n (k + 1) / 2^l, so that the tree is its boxes alone. A query walks it nearest box first. A box whose
// kernel values differ by so little that its share of the tolerated error covers it, errors saved before
// included, is taken for its middle; all others are summed point by point. What was spent bounds the error.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "buffer.h"
#include "lane_math.h"
#include "parallel.h"
#include "span.h"

namespace surefit {

enum class Smooth : int { gaussian, tophat, epanechnikov, exponential, linear, cosine };

namespace density_detail {

// The place where node k of level l starts.
inline Index place(Index rows, Index level, Index k) {
  return (rows * k) >> level;  // k is below rows, of which there are fewer than 2^31
}

inline Index levels_of(Index rows, Index leaf) {
  Index level = 0;
  while ((rows >> level) > leaf) ++level;
  return level;
}

inline double kernel_at(Smooth kind, double square, double h) {
  const double u2 = square / (h * h), u = std::sqrt(u2);
  switch (kind) {
    case Smooth::gaussian:
      return std::exp(-0.5 * u2);
    case Smooth::tophat:
      return u < 1 ? 1.0 : 0.0;
    case Smooth::epanechnikov:
      return u < 1 ? 1 - u2 : 0.0;
    case Smooth::exponential:
      return std::exp(-u);
    case Smooth::linear:
      return u < 1 ? 1 - u : 0.0;
    case Smooth::cosine:
      return u < 1 ? std::cos(1.5707963267948966 * u) : 0.0;
  }
  return 0.0;
}

inline Lanes root(Lanes x) {
  alignas(sizeof(Lanes)) double each[lanes];
  store(each, x);
  for (double& value : each) value = std::sqrt(value);
  return load(each);
}

// K of squared distances side by side.
template <Smooth Kind>
inline Lanes kernel_of(Lanes square, double h) {
  const Lanes one = broadcast(1.0), none = broadcast(0.0);
  if constexpr (Kind == Smooth::gaussian) return exponential(square * broadcast(-0.5 / (h * h)));
  if constexpr (Kind == Smooth::tophat) return (square < broadcast(h * h)) ? one : none;
  if constexpr (Kind == Smooth::epanechnikov) return larger(one - square * broadcast(1 / (h * h)), none);
  if constexpr (Kind == Smooth::exponential) return exponential(root(square) * broadcast(-1 / h));
  if constexpr (Kind == Smooth::linear) return larger(one - root(square) * broadcast(1 / h), none);
  if constexpr (Kind == Smooth::cosine) {
    alignas(sizeof(Lanes)) double each[lanes];
    store(each, square);
    for (double& value : each) value = kernel_at(Smooth::cosine, value, h);
    return load(each);
  }
}

}  // namespace density_detail

// Puts points in the order of a tree: writes the order, and the boxes, (2^(levels + 1) - 1) x 2 cols, lower
// bounds first. Level l of the tree starts at box 2^l - 1.
template <class T>
void density_tree(const Dense<T>& x, Index levels, std::int64_t* order, double* boxes) {
  using namespace density_detail;
  std::iota(order, order + x.rows, std::int64_t{0});
  for (Index level = 0; level <= levels; ++level)
    for (Index k = 0; k < Index{1} << level; ++k) {
      const Index start = place(x.rows, level, k), end = place(x.rows, level, k + 1);
      double* box = boxes + (((Index{1} << level) - 1) + k) * 2 * x.cols;
      Index widest = 0;
      for (Index j = 0; j < x.cols; ++j) {
        double low = std::numeric_limits<double>::infinity(), high = -low;
        for (Index i = start; i < end; ++i) {
          const double cell = static_cast<double>(x(static_cast<Index>(order[i]), j));
          low = std::min(low, cell);
          high = std::max(high, cell);
        }
        box[j] = low;
        box[x.cols + j] = high;
        if (high - low > box[x.cols + widest] - box[widest]) widest = j;
      }
      if (level == levels) continue;
      const Index middle = place(x.rows, level + 1, 2 * k + 1);
      std::nth_element(order + start, order + middle, order + end, [&](std::int64_t a, std::int64_t b) {
        const T left = x(static_cast<Index>(a), widest), right = x(static_cast<Index>(b), widest);
        return left < right || (left == right && a < b);
      });
    }
}

// Points in the order of their tree, a column after the other.
struct DensityPoints {
  const double* columns = nullptr;  // cols x rows
  const double* weight = nullptr;   // rows
  const double* boxes = nullptr;
  const double* totals = nullptr;  // the weight in each box
  Index rows = 0;
  Index cols = 0;
  Index levels = 0;
};

struct DensityRule {
  Smooth kind = Smooth::gaussian;
  double h = 1.0;
  double relative = 0.0;  // the error that is tolerated, of a query's sum
  double absolute = 0.0;  // and besides
};

namespace density_detail {

struct Node {
  Index level, k;
  double near, far;  // squared distances
};

class Walk {
 public:
  Walk(const DensityPoints& points, const DensityRule& rule) : points_(points), rule_(rule) {}

  // The logarithm of the sum, and a bound on its error relative to it. skip: the place of a point of which
  // one copy is left out, or -1.
  template <Smooth Kind>
  void sum(const double* query, Index skip, double& log_sum, double& error) {
    stack_.clear();
    query_ = query;
    const Node whole = node(0, 0);
    double exact = 0, spent = 0, done = 0;
    double sure = points_.totals[0] * value(whole.far);
    stack_.push_back(whole);
    const double total = points_.totals[0];
    while (!stack_.empty()) {
      const Node at = stack_.back();
      stack_.pop_back();
      const double weight = points_.totals[(Index{1} << at.level) - 1 + at.k];
      const double high = value(at.near), low = value(at.far);
      const Index start = place(points_.rows, at.level, at.k);
      const Index end = place(points_.rows, at.level, at.k + 1);
      const bool own = skip >= start && skip < end;
      const double cost = 0.5 * weight * (high - low);
      const double allowed =
          (rule_.relative * std::max(sure, 0.0) + rule_.absolute) * ((done + weight) / total) - spent;
      if (!own && (high == 0 || cost <= allowed)) {
        exact += 0.5 * weight * (high + low);
        sure += 0.5 * weight * (high - low) - cost;
        spent += cost;
        done += weight;
      } else if (at.level == points_.levels) {
        const double found = leaf<Kind>(start, end, own ? skip : -1);
        exact += found;
        sure += found - weight * low;
        done += weight;
      } else {
        Node left = node(at.level + 1, 2 * at.k), right = node(at.level + 1, 2 * at.k + 1);
        const Index first = (Index{1} << left.level) - 1;
        sure += points_.totals[first + left.k] * value(left.far) +
                points_.totals[first + right.k] * value(right.far) - weight * low;
        if (left.near <= right.near) std::swap(left, right);
        stack_.push_back(left);
        stack_.push_back(right);
      }
    }
    if (exact > 1e-200) {
      log_sum = std::log(exact);
      // The sum itself is not below what is left without the error, nor was more tolerated of it.
      const double least = exact - spent;
      error = least > 0 ? std::min(spent / least, rule_.relative + rule_.absolute / least) : 1.0;
    } else {
      log_sum = rescaled(skip);
      error = 0;
    }
  }

 private:
  double value(double square) const { return kernel_at(rule_.kind, square, rule_.h); }

  Node node(Index level, Index k) const {
    const double* box = points_.boxes + (((Index{1} << level) - 1) + k) * 2 * points_.cols;
    double near = 0, far = 0;
    for (Index j = 0; j < points_.cols; ++j) {
      const double below = box[j] - query_[j], above = query_[j] - box[points_.cols + j];
      const double out = std::max(std::max(below, above), 0.0), across = std::max(-below, -above);
      near += out * out;
      far += across * across;
    }
    return {level, k, near, far};
  }

  template <Smooth Kind>
  double leaf(Index start, Index end, Index skip) const {
    Lanes sums = broadcast(0.0);
    Index i = start;
    for (; i + lanes <= end; i += lanes) {
      Lanes square = broadcast(0.0);
      for (Index j = 0; j < points_.cols; ++j) {
        const Lanes gap = load_anywhere(points_.columns + j * points_.rows + i) - broadcast(query_[j]);
        square = fused(gap, gap, square);
      }
      sums = fused(load_anywhere(points_.weight + i), kernel_of<Kind>(square, rule_.h), sums);
    }
    alignas(sizeof(Lanes)) double squares[lanes], weights[lanes];
    if (i < end) {
      for (int lane = 0; lane < lanes; ++lane) {
        const bool there = i + lane < end;
        squares[lane] = there ? square_to(i + lane) : std::numeric_limits<double>::max();
        weights[lane] = there ? points_.weight[i + lane] : 0.0;
      }
      sums = fused(load(weights), kernel_of<Kind>(load(squares), rule_.h), sums);
    }
    store(squares, sums);
    double sum = 0;
    for (const double part : squares) sum += part;
    if (skip < 0) return sum;
    sum = 0;  // without one copy of a point; subtracting it would cancel
    for (Index p = start; p < end; ++p) sum += weight_of(p, skip) * value(square_to(p));
    return sum;
  }

  double weight_of(Index p, Index skip) const {
    return p == skip ? std::max(points_.weight[p] - 1, 0.0) : points_.weight[p];
  }

  double square_to(Index p) const {
    double square = 0;
    for (Index j = 0; j < points_.cols; ++j) {
      const double gap = points_.columns[j * points_.rows + p] - query_[j];
      square += gap * gap;
    }
    return square;
  }

  // Far from all points a kernel that never ends is summed relative to that of the nearest one.
  double rescaled(Index skip) const {
    const double none = -std::numeric_limits<double>::infinity();
    if (rule_.kind != Smooth::gaussian && rule_.kind != Smooth::exponential) {
      double sum = 0;
      for (Index p = 0; p < points_.rows; ++p) sum += weight_of(p, skip) * value(square_to(p));
      return sum > 0 ? std::log(sum) : none;
    }
    const auto power = [&](Index p) {
      const double u2 = square_to(p) / (rule_.h * rule_.h);
      return rule_.kind == Smooth::gaussian ? -0.5 * u2 : -std::sqrt(u2);
    };
    double best = none, sum = 0;
    for (Index p = 0; p < points_.rows; ++p)
      if (weight_of(p, skip) > 0) best = std::max(best, power(p));
    if (best == none) return none;
    for (Index p = 0; p < points_.rows; ++p)
      if (weight_of(p, skip) > 0) sum += weight_of(p, skip) * std::exp(power(p) - best);
    return best + std::log(sum);
  }

  const DensityPoints& points_;
  const DensityRule& rule_;
  const double* query_ = nullptr;
  std::vector<Node> stack_;
};

}  // namespace density_detail

// For each of `count` queries (rows of `cols` numbers) the logarithm of its sum and a bound on the relative
// error; skip, if there is one, names for each query the point of which one copy is left out.
inline void density_sums(const Run& run, const DensityPoints& points, const DensityRule& rule,
                         const double* queries, Index count, const std::int64_t* skip, double* log_sum,
                         double* error) {
  using namespace density_detail;
  const Index chunk = std::clamp<Index>((Index{1} << 20) / (points.rows + 1), 1, 64);
  Run quick = run;
  if (points.rows * count < 20'000) quick.threads = 1;  // done before another thread wakes up
  for_chunks(quick, (count + chunk - 1) / chunk, [&](Index c, int) {
    Walk walk(points, rule);
    for (Index q = c * chunk; q < std::min(count, (c + 1) * chunk); ++q) {
      const Index own = skip == nullptr ? -1 : static_cast<Index>(skip[q]);
      const double* query = queries + q * points.cols;
      switch (rule.kind) {
        case Smooth::gaussian:
          walk.sum<Smooth::gaussian>(query, own, log_sum[q], error[q]);
          break;
        case Smooth::tophat:
          walk.sum<Smooth::tophat>(query, own, log_sum[q], error[q]);
          break;
        case Smooth::epanechnikov:
          walk.sum<Smooth::epanechnikov>(query, own, log_sum[q], error[q]);
          break;
        case Smooth::exponential:
          walk.sum<Smooth::exponential>(query, own, log_sum[q], error[q]);
          break;
        case Smooth::linear:
          walk.sum<Smooth::linear>(query, own, log_sum[q], error[q]);
          break;
        case Smooth::cosine:
          walk.sum<Smooth::cosine>(query, own, log_sum[q], error[q]);
          break;
      }
    }
  });
}

}  // namespace surefit
