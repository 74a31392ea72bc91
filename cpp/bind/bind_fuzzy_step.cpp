// Python's door to fuzzy c-means and to the swaps of medoids.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include "bind.h"
#include "fuzzy_step.h"
#include "medoid_swaps.h"

namespace surefit::bind {
namespace {

using Weight = std::optional<Vector<double>>;

template <class T>
double step(Matrix<T> X, Weight weight, Matrix<double> centres, double power, OutMatrix<double> sums,
            std::optional<OutMatrix<double>> shares, int threads) {
  const Dense<T> x = dense(X);
  const Dense<double> table = dense(centres);
  expect(x.order == Order::C || x.rows <= 1 || x.cols <= 1, "X must be in C order");
  expect(table.order == Order::C || table.rows <= 1 || table.cols <= 1, "centres must be in C order");
  expect(table.rows >= 1 && table.cols == x.cols, "centres must have the columns of X");
  expect(static_cast<Index>(sums.shape(0)) == table.rows && static_cast<Index>(sums.shape(1)) == x.cols + 1,
         "sums must have one row for each centre and one column more than X");
  expect(!shares || (static_cast<Index>(shares->shape(0)) == x.rows &&
                     static_cast<Index>(shares->shape(1)) == table.rows),
         "memberships must have one row for each of X and one column for each centre");
  expect(!weight || static_cast<Index>(weight->shape(0)) == x.rows,
         "weight must have one entry for each row");
  expect(power > 1, "the fuzzifier must be above 1");
  FuzzyOut out{sums.data(), 0};
  call(threads, [&](const Run& run) {
    fuzzy_step(run, x, weight ? weight->data() : nullptr, table.data, table.rows, power, out,
               shares ? shares->data() : nullptr);
  });
  return out.cost;
}

std::pair<std::int64_t, std::int64_t> swaps(Matrix<double> turned, Weight weight,
                                            OutVector<std::int64_t> medoids, Index limit) {
  const Dense<double> d = dense(turned);
  expect(d.rows == d.cols && (d.order == Order::C || d.rows <= 1), "distances must be square, in C order");
  expect(!weight || static_cast<Index>(weight->shape(0)) == d.rows,
         "weight must have one entry for each row");
  const Index count = static_cast<Index>(medoids.shape(0));
  expect(count >= 1, "there must be a medoid");
  for (Index m = 0; m < count; ++m)
    expect(medoids.data()[m] >= 0 && medoids.data()[m] < d.rows, "a medoid is no number of a row");
  std::pair<std::int64_t, std::int64_t> found{0, 0};
  call(1, [&](const Run& run) {
    found.first = medoid_swaps(run, d.data, weight ? weight->data() : nullptr, d.rows, count, limit,
                               medoids.data(), &found.second);
  });
  return found;
}

template <class T>
void define_for(nb::module_& m) {
  m.def("fuzzy_step", &step<T>, "X"_a.noconvert(), "weight"_a.noconvert().none(), "centres"_a.noconvert(),
        "power"_a, "sums"_a.noconvert(), "shares"_a.noconvert().none(), "threads"_a);
}

void define(nb::module_& m) {
  define_for<float>(m);
  define_for<double>(m);
  m.def("medoid_swaps", &swaps, "turned"_a.noconvert(), "weight"_a.noconvert().none(),
        "medoids"_a.noconvert(), "limit"_a);
}

const Registered fuzzy(&define);

}  // namespace
}  // namespace surefit::bind
