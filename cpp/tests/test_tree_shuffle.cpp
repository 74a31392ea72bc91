#include <random>

#include "check.h"
#include "tree_shuffle.h"

using namespace surefit;

namespace {

// Two columns of numbers: x0 <= 0 ? (x1 <= 0 ? a : b) : (x0 <= 1 ? c : d).
const std::vector<std::int32_t> feature{0 | kMissingLeft, 1, -1, -1, 0, -1, -1};
const std::vector<std::int32_t> right{4, 3, -1, -1, 6, -1, -1};
const std::vector<double> threshold{0, 0, 0, 0, 1, 0, 0};
const std::vector<std::uint64_t> no_levels{0};
const std::vector<std::int64_t> levels{0, 0};
const std::vector<double> values{0, 0, 1, 2, 0, 3, 4};

TreeView view() {
  return {feature.data(), right.data(), threshold.data(), no_levels.data(), levels.data()};
}

double answer(double x0, double x1) {
  std::int32_t node = 0;
  while (!view().leaf(node)) {
    const double value = view().column(node) == 0 ? x0 : x1;
    node = goes_left(view(), node, value) ? node + 1 : right[static_cast<std::size_t>(node)];
  }
  return values[static_cast<std::size_t>(node)];
}

void compare(bool plain, int threads) {
  constexpr Index rows = 1300, repeats = 11;
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  std::vector<double> X(2 * rows);
  for (double& x : X) x = plain || random() % 8 ? normal(random) : std::nan("");
  std::vector<std::int64_t> order(rows * repeats);
  for (auto& row : order) row = static_cast<std::int64_t>(random() % rows);
  std::vector<double> change(2 * repeats * rows, 0.0);
  Run run;
  run.threads = threads;
  const Dense<double> table{X.data(), rows, 2, Order::C};
  tree_shuffle(run, view(), 7, values.data(), 1, table, order.data(), repeats, change.data(), plain);
  for (Index j = 0; j < 2; ++j)
    for (Index r = 0; r < repeats; ++r)
      for (Index i = 0; i < rows; ++i) {
        const double x0 = table(i, 0), x1 = table(i, 1);
        const double other = table(order[static_cast<std::size_t>(r * rows + i)], j);
        const double expected = answer(j == 0 ? other : x0, j == 1 ? other : x1) - answer(x0, x1);
        CHECK(change[static_cast<std::size_t>((j * repeats + r) * rows + i)] == expected);
      }
}

}  // namespace

TEST(a_shuffled_column_changes_a_row_as_walking_again_does) {
  for (int threads : {1, 3}) {
    compare(true, threads);
    compare(false, threads);
  }
}
