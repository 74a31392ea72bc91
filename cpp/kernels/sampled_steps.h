// Proximal steps along the gradients of drawn rows: stochastic gradients of batches, SAGA and SVRG, for mean
// loss plus a penalty of single coefficients.
//
//   w <- prox(w - step ((f_i'(w) - memory_i) x_i + mean)),   mean = 1/n sum_i memory_i x_i
//
// Without a memory that is a stochastic gradient; SAGA renews memory and mean with every draw, SVRG keeps
// both. A sparse row moves only its own columns: the others are owed the steps that they missed, which are
// paid in one go when their turn comes, or at the end.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "buffer.h"
#include "coordinate_table.h"
#include "parallel.h"
#include "row_loss.h"
#include "sample_rows.h"

namespace surefit {

struct Draws {
  const std::int64_t* rows;
  Index count;
  Index batch;          // rows a step
  const double* steps;  // one a step
  bool constant;        // whether all steps are as long
};

// memory and mean may be null; the intercept is in place p of w and mean, if there is one.
struct SampledState {
  double* w;
  double* memory;
  double* mean;
  bool renew;
  bool intercept;
  double* total = nullptr;  // adds up the points, for dense rows only
};

namespace sampled_detail {

inline double prox(const CoordinateTable& table, Index j, double v, double step) {
  const double free = soft(v, step * table.l1[j]) / (1.0 + step * table.l2[j]);
  return std::min(std::max(free, table.lower[j]), table.upper[j]);
}

// k steps of w <- a (w - step pull), a = 1 / (1 + step l2), are a^k w - pull (1 - a^k) / l2. Both factors are
// kept for every k, as long as all coefficients share l2.
class Shrinking {
 public:
  Shrinking(double step, double l2, Index most) : step_(step), l2_(l2), power_(most + 1), sum_(most + 1) {
    const double rate = std::log1p(step * l2);
    for (Index k = 0; k <= most; ++k) {
      const double shrunk = -static_cast<double>(k) * rate;
      power_[k] = std::exp(shrunk);
      sum_[k] = l2 == 0 ? static_cast<double>(k) * step : -std::expm1(shrunk) / l2;
    }
  }

  double after(double w, double pull, Index k) const { return power_[k] * w - pull * sum_[k]; }

  // How many steps leave w on its side of 0, given that some number does not; two fewer, for rounding.
  Index before_zero(double w, double pull) const {
    const double k = l2_ > 0 ? std::log1p(w * l2_ / pull) / std::log1p(step_ * l2_) : w / (step_ * pull);
    return std::isfinite(k) ? static_cast<Index>(std::max(0.0, std::floor(k) - 2.0)) : 0;
  }

 private:
  double step_;
  double l2_;
  Buffer power_;
  Buffer sum_;
};

// k proximal steps of one length along a slope that does not change.
inline double repeated(const CoordinateTable& table, const Shrinking& shrinking, Index j, double w,
                       double slope, double step, Index k) {
  const double l1 = table.l1[j];
  const bool bounded = !std::isinf(table.lower[j]) || !std::isinf(table.upper[j]);
  if (!bounded && l1 == 0) return shrinking.after(w, slope, k);
  while (k > 0) {
    if (!bounded && w != 0) {
      const double pull = slope + (w > 0 ? l1 : -l1), all = shrinking.after(w, pull, k);
      if (w > 0 ? all > 0 : all < 0) return all;
      const Index some = std::min(shrinking.before_zero(w, pull), k);
      w = shrinking.after(w, pull, some);
      k -= some;
    }
    // At most a few single steps lead over 0, or to where no step moves it any more.
    for (int single = 0; single < 4 && k > 0; ++single, --k) {
      const double moved = prox(table, j, w - step * slope, step);
      if (moved == w) return w;
      w = moved;
    }
  }
  return w;
}

template <class Samples>
class Coefficients {
 public:
  Coefficients(const Samples& x, const CoordinateTable& table, const Draws& draws, SampledState& state)
      : table_(table), draws_(draws), state_(state), p_(x.cols()), gradient_(p_) {
    if constexpr (Samples::sparse) {
      paid_.assign(static_cast<std::size_t>(p_), 0);
      bool alike = draws.constant && draws.count > 0;
      for (Index j = 1; j < p_ && alike; ++j) alike = table.l2[j] == table.l2[0];
      if (alike && p_ > 0)
        shrinking_.emplace(draws.steps[0], table.l2[0], (draws.count + draws.batch - 1) / draws.batch);
    }
  }

  // Makes the columns of a row what they are at a step.
  void meet(const Samples& x, Index now) {
    if constexpr (Samples::sparse)
      for (Index k = 0; k < x.size(); ++k) pay(x.column(k), now);
  }

