#include <random>
#include <set>

#include "check.h"
#include "forest.h"
#include "forest_walk.h"

using namespace surefit;

namespace {

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

constexpr Index kCols = 5;

struct Table {
  Index rows = 0, cols = kCols;
  bool by_column = false, ascends = false;
  std::vector<double> X, number;
  std::vector<std::int32_t> y;
  std::vector<std::uint32_t> rank;
  std::vector<std::uint8_t> bins;
  std::vector<double> lowest, highest;

  Dense<double> dense() const { return {X.data(), rows, cols, Order::C}; }
  ForestColumns columns() const {
    return {ascends ? nullptr : rank.data(),
            ascends ? rank.data() : nullptr,
            bins.data(),
            lowest.data(),
            highest.data(),
            CellOrder::of(rows, cols, by_column)};
  }
};

// ascends: rows in the order of each column stand where its ranks would.
void rank(Table& table, bool by_column, bool ascends = false) {
  table.by_column = by_column, table.ascends = ascends;
  table.rank.assign(table.X.size(), 7), table.bins.assign(table.X.size(), 7);
  table.lowest.assign(at(table.cols * kMostBins), 0.0), table.highest = table.lowest;
  forest_columns(Run{}, table.dense(), by_column, ascends ? nullptr : table.rank.data(),
                 ascends ? table.rank.data() : nullptr, table.bins.data(), table.lowest.data(),
                 table.highest.data());
}

Table table_of(Index rows, bool missing, Index cols = kCols) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  Table table;
  table.rows = rows, table.cols = cols;
  table.X.resize(at(rows * cols)), table.y.resize(at(rows)), table.number.resize(at(rows));
  for (Index i = 0; i < rows; ++i) {
    double* x = table.X.data() + i * cols;
    for (Index j = 0; j < cols; ++j) x[j] = normal(random);
    x[1] = std::round(3.0 * x[1]);
    table.number[at(i)] = x[0] * x[1] + normal(random) / 3.0;
    table.y[at(i)] = table.number[at(i)] > 0.3 ? 1 : 0;
    for (Index j = 5; j < cols; ++j)  // what a wide table has more is sparse, or no more than a constant
      if (random() % 20 != 0 || j % 9 == 0) x[j] = random() % 2 == 0 ? 0.0 : -0.0;
    for (Index j = 0; missing && j < cols; ++j)
      if (random() % 10 == 0) x[j] = std::nan("");
  }
  rank(table, false);
  return table;
}

template <class Y>
std::vector<ForestTree> grown(const Table& table, const Y* y, Impurity impurity, std::vector<Index> start,
                              bool quick, Index draws, const TreeRules& rules, int threads) {
  Run run;
  run.threads = threads;
  const Dense<double> X = table.dense();
  const ForestTarget<Y> target{y, 1, impurity, std::move(start)};
  const ForestSample sample{draws, nullptr, nullptr, false};
  const std::vector<Index> levels(at(table.cols), 0);
  const std::vector<std::int8_t> free;
  const ForestColumns columns = table.columns();
  const std::uint64_t seeds[] = {5, 6, 7};
  return Forest<double, Y>(run, X, quick, false, columns, target, sample, rules, levels, free).grow(seeds, 3);
}

bool same(const std::vector<ForestTree>& one, const std::vector<ForestTree>& two) {
  for (std::size_t t = 0; t < one.size(); ++t) {
    const auto &a = one[t].nodes, &b = two[t].nodes;
    if (a.size() != b.size() || one[t].rows != two[t].rows) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (a[i].threshold != b[i].threshold || a[i].feature != b[i].feature || a[i].child != b[i].child)
        return false;
  }
  return true;
}

// The same splits, whatever the order of nodes.
std::multiset<double> thresholds(const ForestTree& tree) {
  std::multiset<double> found;
  for (const ForestNode& node : tree.nodes)
    if (node.feature >= 0) found.insert(node.threshold);
  return found;
}

}  // namespace

