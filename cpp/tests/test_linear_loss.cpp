// Losses of one score a row against plain loops: both orders and precisions, weights, threads, rows that fill
// no tile; and the exponentials they are made of.
#include "check.h"
#include "linear_excess.h"
#include "linear_loss.h"

using namespace surefit;

namespace {

constexpr double huber[] = {0.7, 0.5, 1.5, 0.25};

struct Plain {
  long double value, slope, bend;
};

Plain plain(int kind, long double y, long double z) {
  if (kind == 0) {
    const long double p = 1 / (1 + std::exp(-z));
    return {std::log1p(std::exp(z)) - y * z, p - y, p * (1 - p)};
  }
  if (kind == 1) return {std::exp(z) - y * z, std::exp(z) - y, std::exp(z)};
  if (kind == 2) return {z + y * std::exp(-z), 1 - y * std::exp(-z), y * std::exp(-z)};
  if (kind == 4) {
    const long double t = huber[0] * huber[1], r = z - y, close = std::min(std::max(r, -t), t);
    const long double curve = static_cast<long double>(huber[2]) / huber[1];
    return {curve * (0.5L * close * close + t * (std::fabs(r) - std::fabs(close))) + huber[3], curve * close,
            std::fabs(r) <= t ? curve : 0.0L};
  }
  const long double side = y > 0 ? 1 : -1, missing = std::max<long double>(1 - side * z, 0);
  return {missing * missing, -2 * side * missing, side * z <= 1 ? 2.0L : 0.0L};
}

std::size_t size(Index count) {
  return static_cast<std::size_t>(count);
}

bool near(double found, long double right, Index rows) {
  return std::fabs(found - static_cast<double>(right)) <= 1e-12 * static_cast<double>(rows + 1);
}

template <class T>
void check_loss(int kind, Index n, Index p) {
  test::Random random(static_cast<unsigned long long>(n * 100 + p * 10 + kind));
  std::vector<T> x(size(n * p)), columns(x);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < p; ++j)
      columns[size(j * n + i)] = x[size(i * p + j)] = static_cast<T>(0.5 * random.uniform());
  std::vector<double> coef(size(p)), y(size(n)), weight(size(n)), offset(size(n));
  for (double& w : coef) w = random.uniform();
  for (Index i = 0; i < n; ++i) {
    y[size(i)] = static_cast<double>(i % 2) + (kind == 2 ? 0.5 : 0.0);
    weight[size(i)] = i % 5 == 0 ? 0.0 : 1.0 + static_cast<double>(i % 3);
    offset[size(i)] = random.uniform();
  }
  long double value = 0, slope = 0, bend = 0;
  std::vector<long double> u(size(p)), h(size(p)), s(size(p)), q(size(p)), gram(size(p * p));
  for (Index i = 0; i < n; ++i) {
    long double z = 0.25L + offset[size(i)];
    for (Index j = 0; j < p; ++j) z += static_cast<long double>(x[size(i * p + j)]) * coef[size(j)];
    const Plain at = plain(kind, y[size(i)], z);
    const long double by = weight[size(i)];
    value += by * at.value, slope += by * at.slope, bend += by * at.bend;
    for (Index j = 0; j < p; ++j) {
      const long double cell = x[size(i * p + j)];
      u[size(j)] += by * at.slope * cell, h[size(j)] += by * at.bend * cell;
      s[size(j)] += by * cell, q[size(j)] += by * cell * cell;
      for (Index k = 0; k < p; ++k) gram[size(j * p + k)] += by * at.bend * cell * x[size(i * p + k)];
    }
  }
  std::vector<double> one;
  for (const Order order : {Order::C, Order::Fortran})
    for (const int threads : {1, 3})
      with_linear_loss(kind, huber, kind == 4 ? 4 : 0, [&](const auto& loss) {
        Run run;
        run.threads = threads;
        const Dense<T> rows{order == Order::C ? x.data() : columns.data(), n, p, order};
        const LinearScores about{coef.data(), 0.25, y.data(), weight.data(), offset.data()};
        double found = -1, alone = -1;
        std::vector<double> gradient(size(p + 1), -1.0), bends(gradient), sums(size(p)), squares(size(p)),
            signs(3);
        linear_loss(run, rows, about, loss, {&alone});
        linear_loss(run, rows, about, loss,
                    {&found, gradient.data(), bends.data(), sums.data(), squares.data(), signs.data()});
        if (one.empty()) one = gradient;
        CHECK(gradient == one);
        CHECK(found == alone);
        CHECK(near(found, value, n) && near(gradient.back(), slope, n) && near(bends.back(), bend, n));
        CHECK(near(signs[0] + signs[1], slope, n) && signs[0] <= 0 && signs[2] >= 0);
        std::vector<double> each(size(n)), slopes(size(n)), curved(size(n)), square(size(p * p)),
            cross(size(p)), side(size(p));
        linear_hessian(run, rows, about, loss, each.data(), slopes.data(), curved.data(),
                       {square.data(), cross.data(), side.data()});
        for (Index j = 0; j < p; ++j) {
          CHECK(near(gradient[size(j)], u[size(j)], n) && near(bends[size(j)], h[size(j)], n));
          CHECK(near(sums[size(j)], s[size(j)], n) && near(squares[size(j)], q[size(j)], n));
          CHECK(near(cross[size(j)], u[size(j)], n) && near(side[size(j)], h[size(j)], n));
        }
        for (Index k = 0; k < p * p; ++k) CHECK(near(square[size(k)], gram[size(k)], n));
        const ExcessSums own = linear_excess(run, rows, about, loss, {});
        CHECK(own.total >= 0 && near(own.total, 0, n) && near(own.energy, signs[2], n));
        const ExcessSums less = linear_excess(run, rows, about, loss, {0.5});
        CHECK(less.total >= 0 && near(less.energy, 0.25L * signs[2], n));
        if constexpr (sizeof(T) == sizeof(double)) {
          std::vector<const double*> apart;
          for (Index j = 0; j < p; ++j) apart.push_back(columns.data() + j * n);
          const ApartColumns same{apart.data(), n, p};
          std::vector<double> again(size(p + 1));
          linear_loss(run, same, about, loss, {&alone, again.data()});
          CHECK(again == gradient && alone == found);
          CHECK(linear_excess(run, same, about, loss, {0.5}).total == less.total);
          std::vector<double> like(size(p * p));
          linear_hessian(run, same, about, loss, each.data(), slopes.data(), curved.data(),
                         {like.data(), cross.data(), side.data()});
          CHECK(like == square);
        }
      });
}

