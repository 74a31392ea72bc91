// Nonnegative least squares by rows: the conditions of optimality, and the same bits for any threads.
#include <cmath>

#include "check.h"
#include "nonnegative_rows.h"

using namespace surefit;

TEST(rows_meet_the_conditions_of_optimality) {
  test::Random random(7);
  const Index n = 600, k = 5;
  std::vector<double> h(k * 9), square(k * k), cross(n * k), w(n * k, 0.0), again(n * k, 0.0);
  for (double& v : h) v = random.uniform();
  for (Index a = 0; a < k; ++a)
    for (Index b = 0; b < k; ++b)
      for (Index j = 0; j < 9; ++j)
        square[static_cast<std::size_t>(a * k + b)] +=
            h[static_cast<std::size_t>(a * 9 + j)] * h[static_cast<std::size_t>(b * 9 + j)];
  for (double& v : cross) v = random.uniform();
  const std::int64_t order[] = {0, 1, 2, 3, 4};
  Run one, three;
  three.threads = 3;
  nonnegative_rows(one, n, k, square.data(), cross.data(), order, 2000, 1e-14, w.data());
  nonnegative_rows(three, n, k, square.data(), cross.data(), order, 2000, 1e-14, again.data());
  CHECK(w == again);
  for (Index i = 0; i < n; ++i)
    for (Index t = 0; t < k; ++t) {
      double gradient = -cross[static_cast<std::size_t>(i * k + t)];
      for (Index r = 0; r < k; ++r)
        gradient += square[static_cast<std::size_t>(t * k + r)] * w[static_cast<std::size_t>(i * k + r)];
      const double x = w[static_cast<std::size_t>(i * k + t)];
      CHECK(x >= 0 && gradient > -1e-9 && (x == 0 || std::abs(gradient) < 1e-9));
    }
}
