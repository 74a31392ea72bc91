// The round trip against plain loops in long double: both orders, weights, centres, several directions, any
// number of threads.
#include "check.h"
#include "round_trip.h"

using namespace surefit;

namespace {

struct Result {
  std::vector<double> cross, sums;
  bool operator==(const Result&) const = default;
};

Result plain(const Dense<double>& x, const RoundTrip& trip) {
  Result out{std::vector<double>(static_cast<std::size_t>(trip.k * x.cols)),
             std::vector<double>(static_cast<std::size_t>(trip.k))};
  for (Index c = 0; c < trip.k; ++c) {
    std::vector<long double> cross(static_cast<std::size_t>(x.cols));
    long double sum = 0;
    for (Index i = 0; i < x.rows; ++i) {
      const long double w = trip.weight == nullptr ? 1.0L : trip.weight[i];
      if (w == 0) continue;
      long double u = trip.B == nullptr ? 0.0L : trip.B[i * trip.k + c];
      auto at = [&](Index j) {
        return static_cast<long double>(x(i, j)) - (trip.centre == nullptr ? 0.0 : trip.centre[j]);
      };
      for (Index j = 0; j < x.cols; ++j) u -= at(j) * trip.V[c * x.cols + j];
      for (Index j = 0; j < x.cols; ++j) cross[static_cast<std::size_t>(j)] += w * u * at(j);
      sum += w * u;
    }
    for (Index j = 0; j < x.cols; ++j)
      out.cross[static_cast<std::size_t>(c * x.cols + j)] =
          static_cast<double>(cross[static_cast<std::size_t>(j)]);
    out.sums[static_cast<std::size_t>(c)] = static_cast<double>(sum);
  }
  return out;
}

void check_trip(Index n, Index p, Index k, bool beside, bool weighted, double offset) {
  test::Random random(static_cast<unsigned long long>(n * 1000 + p * 10 + k));
  auto filled = [&](Index size) {
    std::vector<double> values(static_cast<std::size_t>(size));
    for (double& value : values) value = random.uniform();
    return values;
  };
  std::vector<double> x = filled(n * p), v = filled(k * p), b = filled(n * k), weight = filled(n),
                      centre = filled(p);
  for (double& value : x) value += offset;
  for (double& value : centre) value += offset;
  for (double& value : weight) value = std::fmax(0.0, value + 0.5);
  std::vector<double> columns(x.size());
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < p; ++j)
      columns[static_cast<std::size_t>(j * n + i)] = x[static_cast<std::size_t>(i * p + j)];
  RoundTrip trip{v.data(), k};
  if (beside) trip.B = b.data();
  if (weighted) trip.weight = weight.data();
  if (offset != 0) trip.centre = centre.data();
  const Dense<double> rows{x.data(), n, p, Order::C}, turned{columns.data(), n, p, Order::Fortran};
  const Result right = plain(rows, trip);
  for (const Dense<double>& form : {rows, turned}) {
    Result one;
    for (const int threads : {1, 2, 4}) {
      Run run;
      run.threads = threads;
      Result found{std::vector<double>(right.cross.size(), 7.0), std::vector<double>(right.sums.size(), 7.0)};
      round_trip(run, form, trip, found.cross.data(), found.sums.data());
      if (threads == 1)
        one = found;
      else
        CHECK(found == one);
    }
    const double scale = static_cast<double>(n * p) + 1.0;
    for (std::size_t i = 0; i < right.cross.size(); ++i)
      CHECK(std::fabs(one.cross[i] - right.cross[i]) <= 1e-12 * scale);
    for (std::size_t i = 0; i < right.sums.size(); ++i)
      CHECK(std::fabs(one.sums[i] - right.sums[i]) <= 1e-12 * scale);
  }
}

}  // namespace

TEST(every_shape) {
  for (const Index n : {0, 1, 3, 4, 127, 129, 1000})
    for (const Index p : {1, 7, 8, 33})
      for (const Index k : {1, 3})
        for (const bool weighted : {false, true})
          check_trip(n, p, k, n % 2 == 0 || weighted, weighted, p == 7 ? 1e3 : 0.0);
}

TEST(many_rows_and_many_columns) {
  check_trip(20'000, 5, 2, true, true, 0.0);
  check_trip(20, 3000, 1, false, false, 1.0);
}
