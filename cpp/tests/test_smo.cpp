#include <vector>

#include "check.h"
#include "smo.h"

using namespace surefit;

namespace {

struct Data {
  Index n, d;
  std::vector<double> x, y;
};

Data make(Index n, Index d, unsigned long long seed) {
  test::Random random(seed);
  Data data{n, d, std::vector<double>(static_cast<std::size_t>(n * d)), {}};
  for (double& v : data.x) v = random.uniform();
  for (Index i = 0; i < n; ++i)
    data.y.push_back(data.x[static_cast<std::size_t>(i * d)] + 0.3 * random.uniform() > 0 ? 1.0 : -1.0);
  return data;
}

struct Answer {
  SmoResult result;
  std::vector<double> beta, f;
};

Answer solve(const Data& data, const KernelSpec& kernel, double C, bool single, int threads, Index cache,
             bool groups = false) {
  const auto n = static_cast<std::size_t>(data.n);
  PointData points;
  points.rows = data.n, points.cols = data.d, points.dense = data.x.data();
  std::vector<double> slope(n), low(n), high(n);
  std::vector<unsigned char> group(n);
  for (std::size_t i = 0; i < n; ++i) {
    slope[i] = groups ? 0 : -data.y[i];
    low[i] = std::min(0.0, C * data.y[i]), high[i] = std::max(0.0, C * data.y[i]);
    group[i] = data.y[i] > 0;
  }
  SmoProblem problem;
  problem.variables = data.n, problem.plus = problem.minus = slope.data();
  problem.low = low.data(), problem.high = high.data(), problem.group = groups ? group.data() : nullptr;
  problem.tolerance = 1e-6, problem.most_steps = 1'000'000, problem.cache_bytes = cache,
  problem.single = single;
  problem.working_set = 32;
  Answer answer{{}, std::vector<double>(n, 0.0), std::vector<double>(n, 0.0)};
  Run run;
  run.threads = threads;
  const Points at(kernel, points, single);
  if (groups) {  // the nearest points of the hulls begin with equal shares
    double plus = 0, minus = 0;
    for (const double y : data.y) (y > 0 ? plus : minus) += 1;
    for (std::size_t i = 0; i < n; ++i) answer.beta[i] = data.y[i] > 0 ? 1 / plus : -1 / minus;
    std::vector<Index> all(n);
    std::iota(all.begin(), all.end(), Index{0});
    kernel_sums(run, at, all.data(), data.n, answer.beta.data(), 1, at, answer.f.data());
  }
  answer.result = smo(run, at, problem, answer.beta.data(), answer.f.data());
  return answer;
}

void check_optimal(const Data& data, const KernelSpec& kernel, const Answer& answer, double C, bool groups) {
  PointData points;
  points.rows = data.n, points.cols = data.d, points.dense = data.x.data();
  const Points at(kernel, points, false);
  CHECK(answer.result.ended == 0);
  double sum = 0, least[2] = {1e300, 1e300}, most[2] = {-1e300, -1e300};
  for (Index i = 0; i < data.n; ++i) {
    const auto u = static_cast<std::size_t>(i);
    double f = 0;
    for (Index j = 0; j < data.n; ++j) {
      double value = 0;
      std::vector<double> out(1);
      BlockDesk<double> desk;
      Run run;
      kernel_tile<double>(run.blas, at, &j, 1, at, &i, 0, 1, &value, 1, desk);
      f += answer.beta[static_cast<std::size_t>(j)] * value;
    }
    CHECK_NEAR(f, answer.f[u], 1e-9);
    sum += answer.beta[u];
    const double g = f - (groups ? 0 : data.y[u]), low = std::min(0.0, C * data.y[u]),
                 high = std::max(0.0, C * data.y[u]);
    CHECK(answer.beta[u] >= low && answer.beta[u] <= high);
    const int side = groups && data.y[u] > 0 ? 1 : 0;
    if (answer.beta[u] < high) least[side] = std::min(least[side], g);
    if (answer.beta[u] > low) most[side] = std::max(most[side], g);
  }
  CHECK_NEAR(sum, 0.0, 1e-9);
  for (int side = 0; side < 2; ++side) CHECK(most[side] - least[side] <= 2e-6);
}

}  // namespace

TEST(pairs_end_at_the_optimum_for_every_kernel_and_precision) {
  const Data data = make(90, 5, 1);
  for (const KernelKind kind : {KernelKind::linear, KernelKind::poly, KernelKind::rbf, KernelKind::sigmoid})
    for (const bool single : {false, true}) {
      const KernelSpec kernel{kind, 0.7, kind == KernelKind::sigmoid ? -0.5 : 0.3, 2};
      const Answer answer = solve(data, kernel, 2.0, single, 1, 1 << 20);
      if (kind != KernelKind::sigmoid) check_optimal(data, kernel, answer, 2.0, false);
    }
}

TEST(groups_keep_their_own_sums) {
  const Data data = make(70, 3, 2);
  const KernelSpec kernel{KernelKind::rbf, 2.0, 0, 1};
  check_optimal(data, kernel, solve(data, kernel, 1.0, false, 1, 1 << 20, true), 1.0, true);
}

TEST(threads_and_the_size_of_the_cache_change_no_bit_and_its_bound_holds) {
  const Data data = make(test::fast() ? 300 : 900, 4, 3);
  const KernelSpec kernel{KernelKind::rbf, 1.0, 0, 1};
  const Answer one = solve(data, kernel, 5.0, true, 1, 1 << 22);
  for (const Index cache : {Index{1} << 22, 40 * data.n * Index{sizeof(float)}}) {
    const Answer two = solve(data, kernel, 5.0, true, 2, cache);
    CHECK(two.result.cache_bytes <= cache);
    if (cache == 1 << 22) CHECK(one.beta == two.beta && one.f == two.f);
    check_optimal(data, kernel, two, 5.0, false);
  }
}

TEST(sparse_rows_give_the_sums_of_dense_ones) {
  const Data data = make(40, 6, 4);
  std::vector<std::int64_t> indices, indptr{0};
  std::vector<double> cells, dense = data.x;
  for (Index i = 0; i < data.n; ++i) {
    for (Index j = 0; j < data.d; ++j) {
      double& v = dense[static_cast<std::size_t>(i * data.d + j)];
      if (std::abs(v) < 0.5) v = 0;
      if (v != 0) indices.push_back(j), cells.push_back(v);
    }
    indptr.push_back(static_cast<std::int64_t>(indices.size()));
  }
  PointData a, b;
  a.rows = b.rows = data.n, a.cols = b.cols = data.d, a.dense = dense.data();
  b.data = cells.data(), b.indices = indices.data(), b.indptr = indptr.data(),
  b.stored = static_cast<Index>(cells.size());
  Run run;
  for (const KernelKind kind : {KernelKind::linear, KernelKind::poly, KernelKind::rbf, KernelKind::sigmoid}) {
    const KernelSpec kernel{kind, 0.5, 0.2, 3};
    const Points one(kernel, a, false), two(kernel, b, false);
    std::vector<Index> all(static_cast<std::size_t>(data.n));
    std::iota(all.begin(), all.end(), Index{0});
    std::vector<double> left(all.size()), right(all.size());
    kernel_sums(run, one, all.data(), data.n, data.y.data(), 1, one, left.data());
    kernel_sums(run, two, all.data(), data.n, data.y.data(), 1, two, right.data());
    for (std::size_t i = 0; i < all.size(); ++i) CHECK_NEAR(left[i], right[i], 1e-12);
  }
}
