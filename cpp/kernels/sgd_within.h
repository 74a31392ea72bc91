// Epochs of stochastic gradient descent whose every step ends in the nearest point of a set of coefficients.
//
// The mean is that of these points, and an absolute penalty is paid before the projection. A row moves no
// coefficient but those of its columns and of their groups, and shrinking leads out of no set that holds
// zero: in such a set a step costs as much as its row and the groups that it touches. In any other set all
// coefficients are projected after each row, if a penalty shrinks them.
#pragma once

#include "coefficient_set.h"
#include "sgd.h"

namespace surefit {

namespace sgd_detail {

class HeldWeights : public Weights {
 public:
  HeldWeights(double* v, double* mean, Index p, double before, const CoefficientSet& set, bool shrinks)
      : Weights(v, mean, p, before), set_(set), everywhere_(shrinks && !set.holds_zero()) {
    hold(nullptr, 0.0);
  }

  template <class Samples>
  void step(const Samples& x, double by, bool counted, double* q, double owed) {
    if (q != nullptr || by != 0) move(x, by, q, owed);
    if (everywhere_) hold(q, owed);
    if (counted) count_mean();
  }

  // Leaves exact points of the set, whatever rounding of the scale and of the mean has done.
  void finish() {
    hold(nullptr, 0.0);
    Weights::finish();
    if (mean_ != nullptr && count_ > 0) set_.hold_all(mean_, nullptr, 0.0);
  }

 private:
  // Adds a multiple of the row, makes its columns pay if there is a q, and leads them and the groups that
  // they are of back into the set. What a coefficient was on the way is nowhere added up: it may be huge.
  template <class Samples>
  void move(const Samples& x, double by, double* q, double owed) {
    const double step = by / scale_, unit = 1.0 / scale_;
    set_.forget_touched();
    for (Index k = 0; k < x.size(); ++k) set_.touch(x.column(k));
    for (const Index g : set_.touched()) set_.each(g, [&](Index j) { replace(j, v_[j], 0.0); });
    for (Index k = 0; k < x.size(); ++k) {
      const Index j = x.column(k);
      const double old = v_[j], moved = old + step * x.value(k);
      double v = moved;
      if (q != nullptr) {
        if (moved > 0 && set_.may_be_positive(j))
          v = std::max(0.0, moved - (owed + q[j]) * unit);
        else if (moved < 0 && set_.may_be_negative(j))
          v = std::min(0.0, moved + (owed - q[j]) * unit);
        q[j] += scale_ * (v - moved);
      }
      if (!set_.grouped(j)) {
        const double near = set_.clip(j, v, unit);
        if (q != nullptr && near != v) q[j] = set_.paid(j, near, q[j], owed);
        replace(j, old, near);
        v = near;
      }
      v_[j] = v;
    }
    for (const Index g : set_.touched()) {
      set_.hold(g, v_, unit, q, owed);
      set_.each(g, [&](Index j) { replace(j, 0.0, v_[j]); });
    }
  }

  // Leads all coefficients back into the set.
  void hold(double* q, double owed) {
    settle();
    set_.hold_all(v_, q, owed);
    measure();
  }

  // Has the sums and the mean know of another value of a coefficient.
  void replace(Index j, double old, double now) {
    squares_ += (now - old) * (now + old);
    sizes_ += std::fabs(now) - std::fabs(old);
    if (mean_ != nullptr) minus_[j] += scales_ * (now - old);
  }

  Projector set_;
  bool everywhere_;
};

// A loss that is looked up for each row: a projection costs more, and one epoch is compiled instead of ten.
struct AnyLoss {
  int kind;
  double parameter;
  ValueAndSlope both(double y, double z) const {
    return with_row_loss(kind, parameter, [&](const auto& f) { return surefit::both(f, y, z); });
  }
};

}  // namespace sgd_detail

// Moves the state by one step a row, within the set; it need not be in the set at first.
template <class Samples>
SgdEpoch sgd_epoch_within(const Run& run, Samples& x, const SgdRows& rows, const SgdPlan& plan, int loss,
                          double parameter, SgdState& state, const CoefficientSet& set) {
  const sgd_detail::AnyLoss any{loss, parameter};
  const bool shrinks = plan.penalised && plan.l1_ratio < 1.0;
  return sgd_detail::epoch<sgd_detail::HeldWeights>(run, x, rows, plan, any, state, set, shrinks);
}

}  // namespace surefit
