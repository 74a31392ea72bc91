#include <numeric>
#include <random>
#include <set>

#include "check.h"
#include "tree_apply.h"
#include "tree_grow.h"

using namespace surefit;

namespace {

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

struct Table {
  Index rows = 0, cols = 0;
  std::vector<double> X;
  std::vector<std::int32_t> y;
  std::vector<Index> levels;
  std::vector<std::uint32_t> all;
  Dense<double> dense() const { return {X.data(), rows, cols, Order::Fortran}; }
};

// Numbers, whole numbers, levels and missing values.
Table random_table(Index rows, bool missing) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  Table table{rows,       3, std::vector<double>(at(rows * 3)), std::vector<std::int32_t>(at(rows)),
              {0, 0, 70}, {}};
  table.all.resize(at(rows));
  std::iota(table.all.begin(), table.all.end(), 0u);
  for (Index i = 0; i < rows; ++i) {
    table.X[at(i)] = normal(random);
    table.X[at(rows + i)] = std::round(2.0 * normal(random));
    table.X[at(2 * rows + i)] = static_cast<double>(random() % 70);
    const double score = table.X[at(i)] + std::sin(table.X[at(2 * rows + i)]) + normal(random) / 2.0;
    table.y[at(i)] = score > 0.7 ? 2 : score > -0.5 ? 1 : 0;
    for (Index j = 0; missing && j < 3; ++j)
      if (random() % 10 == 0) table.X[at(j * rows + i)] = std::nan("");
  }
  return table;
}

GrownTree grown(const Table& table, const TreeRules& rules, int threads) {
  Run run;
  run.threads = threads;
  const std::vector<std::int8_t> free;
  const ClassSums sums{Impurity::gini, table.y.data(), nullptr, 1, {0, 3}, {}};
  const Dense<double> X = table.dense();
  return TreeGrower<double, ClassSums>(run, X, table.all, sums, rules, table.levels, free).grow();
}

std::vector<std::int64_t> leaves(const Table& table, const GrownTree& tree) {
  Run run;
  const std::vector<std::int64_t> levels(table.levels.begin(), table.levels.end());
  std::vector<std::int32_t> feature(tree.feature.begin(), tree.feature.end());
  for (std::size_t k = 0; k < feature.size(); ++k) {
    CHECK(feature[k] < 0 || tree.left[k] == static_cast<std::int32_t>(k) + 1);
    if (feature[k] >= 0 && tree.missing_left[k] != 0) feature[k] |= kMissingLeft;
  }
  const TreeView view{feature.data(), tree.right.data(), tree.threshold.data(), tree.left_levels.data(),
                      levels.data()};
  std::vector<std::int64_t> leaf(at(table.rows));
  tree_apply(run, view, table.dense(), leaf.data());
  return leaf;
}

}  // namespace

TEST(a_full_tree_knows_its_rows) {
  const Table table = random_table(3000, false);
  const GrownTree tree = grown(table, TreeRules{}, 2);
  const std::vector<std::int64_t> leaf = leaves(table, tree);
  for (Index i = 0; i < table.rows; ++i) {
    const auto node = at(leaf[at(i)]);
    CHECK(tree.feature[node] == -1);
    CHECK(tree.sums[node * 3 + at(table.y[at(i)])] == tree.weight[node]);
  }
}

TEST(counts_of_leaves_are_those_of_the_rows) {
  for (const Index max_leaves : {Index{0}, Index{12}}) {
    const Table table = random_table(20000, true);
    TreeRules rules;
    rules.max_leaves = max_leaves;
    rules.search.min_rows_leaf = 5;
    const GrownTree tree = grown(table, rules, 2);
    std::vector<std::int64_t> count(at(tree.size()));
    for (const std::int64_t node : leaves(table, tree)) ++count[at(node)];
    for (Index node = 0; node < tree.size(); ++node)
      if (tree.feature[at(node)] < 0) CHECK(count[at(node)] == tree.rows[at(node)] && count[at(node)] >= 5);
    if (max_leaves > 0) CHECK(tree.size() == 2 * max_leaves - 1);
  }
}

TEST(threads_do_not_matter) {
  const Table table = random_table(20000, true);
  const GrownTree one = grown(table, TreeRules{}, 1), three = grown(table, TreeRules{}, 3);
  CHECK(one.feature == three.feature);
  CHECK(one.threshold == three.threshold);
  CHECK(one.left_levels == three.left_levels);
  CHECK(one.missing_left == three.missing_left);
}

TEST(columns_come_in_order) {
  std::mt19937_64 random(3);
  for (const Index n : {Index{7}, Index{5000}}) {
    std::vector<double> x(at(n));
    for (double& value : x) value = std::bit_cast<double>(random());
    x[0] = 0.0, x[1] = -0.0, x[2] = std::nan("");
    std::vector<std::uint32_t> rows(at(n));
    std::iota(rows.begin(), rows.end(), 0u);
    std::vector<Ranked> sorted(at(n));
    std::vector<KeyedRow> keys, spare;
    rank_column(Dense<double>{x.data(), n, 1, Order::C}, 0, rows, sorted.data(), keys, spare);
    std::set<std::uint32_t> seen;
    for (Index i = 0; i < n; ++i) {
      seen.insert(sorted[at(i)].row);
      if (i == 0) continue;
      const double low = x[sorted[at(i - 1)].row], high = x[sorted[at(i)].row];
      CHECK(std::isnan(high) ? sorted[at(i)].code == kMissingCode : low <= high);
      if (!std::isnan(high)) CHECK((low == high) == (sorted[at(i - 1)].code == sorted[at(i)].code));
    }
    CHECK(static_cast<Index>(seen.size()) == n);
  }
}

