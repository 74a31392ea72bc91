// Linkages against the closest pair of all, looked for each time.
#include "check.h"
#include "spanning_tree.h"
#include "stored_linkage.h"
#include "structured_linkage.h"
#include "ward_linkage.h"

using namespace surefit;

namespace {

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

std::vector<double> points(Index n, Index depth, unsigned long long seed) {
  test::Random random(seed);
  std::vector<double> x(at(n * depth));
  for (double& value : x) value = random.uniform();
  return x;
}

std::vector<double> square_of(const std::vector<double>& x, Index n, Index depth, bool roots) {
  std::vector<double> d(at(n * n), 0.0);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) {
      for (Index k = 0; k < depth; ++k) {
        const double apart = x[at(i * depth + k)] - x[at(j * depth + k)];
        d[at(i * n + j)] += apart * apart;
      }
      if (roots) d[at(i * n + j)] = std::sqrt(d[at(i * n + j)]);
    }
  return d;
}

template <Linkage L>
std::vector<double> plain(std::vector<double> d, Index n) {
  std::vector<double> weight(at(n), 1.0), heights;
  std::vector<char> gone(at(n), 0);
  for (Index t = 1; t < n; ++t) {
    Index a = -1, b = -1;
    for (Index i = 0; i < n; ++i)
      for (Index j = i + 1; j < n; ++j)
        if (!gone[at(i)] && !gone[at(j)] && (a < 0 || d[at(i * n + j)] < d[at(a * n + b)])) a = i, b = j;
    const double ab = d[at(a * n + b)];
    heights.push_back(L >= Linkage::Ward ? std::sqrt(ab) : ab);
    for (Index c = 0; c < n; ++c)
      if (c != a && c != b && !gone[at(c)])
        d[at(a * n + c)] = d[at(c * n + a)] =
            stretch<L>(d[at(a * n + c)], d[at(b * n + c)], ab, weight[at(a)], weight[at(b)], weight[at(c)]);
    weight[at(a)] += weight[at(b)];
    gone[at(b)] = 1;
  }
  return heights;
}

std::vector<double> sorted_heights(std::vector<Merge> merges, Index n, bool sorted = false) {
  std::vector<std::int64_t> children(at(2 * n)), size(at(n));
  std::vector<double> height(at(n - 1));
  CHECK(static_cast<Index>(merges.size()) == n - 1);
  number_merges(merges, n, children.data(), height.data(), size.data(), sorted);
  CHECK(size[at(n - 2)] == n);
  return height;
}

void check_same(const std::vector<double>& a, const std::vector<double>& b) {
  CHECK(a.size() == b.size());
  for (std::size_t t = 0; t < std::min(a.size(), b.size()); ++t) CHECK_NEAR(a[t], b[t], 1e-10);
}

Run with(int threads) {
  Run run;
  run.threads = threads;
  return run;
}

template <Linkage L>
void check_linkage(Index n, Index depth) {
  constexpr bool squares = L >= Linkage::Ward;
  const std::vector<double> x = points(n, depth, static_cast<unsigned long long>(n + depth));
  const Dense<double> X{x.data(), n, depth, Order::C};
  std::vector<double> d = square_of(x, n, depth, !squares);
  const std::vector<double> expected = plain<L>(d, n);
  for (const int threads : {1, 3}) {
    const Run run = with(threads);
    check_same(sorted_heights(linkage_of_rows<L>(run, X, nullptr), n, squares), expected);
    std::vector<double> used = d;
    check_same(sorted_heights(linkage_of_square(run, L, used.data(), n, nullptr), n, squares), expected);
  }
}

}  // namespace

TEST(stored_linkages_merge_the_closest_each_time) {
  for (const Index n : {2, 3, 40, 90}) {
    check_linkage<Linkage::Complete>(n, 2);
    check_linkage<Linkage::Average>(n, 5);
    check_linkage<Linkage::Weighted>(n, 1);
    check_linkage<Linkage::Centroid>(n, 2);
    check_linkage<Linkage::Median>(n, 3);
  }
}

TEST(single_linkage_is_the_spanning_tree) {
  for (const Index n : {2, 17, 90}) {
    const std::vector<double> x = points(n, 2, 5);
    const std::vector<double> d = square_of(x, n, 2, true);
    const std::vector<double> expected = plain<Linkage::Single>(d, n);
    for (const int threads : {1, 2})
      check_same(sorted_heights(spanning_tree(with(threads), {x.data(), n, 2, Order::C}, nullptr), n),
                 expected);
    check_same(sorted_heights(spanning_tree_of_square(with(1), d.data(), n), n), expected);
  }
}

TEST(ward_has_the_heights_of_its_squares) {
  for (const Index n : {2, 5, 80}) {
    const std::vector<double> x = points(n, 3, 9);
    std::vector<double> d = square_of(x, n, 3, false);
    const std::vector<double> expected = plain<Linkage::Ward>(d, n);
    for (const int threads : {1, 2})
      check_same(sorted_heights(ward_linkage(with(threads), {x.data(), n, 3, Order::C}, nullptr), n),
                 expected);
  }
}

TEST(equal_distances_and_infinite_ones_end) {
  const std::vector<double> same(60, 1.0), far{-1e200, 1e200, 0.0, 3e200};
  for (const double height :
       sorted_heights(ward_linkage(with(1), {same.data(), 20, 3, Order::C}, nullptr), 20))
    CHECK(height == 0.0);
  CHECK(ward_linkage(with(1), {far.data(), 4, 1, Order::C}, nullptr).size() == 3);
  CHECK(spanning_tree(with(1), {far.data(), 4, 1, Order::C}, nullptr).size() == 3);
  CHECK(linkage_of_rows<Linkage::Average>(with(1), {far.data(), 4, 1, Order::C}, nullptr).size() == 3);
  CHECK(linkage_of_rows<Linkage::Centroid>(with(1), {far.data(), 4, 1, Order::C}, nullptr).size() == 3);
}

TEST(a_whole_graph_changes_nothing) {
  const Index n = 30;
  const std::vector<double> x = points(n, 2, 3), d = square_of(x, n, 2, true);
  const Dense<double> X{x.data(), n, 2, Order::C};
  std::vector<GraphEdge> edges;
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < i; ++j) edges.push_back({d[at(i * n + j)], i, j});
  const auto heights = [&](Linkage linkage) {
    std::vector<double> found;
    for (const Merge& merge : structured_linkage(with(1), linkage, X, n, edges, nullptr, n - 1))
      found.push_back(merge.height);
    return found;
  };
  check_same(heights(Linkage::Complete), plain<Linkage::Complete>(d, n));
  check_same(heights(Linkage::Average), plain<Linkage::Average>(d, n));
  check_same(heights(Linkage::Ward), plain<Linkage::Ward>(square_of(x, n, 2, false), n));
}
