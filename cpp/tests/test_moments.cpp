// Column moments against plain loops in long double: dense in both orders, CSR, weights, threads.
#include "check.h"
#include "moments.h"

using namespace surefit;

namespace {

struct Result {
  double weight = 0;
  std::vector<double> mean, scatter, minimum, maximum;
  explicit Result(Index cols)
      : mean(static_cast<std::size_t>(cols)), scatter(mean), minimum(mean), maximum(mean) {}
  MomentsOut out() { return {mean.data(), scatter.data(), minimum.data(), maximum.data()}; }
  bool operator==(const Result&) const = default;
};

Result plain(const Dense<double>& x, const double* weight) {
  Result out(x.cols);
  for (Index j = 0; j < x.cols; ++j) {
    const auto c = static_cast<std::size_t>(j);
    long double total = 0, sum = 0, squares = 0;
    out.minimum[c] = std::numeric_limits<double>::infinity();
    out.maximum[c] = -out.minimum[c];
    for (Index i = 0; i < x.rows; ++i) {
      const double w = weight == nullptr ? 1.0 : weight[i];
      if (w == 0) continue;
      total += w;
      sum += static_cast<long double>(w) * x(i, j);
      out.minimum[c] = std::fmin(out.minimum[c], x(i, j));
      out.maximum[c] = std::fmax(out.maximum[c], x(i, j));
    }
    const long double mean = total > 0 ? sum / total : 0;
    for (Index i = 0; i < x.rows; ++i) {
      const long double w = weight == nullptr ? 1.0 : weight[i];
      if (w > 0) squares += w * (x(i, j) - mean) * (x(i, j) - mean);
    }
    out.weight = static_cast<double>(total);
    out.mean[c] = static_cast<double>(mean);
    out.scatter[c] = static_cast<double>(squares);
  }
  return out;
}

template <class Kernel>
void check_kernel(const Result& right, const Kernel& kernel) {
  Result one(static_cast<Index>(right.mean.size()));
  for (const int threads : {1, 2, 4}) {
    Run run;
    run.threads = threads;
    Result found = one;
    found.weight = kernel(run, found.out());
    if (threads == 1)
      one = found;
    else
      CHECK(found == one);
  }
  CHECK_NEAR(one.weight, right.weight, 1e-13);
  for (std::size_t j = 0; j < right.mean.size(); ++j) {
    CHECK_NEAR(one.mean[j], right.mean[j], 1e-12);
    CHECK_NEAR(one.scatter[j], right.scatter[j], 1e-11);
    CHECK(one.minimum[j] == right.minimum[j] && one.maximum[j] == right.maximum[j]);
  }
}

void check_every_form(Index n, Index p, double density, bool weighted, double offset) {
  test::Random random(static_cast<unsigned long long>(n * 100 + p));
  std::vector<double> x, columns(static_cast<std::size_t>(n * p)), weights;
  std::vector<double> data;
  std::vector<std::int32_t> indices, indptr{0};
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < p; ++j) {
      const bool stored = random.uniform() < 2 * density - 1;
      const double value = stored ? random.uniform() + offset : 0.0;
      x.push_back(value);
      columns[static_cast<std::size_t>(j * n + i)] = value;
      if (stored) {
        for (int half = 0; half < 2; ++half) {
          data.push_back(value / 2);
          indices.push_back(static_cast<std::int32_t>(j));
        }
      }
    }
    indptr.push_back(static_cast<std::int32_t>(data.size()));
    weights.push_back(static_cast<double>(random.bits() % 3));
  }
  const double* weight = weighted ? weights.data() : nullptr;
  const Dense<double> c{x.data(), n, p, Order::C}, fortran{columns.data(), n, p, Order::Fortran};
  const Csr<double, std::int32_t> sparse{data.data(), indices.data(), indptr.data(), n, p};
  const Result right = plain(c, weight);
  check_kernel(right,
               [&](const Run& run, const MomentsOut& out) { return column_moments(run, c, weight, out); });
  check_kernel(right, [&](const Run& run, const MomentsOut& out) {
    return column_moments(run, fortran, weight, out);
  });
  const auto stored = static_cast<Index>(data.size());
  check_kernel(right, [&](const Run& run, const MomentsOut& out) {
    return column_moments(run, sparse, stored, weight, out);
  });
}

}  // namespace

TEST(small_shapes) {
  for (const Index n : {0, 1, 15, 16, 17, 64, 65, 200})
    for (const Index p : {1, 3, 300})
      for (const bool weighted : {false, true}) check_every_form(n, p, n % 2 == 0 ? 0.3 : 1.0, weighted, 0.0);
}

TEST(chunks_of_rows) {
  const Index n = test::fast() ? 17000 : 60001;
  for (const bool weighted : {false, true}) check_every_form(n, 3, 0.5, weighted, 0.0);
}

TEST(an_offset_does_not_cancel) {
  check_every_form(5000, 2, 1.0, true, 1e8);
}

TEST(a_bad_weight_is_refused) {
  const std::vector<double> x(40, 1.0);
  for (const double bad :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    std::vector<double> weight(20, 1.0);
    weight[13] = bad;
    Result out(2);
    bool refused = false;
    try {
      column_moments(Run{}, Dense<double>{x.data(), 20, 2, Order::C}, weight.data(), out.out());
    } catch (const std::invalid_argument&) {
      refused = true;
    }
    CHECK(refused);
  }
}
