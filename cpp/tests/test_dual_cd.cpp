// Dual coordinate descent against the conditions of its minimum, in every form of rows.
#include "check.h"
#include "dual_cd.h"

using namespace surefit;

namespace {

// Slopes and coefficients belong together, and no score is off from where its slope wants it.
void ends_at_the_minimum(double tube, double bend, bool ends, bool weighted) {
  const Index n = 40, p = 5;
  test::Random random(static_cast<unsigned long long>(1000 * tube + 10 * bend + ends));
  std::vector<double> x(static_cast<std::size_t>(n * p)), at(static_cast<std::size_t>(n)), s(at.size()),
      u(at.size(), 0.0);
  for (double& value : x) value = random.uniform() - 0.5;
  for (double& value : at) value = 2 * random.uniform();
  for (double& value : s) value = weighted ? 1 + random.uniform() : 1.0;
  s[3] = 0.0;
  const double far = std::numeric_limits<double>::infinity();
  const std::vector<double> low(at.size(), ends ? -1.0 : -far), high(at.size(), ends ? 0.5 : far);
  std::vector<double> w(static_cast<std::size_t>(p), 0.0);
  const DualRows rows{at.data(), low.data(), high.data(), s.data(), tube, bend, 0.7};
  DenseSamples<double> samples(Dense<double>{x.data(), n, p, Order::C});
  const DualDescent done = dual_cd(Run{}, samples, rows, u.data(), w.data(), 1e-12, 100000, 7);
  CHECK(done.epochs > 0 && done.epochs < 100000);
  for (Index j = 0; j < p; ++j) {
    double sum = 0;
    for (Index i = 0; i < n; ++i)
      sum += s[static_cast<std::size_t>(i)] * u[static_cast<std::size_t>(i)] *
             x[static_cast<std::size_t>(i * p + j)];
    CHECK(std::fabs(w[static_cast<std::size_t>(j)] + sum / 0.7) < 1e-9);
  }
  for (Index i = 0; i < n; ++i) {
    if (s[static_cast<std::size_t>(i)] == 0) continue;
    samples.go_to(i);
    CHECK(std::fabs(dual_cd_detail::pull(rows, i, u[static_cast<std::size_t>(i)], samples.dot(w.data()))) <
          1e-8);
    CHECK(u[static_cast<std::size_t>(i)] >= low[static_cast<std::size_t>(i)]);
    CHECK(u[static_cast<std::size_t>(i)] <= high[static_cast<std::size_t>(i)]);
  }
}

}  // namespace

TEST(dual_descent_ends_at_the_minimum) {
  ends_at_the_minimum(0.0, 0.0, true, false);
  ends_at_the_minimum(0.0, 0.5, false, true);
  ends_at_the_minimum(0.3, 0.0, true, true);
  ends_at_the_minimum(0.3, 0.5, false, false);
}

TEST(a_limit_of_epochs_is_kept) {
  const std::vector<double> x{1.0, -1.0}, at{1.0, -1.0}, low{-1.0, 0.0}, high{0.0, 1.0};
  std::vector<double> u(2, 0.0), w(1, 0.0);
  const DualRows rows{at.data(), low.data(), high.data(), nullptr, 0.0, 0.0, 4.0};
  DenseSamples<double> samples(Dense<double>{x.data(), 2, 1, Order::C});
  CHECK(dual_cd(Run{}, samples, rows, u.data(), w.data(), 0.0, 1, 0).epochs == 1);
  dual_cd(Run{}, samples, rows, u.data(), w.data(), 0.0, 10, 0);
  CHECK(std::fabs(w[0] - 0.5) < 1e-15);
}
