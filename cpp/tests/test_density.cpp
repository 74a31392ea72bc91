// DBSCAN over a grid against all pairs.
#include "check.h"
#include "grid_density.h"

using namespace surefit;

TEST(core_rows_are_those_with_enough_near) {
  for (const int threads : {1, 3}) {
    const Index n = 300;
    test::Random random(7);
    std::vector<double> x(2 * n);
    for (double& value : x) value = random.uniform();
    std::vector<std::uint8_t> core(n);
    std::vector<std::int64_t> label(n);
    Run run;
    run.threads = threads;
    const double eps = 0.15;
    GridDensity<2>(run, x.data(), n, eps, nullptr, 6.0).solve(true, core.data(), label.data());
    const auto near = [&](std::size_t i, std::size_t j) {
      const double a = x[2 * i] - x[2 * j], b = x[2 * i + 1] - x[2 * j + 1];
      return a * a + b * b <= eps * eps;
    };
    for (std::size_t i = 0; i < n; ++i) {
      int count = 0;
      bool touched = false;
      for (std::size_t j = 0; j < n; ++j) {
        count += near(i, j);
        if (!near(i, j) || !core[j]) continue;
        touched = true;
        if (core[i]) CHECK(label[i] == label[j]);
      }
      CHECK((count >= 6) == (core[i] == 1));
      CHECK((label[i] >= 0) == touched);
    }
  }
}
