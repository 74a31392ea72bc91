// A step of a mixture of normal densities against plain loops: widths, weights, both orders, threads.
#include <cmath>

#include "check.h"
#include "mixture_sums.h"

using namespace surefit;

namespace {

template <class T>
void check_step(Index n, Index d, Index count, bool diagonal, bool weighted) {
  test::Random random(static_cast<unsigned long long>(n * 100 + d * 10 + count));
  const auto at = [](Index i) { return static_cast<std::size_t>(i); };
  std::vector<T> x(at(n * d)), columns(x);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < d; ++j)
      columns[at(j * n + i)] = x[at(i * d + j)] = static_cast<T>(4 * random.uniform());
  std::vector<double> mean(at(count * d)), offset(at(count)), weight(at(n));
  for (double& m : mean) m = 4 * random.uniform();
  for (double& o : offset) o = random.uniform();
  for (double& s : weight) s = random.uniform() < -0.4 ? 0.0 : 1.0 + random.uniform();
  const NormalMixture shape{mean.data(), nullptr, offset.data(), count, d, diagonal};
  std::vector<double> factor(at(count * shape.square()), 0.0);
  for (Index k = 0; k < count; ++k)
    for (Index i = 0; i < d; ++i)
      for (Index j = i; j < d; ++j)
        if (!diagonal || i == j)
          factor[at(k * shape.square() + (diagonal ? i : i * d + j))] = 0.5 + random.uniform();
  const NormalMixture m{mean.data(), factor.data(), offset.data(), count, d, diagonal};

  std::vector<double> total(at(count)), first(at(count * d)), square(at(count * m.square()));
  double likelihood = 0;
  std::vector<double> scores;
  for (Index i = 0; i < n; ++i) {
    std::vector<double> log(at(count)), y(at(d));
    double high = -1e300, sum = 0;
    for (Index k = 0; k < count; ++k) {
      double squares = 0;
      for (Index j = 0; j < d; ++j) {
        double dot = 0;
        for (Index l = 0; l <= j; ++l)
          if (!diagonal || l == j)
            dot += (x[at(i * d + l)] - mean[at(k * d + l)]) *
                   factor[at(k * m.square() + (diagonal ? j : l * d + j))];
        squares += dot * dot;
      }
      log[at(k)] = offset[at(k)] - 0.5 * squares;
      scores.push_back(log[at(k)]);
      high = std::max(high, log[at(k)]);
    }
    for (Index k = 0; k < count; ++k) sum += std::exp(log[at(k)] - high);
    const double s = weighted ? weight[at(i)] : 1.0;
    likelihood += s * (high + std::log(sum));
    for (Index k = 0; k < count; ++k) {
      const double share = s * std::exp(log[at(k)] - high) / sum;
      total[at(k)] += share;
      for (Index j = 0; j < d; ++j) {
        const double a = x[at(i * d + j)] - mean[at(k * d + j)];
        first[at(k * d + j)] += share * a;
        if (diagonal) square[at(k * d + j)] += share * a * a;
        for (Index l = 0; l < d && !diagonal; ++l)
          square[at((k * d + j) * d + l)] += share * a * (x[at(i * d + l)] - mean[at(k * d + l)]);
      }
    }
  }
  std::vector<double> one;
  for (const Order order : {Order::C, Order::Fortran})
    for (const int threads : {1, 3}) {
      Run run;
      run.threads = threads;
      const Dense<T> rows{order == Order::C ? x.data() : columns.data(), n, d, order};
      std::vector<double> a(at(count)), b(at(count * d)), c(at(count * m.square())), found(at(n * count));
      const double got =
          mixture_sums(run, rows, weighted ? weight.data() : nullptr, m, a.data(), b.data(), c.data());
      CHECK_NEAR(got, likelihood, 1e-9 * (1 + std::abs(likelihood)));
      for (std::size_t e = 0; e < a.size(); ++e) CHECK_NEAR(a[e], total[e], 1e-9 * (1 + total[e]));
      for (std::size_t e = 0; e < b.size(); ++e) CHECK_NEAR(b[e], first[e], 1e-8 * (1 + total[e / at(d)]));
      for (std::size_t e = 0; e < c.size(); ++e)
        CHECK_NEAR(c[e], square[e], 1e-8 * (1 + std::abs(square[e])));
      mixture_scores(run, rows, m, found.data());
      for (std::size_t e = 0; e < found.size(); ++e)
        CHECK_NEAR(found[e], scores[e], 1e-10 * (1 + std::abs(scores[e])));
      if (one.empty()) one = c;
      CHECK(c == one);
    }
}

}  // namespace

TEST(every_width_and_form) {
  for (const Index n : {1, 5, 128, 300})
    for (const Index d : {1, 3, 4, 9})
      for (const bool diagonal : {false, true}) {
        check_step<double>(n, d, 3, diagonal, true);
        check_step<float>(n, d, 1, diagonal, false);
      }
}

TEST(many_chunks) {
  check_step<double>(test::fast() ? 3000 : 9000, 5, 4, false, true);
}