  // A step along one row, in one trip through its columns; ``renewed`` is what the mean gradient takes over.
  void step_along(const Samples& x, double change, double renewed, Index now) {
    const double step = draws_.steps[now];
    for (Index k = 0; k < x.size(); ++k) {
      const Index j = x.column(k);
      const double mean = state_.mean == nullptr ? 0.0 : state_.mean[j];
      state_.w[j] = prox(table_, j, state_.w[j] - step * (change * x.value(k) + mean), step);
      if (renewed != 0) state_.mean[j] = mean + renewed * x.value(k);
      if constexpr (Samples::sparse) paid_[static_cast<std::size_t>(j)] = now + 1;
    }
  }

  void gather(const Samples& x, double slope) {
    if constexpr (Samples::sparse)
      for (Index k = 0; k < x.size(); ++k)
        if (gradient_[x.column(k)] == 0) touched_.push_back(x.column(k));
    x.add(slope, gradient_.data());
  }

  // Moves what the gathered gradient touches, and forgets the gradient.
  void step(Index now) {
    const double step = draws_.steps[now];
    if constexpr (Samples::sparse) {
      for (const Index j : touched_) {
        if (paid_[static_cast<std::size_t>(j)] > now) continue;
        move(j, step);
        paid_[static_cast<std::size_t>(j)] = now + 1;
      }
      touched_.clear();
    } else {
      for (Index j = 0; j < p_; ++j) move(j, step);
    }
  }

  void settle(Index now) {
    if constexpr (Samples::sparse)
      for (Index j = 0; j < p_; ++j) pay(j, now);
  }

 private:
  void move(Index j, double step) {
    const double mean = state_.mean == nullptr ? 0.0 : state_.mean[j];
    state_.w[j] = prox(table_, j, state_.w[j] - step * (gradient_[j] + mean), step);
    gradient_[j] = 0;
  }

  void pay(Index j, Index now) {
    Index& paid = paid_[static_cast<std::size_t>(j)];
    const double slope = state_.mean == nullptr ? 0.0 : state_.mean[j];
    double& w = state_.w[j];
    if (paid < now && shrinking_) {
      w = repeated(table_, *shrinking_, j, w, slope, draws_.steps[paid], now - paid);
    } else {
      for (Index k = paid; k < now; ++k) {
        const double moved = prox(table_, j, w - draws_.steps[k] * slope, draws_.steps[k]);
        if (moved == w && (w == 0 || (table_.l1[j] == 0 && table_.l2[j] == 0 && slope == 0))) break;
        w = moved;
      }
    }
    paid = now;
  }

  CoordinateTable table_;
  const Draws& draws_;
  SampledState& state_;
  Index p_;
  Buffer gradient_;
  std::optional<Shrinking> shrinking_;
  std::vector<Index> paid_;
  std::vector<Index> touched_;
};

template <class Samples, class Loss>
void go(const Run& run, Samples& x, const double* y, const double* share, const Draws& draws,
        const CoordinateTable& table, const Loss& loss, SampledState& state) {
  const Index p = x.cols();
  const double n = static_cast<double>(x.rows());
  Coefficients<Samples> w(x, table, draws, state);
  double* intercept = state.intercept ? state.w + p : nullptr;
  Poll poll(run);
  Index now = 0;
  for (Index first = 0; first < draws.count; first += draws.batch, ++now) {
    if (now % 256 == 0) poll();
    const Index size = std::min(draws.batch, draws.count - first);
    double pull = 0;
    for (Index k = first; k < first + size; ++k) {
      const Index i = static_cast<Index>(draws.rows[k]);
      x.go_to(i);
      w.meet(x, now);
      const double z = x.dot(state.w) + (intercept == nullptr ? 0.0 : *intercept);
      const double slope = share[i] * loss.slope(y[i], z);
      const double change =
          (state.memory == nullptr ? slope : slope - state.memory[i]) / static_cast<double>(size);
      pull += change;
      if (state.renew) state.memory[i] = slope;
      if (draws.batch > 1) w.gather(x, change);
    }
    if (draws.batch > 1)
      w.step(now);
    else
      w.step_along(x, pull, state.renew ? pull / n : 0.0, now);
    if (intercept != nullptr)
      *intercept -= draws.steps[now] * (pull + (state.mean == nullptr ? 0.0 : state.mean[p]));
    if (state.renew && intercept != nullptr) state.mean[p] += pull / n;
    if (state.total != nullptr)
      for (Index j = 0; j < p + (intercept != nullptr); ++j) state.total[j] += state.w[j];
  }
  w.settle(now);
}

}  // namespace sampled_detail

// Goes through the draws; a memory that is renewed takes batches of one row.
template <class Samples>
void sampled_steps(const Run& run, Samples& x, const double* y, const double* share, const Draws& draws,
                   const CoordinateTable& table, int loss, double parameter, SampledState& state) {
  with_row_loss(loss, parameter,
                [&](const auto& f) { sampled_detail::go(run, x, y, share, draws, table, f, state); });
}

}  // namespace surefit
