// Gradients and curvatures of the losses that boosting knows, and their sum, in one pass over the rows.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "buffer.h"
#include "four.h"
#include "lane_math.h"
#include "parallel.h"
#include "span.h"

namespace surefit {

// One row: f, f' and f'' by the score z. Constant parts of f that only y decides are left out. Losses that
// need an exponential say of what, and get it as e.
struct LossAt {
  double value, gradient, curvature;
};

struct BoostSquared {
  LossAt operator()(double y, double z) const { return {0.5 * (z - y) * (z - y), z - y, 1.0}; }
};
struct BoostAbsolute {
  LossAt operator()(double y, double z) const { return {std::fabs(z - y), y >= z ? -1.0 : 1.0, 1.0}; }
};
struct BoostQuantile {
  double q;
  LossAt operator()(double y, double z) const {
    return {y > z ? q * (y - z) : (1.0 - q) * (z - y), y >= z ? -q : 1.0 - q, 1.0};
  }
};
struct BoostPoisson {
  static double power(double z) { return z; }
  LossAt operator()(double y, double z, double e) const { return {e - y * z, e - y, e}; }
};
struct BoostGamma {
  static double power(double z) { return -z; }
  LossAt operator()(double y, double z, double e) const { return {z + y * e, 1.0 - y * e, y * e}; }
};
struct BoostLogistic {  // y is 0 or 1
  static double power(double z) { return -std::fabs(z); }
  LossAt operator()(double y, double z, double e) const {
    const double p = (z > 0.0 ? 1.0 : e) / (1.0 + e);
    return {log_of_one_plus(e) + (z > 0.0 ? z : 0.0) - y * z, p - y, e / ((1.0 + e) * (1.0 + e))};
  }
};

struct GradientFacts {
  double loss = 0.0, largest_gradient = 0.0, largest_curvature = 0.0, total_curvature = 0.0;
  void add(const GradientFacts& other) {
    loss += other.loss;
    largest_gradient = std::max(largest_gradient, other.largest_gradient);
    largest_curvature = std::max(largest_curvature, other.largest_curvature);
    total_curvature += other.total_curvature;
  }
};

namespace gradients_detail {

// Chunks have sums of their own, merged in order, so the number of threads changes no bit.
template <class Body>
GradientFacts over_rows(const Run& run, Index rows, const Body& body) {
  constexpr Index kRows = 8192;
  std::vector<GradientFacts> each(static_cast<std::size_t>((rows + kRows - 1) / kRows));
  for_chunks(run, static_cast<Index>(each.size()), [&](Index k, int) {
    each[static_cast<std::size_t>(k)] = body(k * kRows, std::min(rows, (k + 1) * kRows));
  });
  GradientFacts all;
  for (const auto& facts : each) all.add(facts);
  return all;
}

constexpr Index kBlock = 256;

// The slopes of a block of rows, while they are near.
struct Block {
  alignas(32) std::array<double, kBlock> value, gradient, curvature;

  void set(Index i, const LossAt& at) {
    const auto to = static_cast<std::size_t>(i);
    value[to] = at.value;
    gradient[to] = at.gradient;
    curvature[to] = at.curvature;
  }

  void weigh(const double* weight, Index count) {
    if (weight == nullptr) return;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      value[i] *= weight[i];
      gradient[i] *= weight[i];
      curvature[i] *= weight[i];
    }
  }

  // Four sums side by side, whose order is the same on every machine.
  void add_to(GradientFacts& facts, Index count) {
    for (Index i = count; i % 4 != 0; ++i) {
      const auto at = static_cast<std::size_t>(i);
      value[at] = gradient[at] = curvature[at] = 0.0;
    }
    Four loss{}, steepest{}, most{}, total{};
    for (Index i = 0; i < count; i += 4) {
      const Four g = four(gradient.data() + i), h = four(curvature.data() + i), size = g < 0.0 ? -g : g;
      loss += four(value.data() + i);
      steepest = size > steepest ? size : steepest;
      most = h > most ? h : most;
      total += h;
    }
    for (int lane = 0; lane < 4; ++lane) facts.add({loss[lane], steepest[lane], most[lane], total[lane]});
  }
};

template <class Body>
GradientFacts over_blocks(const Run& run, Index rows, const Body& body) {
  return over_rows(run, rows, [&](Index begin, Index end) {
    GradientFacts facts;
    for (Index at = begin; at < end; at += kBlock) body(at, std::min(kBlock, end - at), facts);
    return facts;
  });
}

}  // namespace gradients_detail

