// Both maps in both orders against one cell at a time; a cell that is not finite is noticed wherever it is.
#include "affine.h"
#include "check.h"

using namespace surefit;

template <class T, class Map>
void check_map(Index rows, Index cols, Order order, int threads) {
  test::Random random(7);
  const auto size = static_cast<std::size_t>(rows * cols), width = static_cast<std::size_t>(cols);
  std::vector<T> x(size), out(size);
  std::vector<double> first(width), second(width);
  for (T& value : x) value = static_cast<T>(random.uniform());
  for (std::size_t j = 0; j < width; ++j) first[j] = random.uniform(), second[j] = 2.0 + random.uniform();
  Run run;
  run.threads = threads;
  const Dense<T> view{x.data(), rows, cols, order};
  auto mapped = [&](Index i, Index j) {
    const auto c = static_cast<std::size_t>(j);
    return static_cast<T>(Map{}(static_cast<double>(view(i, j)), first[c], second[c]));
  };
  CHECK(affine(run, view, first.data(), second.data(), out.data(), Map{}));
  const Dense<T> found{out.data(), rows, cols, order};
  bool equal = true;
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) equal = equal && found(i, j) == mapped(i, j);
  CHECK(equal);
  using Limits = std::numeric_limits<T>;
  for (const T bad : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()})
    for (const std::size_t at : {std::size_t{0}, size / 2, size - 1}) {
      const T kept = x[at];
      x[at] = bad;
      CHECK(!affine(run, view, first.data(), second.data(), out.data(), Map{}));
      x[at] = kept;
    }
  CHECK(affine(run, view, first.data(), second.data(), out.data(), Map{}));
  CHECK(affine(run, view, first.data(), second.data(), x.data(), Map{}));  // in place
  CHECK(x == out);
}

template <class T, class Map>
void check_shapes() {
  for (const Index rows : {1, 2, 65, 3001})
    for (const Index cols : {1, 3, 100, 300})
      for (const Order order : {Order::C, Order::Fortran}) check_map<T, Map>(rows, cols, order, 2);
  check_map<T, Map>(70001, 3, Order::C, 3);
  check_map<T, Map>(70001, 3, Order::Fortran, 3);
}

TEST(standardise) {
  check_shapes<double, Standardise>();
  check_shapes<float, Standardise>();
}

TEST(stretch) {
  check_shapes<double, Stretch>();
  check_shapes<float, Stretch>();
}

TEST(no_cells) {
  const double one = 1.0;
  CHECK(affine(Run{}, Dense<double>{nullptr, 0, 1, Order::C}, &one, &one, static_cast<double*>(nullptr),
               Standardise{}));
}
