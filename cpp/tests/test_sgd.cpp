// Epochs of stochastic gradient descent and sampled proximal steps: dense and sparse rows agree, and known
// numbers come out.
#include <cstdint>
#include <numeric>
#include <vector>

#include "check.h"
#include "sampled_steps.h"
#include "sgd.h"

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