// weight: null for ones. gradient and curvature: one a row, weighted; null where only the loss is wanted.
template <class Loss>
GradientFacts boost_gradients(const Run& run, const Loss& loss, const double* y, const double* score,
                              const double* weight, Index rows, double* gradient, double* curvature) {
  using namespace gradients_detail;
  return over_blocks(run, rows, [&](Index begin, Index count, GradientFacts& facts) {
    Block block;
    if constexpr (requires { Loss::power(0.0); }) {
      alignas(32) std::array<double, kBlock> raised{};
      for (Index i = 0; i < count; ++i) raised[static_cast<std::size_t>(i)] = Loss::power(score[begin + i]);
      raise_all(raised.data(), count);
      for (Index i = 0; i < count; ++i)
        block.set(i, loss(y[begin + i], score[begin + i], raised[static_cast<std::size_t>(i)]));
    } else {
      for (Index i = 0; i < count; ++i) block.set(i, loss(y[begin + i], score[begin + i]));
    }
    block.weigh(weight == nullptr ? nullptr : weight + begin, count);
    block.add_to(facts, count);
    if (gradient == nullptr) return;
    std::copy_n(block.gradient.data(), count, gradient + begin);
    std::copy_n(block.curvature.data(), count, curvature + begin);
  });
}

// The softmax of several scores, class by class: score, gradient and curvature are classes x rows.
inline GradientFacts boost_softmax(const Run& run, const double* y, const double* score, const double* weight,
                                   Index rows, Index classes, double* gradient, double* curvature) {
  using namespace gradients_detail;
  return over_blocks(run, rows, [&](Index begin, Index count, GradientFacts& facts) {
    const auto own = static_cast<std::size_t>(count);
    const double* w = weight == nullptr ? nullptr : weight + begin;
    std::array<double, kBlock> top, sum{};
    Buffer raised(kBlock * classes);
    std::copy_n(score + begin, count, top.data());
    for (Index k = 1; k < classes; ++k)
      for (std::size_t i = 0; i < own; ++i) {
        const double z = score[k * rows + begin + static_cast<Index>(i)];
        top[i] = z > top[i] ? z : top[i];
      }
    for (Index k = 0; k < classes; ++k) {
      double* each = raised.data() + k * kBlock;
      for (std::size_t i = 0; i < own; ++i)
        each[i] = score[k * rows + begin + static_cast<Index>(i)] - top[i];
      raise_all(each, count);
      for (std::size_t i = 0; i < own; ++i) sum[i] += each[i];
    }
    for (std::size_t i = 0; i < own; ++i) {
      const Index at = begin + static_cast<Index>(i);
      const double loss = std::log(sum[i]) + top[i] - score[static_cast<Index>(y[at]) * rows + at];
      facts.loss += w == nullptr ? loss : w[i] * loss;
    }
    if (gradient == nullptr) return;
    for (Index k = 0; k < classes; ++k) {
      Block block;
      const double* each = raised.data() + k * kBlock;
      for (std::size_t i = 0; i < own; ++i) {
        const double share = each[i] / sum[i];
        block.value[i] = 0.0;
        block.gradient[i] = share - (y[begin + static_cast<Index>(i)] == static_cast<double>(k) ? 1.0 : 0.0);
        block.curvature[i] = share * (1.0 - share);
      }
      block.weigh(w, count);
      block.add_to(facts, count);
      std::copy_n(block.gradient.data(), count, gradient + k * rows + begin);
      std::copy_n(block.curvature.data(), count, curvature + k * rows + begin);
    }
  });
}

// Calls f with the loss of that number; core/native/trees/boost_gradients.py has the same list.
template <class F>
auto with_boost_loss(int kind, double parameter, F&& f) {
  switch (kind) {
    case 0:
      return f(BoostSquared{});
    case 1:
      return f(BoostAbsolute{});
    case 2:
      return f(BoostQuantile{parameter});
    case 3:
      return f(BoostPoisson{});
    case 4:
      return f(BoostGamma{});
    default:
      return f(BoostLogistic{});
  }
}

}  // namespace surefit
