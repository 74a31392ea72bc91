// Errors add up as their definitions say, at every length and number of threads; a rank is the sorted one's.
#include "check.h"
#include "error_sums.h"
#include "number_spread.h"
#include "select_rank.h"

using namespace surefit;
using surefit::test::near;
using surefit::test::Random;

namespace {

struct Rows {
  std::vector<double> truth, guess, weight;
  explicit Rows(Index count) {
    Random random(7);
    for (Index i = 0; i < count; ++i) {
      truth.push_back(std::exp(2.0 * random.uniform()));
      guess.push_back(truth.back() * std::exp(random.uniform()));
      weight.push_back(1.5 + random.uniform());
    }
  }
};

template <class Cost, class Plain>
void check_cost(const Cost& cost, const Plain& plain) {
  for (const Index count : {0, 1, 3, 513, 70001}) {
    const Rows rows(count);
    double wanted = 0.0, weighted = 0.0, most = -1.0;
    for (std::size_t i = 0; i < rows.truth.size(); ++i) {
      const double value = plain(rows.truth[i], rows.guess[i]);
      wanted += value;
      weighted += value * rows.weight[i];
      most = std::max(most, value);
    }
    for (const int threads : {1, 3}) {
      Run run;
      run.threads = threads;
      const auto sums = [&](const double* weight) {
        return error_sums(run, cost, rows.truth.data(), rows.guess.data(), weight, count, true);
      };
      CHECK(near(sums(nullptr).sum, wanted, 1e-11));
      CHECK(sums(nullptr).weight == static_cast<double>(count));
      CHECK(near(sums(rows.weight.data()).sum, weighted, 1e-11));
      if (count > 0) CHECK(near(sums(nullptr).greatest, most, 1e-13));
    }
  }
}

}  // namespace

TEST(costs) {
  check_cost(SquaredError{}, [](double y, double g) { return (y - g) * (y - g); });
  check_cost(AbsoluteError{}, [](double y, double g) { return std::abs(y - g); });
  check_cost(RelativeError{}, [](double y, double g) { return std::abs(y - g) / y; });
  check_cost(PinballError{0.2}, [](double y, double g) { return y > g ? 0.2 * (y - g) : 0.8 * (g - y); });
  check_cost(SquaredLogError{1.0},
             [](double y, double g) { return std::pow(std::log1p(y) - std::log1p(g), 2); });
  check_cost(PoissonDeviance{}, [](double y, double g) { return 2.0 * (y * std::log(y / g) - y + g); });
  check_cost(GammaDeviance{}, [](double y, double g) { return 2.0 * (y / g - 1.0 - std::log(y / g)); });
}

TEST(logarithms) {
  const auto ratio = [](double apart, double top, double base) {
    const Four a = {apart, 1.0, 1.0, 1.0}, t = {top, 1.0, 1.0, 1.0}, b = {base, 1.0, 1.0, 1.0};
    Four found;
    four_log_ratios(a, t, b, found);
    return found[0];
  };
  for (int power = -900; power <= 900; power += 7) {
    const double top = std::ldexp(1.37, power);
    CHECK(near(ratio(top - 1.0, top, 1.0), std::log(top), 4e-16));
  }
  for (double apart = 0.5; apart > 1e-17; apart /= 3.0) {
    CHECK(std::abs(ratio(apart, 1.0 + apart, 1.0) / std::log1p(apart) - 1.0) < 1e-15);
    CHECK(std::abs(ratio(-apart, 1.0 - apart, 1.0) / std::log1p(-apart) - 1.0) < 1e-15);
  }
  CHECK(ratio(-2.0, 0.0, 2.0) == 0.0);
  CHECK(std::isnan(ratio(1e300, 1e300, 1e-300)));
  CHECK(std::isnan(ratio(NAN, NAN, 1.0)));
}

TEST(not_finite) {
  Rows rows(1000);
  for (const double bad :
       {static_cast<double>(INFINITY), -static_cast<double>(INFINITY), static_cast<double>(NAN)})
    for (std::vector<double>* column : {&rows.truth, &rows.guess, &rows.weight}) {
      const double kept = std::exchange((*column)[777], bad);
      const auto finite = [&](const auto& cost) {
        const ErrorSums found =
            error_sums(Run{}, cost, rows.truth.data(), rows.guess.data(), rows.weight.data(), 1000, false);
        return std::isfinite(found.sum) && std::isfinite(found.weight);
      };
      CHECK(!finite(SquaredError{}) && !finite(AbsoluteError{}) && !finite(PinballError{0.3}));
      CHECK(!finite(SquaredLogError{1.0}) && !finite(PoissonDeviance{}) && !finite(GammaDeviance{}));
      std::vector<double> error(1000);
      if (column != &rows.weight)
        CHECK(!absolute_errors(Run{}, rows.truth.data(), rows.guess.data(), 1000, error.data()));
      (*column)[777] = kept;
    }
}

TEST(spread_far_from_zero) {
  for (const Index count : {1, 2, 1025, 70001}) {
    Rows rows(count);
    for (double& y : rows.truth) y += 1e8;
    long double weight = 0, mean = 0, scatter = 0;
    for (std::size_t i = 0; i < rows.truth.size(); ++i) {
      weight += rows.weight[i];
      mean += static_cast<long double>(rows.weight[i]) * rows.truth[i];
    }
    mean /= weight;
    for (std::size_t i = 0; i < rows.truth.size(); ++i)
      scatter += rows.weight[i] * (rows.truth[i] - mean) * (rows.truth[i] - mean);
    Run run;
    run.threads = 3;
    const auto of = [&](const Run& how) {
      return variation(how, rows.truth.data(), rows.guess.data(), rows.weight.data(), count, true);
    };
    const Variation found = of(run), again = of(Run{});
    CHECK(near(found.truth.scatter, static_cast<double>(scatter), 1e-10));
    CHECK(near(found.truth.mean, static_cast<double>(mean), 1e-15));
    CHECK(found.truth.scatter == again.truth.scatter && found.errors.mean == again.errors.mean);
    CHECK(found.squares == again.squares);
    CHECK(found.truth.least == *std::min_element(rows.truth.begin(), rows.truth.end()));
    CHECK(found.truth.most == *std::max_element(rows.truth.begin(), rows.truth.end()));
  }
}

TEST(ranks) {
  Random random(3);
  for (const Index size : {1, 2, 5, 1000, 100003})
    for (const int kind : {0, 1, 2, 3}) {
      std::vector<double> x(static_cast<std::size_t>(size));
      for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = kind == 0   ? random.uniform()
               : kind == 1 ? std::floor(4.0 * random.uniform())  // ties
               : kind == 2
                   ? static_cast<double>(i)                         // sorted
                   : (i % 6 == 3 ? 1e6 : -1.0) * random.uniform();  // a pattern that misleads a sample
      std::vector<double> sorted = x;
      std::sort(sorted.begin(), sorted.end());
      Run run;
      run.threads = 3;
      for (const double share : {0.0, 0.1, 0.5, 0.99, 1.0}) {
        const Index low = static_cast<Index>(share * static_cast<double>(size - 1));
        for (const Index high : {low, std::min(low + 1, size - 1)}) {
          const auto found = select_ranks(run, x.data(), size, low, high);
          CHECK(found.first == sorted[static_cast<std::size_t>(low)]);
          CHECK(found.second == sorted[static_cast<std::size_t>(high)]);
        }
      }
    }
}