TEST(small_samples_are_searched_exactly) {
  for (const bool missing : {false, true}) {
    Table table = table_of(700, missing);
    for (const auto& [drawn, columns] : {std::pair{false, 1}, {false, 2}, {false, 0}, {true, 2}}) {
      TreeRules rules;
      rules.search.max_columns = columns;
      rules.search.random_threshold = drawn;
      rank(table, false, columns == 1);  // by codes, the others in their order
      const auto quick = grown(table, table.y.data(), Impurity::gini, {0, 2}, true, 700, rules, 1);
      const auto exact = grown(table, table.y.data(), Impurity::gini, {0, 2}, false, 700, rules, 1);
      const auto number = grown(table, table.number.data(), Impurity::squared, {0}, true, 700, rules, 1);
      const auto other = grown(table, table.number.data(), Impurity::squared, {0}, false, 700, rules, 1);
      for (std::size_t t = 0; t < 3; ++t) {
        CHECK(thresholds(quick[t]) == thresholds(exact[t]));
        CHECK(thresholds(number[t]) == thresholds(other[t]));
      }
    }
  }
}

TEST(wide_tables_are_searched_exactly_however_their_ranks_lie) {
  for (const bool missing : {false, true}) {
    Table table = table_of(900, missing, 48);
    for (const bool drawn : {false, true}) {
      TreeRules rules;
      rules.search.max_columns = 3;  // so few of them that small nodes sort them themselves
      rules.search.random_threshold = drawn;
      rules.search.min_rows_leaf = drawn ? 1 : 2;
      const auto exact = grown(table, table.y.data(), Impurity::entropy, {0, 2}, false, 900, rules, 1);
      const auto other = grown(table, table.number.data(), Impurity::squared, {0}, false, 900, rules, 1);
      for (const bool by_column : {false, true}) {
        rank(table, by_column);
        const auto quick = grown(table, table.y.data(), Impurity::entropy, {0, 2}, true, 900, rules, 1);
        const auto number = grown(table, table.number.data(), Impurity::squared, {0}, true, 900, rules, 2);
        for (std::size_t t = 0; t < 3; ++t) {
          CHECK(thresholds(quick[t]) == thresholds(exact[t]));
          CHECK(thresholds(number[t]) == thresholds(other[t]));
        }
      }
    }
  }
}

TEST(ranks_of_columns_with_zeros_ascend_with_their_values) {
  Table table = table_of(700, true, 12);
  for (const bool by_column : {false, true}) {
    rank(table, by_column);
    const ForestColumns columns = table.columns();
    for (Index j = 0; j < table.cols; ++j) {
      std::set<double> values;
      for (Index i = 0; i < table.rows; ++i)
        if (!std::isnan(table.dense()(i, j))) values.insert(table.dense()(i, j));
      CHECK(values.size() > 255 || values.count(0.0) == 1 || j < 5);
      for (Index i = 0; i < table.rows; ++i) {
        const double value = table.dense()(i, j);
        const Index cell = columns.order.at(i, j);
        if (std::isnan(value)) {
          CHECK(columns.rank[cell] == kMissingCode && columns.bins[cell] == kMissingBin);
          continue;
        }
        CHECK(columns.rank[cell] ==
              static_cast<std::uint32_t>(std::distance(values.begin(), values.lower_bound(value))));
        CHECK(columns.lowest[j * kMostBins + columns.bins[cell]] <= value);
        CHECK(columns.highest[j * kMostBins + columns.bins[cell]] >= value);
      }
    }
  }
}

TEST(rows_in_the_order_of_columns_are_those_that_ranks_tell) {
  const Table ranks = table_of(700, true, 12);
  Table table = ranks;
  rank(table, false, true);
  CHECK(table.bins == ranks.bins && table.lowest == ranks.lowest && table.highest == ranks.highest);
  for (Index j = 0; j < table.cols; ++j) {
    std::uint32_t before = kMissingCode;
    Index last = -1;
    for (Index k = 0; k < table.rows; ++k) {
      const std::uint32_t entry = table.columns().ascending[j * table.rows + k];
      const Index row = ascending_row(entry);
      const std::uint32_t own = ranks.columns().rank[ranks.columns().order.at(row, j)];
      CHECK((entry >> 31) == static_cast<std::uint32_t>(own != before));
      CHECK(k == 0 || own > before || (own == before && row > last));
      before = own, last = row;
    }
  }
}

