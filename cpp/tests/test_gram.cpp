// The Gram kernels against plain loops in long double: dense in both orders, CSR, every path of the chunking.
#include <array>
#include <limits>

#include "check.h"
#include "gram_columns.h"
#include "gram_csr.h"

using namespace surefit;

namespace {

struct Problem {
  Index rows, cols, extra;
  std::vector<double> x, y, weight;  // C order
  bool weighted;

  Problem(Index n, Index p, Index k, double density, bool weights, double offset = 0)
      : rows(n), cols(p), extra(k), weighted(weights) {
    test::Random random(static_cast<unsigned long long>(n * 1000 + p * 10 + k));
    for (Index i = 0; i < n * p; ++i) {
      const bool stored = random.uniform() < 2 * density - 1;
      x.push_back(stored ? random.uniform() + offset : 0.0);
    }
    for (Index i = 0; i < n * k; ++i) y.push_back(random.uniform());
    for (Index i = 0; i < n; ++i) weight.push_back(static_cast<double>(random.bits() % 3));
  }

  const double* weights() const { return weighted ? weight.data() : nullptr; }
  Dense<double> side() const { return {y.data(), rows, extra, Order::C}; }
  Dense<double> dense() const { return {x.data(), rows, cols, Order::C}; }
  double z(Index i, Index j) const {
    return j < cols ? x[static_cast<std::size_t>(i * cols + j)]
                    : y[static_cast<std::size_t>(i * extra + j - cols)];
  }
  double s(Index i) const { return weighted ? weight[static_cast<std::size_t>(i)] : 1.0; }
};

// The matrix of a problem in CSR form: entries of a row in reverse order, every third one stored as two.
template <class T, class I>
struct Sparse {
  std::vector<T> data;
  std::vector<I> indices, indptr{0};
  Index rows, cols;

  explicit Sparse(const Problem& problem) : rows(problem.rows), cols(problem.cols) {
    for (Index i = 0; i < rows; ++i) {
      for (Index j = cols - 1; j >= 0; --j) {
        const double value = problem.z(i, j);
        if (value == 0) continue;
        const bool twice = (i + j) % 3 == 0;
        for (int part = 0; part < (twice ? 2 : 1); ++part) {
          data.push_back(static_cast<T>(twice ? value / 2 : value));
          indices.push_back(static_cast<I>(j));
        }
      }
      indptr.push_back(static_cast<I>(data.size()));
    }
  }
  Csr<T, I> view() const { return {data.data(), indices.data(), indptr.data(), rows, cols}; }
  Index stored() const { return static_cast<Index>(data.size()); }
};

template <class T>
std::vector<T> transposed(const std::vector<double>& x, Index rows, Index cols) {
  std::vector<T> out(x.size());
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j)
      out[static_cast<std::size_t>(j * rows + i)] = static_cast<T>(x[static_cast<std::size_t>(i * cols + j)]);
  return out;
}

struct Result {
  double weight = 0;
  std::vector<double> mean, scatter, gram, cross, sums;
};

Result plain(const Problem& problem) {
  const Index n = problem.rows, p = problem.cols, k = problem.extra, d = p + k;
  Result out;
  std::vector<long double> mean(static_cast<std::size_t>(d), 0);
  for (Index i = 0; i < n; ++i) {
    out.weight += problem.s(i);
    for (Index j = 0; j < d; ++j)
      mean[static_cast<std::size_t>(j)] += static_cast<long double>(problem.s(i)) * problem.z(i, j);
  }
  for (auto& m : mean) m = out.weight > 0 ? m / out.weight : 0;
  for (const auto m : mean) out.mean.push_back(static_cast<double>(m));
  for (Index a = 0; a < d; ++a)
    for (Index b = 0; b < d; ++b) {
      long double centred = 0, raw = 0, cross = 0;
      for (Index i = 0; i < n; ++i) {
        const long double left = problem.z(i, a), right = problem.z(i, b);
        centred += problem.s(i) * (left - mean[static_cast<std::size_t>(a)]) *
                   (right - mean[static_cast<std::size_t>(b)]);
        raw += problem.s(i) * left * right;
        cross += left * right;
      }
      out.scatter.push_back(static_cast<double>(centred));
      if (a < p && b < p) out.gram.push_back(static_cast<double>(raw));
      if (a < p && b >= p) out.cross.push_back(static_cast<double>(cross));
    }
  for (Index a = 0; a < p; ++a) {
    long double sum = 0;
    for (Index i = 0; i < n; ++i) sum += static_cast<long double>(problem.s(i)) * problem.z(i, a);
    out.sums.push_back(static_cast<double>(sum));
  }
  return out;
}

