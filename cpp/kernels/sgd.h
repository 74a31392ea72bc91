// One epoch of stochastic gradient descent over mean loss plus elastic net, row by row.
//
// The coefficients are scale * v, so that shrinking all of them is one product. The absolute penalty is paid
// by the columns of a row when the row comes, up to what all steps so far ask for (cumulative truncation).
// The mean of all iterates is (A v - B) / count: A adds up the scales, and B what a change of v must not
// count.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "buffer.h"
#include "parallel.h"
#include "row_loss.h"
#include "sample_rows.h"

namespace surefit {

enum class Rate : int { Constant, Optimal, InverseScaling, Adaptive, PassiveAggressive1, PassiveAggressive2 };

struct SgdPlan {
  double alpha = 0;
  double l1_ratio = 0;
  bool penalised = false;
  Rate rate = Rate::Constant;
  double eta0 = 0.01;
  double power_t = 0.5;
  double begin = 0;  // of the optimal rate: 1 / (alpha (begin + t - 1))
  bool fit_intercept = true;
  double intercept_rate = 1;  // the intercept's step over the others'
  double average = 0;         // the step at which averaging starts; 0 for never
};

// q: how much of the absolute penalty each coefficient has paid. mean and q may be null where unused.
struct SgdState {
  double* w;
  double* mean;
  double* q;
  double intercept = 0;
  double mean_intercept = 0;
  double eta = 0.01;
  double t = 1;
  double owed = 0;  // the absolute penalty that all steps so far ask for
};

struct SgdRows {
  const double* y;
  const double* weight;  // null for ones; rows of weight 0 are passed over
  std::int64_t* order;
  bool shuffle;
  std::uint32_t seed;
};

struct SgdEpoch {
  double objective = 0;  // weighted sum, each row's before its step
  double weight = 0;
  Index moves = 0;  // rows that changed the coefficients
};

namespace sgd_detail {

// Marsaglia's xorshift, 31 bits.
inline std::uint32_t next(std::uint32_t& state) {
  if (state == 0) state = 1;
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state % 0x80000000U;
}

inline void shuffle(std::int64_t* order, Index n, std::uint32_t seed) {
  for (Index i = 0; i + 1 < n; ++i)
    std::swap(order[i], order[i + static_cast<Index>(next(seed) % static_cast<std::uint32_t>(n - i))]);
}

class Weights {
 public:
  Weights(double* v, double* mean, Index p, double before)
      : v_(v), mean_(mean), p_(p), count_(before), minus_(mean == nullptr ? 0 : p) {
    if (mean != nullptr)
      for (Index j = 0; j < p; ++j) minus_[j] = -before * mean[j];
    measure();
  }

  template <class Samples>
  double dot(const Samples& x) {
    product_ = x.dot(v_);
    return scale_ * product_;
  }
  double squares() const { return scale_ * scale_ * squares_; }
  double absolutes() const { return scale_ * sizes_; }

  void shrink(double by) {
    scale_ *= by;
    if (scale_ < 1e-9) settle();  // or the next step, divided by it, would lose digits
  }

  // Adds a multiple of the row that dot was last asked for.
  template <class Samples>
  void add(const Samples& x, double by) {
    const double step = by / scale_;
    squares_ += step * (2.0 * product_ + step * x.add(step, v_));
    if (mean_ != nullptr) x.add(scales_ * step, minus_.data());
  }

  void count_mean() {
    scales_ += scale_;
    count_ += 1;
  }

  // Adds a multiple of the row and counts the point if asked; q is null without an absolute penalty.
  template <class Samples>
  void step(const Samples& x, double by, bool counted, double* q, double owed) {
    if (q != nullptr) {
      add_and_truncate(x, by, counted, q, owed);
    } else {
      if (by != 0) add(x, by);
      if (counted) count_mean();
    }
  }

  // Adds a multiple of the row, counts the point, and makes every column of the row pay what it owes of the
  // absolute penalty, as far as it has any size left: one trip through the columns.
  template <class Samples>
  void add_and_truncate(const Samples& x, double by, bool counted, double* q, double owed) {
    const double step = by / scale_, unit = 1.0 / scale_, scales = scales_;
    if (counted) count_mean();
    for (Index k = 0; k < x.size(); ++k) {
      const Index j = x.column(k);
      const double old = v_[j], moved = old + step * x.value(k);
      double v = moved;
      if (moved > 0)
        v = std::max(0.0, moved - (owed + q[j]) * unit);
      else if (moved < 0)
        v = std::min(0.0, moved + (owed - q[j]) * unit);
      if (v == old && v == moved) continue;
      q[j] += scale_ * (v - moved);
      v_[j] = v;
      squares_ += (v - old) * (v + old);
      sizes_ += std::fabs(v) - std::fabs(old);
      if (mean_ != nullptr) minus_[j] += scales * (moved - old) + scales_ * (v - moved);
    }
  }

