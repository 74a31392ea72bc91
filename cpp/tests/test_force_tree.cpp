// Forces from a tree of points against all pairs: with angle 0 they are the same.
#include "check.h"
#include "force_tree.h"

using namespace surefit;

namespace {

template <int D>
void check(Index n, bool twins) {
  test::Random random(static_cast<unsigned long long>(n));
  const auto at = [](Index i) { return static_cast<std::size_t>(i); };
  std::vector<double> y(at(n * D)), mass(at(n)), repulsion(at(n * D)), attraction(at(n * D)),
      again(at(n * D));
  for (double& v : y) v = 3 * random.uniform();
  for (double& m : mass) m = 1.5 + random.uniform();
  if (twins)
    for (Index i = 0; i + 1 < n; i += 2)
      for (int d = 0; d < D; ++d) y[at((i + 1) * D + d)] = y[at(i * D + d)];
  std::vector<std::int64_t> starts(at(n + 1)), ends;
  std::vector<double> weight;
  for (Index i = 0; i < n; ++i) {
    ends.push_back((i + 1) % n), weight.push_back(0.5);
    starts[at(i + 1)] = static_cast<std::int64_t>(ends.size());
  }
  Run run, three;
  three.threads = 3;
  const double sum = t_forces<D>(run, y.data(), mass.data(), n, starts.data(), ends.data(), weight.data(),
                                 0.0, repulsion.data(), attraction.data());
  t_forces<D>(three, y.data(), mass.data(), n, starts.data(), ends.data(), weight.data(), 0.0, again.data(),
              attraction.data());
  CHECK(repulsion == again);
  double right = 0;
  for (Index i = 0; i < n; ++i) {
    double force[D] = {};
    for (Index j = 0; j < n; ++j) {
      double square = 0;
      for (int d = 0; d < D; ++d) {
        const double apart = y[at(i * D + d)] - y[at(j * D + d)];
        square += apart * apart;
      }
      const double kernel = 1 / (1 + square);
      if (i != j) right += mass[at(i)] * mass[at(j)] * kernel;
      for (int d = 0; d < D; ++d)
        force[d] += mass[at(i)] * mass[at(j)] * kernel * kernel * (y[at(i * D + d)] - y[at(j * D + d)]);
    }
    for (int d = 0; d < D; ++d)
      CHECK(std::abs(repulsion[at(i * D + d)] - force[d]) < 1e-9 * (1 + std::abs(force[d])));
  }
  CHECK(std::abs(sum - right) < 1e-9 * (1 + right));
}

}  // namespace

TEST(all_pairs) {
  for (const Index n : {1, 2, 50, 300}) {
    check<2>(n, false);
    check<3>(n, false);
  }
  check<2>(60, true);
}