// Runs both kernels; centred(run, out) and curved(run, out) call them on some form of the problem's matrix.
template <class Centred, class Curved>
Result run_both(const Problem& problem, int threads, const Centred& centred, const Curved& curved) {
  const auto p = static_cast<std::size_t>(problem.cols), k = static_cast<std::size_t>(problem.extra);
  Result out;
  out.mean.resize(p + k);
  out.scatter.resize((p + k) * (p + k));
  out.gram.resize(p * p);
  out.cross.resize(p * k);
  out.sums.resize(p);
  Run run;
  run.threads = threads;
  out.weight = centred(run, CentredOut{out.mean.data(), out.scatter.data()});
  curved(run, SandwichOut{out.gram.data(), out.cross.data(), out.sums.data()});
  return out;
}

template <class T>
Result dense_result(const Problem& problem, const Dense<T>& x, int threads) {
  return run_both(
      problem, threads,
      [&](const Run& run, const CentredOut& out) {
        return centred_gram(run, x, problem.side(), problem.weights(), out);
      },
      [&](const Run& run, const SandwichOut& out) {
        sandwich(run, x, problem.side(), problem.weights(), out);
      });
}

template <class T, class I>
Result sparse_result(const Problem& problem, const Sparse<T, I>& x, int threads) {
  return run_both(
      problem, threads,
      [&](const Run& run, const CentredOut& out) {
        return centred_gram(run, x.view(), x.stored(), problem.side(), problem.weights(), out);
      },
      [&](const Run& run, const SandwichOut& out) {
        sandwich(run, x.view(), x.stored(), problem.side(), problem.weights(), out);
      });
}

void check_near(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
  CHECK(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK_NEAR(a[i], b[i], tolerance);
}

void check_near(const Result& a, const Result& b, double tolerance) {
  CHECK_NEAR(a.weight, b.weight, 0.0);
  check_near(a.mean, b.mean, tolerance);
  check_near(a.scatter, b.scatter, tolerance);
  check_near(a.gram, b.gram, tolerance);
  check_near(a.cross, b.cross, tolerance);
  check_near(a.sums, b.sums, tolerance);
}

void check_same(const Result& a, const Result& b) {
  CHECK(a.weight == b.weight && a.mean == b.mean && a.scatter == b.scatter);
  CHECK(a.gram == b.gram && a.cross == b.cross && a.sums == b.sums);
}

void check_every_form(const Problem& problem) {
  const Result right = plain(problem), one = dense_result(problem, problem.dense(), 1);
  check_near(one, right, 1e-11);
  check_same(one, dense_result(problem, problem.dense(), 4));

  const auto columns = transposed<double>(problem.x, problem.rows, problem.cols);
  const Dense<double> fortran{columns.data(), problem.rows, problem.cols, Order::Fortran};
  check_same(one, dense_result(problem, fortran, 3));
  std::vector<const double*> apart;
  for (Index j = 0; j < problem.cols; ++j) apart.push_back(columns.data() + j * problem.rows);
  Result by_columns = one;
  Run run;
  run.threads = 2;
  by_columns.weight = centred_gram(run, apart, problem.rows, problem.side(), problem.weights(),
                                   {by_columns.mean.data(), by_columns.scatter.data()});
  check_same(one, by_columns);
  const auto singles = transposed<float>(problem.x, problem.rows, problem.cols);
  const Dense<float> single{singles.data(), problem.rows, problem.cols, Order::Fortran};
  check_near(dense_result(problem, single, 2), right, 1e-4);

  const Sparse<double, std::int32_t> sparse(problem);
  const Result sparse_one = sparse_result(problem, sparse, 1);
  check_near(sparse_one, right, 1e-11);
  check_same(sparse_one, sparse_result(problem, sparse, 4));
  check_near(sparse_result(problem, Sparse<float, std::int64_t>(problem), 2), right, 1e-4);
}

template <class Kernel>
bool is_cancelled(const Kernel& kernel, Index cols) {
  std::vector<double> mean(static_cast<std::size_t>(cols)), scatter(static_cast<std::size_t>(cols * cols));
  Run run;
  run.cancel = [] { return true; };
  try {
    kernel(run, CentredOut{mean.data(), scatter.data()});
  } catch (const Cancelled&) {
    return true;
  }
  return false;
}

}  // namespace

TEST(small_shapes) {
  for (const auto& [n, p, k] : std::vector<std::array<Index, 3>>{{0, 2, 1},
                                                                 {1, 1, 0},
                                                                 {1, 7, 2},
                                                                 {5, 30, 1},
                                                                 {127, 12, 0},
                                                                 {128, 13, 3},
                                                                 {129, 24, 1},
                                                                 {257, 3, 9}})
    for (const double density : {1.0, 0.2})
      for (const bool weighted : {false, true}) check_every_form(Problem(n, p, k, density, weighted));
}

TEST(chunks_of_rows) {
  for (const bool weighted : {false, true})
    check_every_form(Problem(test::fast() ? 4200 : 9001, 5, 1, 1.0, weighted));
}