  // Puts the scale into the coefficients, and makes the mean what it stands for.
  void settle() {
    if (mean_ != nullptr)
      for (Index j = 0; j < p_; ++j) minus_[j] -= scales_ * v_[j];
    scales_ = 0;
    if (scale_ != 1.0)
      for (Index j = 0; j < p_; ++j) v_[j] *= scale_;
    product_ *= scale_;
    scale_ = 1;
    measure();
  }

  void finish() {
    settle();
    if (mean_ != nullptr && count_ > 0)
      for (Index j = 0; j < p_; ++j) mean_[j] = -minus_[j] / count_;
  }

  bool finite() const { return std::isfinite(squares_); }

 protected:
  void measure() {
    squares_ = sizes_ = 0;
    for (Index j = 0; j < p_; ++j) {
      squares_ += v_[j] * v_[j];
      sizes_ += std::fabs(v_[j]);
    }
  }

  double* v_;
  double* mean_;
  Index p_;
  double count_;
  Buffer minus_;
  double product_ = 0;  // of v and the row at hand
  double scale_ = 1;
  double scales_ = 0;
  double squares_ = 0;
  double sizes_ = 0;
};

inline double passive_step(Rate rate, double lost, double slope, double squares, double eta0) {
  if (lost == 0 || slope == 0) return 0;
  if (rate == Rate::PassiveAggressive1 && squares == 0) return 0;
  const double step =
      rate == Rate::PassiveAggressive1 ? std::min(eta0, lost / squares) : lost / (squares + 0.5 / eta0);
  return slope > 0 ? -step : step;
}

// more: what a kind of weights wants to know beside the rest.
template <class Kind, class Samples, class Loss, class... More>
SgdEpoch epoch(const Run& run, Samples& x, const SgdRows& rows, const SgdPlan& plan, const Loss& loss,
               SgdState& state, const More&... more) {
  constexpr double steepest = 1e12;  // slopes beyond it count as this, or one bad row would end in infinity
  constexpr Index ahead = 4;         // rows come in no order that the processor could guess
  const bool passive = plan.rate >= Rate::PassiveAggressive1;
  const bool squared = plan.penalised && plan.l1_ratio < 1.0;
  const bool absolute = plan.penalised && plan.l1_ratio > 0.0;
  const double before = plan.average > 0 ? std::max(0.0, state.t - plan.average) : 0.0;
  Kind w(state.w, plan.average > 0 ? state.mean : nullptr, x.cols(), before, more...);
  if (rows.shuffle) shuffle(rows.order, x.rows(), rows.seed);
  SgdEpoch done;
  Poll poll(run);
  for (Index n = 0; n < x.rows(); ++n) {
    if (n % 1024 == 0) poll();
    if (n + ahead < x.rows()) x.fetch(static_cast<Index>(rows.order[n + ahead]));
    const Index i = static_cast<Index>(rows.order[n]);
    const double s = rows.weight == nullptr ? 1.0 : rows.weight[i], y = rows.y[i];
    if (s == 0) continue;
    x.go_to(i);
    const ValueAndSlope at = both(loss, y, w.dot(x) + state.intercept);
    if (plan.rate == Rate::Optimal) state.eta = 1.0 / (plan.alpha * (plan.begin + state.t - 1));
    if (plan.rate == Rate::InverseScaling) state.eta = plan.eta0 / std::pow(state.t, plan.power_t);
    done.weight += s;
    done.objective += s * at.value;
    if (plan.penalised && !passive)
      done.objective +=
          s * plan.alpha * ((1 - plan.l1_ratio) * 0.5 * w.squares() + plan.l1_ratio * w.absolutes());
    double update = passive ? passive_step(plan.rate, at.value, at.slope, x.squares(), plan.eta0)
                            : -state.eta * std::clamp(at.slope, -steepest, steepest);
    update *= s;
    done.moves += update != 0;
    if (squared) w.shrink(std::max(0.0, 1.0 - (1.0 - plan.l1_ratio) * state.eta * plan.alpha * s));
    const bool counted = plan.average > 0 && plan.average <= state.t;
    if (absolute) state.owed += plan.l1_ratio * state.eta * plan.alpha * s;
    w.step(x, update, counted, absolute ? state.q : nullptr, state.owed);
    if (plan.fit_intercept) state.intercept += update * plan.intercept_rate;
    if (counted)
      state.mean_intercept += (state.intercept - state.mean_intercept) / (state.t - plan.average + 1);
    state.t += 1;
  }
  w.finish();
  if (!w.finite() || !std::isfinite(state.intercept))
    done.objective = std::numeric_limits<double>::infinity();
  return done;
}

}  // namespace sgd_detail

// Moves the state by one step a row; an objective that is not finite says that the steps were too long.
template <class Samples>
SgdEpoch sgd_epoch(const Run& run, Samples& x, const SgdRows& rows, const SgdPlan& plan, int loss,
                   double parameter, SgdState& state) {
  return with_row_loss(loss, parameter, [&](const auto& f) {
    return sgd_detail::epoch<sgd_detail::Weights>(run, x, rows, plan, f, state);
  });
}

}  // namespace surefit
