#include "boost_apply.h"
#include "boost_gradients.h"
#include "boost_grow.h"
#include "check.h"

using namespace surefit;

namespace {

struct Table {
  Index rows = 6000, width = 6;
  std::vector<std::uint8_t> codes, packed;
  std::vector<std::int64_t> counts{20, 20, 20, 20, 20, 20};
  std::vector<std::uint8_t> is_level{0, 0, 0, 1, 0, 0}, has_missing{0, 1, 0, 1, 0, 0};
  std::vector<Index> offset{0, 21, 42, 63, 84, 105, 126};
  std::vector<double> g, h;

  Table() {
    test::Random random(1);
    codes.resize(static_cast<std::size_t>(rows * width));
    for (Index j = 0; j < width; ++j)
      for (Index i = 0; i < rows; ++i) {
        const auto code = static_cast<std::uint8_t>(random.bits() % 20);
        const bool missing = has_missing[static_cast<std::size_t>(j)] != 0 && random.bits() % 10 == 0;
        codes[static_cast<std::size_t>(j * rows + i)] = missing ? kMissingBin : code;
      }
    for (Index i = 0; i < rows; ++i) {
      const auto a = codes[static_cast<std::size_t>(i)], b = codes[static_cast<std::size_t>(3 * rows + i)];
      g.push_back(static_cast<double>(a) + 5.0 * (b % 3) + random.uniform());
      h.push_back(1.0 + 0.5 * random.uniform());
    }
    packed.resize(static_cast<std::size_t>(rows * packed_stride(width)));
    pack_rows(Run{}, codes.data(), rows, width, counts.data(), packed_stride(width), packed.data());
  }
};

BoostTree grown(const Table& table, int threads, std::vector<std::uint32_t>& order_out) {
  Run run;
  run.threads = threads;
  double total = 0.0;
  for (const double h : table.h) total += h;
  const FixedPoint unit = FixedPoint::of(table.rows, 40.0, 1.5, total);
  std::vector<Sums> sums(static_cast<std::size_t>(table.rows));
  encode_rows(run, unit, table.g.data(), table.h.data(), table.rows, sums.data());
  order_out.resize(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) order_out[i] = static_cast<std::uint32_t>(i);
  std::vector<std::uint32_t> spare(sums.size());
  RowOrder order(order_out.data(), spare.data());
  const PackedRows packed{table.packed.data(), packed_stride(table.width), table.width, table.offset.data()};
  const BoostColumns columns{table.width,           table.offset.data(),      table.counts.data(),
                             table.is_level.data(), table.has_missing.data(), nullptr};
  const BoostRules rules{31, 0, 1.0, 0, {20, 0.0}};
  const std::vector<std::uint8_t> groups;
  return BoostGrower(run, packed, table.codes.data(), table.rows, columns, rules, unit, sums.data(), groups,
                     order)
      .grow(table.rows, true);
}

}  // namespace

TEST(a_leaf_says_the_newton_step_of_its_rows) {
  const Table table;
  std::vector<std::uint32_t> order;
  const BoostTree tree = grown(table, 1, order);
  CHECK(tree.column.size() == 61);
  Index seen = 0;
  for (std::size_t node = 0; node < tree.column.size(); ++node) {
    if (tree.column[node] >= 0) continue;
    double g = 0.0, h = 0.0;
    for (auto i = tree.begin[node]; i < tree.end[node]; ++i) {
      g += table.g[order[static_cast<std::size_t>(i)]];
      h += table.h[order[static_cast<std::size_t>(i)]];
      ++seen;
    }
    CHECK_NEAR(tree.value[node], -g / h, 1e-9);
  }
  CHECK(seen == table.rows);
}

TEST(any_number_of_threads_grows_the_same_tree) {
  const Table table;
  std::vector<std::uint32_t> one_order, order;
  const BoostTree one = grown(table, 1, one_order);
  for (const int threads : {2, 3}) {
    const BoostTree tree = grown(table, threads, order);
    CHECK(tree.column == one.column);
    CHECK(tree.bin == one.bin);
    CHECK(tree.value == one.value);
    CHECK(tree.levels == one.levels);
    CHECK(order == one_order);
  }
}

