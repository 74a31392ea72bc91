// What Python tells an epoch of stochastic gradient descent beside X, checked and unpacked.
#pragma once

#include "bind_samples.h"
#include "sgd.h"

namespace surefit::bind {

using Floats = Vector<double>;
using MaybeOut = std::optional<OutVector<double>>;

// Plan and state are short vectors, in the order of SgdPlan and SgdState.
struct SgdCall {
  Floats y;
  std::optional<Floats> weight;
  OutVector<std::int64_t> order;
  bool shuffle;
  std::uint32_t seed;
  int loss;
  double parameter;
  Floats plan;
  OutVector<double> w;
  MaybeOut mean, q;
  OutVector<double> state;

  // Runs epoch(run, x, rows, plan, loss, parameter, state).
  template <class Samples, class Epoch>
  nb::tuple over(Samples x, Epoch&& epoch) {
    const auto rows = static_cast<std::size_t>(x.rows()), cols = static_cast<std::size_t>(x.cols());
    expect(y.shape(0) == rows && order.shape(0) == rows && (!weight || weight->shape(0) == rows),
           "y, weight and order must have one entry for each row of X");
    expect(w.shape(0) == cols && (!mean || mean->shape(0) == cols) && (!q || q->shape(0) == cols),
           "w, mean and q must have one entry for each column of X");
    expect(plan.shape(0) == 10 && state.shape(0) == 5, "plan must have 10 numbers, and state 5");
    const double* a = plan.data();
    const SgdPlan settings{a[0], a[1], a[2] != 0, static_cast<Rate>(static_cast<int>(a[3])),
                           a[4], a[5], a[6],      a[7] != 0,
                           a[8], a[9]};
    expect(!(settings.average > 0) || mean, "averaging needs a place for the mean");
    expect(!(settings.penalised && settings.l1_ratio > 0) || q, "an absolute penalty needs q");
    expect_order(order.data(), x.rows(), x.rows());
    double* b = state.data();
    SgdState at{w.data(), mean ? mean->data() : nullptr, q ? q->data() : nullptr, b[0], b[1], b[2], b[3],
                b[4]};
    const SgdRows each{y.data(), weight ? weight->data() : nullptr, order.data(), shuffle, seed};
    SgdEpoch done;
    call(1, [&](const Run& run) { done = epoch(run, x, each, settings, loss, parameter, at); });
    b[0] = at.intercept, b[1] = at.mean_intercept, b[2] = at.eta, b[3] = at.t, b[4] = at.owed;
    return nb::make_tuple(done.objective, done.weight, done.moves);
  }
};

}  // namespace surefit::bind
