#include <algorithm>
#include <cstdint>
#include <vector>

#include "check.h"
#include "triangular.h"

using namespace surefit;

namespace {

using Numbers = std::vector<double>;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

Numbers random_numbers(Index count, unsigned long long seed) {
  test::Random random(seed);
  Numbers numbers(at(count));
  for (double& x : numbers) x = random.uniform();
  return numbers;
}

Run with_threads(int threads) {
  Run run;
  run.threads = threads;
  return run;
}

Numbers factor(const Numbers& a, Index n, Index q, const Design& design = {}, int threads = 1) {
  const Index all = design.cols(q);
  Numbers out(at(all * all), -1.0);
  triangular_factor(with_threads(threads), Dense<double>{a.data(), n, q, Order::C}, design, out.data());
  return out;
}

Numbers gram(const Numbers& a, Index n, Index q, const double* weight = nullptr) {
  Numbers sum(at(q * q), 0.0);
  for (Index r = 0; r < n; ++r)
    for (Index i = 0; i < q; ++i)
      for (Index j = 0; j < q; ++j)
        sum[at(i * q + j)] += (weight ? weight[r] : 1.0) * a[at(r * q + i)] * a[at(r * q + j)];
  return sum;
}

void check_factor(const Numbers& r, const Numbers& expected, Index q) {
  const Numbers ours = gram(r, q, q);
  double scale = 0;
  for (const double x : expected) scale = std::max(scale, std::abs(x));
  for (Index i = 0; i < q; ++i) {
    CHECK(r[at(i * q + i)] >= 0);
    for (Index j = 0; j < q; ++j) {
      if (j < i) CHECK(r[at(i * q + j)] == 0);
      CHECK(std::abs(ours[at(i * q + j)] - expected[at(i * q + j)]) <= 1e-13 * scale);
    }
  }
}

}  // namespace

TEST(the_factor_squares_to_the_gram_matrix) {
  const std::vector<Index> widths =
      test::fast() ? std::vector<Index>{1, 9, 40} : std::vector<Index>{1, 7, 8, 9, 33, 70};
  for (const Index q : widths)
    for (const Index n : {q, q + 1, Index{300}, Index{700}}) {
      const Numbers a = random_numbers(n * q, 1);
      check_factor(factor(a, n, q), gram(a, n, q), q);
    }
}

TEST(no_rows_give_zeros) {
  for (const double x : factor({}, 0, 5)) CHECK(x == 0);
  CHECK(factor({}, 0, 0).empty());
}

TEST(threads_do_not_change_a_bit) {
  const Index q = 12, n = test::fast() ? 20000 : 60000;
  const Numbers a = random_numbers(n * q, 2), one = factor(a, n, q, {}, 1);
  CHECK(PanelPlan(n, q).slots > 2);
  for (const int threads : {2, 3, 4}) CHECK(factor(a, n, q, {}, threads) == one);
}

TEST(orders_and_precisions_agree) {
  const Index n = 500, q = 20;
  Numbers a = random_numbers(n * q, 3);
  std::vector<float> narrow(a.begin(), a.end());
  std::copy(narrow.begin(), narrow.end(), a.begin());
  Numbers turned(a.size());
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < q; ++j) turned[at(j * n + i)] = a[at(i * q + j)];
  const Numbers expected = factor(a, n, q);
  Numbers out(expected.size());
  triangular_factor(Run{}, Dense<double>{turned.data(), n, q, Order::Fortran}, Design{}, out.data());
  CHECK(out == expected);
  triangular_factor(Run{}, Dense<float>{narrow.data(), n, q, Order::C}, Design{}, out.data());
  CHECK(out == expected);
}

TEST(weights_ones_and_targets) {
  const Index n = 400, p = 5, q = 8;
  const Numbers x = random_numbers(n * p, 4), y = random_numbers(n * 2, 5);
  Numbers weight = random_numbers(n, 6), all;
  for (Index i = 0; i < n; ++i) {
    weight[at(i)] = i % 7 == 0 ? 0.0 : std::abs(weight[at(i)]);
    all.push_back(1.0);
    all.insert(all.end(), x.begin() + i * p, x.begin() + (i + 1) * p);
    all.insert(all.end(), y.begin() + i * 2, y.begin() + (i + 1) * 2);
  }
  Design design;
  design.ones = true;
  design.Y = {y.data(), n, 2, Order::C};
  design.weight = weight.data();
  check_factor(factor(x, n, p, design), gram(all, n, q, weight.data()), q);
}