TEST(several_squares) {
  const Index p = test::fast() ? 99 : 205;
  check_every_form(Problem(140, p, 2, 1.0, true));
  check_every_form(Problem(600, p, 0, 0.05, true));
}

TEST(several_blocks_of_short_rows) {
  check_every_form(Problem(test::fast() ? 9000 : 30000, 20, 1, 0.03, true));
}

TEST(an_offset_does_not_cancel) {
  for (const Index n : {300, 4200}) {
    const Problem problem(n, 6, 0, 1.0, false, 1e8);
    const Result right = plain(problem);
    check_near(dense_result(problem, problem.dense(), 2).scatter, right.scatter, 1e-10);
    check_near(sparse_result(problem, Sparse<double, std::int32_t>(problem), 2).scatter, right.scatter,
               1e-10);
  }
}

TEST(a_first_strip_that_is_far_from_all_others_does_not_cancel) {
  Problem problem(4096, 6, 0, 1.0, true);  // eight chunks of 512 rows
  for (Index i = 0; i < problem.rows; ++i) {
    const bool first = i % 512 < 128;
    problem.weight[static_cast<std::size_t>(i)] = first ? 1e-12 : 1.0;
    for (Index j = 0; j < problem.cols; ++j)
      problem.x[static_cast<std::size_t>(i * problem.cols + j)] += first ? 0.0 : 1e8;
  }
  const Result right = plain(problem), found = dense_result(problem, problem.dense(), 2);
  check_near(found.scatter, right.scatter, 1e-10);
  check_same(found, dense_result(problem, problem.dense(), 1));
}

TEST(a_constant_column_has_no_scatter_in_chunks_of_rows_either) {
  Problem problem(9001, 15, 0, 1.0, true);
  for (Index i = 0; i < problem.rows; ++i) problem.x[static_cast<std::size_t>(i * problem.cols + 13)] = 0.1;
  for (const bool weighted : {false, true}) {
    problem.weighted = weighted;
    const Result found = dense_result(problem, problem.dense(), 2);
    CHECK(found.scatter[13 * 15 + 13] == 0.0);
    CHECK(found.mean[13] == 0.1);
  }
}

TEST(what_is_not_finite_shows_in_its_column) {
  Problem problem(9001, 15, 0, 1.0, false);
  problem.x[8000 * 15 + 7] = std::numeric_limits<double>::infinity();
  const Result found = dense_result(problem, problem.dense(), 2);
  for (std::size_t j = 0; j < 15; ++j) CHECK(std::isfinite(found.scatter[16 * j]) == (j != 7));
}

TEST(a_row_of_weight_zero_is_not_looked_at) {
  Problem problem(500, 7, 1, 1.0, true);
  const Result right = plain(problem);
  for (Index i = 0; i < problem.rows; ++i)
    if (problem.s(i) == 0)
      for (Index j = 0; j < problem.cols; ++j)
        problem.x[static_cast<std::size_t>(i * problem.cols + j)] = std::numeric_limits<double>::quiet_NaN();
  const Dense<double> x = problem.dense();
  Result found = right;
  Run run;
  found.weight =
      centred_gram(run, x, problem.side(), problem.weights(), {found.mean.data(), found.scatter.data()});
  check_near(found, right, 1e-11);
}

TEST(a_broken_sparse_matrix_is_refused) {
  const Problem problem(50, 40, 0, 0.05, false);
  for (int kind = 0; kind < 2; ++kind) {
    Sparse<double, std::int32_t> sparse(problem);
    if (kind == 0)
      sparse.indices[3] = 40;
    else
      sparse.indptr[20] = static_cast<std::int32_t>(sparse.stored()) + 1;
    bool refused = false;
    try {
      sparse_result(problem, sparse, 2);
    } catch (const std::invalid_argument&) {
      refused = true;
    }
    CHECK(refused);
  }
}

TEST(cancel_stops_every_path) {
  const std::vector<double> ones(12'000'000, 1.0);
  for (const Index cols : {60, 2000}) {  // chunks of rows; strip after strip
    const Dense<double> x{ones.data(), static_cast<Index>(ones.size()) / cols, cols, Order::C};
    CHECK(is_cancelled([&](const Run& run, const CentredOut& out) { centred_gram(run, x, {}, nullptr, out); },
                       cols));
  }
  const Index rows = 500'000, cols = 60, stored = 4 * rows;
  std::vector<std::int32_t> indices, indptr{0};
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < 4; ++j) indices.push_back(static_cast<std::int32_t>(15 * j + i % 15));
    indptr.push_back(static_cast<std::int32_t>(indices.size()));
  }
  const Csr<double, std::int32_t> sparse{ones.data(), indices.data(), indptr.data(), rows, cols};
  CHECK(is_cancelled(
      [&](const Run& run, const CentredOut& out) { centred_gram(run, sparse, stored, {}, nullptr, out); },
      cols));
}
