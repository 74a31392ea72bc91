// Sums of smoothing kernels against plain loops: every kernel, tolerances, points left out, threads.
#include "check.h"
#include "density_sums.h"

using namespace surefit;

namespace {

struct Made {
  Index rows, cols, levels;
  std::vector<double> rows_of, columns, weight, boxes, totals;
  std::vector<std::int64_t> order;
};

Made make(Index n, Index p) {
  test::Random random(static_cast<unsigned long long>(n * 10 + p));
  Made made{n, p, density_detail::levels_of(n, 16), {}, {}, {}, {}, {}, {}};
  for (Index e = 0; e < n * p; ++e) made.rows_of.push_back(4 * random.uniform());
  made.order.resize(static_cast<std::size_t>(n));
  const Index nodes = (Index{2} << made.levels) - 1;
  made.boxes.resize(static_cast<std::size_t>(nodes * 2 * p));
  density_tree(Dense<double>{made.rows_of.data(), n, p, Order::C}, made.levels, made.order.data(),
               made.boxes.data());
  for (Index j = 0; j < p; ++j)
    for (const std::int64_t i : made.order)
      made.columns.push_back(made.rows_of[static_cast<std::size_t>(static_cast<Index>(i) * p + j)]);
  for (const std::int64_t i : made.order) made.weight.push_back(1.0 + static_cast<double>(i % 3));
  for (Index level = 0; level <= made.levels; ++level)
    for (Index k = 0; k < Index{1} << level; ++k) {
      double sum = 0;
      for (Index i = density_detail::place(n, level, k); i < density_detail::place(n, level, k + 1); ++i)
        sum += made.weight[static_cast<std::size_t>(i)];
      made.totals.push_back(sum);
    }
  return made;
}

double right_sum(const Made& made, const double* query, const DensityRule& rule, Index skip) {
  double sum = 0;
  for (Index i = 0; i < made.rows; ++i) {
    double square = 0;
    for (Index j = 0; j < made.cols; ++j) {
      const double gap = made.columns[static_cast<std::size_t>(j * made.rows + i)] - query[j];
      square += gap * gap;
    }
    const double w = made.weight[static_cast<std::size_t>(i)] - (i == skip ? 1 : 0);
    sum += w * density_detail::kernel_at(rule.kind, square, rule.h);
  }
  return sum;
}

void check_sums(Index n, Index p, double relative) {
  const Made made = make(n, p);
  const DensityPoints points{
      made.columns.data(), made.weight.data(), made.boxes.data(), made.totals.data(), n, p, made.levels};
  const Index count = std::min<Index>(n, 40);
  std::vector<std::int64_t> skip;
  std::vector<double> queries;
  for (Index q = 0; q < count; ++q) {
    skip.push_back(q);
    for (Index j = 0; j < p; ++j) queries.push_back(made.columns[static_cast<std::size_t>(j * n + q)]);
  }
  for (int kind = 0; kind < 6; ++kind)
    for (const bool left_out : {false, true}) {
      const DensityRule rule{static_cast<Smooth>(kind), 0.7, relative, 0.0};
      std::vector<double> found(static_cast<std::size_t>(count)), error(found), again(found), far(found);
      Run run;
      const std::int64_t* own = left_out ? skip.data() : nullptr;
      density_sums(run, points, rule, queries.data(), count, own, found.data(), error.data());
      run.threads = 3;
      density_sums(run, points, rule, queries.data(), count, own, again.data(), far.data());
      CHECK(found == again);
      for (Index q = 0; q < count; ++q) {
        const auto at = static_cast<std::size_t>(q);
        const double right = right_sum(made, queries.data() + q * p, rule, left_out ? q : -1);
        if (right == 0) {
          CHECK(found[at] == -std::numeric_limits<double>::infinity());
          continue;
        }
        CHECK(error[at] <= relative * (1 + 1e-12));
        CHECK(std::abs(std::exp(found[at]) - right) <= (error[at] + 1e-12) * right);
      }
    }
}

}  // namespace

TEST(every_kernel) {
  for (const Index n : {1, 2, 5, 17, 400})
    for (const Index p : {1, 2, 5})
      for (const double relative : {0.0, 1e-3}) check_sums(n, p, relative);
}

TEST(far_from_all_points_nothing_vanishes) {
  const Made made = make(100, 2);
  const DensityPoints points{
      made.columns.data(), made.weight.data(), made.boxes.data(), made.totals.data(), 100, 2, made.levels};
  const double query[] = {1000.0, 0.0};
  double found, error;
  density_sums(Run{}, points, {Smooth::gaussian, 1.0, 0.0, 0.0}, query, 1, nullptr, &found, &error);
  CHECK(std::isfinite(found) && found < -490000);
}
