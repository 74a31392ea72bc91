// Epochs of stochastic gradient descent and sampled proximal steps: dense and sparse rows agree, and known
// numbers come out. Within a set, the same for every step's nearest point of it.
#include <cstdint>
#include <numeric>
#include <vector>

#include "check.h"
#include "sampled_steps.h"
#include "sgd.h"
#include "sgd_within.h"

using namespace surefit;

namespace {

struct Toy {
  std::vector<double> dense, data, y;
  std::vector<std::int32_t> indices, indptr{0};
  Index rows, cols;

  Toy(Index n, Index p) : rows(n), cols(p) {
    test::Random random(7);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < p; ++j) {
        const double value = random.uniform() > 0.2 ? random.uniform() : 0.0;
        dense.push_back(value);
        if (value == 0) continue;
        data.push_back(value);
        indices.push_back(static_cast<std::int32_t>(j));
      }
      indptr.push_back(static_cast<std::int32_t>(data.size()));
      y.push_back(random.uniform() > 0 ? 1.0 : -1.0);
    }
  }
  DenseSamples<double> full() const {
    return DenseSamples<double>(Dense<double>{dense.data(), rows, cols, Order::C});
  }
  CsrSamples<double, std::int32_t> sparse() const {
    return {Csr<double, std::int32_t>{data.data(), indices.data(), indptr.data(), rows, cols},
            static_cast<Index>(data.size())};
  }
};

template <class Samples>
std::vector<double> after_epochs(Samples x, const Toy& toy, const SgdPlan& plan, int loss) {
  std::vector<double> w(static_cast<std::size_t>(toy.cols)), mean(w), q(w);
  std::vector<std::int64_t> order(static_cast<std::size_t>(toy.rows));
  std::iota(order.begin(), order.end(), 0);
  SgdState state{w.data(), mean.data(), q.data()};
  state.eta = plan.eta0;
  for (int epoch = 0; epoch < 3; ++epoch)
    sgd_epoch(Run{}, x, {toy.y.data(), nullptr, order.data(), true, 5}, plan, loss, 0.1, state);
  w.insert(w.end(), mean.begin(), mean.end());
  w.push_back(state.intercept);
  return w;
}

template <class Samples>
std::vector<double> after_draws(Samples x, const Toy& toy, double l1, double l2, bool memory) {
  const auto n = static_cast<std::size_t>(toy.rows), p = static_cast<std::size_t>(toy.cols);
  std::vector<double> w(p + 1), slopes(n), mean(p + 1), share(n, 1.0), steps(5 * n, 0.05);
  std::vector<double> absolute(p, l1), squared(p, l2), low(p, -infinite), high(p, infinite);
  std::vector<std::int64_t> draws;
  for (std::size_t k = 0; k < 5 * n; ++k) draws.push_back(static_cast<std::int64_t>((k * 7) % n));
  const CoordinateTable table{absolute.data(), squared.data(), low.data(), high.data()};
  SampledState state{w.data(), memory ? slopes.data() : nullptr, memory ? mean.data() : nullptr, memory,
                     true};
  const Draws plan{draws.data(), static_cast<Index>(draws.size()), 1, steps.data(), true};
  sampled_steps(Run{}, x, toy.y.data(), share.data(), plan, table, 1, 0.0, state);
  return w;
}

TEST(sparse_rows_step_as_dense_ones) {
  const Toy toy(40, 12);
  for (int loss = 0; loss < 9; ++loss)
    for (const double ratio : {0.0, 0.4, 1.0})
      for (const double average : {0.0, 1.0, 60.0}) {
        SgdPlan plan;
        plan.alpha = 0.02;
        plan.l1_ratio = ratio;
        plan.penalised = true;
        plan.eta0 = 0.1;
        plan.average = average;
        const auto one = after_epochs(toy.full(), toy, plan, loss);
        const auto two = after_epochs(toy.sparse(), toy, plan, loss);
        // The truncation of absolute penalties waits for a row with the column, so it is for dense rows
        // alone.
        if (ratio == 0.0)
          for (std::size_t k = 0; k < one.size(); ++k) CHECK_NEAR(one[k], two[k], 1e-12);
      }
}

