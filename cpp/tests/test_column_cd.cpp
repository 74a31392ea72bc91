// Gram matrices of columns, and both descents: they must agree with each other, and the optimum with its
// conditions.
#include "check.h"
#include "column_cd.h"
#include "column_gram.h"

using namespace surefit;

namespace {

using Doubles = std::vector<double>;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

struct Problem {
  Index n, p;
  Doubles columns, data, weight, mean, y, G, c, l1, l2, lower, upper;
  std::vector<int> indices, indptr{0};
  std::vector<std::int64_t> all;
  double total = 0, energy = 0;

  Problem(Index n_, Index p_, bool weighted, double ridge, double least, double most)
      : n(n_),
        p(p_),
        columns(at(n * p)),
        G(at(p * p)),
        c(at(p)),
        l2(at(p), ridge),
        lower(at(p), least),
        upper(at(p), most) {
    test::Random random(static_cast<unsigned long long>(17 * n + p));
    for (Index i = 0; i < n; ++i)
      weight.push_back(weighted ? 1.0 + std::floor(2 * (random.uniform() + 1)) : 1);
    for (Index i = 0; i < n; ++i) total += weight[at(i)];
    y.assign(at(n), 0.0);
    for (Index j = 0; j < p; ++j) {
      all.push_back(j);
      double sum = 0;
      for (Index i = 0; i < n; ++i) {
        const double x = random.uniform() > 0 ? random.uniform() + 1 : 0.0;
        columns[at(j * n + i)] = x;
        sum += weight[at(i)] * x;
        y[at(i)] += j < 3 ? 2 * x : 0.0;
        if (x == 0) continue;
        data.push_back(x);
        indices.push_back(static_cast<int>(i));
      }
      indptr.push_back(static_cast<int>(data.size()));
      mean.push_back(sum / total);
    }
    double middle = 0;
    for (Index i = 0; i < n; ++i) middle += weight[at(i)] * (y[at(i)] += random.uniform()) / total;
    for (Index i = 0; i < n; ++i) {
      y[at(i)] -= middle;
      energy += weight[at(i)] * y[at(i)] * y[at(i)] / total;
    }
    double greatest = 0;
    for (Index j = 0; j < p; ++j) {
      for (Index k = 0; k < p; ++k)
        for (Index i = 0; i < n; ++i) G[at(j * p + k)] += weight[at(i)] * x(i, j) * x(i, k) / total;
      for (Index i = 0; i < n; ++i) c[at(j)] += weight[at(i)] * x(i, j) * y[at(i)] / total;
      greatest = std::fmax(greatest, std::fabs(c[at(j)]));
    }
    l1.assign(at(p), 0.05 * greatest);
  }
  double x(Index i, Index j) const { return columns[at(j * n + i)] - mean[at(j)]; }
  FortranColumns<double> fortran() const { return {columns.data(), n, p}; }
  CscColumns<double, int> csc() const { return {data.data(), indices.data(), indptr.data(), n, p}; }
  CoordinateTable table() const { return {l1.data(), l2.data(), lower.data(), upper.data()}; }
  double objective(const Doubles& w) const {
    double value = 0.5 * energy;
    for (Index j = 0; j < p; ++j) {
      value += table().value(j, w[at(j)]) - c[at(j)] * w[at(j)];
      for (Index k = 0; k < p; ++k) value += 0.5 * w[at(j)] * G[at(j * p + k)] * w[at(k)];
    }
    return value;
  }
};

void check_gram(const Problem& q) {
  for (const int threads : {1, 3}) {
    Run run;
    run.threads = threads;
    Doubles dense(q.G.size(), 7.0), sparse(q.G.size(), 7.0), c_order(q.G.size(), 7.0),
        turned(q.columns.size());
    for (Index i = 0; i < q.n; ++i)
      for (Index j = 0; j < q.p; ++j) turned[at(i * q.p + j)] = q.columns[at(j * q.n + i)];
    ColumnGram job{
        {q.all.data(), q.p / 2}, 0, q.mean.data(), q.weight.data(), 1 / q.total, dense.data(), q.p};
    for (const Index old : {Index{0}, q.p / 2}) {
      job.which.count = old == 0 ? q.p / 2 : q.p;
      job.old = old;
      job.G = dense.data();
      column_gram(run, q.fortran(), job);
      job.G = sparse.data();
      column_gram_detail::by_entries(run, q.csc(), job);
      column_gram_detail::mirror_new(job);
      job.G = c_order.data();
      column_gram(run, Dense<double>{turned.data(), q.n, q.p, Order::C}, job);
    }
    for (std::size_t k = 0; k < q.G.size(); ++k) {
      CHECK_NEAR(dense[k], q.G[k], 1e-12);
      CHECK_NEAR(sparse[k], q.G[k], 1e-12);
      CHECK_NEAR(c_order[k], q.G[k], 1e-12);
    }
    job.G = sparse.data();
    job.old = 0;
    column_gram(run, q.csc(), job);
    for (std::size_t k = 0; k < q.G.size(); ++k) CHECK_NEAR(sparse[k], q.G[k], 1e-12);
  }
}

// At the minimum, no coefficient wants to move.
void check_conditions(const Problem& q, const Doubles& w, const Doubles& g) {
  for (Index j = 0; j < q.p; ++j) {
    const double h = q.G[at(j * q.p + j)], next = q.table().minimiser(j, h, h * w[at(j)] - g[at(j)]);
    CHECK_NEAR(next, w[at(j)], 1e-5);
  }
}

void check_descents(const Problem& q) {
  const double tolerance = 1e-12 * q.energy;
  Doubles start(at(q.p));
  for (Index j = 0; j < q.p; ++j) start[at(j)] = std::clamp(0.0, q.lower[at(j)], q.upper[at(j)]);
  Doubles w(start), g(at(q.p));
  const Quadratic quadratic{q.p, q.G.data(), q.p, q.c.data(), q.energy, q.table()};
  const Descent by_gram = quad_cd(Run{}, quadratic, w.data(), g.data(), tolerance, 100'000);
  CHECK(by_gram.gap <= tolerance || by_gram.still);
  check_conditions(q, w, g);
  Doubles curvature;
  for (Index j = 0; j < q.p; ++j) curvature.push_back(q.G[at(j * q.p + j)]);
  const ColumnProblem problem{{q.all.data(), q.p}, q.mean.data(), curvature.data(),
                              q.weight.data(),     q.total,       q.table()};
  auto check_one = [&](const auto& columns) {
    Doubles v(start), r(q.y);
    for (Index i = 0; i < q.n; ++i)
      for (Index j = 0; j < q.p; ++j) r[at(i)] -= q.x(i, j) * v[at(j)];
    const Descent done = column_cd(Run{}, columns, problem, v.data(), r.data(), tolerance, 100'000);
    CHECK(done.gap <= tolerance || done.still);
    CHECK(std::fabs(q.objective(v) - q.objective(w)) <= 1e-9 * q.energy);
    for (Index i = 0; i < q.n; ++i) {
      double right = q.y[at(i)];
      for (Index j = 0; j < q.p; ++j) right -= q.x(i, j) * v[at(j)];
      CHECK_NEAR(r[at(i)], right, 1e-10);
    }
  };
  check_one(q.fortran());
  check_one(q.csc());
}

}  // namespace

TEST(gram_matrices_grow) {
  check_gram(Problem(1, 3, false, 0, -infinite, infinite));
  check_gram(Problem(40, 7, true, 0, -infinite, infinite));
  check_gram(Problem(1100, 9, true, 0, -infinite, infinite));
  check_gram(Problem(9000, 14, true, 0, -infinite, infinite));                       // chunks of rows
  check_gram(Problem(600, test::fast() ? 30 : 110, false, 0, -infinite, infinite));  // two groups of strips
  check_gram(Problem(12, test::fast() ? 60 : 400, false, 0, -infinite, infinite));
}

TEST(descents_meet) {
  for (const bool weighted : {false, true})
    for (const Index p : {1, 6, 20}) {
      check_descents(Problem(30, p, weighted, 0, -infinite, infinite));
      check_descents(Problem(30, p, weighted, 0.1, -infinite, infinite));
      check_descents(Problem(30, p, weighted, 0, 0, infinite));
      check_descents(Problem(30, p, weighted, 0, 0.1, 0.7));
    }
}

TEST(a_step_beyond_the_table_is_seen_in_the_gap) {
  const double l1[] = {1}, l2[] = {0}, low[] = {-infinite}, high[] = {infinite}, w[] = {2}, u[] = {1},
               far[] = {4};
  const CoordinateTable table{l1, l2, low, high};
  CHECK(duality_gap(1, w, u, table, {1.0, 3.0}).gap == 0.0);  // y = 3, w = 2, r = 1
  CHECK(duality_gap(1, w, far, table, {16.0, 24.0}).gap > 4.0);
}

TEST(steps_that_shrink_alike_are_extrapolated_to_their_limit) {
  const double scale[] = {1, 1};
  Iterates iterates(2, 1, scale);
  for (double error = 1; !iterates.full(); error /= 2) {
    const double w[] = {3 + error, 5 - 2 * error}, along[] = {w[0] + w[1]};
    iterates.keep(w, along);
  }
  double w[2], along[1];
  CHECK(iterates.combine(w, along));
  CHECK_NEAR(w[0], 3.0, 1e-6);
  CHECK_NEAR(w[1], 5.0, 1e-6);
  CHECK_NEAR(along[0], 8.0, 1e-6);
}
