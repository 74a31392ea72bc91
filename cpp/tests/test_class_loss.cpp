// The softmax loss against plain loops: both orders and precisions, weights, threads, rows that fill no tile.
#include "check.h"
#include "class_loss.h"

using namespace surefit;

namespace {

template <class T>
void check_loss(Index n, Index p, Index classes) {
  test::Random random(static_cast<unsigned long long>(n * 100 + p * 10 + classes));
  const auto size = [](Index count) { return static_cast<std::size_t>(count); };
  std::vector<T> x(size(n * p)), columns(x);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < p; ++j)
      columns[size(j * n + i)] = x[size(i * p + j)] = static_cast<T>(random.uniform() - 0.5);
  std::vector<double> coef(size(p * classes)), intercept(size(classes)), weight(size(n));
  std::vector<std::int64_t> code(size(n));
  for (double& w : coef) w = 4 * random.uniform() - 2;
  for (double& b : intercept) b = random.uniform();
  for (Index i = 0; i < n; ++i) {
    code[size(i)] = i % classes;
    weight[size(i)] = i % 5 == 0 ? 0.0 : 1.0 + static_cast<double>(i % 3);
  }
  long double value = 0;
  const Index pairs = classes * (classes + 1) / 2;
  std::vector<long double> right(size((p + 1) * classes), 0.0L), bent(size((p + 1) * pairs), 0.0L);
  for (Index i = 0; i < n; ++i) {
    std::vector<long double> z(size(classes));
    long double total = 0, target = 0;
    for (Index k = 0; k < classes; ++k) {
      z[size(k)] = intercept[size(k)];
      for (Index j = 0; j < p; ++j)
        z[size(k)] += static_cast<long double>(x[size(i * p + j)]) * coef[size(j * classes + k)];
      total += std::exp(z[size(k)]);
    }
    for (Index k = 0; k < classes; ++k) {
      const long double y = code[size(i)] == k ? 1.0L : 0.0L;
      target += y * z[size(k)];
      const long double slope = weight[size(i)] * (std::exp(z[size(k)]) / total - y);
      for (Index j = 0; j < p; ++j) right[size(j * classes + k)] += slope * x[size(i * p + j)];
      right[size(p * classes + k)] += slope;
    }
    Index pair = 0;
    for (Index a = 0; a < classes; ++a)
      for (Index b = a; b < classes; ++b, ++pair) {
        const long double one = std::exp(z[size(a)]) / total, other = std::exp(z[size(b)]) / total;
        const long double bend = weight[size(i)] * one * ((a == b ? 1.0L : 0.0L) - other);
        for (Index j = 0; j < p; ++j) bent[size(j * pairs + pair)] += bend * x[size(i * p + j)];
        bent[size(p * pairs + pair)] += bend;
      }
    value += weight[size(i)] * (std::log(total) - target);
  }
  std::vector<double> one;
  for (const Order order : {Order::C, Order::Fortran})
    for (const int threads : {1, 3}) {
      Run run;
      run.threads = threads;
      const Dense<T> rows{order == Order::C ? x.data() : columns.data(), n, p, order};
      const ClassLoss loss{classes, coef.data(), intercept.data(), code.data(), weight.data(), nullptr};
      double found = -1;
      std::vector<double> gradient(right.size(), -1.0), again(gradient), bends(bent.size(), -1.0);
      std::vector<double> sums(size(p)), squares(size(p)), signs(3);
      class_loss(run, rows, loss, {&found, again.data()});
      class_loss(run, rows, loss,
                 {&found, gradient.data(), bends.data(), sums.data(), squares.data(), signs.data()});
      if (one.empty()) one = gradient;
      CHECK(gradient == one);
      CHECK(gradient == again);
      const double near = 1e-12 * static_cast<double>(n + 1);
      CHECK(std::fabs(found - static_cast<double>(value)) <= 1e-12 * (1 + std::fabs(found)));
      for (std::size_t k = 0; k < right.size(); ++k)
        CHECK(std::fabs(gradient[k] - static_cast<double>(right[k])) <= near);
      for (std::size_t k = 0; k < bent.size(); ++k)
        CHECK(std::fabs(bends[k] - static_cast<double>(bent[k])) <= near);
      double total = 0, square = 0;
      for (Index i = 0; i < n && p > 0; ++i) {
        const double at = static_cast<double>(x[size(i * p)]);
        total += weight[size(i)] * at, square += weight[size(i)] * at * at;
      }
      if (p > 0) CHECK(std::fabs(sums[0] - total) <= near && std::fabs(squares[0] - square) <= near);
      CHECK(std::fabs(signs[0] + signs[1]) <= near && signs[0] <= 0 && signs[2] >= 0);
    }
}

}  // namespace

TEST(against_plain_loops) {
  for (const Index n : {0, 1, 7, 300, 20000})
    for (const Index classes : {2, 3, 10, 13}) {
      check_loss<double>(n, 5, classes);
      check_loss<float>(n, n > 300 ? 2 : 17, classes);
    }
}

TEST(no_columns) {
  check_loss<double>(40, 0, 3);
}