TEST(steps_owed_are_paid) {
  const Toy toy(30, 9);
  for (const double l1 : {0.0, 0.03})
    for (const double l2 : {0.0, 0.2})
      for (const bool memory : {false, true}) {
        const auto one = after_draws(toy.full(), toy, l1, l2, memory);
        const auto two = after_draws(toy.sparse(), toy, l1, l2, memory);
        for (std::size_t k = 0; k < one.size(); ++k) CHECK_NEAR(one[k], two[k], 1e-11);
      }
}

struct Held {
  std::vector<double> lower, upper;
  std::vector<std::int64_t> members{1, 4, 7, 0, 5}, starts{0, 3, 5};

  Held(Index p, double low, double high)
      : lower(static_cast<std::size_t>(p), low), upper(static_cast<std::size_t>(p), high) {}
  CoefficientSet set() const {
    return {static_cast<Index>(lower.size()), lower.data(), upper.data(), members.data(), starts.data(), 2};
  }
  bool has(const double* w) const {
    for (std::size_t j = 0; j < lower.size(); ++j)
      if (!(w[j] >= lower[j] && w[j] <= upper[j])) return false;
    return w[1] <= w[4] && w[4] <= w[7] && w[0] <= w[5];
  }
};

template <class Samples>
std::vector<double> after_epochs_within(Samples x, const Toy& toy, const SgdPlan& plan, const Held& held) {
  const auto p = static_cast<std::size_t>(toy.cols);
  std::vector<double> w(p), mean(p), q(p);
  std::vector<std::int64_t> order(static_cast<std::size_t>(toy.rows));
  std::iota(order.begin(), order.end(), 0);
  SgdState state{w.data(), mean.data(), q.data()};
  state.eta = plan.eta0;
  for (int epoch = 0; epoch < 3; ++epoch) {
    sgd_epoch_within(Run{}, x, {toy.y.data(), nullptr, order.data(), true, 5}, plan, 1, 0.0, state,
                     held.set());
    CHECK(held.has(w.data()));
    CHECK(plan.average == 0 || held.has(mean.data()));
  }
  w.insert(w.end(), mean.begin(), mean.end());
  w.push_back(state.intercept);
  return w;
}

SgdPlan held_plan(double ratio, double average) {
  SgdPlan plan;
  plan.alpha = 0.02;
  plan.l1_ratio = ratio;
  plan.penalised = true;
  plan.eta0 = 0.1;
  plan.average = average;
  return plan;
}

const std::vector<Held> sets{Held(12, -infinite, infinite), Held(12, -0.02, 0.03), Held(12, 0.0, 0.05),
                             Held(12, 0.01, 0.06), Held(12, 0.1, 0.1)};

TEST(every_step_ends_in_the_set) {
  const Toy toy(40, 12);
  for (const double ratio : {0.0, 0.4, 1.0})
    for (const double average : {0.0, 1.0})
      for (const Held& held : sets) {
        const SgdPlan plan = held_plan(ratio, average);
        const auto one = after_epochs_within(toy.full(), toy, plan, held);
        const auto two = after_epochs_within(toy.sparse(), toy, plan, held);
        if (ratio == 0.0)
          for (std::size_t k = 0; k < one.size(); ++k) CHECK_NEAR(one[k], two[k], 1e-12);
      }
}