TEST(all_small_nodes_get_the_codes_that_their_ranks_tell) {
  struct Node {
    Index begin, end;
  };
  const Table ranks = table_of(3000, true);
  Table table = ranks;
  rank(table, false, true);
  std::vector<std::uint32_t> rows;
  for (Index i = 0; i < 1800; ++i) rows.push_back(static_cast<std::uint32_t>(7 * i % 3000));
  // So many that columns are walked over, with rows between the nodes; so few that values are sorted.
  for (const std::vector<Node>& nodes :
       {std::vector<Node>{{0, 1000}, {1000, 1001}, {1300, 1800}}, std::vector<Node>{{20, 140}}}) {
    SpreadCodes spread;
    spread.tell_apart(table.dense(), table.columns().ascending, rows, nodes, [] {});
    NodeCodes codes;
    for (const Node& node : nodes) {
      const Index count = node.end - node.begin;
      codes.tell_apart(ranks.columns(), kCols, rows.data() + node.begin, count);
      for (Index j = 0; j < kCols; ++j)
        for (Index i = 0; i < count; ++i) {
          const auto own = static_cast<Index>(codes.codes()[j * count + i]);
          CHECK(spread.codes()[j * spread.step() + node.begin + i] ==
                (own == kOrderedRows ? kCodedRows : own));
        }
    }
  }
}

TEST(columns_known_not_to_vary_are_drawn_but_not_asked) {
  const Index width = 60;
  ChosenColumns remembers(width, 7), asks(width, 7);
  remembers.forget(), asks.forget();
  Index asked = 0, without = 0;
  for (const auto& [begin, end] : {std::pair<Index, Index>{0, 100}, {0, 40}, {0, 9}, {9, 40}, {40, 100}}) {
    const auto seed = mixed(static_cast<std::uint64_t>(begin * 1000 + end));
    auto varies = [&](Index j) { return j % 4 == 0 && end - begin > j / 2; };  // less below
    const Index found = remembers.choose(seed, begin, end, true, [&](Index j) { return ++asked, varies(j); });
    const Index plain = asks.choose(seed, begin, end, false, [&](Index j) { return ++without, varies(j); });
    CHECK(found == plain && found > 0);
    CHECK(std::equal(remembers.data(), remembers.data() + found, asks.data()));
    CHECK(std::is_sorted(asks.data(), asks.data() + found));
  }
  CHECK(asked < without);
}

TEST(any_number_of_threads_grows_the_same_trees) {
  Table table = table_of(5000, true);
  TreeRules rules;
  rules.search.max_columns = 2;
  for (const auto& [drawn, ascends] : {std::pair{false, false}, {false, true}, {true, false}}) {
    rules.search.random_threshold = drawn;
    rank(table, false, ascends);
    CHECK(same(grown(table, table.y.data(), Impurity::gini, {0, 2}, true, 5000, rules, 1),
               grown(table, table.y.data(), Impurity::gini, {0, 2}, true, 5000, rules, 3)));
    CHECK(same(grown(table, table.y.data(), Impurity::entropy, {0, 2}, true, 5000, rules, 1),
               grown(table, table.y.data(), Impurity::entropy, {0, 2}, true, 5000, rules, 3)));
    CHECK(same(grown(table, table.number.data(), Impurity::squared, {0}, true, 5000, rules, 1),
               grown(table, table.number.data(), Impurity::squared, {0}, true, 5000, rules, 3)));
  }
}

