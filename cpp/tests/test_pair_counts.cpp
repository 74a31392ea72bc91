// Pairs are counted and weighed where they belong, items are numbered by first appearance, log scores add up.
#include "check.h"
#include "distinct_items.h"
#include "log_score.h"
#include "pair_counts.h"

using namespace surefit;
using surefit::test::Random;

template <class I>
void check_pairs(Index rows, Index size, std::int64_t low) {
  Random random(5);
  std::vector<I> a(static_cast<std::size_t>(rows)), b(a.size());
  std::vector<double> weight(a.size());
  std::vector<double> wanted(static_cast<std::size_t>(size * size), 0.0), table(wanted.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto row = static_cast<Index>(random.bits() % static_cast<unsigned long long>(size));
    const auto column = static_cast<Index>(random.bits() % static_cast<unsigned long long>(size));
    a[i] = static_cast<I>(row + low);
    b[i] = static_cast<I>(column + low);
    weight[i] = static_cast<double>(i % 3);
    wanted[static_cast<std::size_t>(row * size + column)] += weight[i];
  }
  for (const int threads : {1, 3}) {
    Run run;
    run.threads = threads;
    CHECK(pair_counts(run, a.data(), b.data(), weight.data(), rows, low, size, table.data()) == rows);
    CHECK(table == wanted);
  }
  if (rows == 0) return;
  b.back() = static_cast<I>(low + size);
  CHECK(pair_counts(Run{}, a.data(), b.data(), nullptr, rows, low, size, table.data()) == rows - 1);
}

TEST(pairs) {
  for (const Index rows : {0, 1, 1000, 200000})
    for (const Index size : {1, 2, 40}) {
      check_pairs<std::uint8_t>(rows, size, 3);
      check_pairs<std::int32_t>(rows, size, -1);
      check_pairs<std::int64_t>(rows, size, -(std::int64_t{1} << 60));
    }
}

TEST(items) {
  for (const Index width : {1, 4, 8, 13}) {
    Random random(7);
    const Index rows = 150000;
    std::vector<unsigned char> bytes(static_cast<std::size_t>(rows * width), 1);
    std::vector<std::int32_t> code(static_cast<std::size_t>(rows)), wanted(code.size());
    std::vector<std::int32_t> number(200, -1);
    std::int32_t known = 0;
    for (std::size_t i = 0; i < code.size(); ++i) {
      const auto kind = static_cast<std::size_t>(random.bits() % (i < 70000 ? 3 : 200));
      bytes[(i + 1) * static_cast<std::size_t>(width) - 1] = static_cast<unsigned char>(kind);
      if (number[kind] < 0) number[kind] = known++;
      wanted[i] = number[kind];
    }
    for (const int threads : {1, 3}) {
      Run run;
      run.threads = threads;
      const auto first = distinct_items(run, bytes.data(), width, rows, code.data());
      CHECK(static_cast<std::int32_t>(first.size()) == known);
      CHECK(code == wanted);
    }
  }
}

TEST(too_many_items_are_left_to_sorting) {
  std::vector<std::uint64_t> items(50000);
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = i;
  std::vector<std::int32_t> code(items.size());
  const auto* bytes = reinterpret_cast<const unsigned char*>(items.data());
  CHECK(distinct_items(Run{}, bytes, 8, 50000, code.data()).empty());
}

TEST(log_scores) {
  const std::vector<double> chance{0.25, 0.75, 1.0, 0.0}, weight{2.0, 1.0};
  const std::vector<std::int64_t> code{0, 1};
  const LogScore found = log_score(Run{}, chance.data(), 2, code.data(), weight.data(), 2, 1e-3);
  CHECK_NEAR(found.loss, 2 * std::log(4.0) + std::log(1e3), 1e-14);
  CHECK(found.bad == -1 && found.worst == -1);
  const std::vector<float> second{0.25F, 1.5F};
  CHECK(log_score(Run{}, second.data(), 1, code.data(), nullptr, 2, 1e-3F).bad == 1);
}