// The same steps with nothing put off: all coefficients are shrunk, moved and projected for every row.
TEST(steps_within_a_set_are_plain_projected_steps) {
  const Toy toy(40, 12);
  for (const Held& held : sets) {
    const SgdPlan plan = held_plan(0.0, 1.0);
    std::vector<double> w(12), mean(12);
    std::vector<std::int64_t> order(40);
    std::iota(order.begin(), order.end(), 0);
    Projector projector(held.set());
    projector.hold_all(w.data(), nullptr, 0.0);
    double b = 0, t = 0;
    for (int epoch = 0; epoch < 3; ++epoch) {
      sgd_detail::shuffle(order.data(), 40, 5);
      for (const std::int64_t i : order) {
        const double* x = toy.dense.data() + i * 12;
        const double y = toy.y[static_cast<std::size_t>(i)];
        const double score = std::inner_product(w.begin(), w.end(), x, b);
        const double update = plan.eta0 * y / (1.0 + std::exp(y * score));
        for (std::size_t j = 0; j < 12; ++j) w[j] = (1.0 - plan.eta0 * plan.alpha) * w[j] + update * x[j];
        projector.hold_all(w.data(), nullptr, 0.0);
        b += update;
        t += 1;
        for (std::size_t j = 0; j < 12; ++j) mean[j] += (w[j] - mean[j]) / t;
      }
    }
    const auto found = after_epochs_within(toy.sparse(), toy, plan, held);
    for (std::size_t j = 0; j < 12; ++j) {
      CHECK_NEAR(found[j], w[j], 1e-12);
      CHECK_NEAR(found[12 + j], mean[j], 1e-12);
    }
    CHECK_NEAR(found[24], b, 1e-12);
  }
}

TEST(a_set_without_ends_changes_nothing) {
  const Toy toy(40, 12);
  Held free(12, -infinite, infinite);
  free.starts = {0, 0, 0};
  for (const double ratio : {0.0, 0.4, 1.0}) {
    SgdPlan plan;
    plan.alpha = 0.02;
    plan.l1_ratio = ratio;
    plan.penalised = true;
    plan.eta0 = 0.1;
    const auto one = after_epochs(toy.full(), toy, plan, 1);
    std::vector<double> w(12), mean(12), q(12);
    std::vector<std::int64_t> order(40);
    std::iota(order.begin(), order.end(), 0);
    SgdState state{w.data(), mean.data(), q.data()};
    state.eta = plan.eta0;
    auto x = toy.full();
    for (int epoch = 0; epoch < 3; ++epoch)
      sgd_epoch_within(Run{}, x, {toy.y.data(), nullptr, order.data(), true, 5}, plan, 1, 0.1, state,
                       free.set());
    for (std::size_t j = 0; j < 12; ++j) CHECK_NEAR(w[j], one[j], 1e-12);
  }
}

TEST(levels_that_fall_are_pooled_and_clipped) {
  const Held held(8, -1.0, 2.5);
  std::vector<double> w{3.0, 1.0, -7.0, 9.0, 4.0, 1.0, 0.5, 3.0};
  Projector(held.set()).hold_all(w.data(), nullptr, 0.0);
  // Columns 1, 4 and 7 are 1, 4, 3 -> 1, 3.5, 3.5; columns 0 and 5 are 3, 1 -> 2, 2.
  const std::vector<double> expected{2.0, 1.0, -1.0, 2.5, 2.5, 2.0, 0.5, 2.5};
  for (std::size_t j = 0; j < 8; ++j) CHECK_NEAR(w[j], expected[j], 0);
}

TEST(a_mistake_adds_the_row) {
  const std::vector<double> X{2.0, 1.0, 0.0, -1.0}, y{1.0, 1.0};
  std::vector<double> w(2);
  std::vector<std::int64_t> order{0, 1};
  DenseSamples<double> x(Dense<double>{X.data(), 2, 2, Order::C});
  SgdPlan plan;
  plan.eta0 = 1;
  SgdState state{w.data(), nullptr, nullptr};
  state.eta = 1;
  const SgdEpoch done = sgd_epoch(Run{}, x, {y.data(), nullptr, order.data(), false, 0}, plan, 3, 0.0, state);
  // The second row lies on the plane through (2, 1) with intercept 1: it is wrong too.
  CHECK_NEAR(w[0], 2.0, 0);
  CHECK_NEAR(w[1], 0.0, 0);
  CHECK_NEAR(state.intercept, 2.0, 0);
  CHECK(done.moves == 2);
}

}  // namespace
