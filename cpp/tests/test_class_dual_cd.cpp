// Dual coordinate descent for all classes at once, against the conditions of its minimum.
#include "check.h"
#include "class_dual_cd.h"

using namespace surefit;

TEST(slopes_of_all_classes_end_at_the_minimum) {
  const Index n = 30, p = 4, classes = 3;
  test::Random random(5);
  std::vector<double> x(static_cast<std::size_t>(n * p)), cost(static_cast<std::size_t>(n));
  std::vector<std::int64_t> y(cost.size());
  for (double& value : x) value = random.uniform() - 0.5;
  for (std::size_t i = 0; i < y.size(); ++i) {
    y[i] = static_cast<std::int64_t>(i % 3);
    cost[i] = 1 + random.uniform();
  }
  cost[2] = 0.0;
  std::vector<double> a(static_cast<std::size_t>(n * classes), 0.0),
      w(static_cast<std::size_t>(classes * p), 0.0);
  DenseSamples<double> samples(Dense<double>{x.data(), n, p, Order::C});
  const DualDescent done =
      class_dual_cd(Run{}, samples, y.data(), cost.data(), classes, a.data(), w.data(), 1e-12, 100000, 3);
  CHECK(done.epochs > 0 && done.epochs < 100000);
  double squares = 0, dual = 0, loss = 0;
  for (const double value : w) squares += value * value / 2;
  for (Index i = 0; i < n; ++i) {
    const double own = cost[static_cast<std::size_t>(i)];
    const Index truth = y[static_cast<std::size_t>(i)];
    samples.go_to(i);
    double sum = 0, worst = 0;
    const double score = samples.dot(w.data() + truth * p);
    for (Index c = 0; c < classes; ++c) {
      const double slope = a[static_cast<std::size_t>(i * classes + c)];
      sum += slope;
      CHECK(slope <= (c == truth ? own : 0.0));
      if (c == truth) continue;
      dual += slope;
      worst = std::max(worst, samples.dot(w.data() + c * p) - score + 1);
    }
    CHECK(std::fabs(sum) < 1e-12);
    loss += own * worst;
  }
  CHECK(std::fabs(squares + loss + squares + dual) < 1e-8 * (squares + loss));
}