TEST(rows_walk_to_the_leaves_that_growing_left_them_in) {
  const Table table;
  std::vector<std::uint32_t> order;
  const BoostTree tree = grown(table, 1, order);
  const std::vector<std::int64_t> root{0};
  BoostTrees trees(root.data(), tree.levels.data());
  for (std::size_t i = 0; i < tree.column.size(); ++i) {
    const bool leaf = tree.column[i] < 0;
    const bool by_levels = !leaf && table.is_level[static_cast<std::size_t>(tree.column[i])] != 0;
    const double number = leaf ? tree.value[i] : by_levels ? 4.0 * static_cast<double>(i) : tree.bin[i];
    trees.append(number, tree.column[i], tree.left[i], tree.right[i], tree.missing_left[i] != 0, by_levels);
  }
  std::vector<double> score(static_cast<std::size_t>(table.rows), 0.0);
  const Dense<std::uint8_t> X{table.codes.data(), table.rows, table.width, Order::Fortran};
  boost_apply(Run{}, trees, X, 0, 1, 1, score.data());
  for (std::size_t node = 0; node < tree.column.size(); ++node)
    if (tree.column[node] < 0)
      for (auto i = tree.begin[node]; i < tree.end[node]; ++i)
        CHECK(score[order[static_cast<std::size_t>(i)]] == tree.value[node]);
}

TEST(bins_count_the_edges_below) {
  const std::vector<double> X{0.0, 1.0, 1.5, NAN}, edges{0.5, 1.0};
  const std::vector<std::int64_t> start{0, 2}, levels{0};
  std::vector<std::uint8_t> codes(4);
  const Dense<double> table{X.data(), 4, 1, Order::C};
  bin_columns(Run{}, table, {edges.data(), start.data(), levels.data()}, codes.data());
  CHECK((codes == std::vector<std::uint8_t>{0, 1, 2, kMissingBin}));
}

TEST(exponentials_are_right_to_the_last_places) {
  const double infinity = std::numeric_limits<double>::infinity();
  test::Random random(3);
  alignas(32) double numbers[4], raised[4];
  for (int i = 0; i < 20000; ++i) {
    for (double& x : numbers) x = random.uniform() * (i % 2 == 0 ? 1.0 : 707.0);
    std::copy_n(numbers, 4, raised);
    raise_all(raised, 4);
    for (int k = 0; k < 4; ++k) CHECK_NEAR(raised[k] / std::exp(numbers[k]), 1.0, 5e-16);
    const double share = std::fabs(random.uniform()), tiny = std::exp(-700.0 * share);
    CHECK_NEAR(log_of_one_plus(share) / std::log1p(share), 1.0, 5e-16);
    CHECK_NEAR(log_of_one_plus(tiny) / std::log1p(tiny), 1.0, 5e-16);
  }
  alignas(32) double edges[4] = {-infinity, infinity, -709.0, 710.0};
  raise_all(edges, 4);
  CHECK(edges[0] == 0.0 && edges[1] == infinity && edges[2] == 0.0 && edges[3] == infinity);
  alignas(32) double others[4] = {0.0, -0.0, NAN, 1.0};
  raise_all(others, 4);
  CHECK(others[0] == 1.0 && others[1] == 1.0 && std::isnan(others[2]));
  CHECK(log_of_one_plus(0.0) == 0.0);
}

TEST(gradients_are_merged_in_order) {
  std::vector<double> y, z;
  test::Random random(2);
  for (int i = 0; i < 20000; ++i) {
    y.push_back(random.uniform() > 0 ? 1.0 : 0.0);
    z.push_back(random.uniform());
  }
  std::vector<double> g(y.size()), h(y.size());
  Run run;
  run.threads = 3;
  const auto many =
      boost_gradients(run, BoostLogistic{}, y.data(), z.data(), nullptr, 20000, g.data(), h.data());
  const auto one =
      boost_gradients(Run{}, BoostLogistic{}, y.data(), z.data(), nullptr, 20000, g.data(), h.data());
  CHECK(many.loss == one.loss);
  CHECK(many.total_curvature == one.total_curvature);
  CHECK(many.largest_gradient <= 1.0);
}