double first(Lanes all) {
  alignas(32) double each[lanes];
  store(each, all);
  return each[0];
}

}  // namespace

TEST(against_plain_loops) {
  for (const Index n : {0, 1, 7, 300, 9000})
    for (int kind = 0; kind < 5; ++kind) {
      check_loss<double>(kind, n, 5);
      check_loss<float>(kind, n, n > 300 ? 2 : 17);
    }
}

TEST(no_columns) {
  check_loss<double>(0, 40, 0);
}

TEST(an_unknown_loss_is_refused) {
  bool refused = false;
  try {
    with_linear_loss(99, nullptr, 0, [](const auto&) {});
  } catch (const std::invalid_argument&) {
    refused = true;
  }
  CHECK(refused);
}

TEST(exponentials_and_logarithms_are_right_to_the_last_digits) {
  test::Random random(1);
  for (int i = 0; i < 20000; ++i) {
    const double x = i % 2 == 0 ? 708 * random.uniform() + 1 : 20 * (random.uniform() - 1);
    CHECK(std::fabs(first(exponential(broadcast(x))) / std::exp(x) - 1) <= 5e-16);
    const double at = std::fabs(random.uniform()), e = i % 2 == 0 ? at : std::exp(-600 * at);
    CHECK(std::fabs(first(log_of_one_plus(broadcast(e))) / std::log1p(e) - 1) <= 7e-16);
  }
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(first(exponential(broadcast(0.0))) == 1 && first(exponential(broadcast(-inf))) == 0);
  CHECK(first(exponential(broadcast(800.0))) == inf && first(exponential(broadcast(inf))) == inf);
  CHECK(std::isnan(first(exponential(broadcast(std::nan(""))))));
  CHECK(first(log_of_one_plus(broadcast(0.0))) == 0);
}
