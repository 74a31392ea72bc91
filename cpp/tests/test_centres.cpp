// Nearest centres with and without bounds, sums of clusters and seeding against plain loops.
#include "check.h"
#include "cluster_sums.h"
#include "nearest_centre.h"
#include "seeding.h"

using namespace surefit;

namespace {

using Doubles = std::vector<double>;
using Labels = std::vector<std::int32_t>;

Doubles numbers(std::size_t count, unsigned long long seed, double grid = 0) {
  test::Random random(seed);
  Doubles all(count);
  for (double& each : all) each = grid > 0 ? std::round(random.uniform() / grid) * grid : random.uniform();
  return all;
}

Labels by_loops(const Doubles& x, const Doubles& centres, Index cols) {
  Labels labels;
  for (std::size_t i = 0; i < x.size(); i += static_cast<std::size_t>(cols)) {
    double best = std::numeric_limits<double>::infinity();
    std::int32_t place = 0;
    for (std::size_t c = 0; c < centres.size(); c += static_cast<std::size_t>(cols)) {
      const double square = exact_square(x.data() + i, centres.data() + c, cols);
      if (square < best)
        best = square, place = static_cast<std::int32_t>(c) / static_cast<std::int32_t>(cols);
    }
    labels.push_back(place);
  }
  return labels;
}

// Centres wander; every way has the labels of plain loops after each step.
void check_wandering(Index n, Index p, Index k, double grid, double step) {
  const Doubles x = numbers(static_cast<std::size_t>(n * p), 1, grid);
  Doubles centres = numbers(static_cast<std::size_t>(k * p), 2, grid);
  const Dense<double> rows{x.data(), n, p, Order::C};
  const auto size = static_cast<std::size_t>(n);
  std::vector<float> upper(size), lower(size), each_upper(size), each_lower(static_cast<std::size_t>(n * k));
  Labels plain(size), skipping(size), each(size);
  Doubles moved(static_cast<std::size_t>(k));
  Run run;
  run.threads = 3;
  for (int turn = 0; turn < 5; ++turn) {
    const double* past = turn == 0 ? nullptr : moved.data();
    nearest_centre(run, rows, centres.data(), k, {}, plain.data());
    nearest_centre(run, rows, centres.data(), k, {upper.data(), lower.data(), past}, skipping.data());
    nearest_by_each_bound(run, rows, centres.data(), k, {each_upper.data(), each_lower.data(), past},
                          each.data());
    CHECK(plain == by_loops(x, centres, p));
    CHECK(skipping == plain);
    CHECK(each == plain);
    Doubles next = numbers(centres.size(), static_cast<unsigned long long>(turn) + 7);
    for (std::size_t e = 0; e < next.size(); ++e) next[e] = centres[e] + step * next[e];
    for (Index c = 0; c < k; ++c)
      moved[static_cast<std::size_t>(c)] =
          std::sqrt(exact_square(next.data() + c * p, centres.data() + c * p, p)) * (1 + 1e-12);
    centres = next;
  }
}

}  // namespace

TEST(every_way_gives_the_labels_of_plain_loops) {
  for (const Index p : {1, 2, 7, 8, 20})
    for (const Index k : {1, 2, 16, 17, 40}) check_wandering(test::fast() ? 100 : 3000, p, k, 0.0, 0.01);
}

TEST(ties_go_to_the_first) {
  check_wandering(500, 2, 9, 0.25, 0.0);
}

TEST(far_from_zero_and_of_any_scale) {
  for (const double scale : {1e-200, 1.0, 1e100}) {
    const double x[] = {1e3 * scale, 1001 * scale, 1005 * scale}, c[] = {1000.4 * scale, 1004 * scale};
    Labels labels(3);
    nearest_centre(Run{}, Dense<double>{x, 3, 1, Order::C}, c, 2, {}, labels.data());
    CHECK(labels == (Labels{0, 0, 1}));
  }
}

TEST(sums_that_come_and_go_leave_nothing) {
  const Index n = 9000, p = 5, k = 3;
  const Doubles x = numbers(static_cast<std::size_t>(n * p), 3);
  const Dense<double> rows{x.data(), n, p, Order::C};
  Labels first, second;
  for (Index i = 0; i < n; ++i) first.push_back(static_cast<std::int32_t>(i % k)), second.push_back(0);
  Doubles high(static_cast<std::size_t>(k * (p + 1)), 0.0), low(high), whole(high), rest(high);
  Run run;
  run.threads = 2;
  add_to_clusters(run, rows, nullptr, nullptr, first.data(), k, {high.data(), low.data()});
  add_to_clusters(run, rows, nullptr, first.data(), second.data(), k, {high.data(), low.data()});
  add_to_clusters(run, rows, nullptr, nullptr, second.data(), k, {whole.data(), rest.data()});
  for (std::size_t e = 0; e < high.size(); ++e) CHECK(high[e] + low[e] == whole[e] + rest[e]);
  CHECK(high[static_cast<std::size_t>(p)] == static_cast<double>(n));
}

TEST(a_row_that_is_a_centre_is_at_distance_zero) {
  const Doubles x = numbers(40, 4);
  const Dense<double> rows{x.data(), 10, 4, Order::C};
  const Doubles origin(4, 0.3);
  std::vector<float> closest(10, std::numeric_limits<float>::infinity());
  double total = 0, potentials[3];
  const Scaled scaled{origin.data(), 0.5};
  seeding_accept(Run{}, rows, nullptr, scaled, x.data() + 12, closest.data(), &total);
  CHECK(closest[3] == 0.0f && total > 0);
  seeding_potentials(Run{}, rows, nullptr, scaled, x.data() + 8, 3, closest.data(), potentials);
  CHECK_NEAR(potentials[1], total, 1e-12);
  CHECK(potentials[0] < total);
}