TEST(a_shift_is_subtracted_first) {
  const Index n = 60, q = 3;
  const Numbers a = random_numbers(n * q, 14), shift{1e9, -2.0, 0.5};
  Numbers far = a, near = a;
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < q; ++j) {
      far[at(i * q + j)] += shift[at(j)];
      near[at(i * q + j)] = far[at(i * q + j)] - shift[at(j)];
    }
  Design design;
  design.shift = shift.data();
  CHECK(factor(far, n, q, design) == factor(near, n, q));
}

TEST(a_row_without_weight_is_not_looked_at) {
  const Index n = 50, q = 4;
  Numbers a = random_numbers(n * q, 7), weight(at(n), 1.0);
  weight[3] = 0;
  Design design;
  design.weight = weight.data();
  const Numbers expected = factor(a, n, q, design);
  a[3 * q] = std::numeric_limits<double>::quiet_NaN();
  a[3 * q + 1] = std::numeric_limits<double>::infinity();
  CHECK(factor(a, n, q, design) == expected);
}

TEST(sparse_rows_equal_dense_ones) {
  const Index n = 300, q = 10;
  Numbers a(at(n * q), 0.0), data;
  std::vector<std::int32_t> indices, indptr{0};
  test::Random random(8);
  for (Index i = 0; i < n; ++i) {
    for (Index j = q - 1; j >= 0; --j)
      if (random.uniform() > 0.4) {
        const double value = random.uniform();
        a[at(i * q + j)] = value;
        for (const double part : {value / 2, value / 2}) {  // unsorted and stored twice
          data.push_back(part);
          indices.push_back(static_cast<std::int32_t>(j));
        }
      }
    indptr.push_back(static_cast<std::int32_t>(data.size()));
  }
  const SparseRows<double, std::int32_t> rows({data.data(), indices.data(), indptr.data(), n, q},
                                              static_cast<Index>(data.size()));
  Numbers out(at(q * q));
  triangular_factor(Run{}, rows, Design{}, out.data());
  CHECK(out == factor(a, n, q));

  indices[5] = static_cast<std::int32_t>(q);
  bool refused = false;
  try {
    triangular_factor(Run{}, rows, Design{}, out.data());
  } catch (const std::invalid_argument&) {
    refused = true;
  }
  CHECK(refused);
}

TEST(two_factors_merge) {
  for (const Index q : {1, 8, 9, 40}) {
    const Index n = 2 * q + 5;
    const Numbers a = random_numbers(n * q, 9), b = random_numbers(n * q, 10);
    Numbers both = a, out(at(q * q));
    both.insert(both.end(), b.begin(), b.end());
    merge_triangular(Run{}, factor(a, n, q).data(), factor(b, n, q).data(), q, out.data());
    check_factor(out, gram(both, 2 * n, q), q);
    merge_triangular(Run{}, factor(a, n, q).data(), Numbers(at(q * q), 0.0).data(), q, out.data());
    CHECK(out == factor(a, n, q));
  }
}

TEST(squares_beyond_the_range_of_doubles_do_no_harm) {
  const Index n = 40, q = 6;
  const Numbers a = random_numbers(n * q, 11), plain = factor(a, n, q);
  for (const double scale : {0x1p-700, 0x1p700}) {
    Numbers scaled = a;
    for (double& x : scaled) x *= scale;
    const Numbers r = factor(scaled, n, q);
    for (std::size_t k = 0; k < r.size(); ++k) CHECK_NEAR(r[k] / scale, plain[k], 1e-14);
  }
}

TEST(a_zero_column_and_a_double_one) {
  const Index n = 100, q = 5;
  Numbers a = random_numbers(n * q, 12);
  for (Index i = 0; i < n; ++i) {
    a[at(i * q + 1)] = 0;
    a[at(i * q + 3)] = a[at(i * q + 2)];
  }
  const Numbers r = factor(a, n, q);
  check_factor(r, gram(a, n, q), q);
  CHECK(r[1 * q + 1] == 0);
  CHECK(r[3 * q + 3] < 1e-13);
}

TEST(a_call_can_be_stopped) {
  Run run = with_threads(2);
  run.cancel = [] { return true; };
  const Index n = 40000, q = 30;
  const Numbers a = random_numbers(n * q, 13);
  Numbers out(at(q * q));
  bool stopped = false;
  try {
    for (int i = 0; i < 100; ++i)
      triangular_factor(run, Dense<double>{a.data(), n, q, Order::C}, Design{}, out.data());
  } catch (const Cancelled&) {
    stopped = true;
  }
  CHECK(stopped);
}