TEST(absolute_errors_grow_the_same_tree_on_any_number_of_threads) {
  const Table table = random_table(9000, true);
  std::vector<double> y(at(table.rows));
  for (Index i = 0; i < table.rows; ++i)
    y[at(i)] = static_cast<double>(table.y[at(i)]) + 0.01 * static_cast<double>(i % 97);
  const NumberSums sums{Impurity::absolute, y.data(), nullptr, 1};
  const std::vector<std::int8_t> free;
  const Dense<double> X = table.dense();
  TreeRules rules;
  rules.max_depth = 6;
  std::vector<GrownTree> trees;
  for (const int threads : {1, 3}) {
    Run run;
    run.threads = threads;
    trees.push_back(
        TreeGrower<double, NumberSums>(run, X, table.all, sums, rules, table.levels, free).grow());
  }
  CHECK(trees[0].size() > 20);
  CHECK(trees[0].feature == trees[1].feature);
  CHECK(trees[0].threshold == trees[1].threshold);
  CHECK(trees[0].sums == trees[1].sums);
  for (Index i = 0; i < trees[0].size(); ++i) {
    if (trees[0].feature[at(i)] < 0) continue;
    const auto left = at(trees[0].left[at(i)]), right = at(trees[0].right[at(i)]);
    CHECK(trees[0].sums[2 * left + 1] + trees[0].sums[2 * right + 1] <= trees[0].sums[at(2 * i + 1)] + 1e-9);
  }
}

TEST(running_medians_are_those_of_a_sort) {
  std::mt19937 random(3);
  const std::size_t n = 60;
  std::vector<double> y(n), sorted;
  for (double& value : y) value = static_cast<double>(random() % 20);
  sorted = y;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::size_t> rank(n), next(20, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const auto first =
        static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), y[i]) - sorted.begin());
    rank[i] = first + next[static_cast<std::size_t>(y[i])]++;
  }
  RankedWeights seen;
  seen.clear(n);
  std::vector<double> so_far;
  for (std::size_t i = 0; i < n; ++i) {
    seen.insert(rank[i], 1.0, y[i]);
    so_far.push_back(y[i]);
    std::sort(so_far.begin(), so_far.end());
    const double expected = (so_far[i / 2] + so_far[(i + 1) / 2]) / 2.0;
    double median = 0.0, direct = 0.0;
    const double cost = seen.deviations(sorted, median);
    for (const double value : so_far) direct += std::abs(value - expected);
    CHECK(median == expected);
    CHECK(std::abs(cost - direct) < 1e-9);
  }
}

// In long doubles, of which an x86 has eleven bits more: what is lost near the mean is lost later there.
TEST(distances_of_counts_keep_their_digits_near_the_mean) {
  for (const double c : {1e-3, 1.0, 1e9})
    for (const double share : {-1.0, -0.9, -0.2, -0.1, -1e-2, 0.0, 1e-2, 0.1, 0.3, 9.0}) {
      const double gap = share * c;
      const long double y = static_cast<long double>(c) + gap;
      const long double wanted = y > 0 ? y * std::log(y / c) - gap : -static_cast<long double>(gap);
      CHECK(std::abs(poisson_distance(gap, c) - static_cast<double>(wanted)) <=
            1e-14 * static_cast<double>(wanted));
    }
  // Where even those are lost, a square over twice the mean is all there is.
  for (const double gap : {1.0, -1.0, 3.0})
    CHECK(std::abs(poisson_distance(gap, 1e12) - gap * gap / 2e12) <= 1e-11 * gap * gap / 2e12);
}

// Sums of squares of a far target are lost in its own last digits; distances about the mean are not.
TEST(counts_of_a_large_mean_are_split_where_they_differ) {
  const std::vector<double> X{0, 1, 2, 3, 4, 5, 6, 7},
      y{1e9, 1e9 + 1, 1e9, 1e9 + 1, 1e9 + 3, 1e9 + 2, 1e9 + 3, 1e9 + 2};
  const NumberSums sums{Impurity::poisson, y.data(), nullptr, 1};
  TreeRules rules;
  rules.max_depth = 1;
  const std::vector<std::uint32_t> rows{0, 1, 2, 3, 4, 5, 6, 7};
  const std::vector<Index> levels{0};
  const std::vector<std::int8_t> free;
  Run run;
  const Dense<double> table{X.data(), 8, 1, Order::Fortran};
  const GrownTree tree = TreeGrower<double, NumberSums>(run, table, rows, sums, rules, levels, free).grow();
  CHECK(tree.size() == 3);
  CHECK(tree.threshold[0] == 3.5);
  CHECK(std::abs(tree.impurity[0] * 2e9 - 1.25) < 1e-6);  // the variance, over twice the mean
  CHECK(std::abs(tree.impurity[1] * 2e9 - 0.25) < 1e-6);
}
