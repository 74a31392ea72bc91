// Scores of normal densities against plain loops: every width, both orders and precisions, threads.
#include "check.h"
#include "normal_scores.h"

using namespace surefit;

namespace {

template <class T>
void check_scores(Index n, Index p, Index count, double offset) {
  test::Random random(static_cast<unsigned long long>(n * 100 + p));
  std::vector<T> x(static_cast<std::size_t>(n * p)), columns(x);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < p; ++j)
      columns[static_cast<std::size_t>(j * n + i)] = x[static_cast<std::size_t>(i * p + j)] =
          static_cast<T>(random.uniform() + offset);
  std::vector<double> mean, scale, constant;
  for (Index c = 0; c < count; ++c) {
    constant.push_back(random.uniform());
    for (Index j = 0; j < p; ++j) {
      mean.push_back(random.uniform() + offset);
      scale.push_back(1.5 + random.uniform());
    }
  }
  const Normals normals{mean.data(), scale.data(), constant.data(), count, p};
  std::vector<double> right;
  for (Index i = 0; i < n; ++i)
    for (Index c = 0; c < count; ++c) {
      long double sum = 0;
      for (Index j = 0; j < p; ++j) {
        const auto e = static_cast<std::size_t>(c * p + j);
        const long double deviation = (x[static_cast<std::size_t>(i * p + j)] - mean[e]) * scale[e];
        sum += deviation * deviation;
      }
      right.push_back(static_cast<double>(constant[static_cast<std::size_t>(c)] - 0.5L * sum));
    }
  std::vector<double> one;
  for (const Order order : {Order::C, Order::Fortran})
    for (const int threads : {1, 3}) {
      Run run;
      run.threads = threads;
      const Dense<T> rows{order == Order::C ? x.data() : columns.data(), n, p, order};
      std::vector<double> scores(static_cast<std::size_t>(n * count));
      normal_scores(run, rows, normals, scores.data());
      if (one.empty()) one = scores;
      CHECK(scores == one);
      std::vector<std::int64_t> best(static_cast<std::size_t>(n));
      best_normal(run, rows, normals, 0, best.data());
      for (Index i = 0; i < n; ++i) {
        const auto first = scores.begin() + i * count;
        CHECK(best[static_cast<std::size_t>(i)] == std::max_element(first, first + count) - first);
      }
    }
  for (std::size_t e = 0; e < right.size(); ++e) CHECK_NEAR(one[e], right[e], 1e-12);
}

}  // namespace

TEST(every_width) {
  for (const Index n : {0, 1, 3, 4, 5, 70})
    for (const Index p : {0, 1, 4, 7, 8, 9, 50}) {
      check_scores<double>(n, p, 3, 0.0);
      check_scores<float>(n, p, 2, 0.0);
    }
}

TEST(many_tiles_and_an_offset) {
  check_scores<double>(test::fast() ? 3000 : 30000, 20, 4, 1e6);
  check_scores<double>(40, 20000, 2, 1e6);
}

TEST(where_no_density_reaches_the_answer_is_given) {
  const double x[] = {1e200, 0.0}, mean[] = {0.0, 1.0}, scale[] = {1e200, 1e200}, constant[] = {0.0, 0.0};
  std::int64_t best[2];
  best_normal(Run{}, Dense<double>{x, 2, 1, Order::C}, {mean, scale, constant, 2, 1}, 1, best);
  CHECK(best[0] == 1 && best[1] == 0);
}
