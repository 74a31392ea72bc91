// Moments of groups against the column moments of their rows: dense in both orders, CSR, weights, threads.
#include "check.h"
#include "grouped_moments.h"

using namespace surefit;

namespace {

struct Result {
  std::vector<double> weight, mean, scatter;
  Result(Index groups, Index cols)
      : weight(static_cast<std::size_t>(groups)),
        mean(static_cast<std::size_t>(groups * cols)),
        scatter(mean) {}
  GroupedOut out() { return {weight.data(), mean.data(), scatter.data()}; }
  bool operator==(const Result&) const = default;
};

// The rows of each group picked out, in long double.
Result plain(const Dense<double>& x, const Groups& groups) {
  Result out(groups.count, x.cols);
  for (Index g = 0; g < groups.count; ++g)
    for (Index j = 0; j < x.cols; ++j) {
      const auto e = static_cast<std::size_t>(g * x.cols + j);
      long double total = 0, sum = 0, squares = 0;
      for (Index i = 0; i < x.rows; ++i) {
        const long double w = groups.of[i] == g ? groups.weight_of(i) : 0.0;
        if (w == 0) continue;
        total += w;
        sum += w * x(i, j);
      }
      const long double mean = total > 0 ? sum / total : 0;
      for (Index i = 0; i < x.rows; ++i)
        if (groups.of[i] == g && groups.weight_of(i) > 0)
          squares += groups.weight_of(i) * (x(i, j) - mean) * (x(i, j) - mean);
      out.weight[static_cast<std::size_t>(g)] = static_cast<double>(total);
      out.mean[e] = static_cast<double>(mean);
      out.scatter[e] = static_cast<double>(squares);
    }
  return out;
}

template <class Kernel>
void check_kernel(const Result& right, Index groups, const Kernel& kernel) {
  const Index cols = static_cast<Index>(right.mean.size()) / groups;
  Result one(groups, cols);
  for (const int threads : {1, 2, 4}) {
    Run run;
    run.threads = threads;
    Result found(groups, cols);
    kernel(run, found.out());
    if (threads == 1)
      one = found;
    else
      CHECK(found == one);
  }
  for (std::size_t g = 0; g < right.weight.size(); ++g) CHECK_NEAR(one.weight[g], right.weight[g], 1e-13);
  for (std::size_t e = 0; e < right.mean.size(); ++e) {
    CHECK_NEAR(one.mean[e], right.mean[e], 1e-12);
    CHECK_NEAR(one.scatter[e], right.scatter[e], 1e-11);
  }
}

void check_every_form(Index n, Index p, Index count, double density, bool weighted, double offset) {
  test::Random random(static_cast<unsigned long long>(n * 100 + p));
  std::vector<double> x, columns(static_cast<std::size_t>(n * p)), weights, data;
  std::vector<std::int64_t> codes;
  std::vector<std::int32_t> indices, indptr{0};
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < p; ++j) {
      const bool stored = random.uniform() < 2 * density - 1;
      const double value = stored ? random.uniform() + offset : 0.0;
      x.push_back(value);
      columns[static_cast<std::size_t>(j * n + i)] = value;
      if (!stored) continue;
      data.push_back(value);
      indices.push_back(static_cast<std::int32_t>(j));
    }
    indptr.push_back(static_cast<std::int32_t>(data.size()));
    weights.push_back(static_cast<double>(random.bits() % 3));
    // The last group stays empty, so that a group without rows is always among them.
    codes.push_back(static_cast<std::int64_t>(random.bits() % static_cast<unsigned long long>(count)));
  }
  const Groups groups{codes.data(), count + 1, weighted ? weights.data() : nullptr};
  const Dense<double> c{x.data(), n, p, Order::C}, fortran{columns.data(), n, p, Order::Fortran};
  const Csr<double, std::int32_t> sparse{data.data(), indices.data(), indptr.data(), n, p};
  const auto stored = static_cast<Index>(data.size());
  const Result right = plain(c, groups);
  check_kernel(right, count + 1,
               [&](const Run& run, const GroupedOut& out) { grouped_moments(run, c, groups, out); });
  check_kernel(right, count + 1,
               [&](const Run& run, const GroupedOut& out) { grouped_moments(run, fortran, groups, out); });
  check_kernel(right, count + 1, [&](const Run& run, const GroupedOut& out) {
    grouped_moments(run, sparse, stored, groups, out);
  });
}

template <class Call>
bool refused(const Call& call) {
  try {
    call();
  } catch (const std::invalid_argument&) {
    return true;
  }
  return false;
}

}  // namespace

TEST(small_shapes) {
  for (const Index n : {0, 1, 7, 17, 64, 200})
    for (const Index p : {1, 8, 11, 300})
      for (const bool weighted : {false, true})
        check_every_form(n, p, 3, n % 2 == 0 ? 0.3 : 1.0, weighted, 0.0);
}

TEST(chunks_of_rows) {
  const Index n = test::fast() ? 17000 : 60001;
  for (const bool weighted : {false, true}) check_every_form(n, 3, 4, 0.5, weighted, 0.0);
}

TEST(more_groups_than_rows) {
  check_every_form(30, 2, 500, 1.0, false, 0.0);
}

TEST(an_offset_does_not_cancel) {
  check_every_form(5000, 2, 2, 1.0, true, 1e8);
}

TEST(a_bad_group_or_weight_is_refused) {
  const std::vector<double> x(40, 1.0);
  const Dense<double> rows{x.data(), 20, 2, Order::C};
  for (const std::int64_t bad : {-1, 3}) {
    std::vector<std::int64_t> codes(20, 1);
    codes[13] = bad;
    Result out(3, 2);
    CHECK(refused([&] { grouped_moments(Run{}, rows, {codes.data(), 3, nullptr}, out.out()); }));
  }
  std::vector<double> weight(20, 1.0);
  weight[13] = -1;
  const std::vector<std::int64_t> codes(20, 1);
  Result out(3, 2);
  CHECK(refused([&] { grouped_moments(Run{}, rows, {codes.data(), 3, weight.data()}, out.out()); }));
}