TEST(rows_end_in_the_leaves_that_hold_them) {
  const Table table = table_of(3000, true);
  auto trees = grown(table, table.y.data(), Impurity::gini, {0, 2}, true, 0, TreeRules{}, 2);
  for (ForestTree& tree : trees) {
    const std::int64_t node_start[] = {0, static_cast<std::int64_t>(tree.nodes.size())};
    const std::int64_t leaf_start[] = {0, static_cast<std::int64_t>(tree.rows.size())};
    const std::int64_t none[] = {0, 0};
    const ForestView view{tree.nodes.data(), node_start, leaf_start, 1, nullptr, none, nullptr};
    std::vector<std::int32_t> leaf(at(table.rows));
    Run run;
    run.threads = 2;
    forest_apply(run, view, table.dense(), nullptr, leaf.data());
    std::vector<std::int64_t> held(tree.rows.size(), 0);
    for (const std::int32_t each : leaf) ++held[static_cast<std::size_t>(each)];
    CHECK(held == tree.rows);
    std::vector<double> sums(at(table.rows * 2), 0.0);
    std::vector<std::int64_t> counts(at(table.rows), 0);
    forest_sums(run, view, table.dense(), tree.values.data(), 2, nullptr, sums.data(), counts.data());
    for (Index i = 0; i < table.rows; ++i) {
      CHECK(counts[at(i)] == 1);
      CHECK(sums[at(2 * i)] == tree.values[at(2 * leaf[at(i)])]);
    }
    for (ForestNode& node : tree.nodes)  // leaves that say the share of the second class themselves
      if (node.feature < 0)
        node.threshold = tree.values[at(2 * node.child + 1)] / tree.weight[at(node.child)];
    std::vector<double> shares(at(table.rows * 2), 0.0);
    forest_sums(run, view, table.dense(), nullptr, 2, nullptr, shares.data(), nullptr);
    for (Index i = 0; i < table.rows; ++i) {
      const double share = tree.values[at(2 * leaf[at(i)] + 1)] / tree.weight[at(leaf[at(i)])];
      CHECK(shares[at(2 * i + 1)] == share && shares[at(2 * i)] == 1.0 - share);
    }
    const double both[] = {1.0, 0.0, 0.25, 0.75};  // leaves that share what they say
    for (ForestNode& node : tree.nodes)
      if (node.feature < 0) node.threshold = node.child % 3;  // two of them, and one that is none
    std::vector<double> said(at(table.rows * 2), 0.0);
    forest_sums(run, view, table.dense(), both, 2, nullptr, said.data(), nullptr, 2);
    for (Index i = 0; i < table.rows; ++i) {
      const Index which = leaf[at(i)] % 3;
      CHECK(said[at(2 * i)] == (which < 2 ? both[2 * which] : 0.0));
      CHECK(said[at(2 * i + 1)] == (which < 2 ? both[2 * which + 1] : 0.0));
    }
  }
}

TEST(draws_follow_the_weights) {
  std::vector<std::uint32_t> counts(4, 0);
  const double cumulative[] = {0.0, 1.0, 1.0, 4.0};
  draw_rows(3, 4000, cumulative, 4, counts.data());
  CHECK(counts[0] == 0 && counts[2] == 0);
  CHECK(counts[1] + counts[3] == 4000);
  CHECK(counts[3] > 2850 && counts[3] < 3150);  // five standard deviations about 3000
}

TEST(codes_of_small_nodes_order_values_as_ranks_do) {
  for (const bool by_column : {false, true}) {
    Table table = table_of(800, true);
    rank(table, by_column);
    const CellOrder order = table.columns().order;
    std::vector<std::uint32_t> rows;
    for (std::uint32_t row = 5; row < 800; row += 3) rows.push_back(row);
    const auto count = static_cast<Index>(rows.size());
    NodeCodes codes;
    codes.tell_apart(table.columns(), kCols, rows.data(), count);
    for (Index j = 0; j < kCols; ++j) {
      std::set<std::uint32_t> values;
      for (const std::uint32_t row : rows) values.insert(table.rank[at(order.at(row, j))]);
      values.erase(kMissingCode);
      std::set<std::size_t> places;
      for (Index i = 0; i < count; ++i) {
        const PlacedCode entry = codes.order()[j * count + i];
        const std::uint32_t rank = table.rank[at(order.at(rows[place_of(entry)], j))];
        const auto before = std::distance(values.begin(), values.lower_bound(rank));
        CHECK(code_of(entry) == (rank == kMissingCode ? kOrderedRows : static_cast<Index>(before)));
        CHECK(code_of(entry) == codes.codes()[j * count + static_cast<Index>(place_of(entry))]);
        CHECK(i == 0 || entry > codes.order()[j * count + i - 1]);
        places.insert(place_of(entry));
      }
      CHECK(places.size() == rows.size());
    }
  }
}
