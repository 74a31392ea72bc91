// Sums of columns within classes against plain loops: both orders, sparse rows, weights, thresholds, threads.
#include "check.h"
#include "class_sums.h"

using namespace surefit;

namespace {

void check_sums(Index n, Index p, Index count, bool weighted, bool cut) {
  test::Random random(static_cast<unsigned long long>(n * 100 + p));
  std::vector<double> x(static_cast<std::size_t>(n * p)), columns(x), weight, data;
  std::vector<std::int32_t> indices, indptr{0};
  std::vector<std::int64_t> codes;
  const double threshold = 0.1;
  std::vector<double> right(static_cast<std::size_t>(count * p), 0.0);
  for (Index i = 0; i < n; ++i) {
    codes.push_back(i % count);
    weight.push_back(weighted ? static_cast<double>(i % 3) : 1.0);
    for (Index j = 0; j < p; ++j) {
      double cell = std::floor(8 * random.uniform());
      if (cell < 2) cell = 0;
      columns[static_cast<std::size_t>(j * n + i)] = x[static_cast<std::size_t>(i * p + j)] = cell;
      right[static_cast<std::size_t>((i % count) * p + j)] +=
          weight.back() * (cut ? (cell > threshold ? 1.0 : 0.0) : cell);
      if (cell == 0) continue;
      data.push_back(cell);
      indices.push_back(static_cast<std::int32_t>(j));
    }
    indptr.push_back(static_cast<std::int32_t>(data.size()));
  }
  const ClassOf classes{codes.data(), count, weighted ? weight.data() : nullptr, cut ? &threshold : nullptr};
  std::vector<double> sums(right.size());
  double least = 0;
  for (const int threads : {1, 3}) {
    Run run;
    run.threads = threads;
    for (const Order order : {Order::C, Order::Fortran}) {
      class_sums(run, Dense<double>{order == Order::C ? x.data() : columns.data(), n, p, order}, classes,
                 sums.data(), &least);
      CHECK(sums == right);
    }
    const Csr<double, std::int32_t> rows{data.data(), indices.data(), indptr.data(), n, p};
    class_sums(run, rows, static_cast<Index>(data.size()), classes, sums.data(), &least);
    CHECK(sums == right);
  }
}

}  // namespace

TEST(every_kind) {
  for (const Index n : {0, 1, 7, 500})
    for (const Index p : {1, 3, 40})
      for (const bool weighted : {false, true})
        for (const bool cut : {false, true}) check_sums(n, p, 3, weighted, cut);
}

TEST(many_chunks) {
  check_sums(test::fast() ? 20000 : 60000, 60, 4, true, false);
}

TEST(a_class_beyond_the_last_is_refused) {
  const double x[] = {1.0};
  const std::int64_t codes[] = {2};
  double sums[2], least;
  bool refused = false;
  try {
    class_sums(Run{}, Dense<double>{x, 1, 1, Order::C}, {codes, 2, nullptr, nullptr}, sums, &least);
  } catch (const std::invalid_argument&) {
    refused = true;
  }
  CHECK(refused);
}
