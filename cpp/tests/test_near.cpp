#include <algorithm>
#include <cstdint>
#include <vector>

#include "check.h"
#include "edit_distance.h"
#include "near_rows.h"
#include "point_tree.h"

using namespace surefit;

namespace {

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

// Whole numbers, so that there are ties.
std::vector<double> grid(Index rows, Index cols, unsigned long long seed) {
  test::Random random(seed);
  std::vector<double> x(at(rows * cols));
  for (double& value : x) value = std::floor(4.0 * random.uniform());
  return x;
}

template <class Norm>
std::vector<std::int64_t> all_pairs(const Norm& norm, const Dense<double>& X, const Dense<double>& Q,
                                    Index k) {
  std::vector<std::int64_t> index(at(Q.rows * k));
  for (Index i = 0; i < Q.rows; ++i) {
    std::vector<Near> all;
    for (Index r = 0; r < X.rows; ++r)
      all.push_back({tree_detail::distance(norm, X.data + r * X.cols, Q.data + i * X.cols, X.cols), r});
    std::sort(all.begin(), all.end(), before);
    for (Index j = 0; j < k; ++j) index[at(i * k + j)] = all[at(j)].row;
  }
  return index;
}

template <class Norm>
void check_trees(const Norm& norm, Index n, Index d, Index k) {
  const std::vector<double> x = grid(n, d, 3), q = grid(300, d, 4);
  const Dense<double> X{x.data(), n, d, Order::C}, Q{q.data(), 300, d, Order::C};
  const std::vector<std::int64_t> expected = all_pairs(norm, X, Q, k);
  for (const TreeKind kind : {TreeKind::none, TreeKind::box, TreeKind::ball})
    for (const int threads : {1, 3}) {
      Run run;
      run.threads = threads;
      PointTree tree;
      tree.rows = n;
      tree.cols = d;
      tree.kind = kind;
      std::vector<double> points(at(tree.leaves() * tree.bucket * d)),
          bounds(at(tree.nodes() * tree.bound_size()));
      std::vector<std::int32_t> ids(at(tree.leaves() * tree.bucket));
      grow_point_tree(run, norm, X, tree, points.data(), ids.data(), bounds.data());
      tree.points = points.data();
      tree.ids = ids.data();
      tree.bounds = bounds.data();
      std::vector<std::int64_t> index(at(Q.rows * k));
      std::vector<double> value(at(Q.rows * k)), radius(at(Q.rows), 2.0);
      tree_nearest(run, tree, norm, Q, k, false, index.data(), value.data());
      CHECK(index == expected);
      const NearLists lists = tree_within(run, tree, norm, Q, radius.data(), false, true);
      std::vector<std::int64_t> start(at(Q.rows + 1)), rows(at(lists.count()));
      std::vector<double> sums(at(lists.count()));
      lists.write(run, start.data(), rows.data(), sums.data());
      for (Index i = 0; i < Q.rows; ++i)
        for (Index j = 0; j < std::min<Index>(k, start[at(i + 1)] - start[at(i)]); ++j)
          CHECK(rows[at(start[at(i)] + j)] == expected[at(i * k + j)]);
    }
}

}  // namespace

TEST(trees_find_what_all_pairs_show) {
  check_trees(SquaredNorm{}, 700, 3, 6);
  check_trees(AbsoluteNorm{}, 40, 2, 40);
  check_trees(LargestNorm{}, 333, 5, 60);
}

TEST(products_find_what_all_pairs_show) {
  const std::vector<double> x = grid(1500, 4, 5), q = grid(130, 4, 6), centre(4, 0.5);
  const Dense<double> X{x.data(), 1500, 4, Order::C}, Q{q.data(), 130, 4, Order::C};
  for (const int threads : {1, 2}) {
    Run run;
    run.threads = threads;
    std::vector<std::int64_t> index(130 * 9);
    std::vector<double> value(130 * 9);
    rows_nearest(run, X, centre.data(), 0.25, Q, 9, false, index.data(), value.data());
    CHECK(index == all_pairs(SquaredNorm{}, X, Q, 9));
  }
}

TEST(edits_are_counted) {
  const std::vector<std::uint32_t> letters{1, 2, 3, 4, 2, 3, 5};
  const std::vector<std::int64_t> start{0, 0, 4, 7};
  const Words words{letters.data(), start.data(), 3};
  std::vector<double> out(9);
  edit_distances(Run{}, words, words, out.data());
  CHECK((out == std::vector<double>{0, 4, 3, 4, 0, 2, 3, 2, 0}));
}
