// Python's door to the kernels of centres: nearest ones, sums of clusters, and seeding.
#include <nanobind/stl/optional.h>

#include "bind.h"
#include "cluster_sums.h"
#include "nearest_centre.h"
#include "seeding.h"

namespace surefit::bind {
namespace {

using Weight = std::optional<Vector<double>>;
using Labels = OutVector<std::int32_t>;

template <class T>
Dense<T> rows_of(const Matrix<T>& X) {
  const Dense<T> x = dense(X);
  expect(x.order == Order::C || x.rows <= 1 || x.cols <= 1, "X must be in C order");
  return x;
}

const double* table_of(const Matrix<double>& centres, Index cols) {
  const Dense<double> c = dense(centres);
  expect(c.rows >= 1, "there must be a centre");
  expect(c.cols == cols, "centres must have the columns of X");
  expect(c.order == Order::C || c.rows <= 1 || c.cols <= 1, "centres must be in C order");
  return c.data;
}

const double* weight_of(const Weight& weight, Index rows) {
  expect(!weight || static_cast<Index>(weight->shape(0)) == rows, "weight must have one entry for each row");
  return weight ? weight->data() : nullptr;
}

void expect_labels(const std::int32_t* labels, Index rows, Index low, Index count) {
  for (Index i = 0; i < rows; ++i)
    expect(labels[i] >= low && labels[i] < count, "a label is no number of a cluster");
}

template <class T>
std::int64_t nearest(Matrix<T> X, Matrix<double> centres, Labels labels,
                     std::optional<OutVector<float>> upper, std::optional<OutMatrix<float>> lower,
                     Weight moved, int threads) {
  const Dense<T> x = rows_of(X);
  const double* table = table_of(centres, x.cols);
  const Index count = static_cast<Index>(centres.shape(0));
  expect(static_cast<Index>(labels.shape(0)) == x.rows, "labels must have one entry for each row of X");
  expect(bool(upper) == bool(lower) && (upper || !moved), "bounds come together");
  CentreBounds bounds;
  bool each = false;
  if (upper) {
    each = static_cast<Index>(lower->shape(1)) == count && count > 1;
    expect(static_cast<Index>(upper->shape(0)) == x.rows && static_cast<Index>(lower->shape(0)) == x.rows &&
               (each || lower->shape(1) == 1),
           "bounds must have one row for each row of X, and lower ones one column, or one for each centre");
    bounds = {upper->data(), lower->data(), nullptr};
  }
  if (moved) {
    expect(static_cast<Index>(moved->shape(0)) == count, "moved must have one entry for each centre");
    bounds.moved = moved->data();
    expect_labels(labels.data(), x.rows, 0, count);
  }
  std::int64_t computed = 0;
  call(threads, [&](const Run& run) {
    computed = each ? nearest_by_each_bound(run, x, table, count, bounds, labels.data())
                    : nearest_centre(run, x, table, count, bounds, labels.data());
  });
  return computed;
}

template <class T>
std::int64_t sums(Matrix<T> X, Weight weight, std::optional<Vector<std::int32_t>> before,
                  Vector<std::int32_t> after, OutMatrix<double> high, OutMatrix<double> low, int threads) {
  const Dense<T> x = rows_of(X);
  const Index count = static_cast<Index>(high.shape(0));
  expect(low.shape(0) == high.shape(0) && low.shape(1) == high.shape(1) &&
             static_cast<Index>(high.shape(1)) == x.cols + 1,
         "sums must have one column more than X");
  expect(static_cast<Index>(after.shape(0)) == x.rows && (!before || before->shape(0) == after.shape(0)),
         "labels must have one entry for each row of X");
  expect_labels(after.data(), x.rows, -1, count);
  if (before) expect_labels(before->data(), x.rows, -1, count);
  const double* w = weight_of(weight, x.rows);
  std::int64_t changed = 0;
  call(threads, [&](const Run& run) {
    changed = add_to_clusters(run, x, w, before ? before->data() : nullptr, after.data(), count,
                              {high.data(), low.data()});
  });
  return changed;
}

template <class T>
double cost(Matrix<T> X, Weight weight, Matrix<double> centres, Vector<std::int32_t> labels,
            std::optional<OutVector<double>> squares, int threads) {
  const Dense<T> x = rows_of(X);
  const double* table = table_of(centres, x.cols);
  expect(static_cast<Index>(labels.shape(0)) == x.rows && (!squares || squares->shape(0) == labels.shape(0)),
         "labels and squares must have one entry for each row of X");
  expect_labels(labels.data(), x.rows, 0, static_cast<Index>(centres.shape(0)));
  const double* w = weight_of(weight, x.rows);
  double total = 0;
  call(threads, [&](const Run& run) {
    total = cluster_cost(run, x, w, table, labels.data(), squares ? squares->data() : nullptr);
  });
  return total;
}

template <class T>
void potentials(Matrix<T> X, Weight weight, Vector<double> origin, double scale, Matrix<double> candidates,
                Vector<float> closest, OutVector<double> out, int threads) {
  const Dense<T> x = rows_of(X);
  const double* table = table_of(candidates, x.cols);
  const Index count = static_cast<Index>(candidates.shape(0));
  expect(count <= 8 && out.shape(0) == candidates.shape(0), "there must be one to eight candidates");
  expect(static_cast<Index>(origin.shape(0)) == x.cols && static_cast<Index>(closest.shape(0)) == x.rows,
         "origin and closest must fit X");
  const double* w = weight_of(weight, x.rows);
  call(threads, [&](const Run& run) {
    seeding_potentials(run, x, w, {origin.data(), scale}, table, count, closest.data(), out.data());
  });
}

template <class T>
void accept(Matrix<T> X, Weight weight, Vector<double> origin, double scale, Matrix<double> centre,
            OutVector<float> closest, OutVector<double> totals, int threads) {
  const Dense<T> x = rows_of(X);
  const double* table = table_of(centre, x.cols);
  expect(static_cast<Index>(origin.shape(0)) == x.cols && static_cast<Index>(closest.shape(0)) == x.rows &&
             static_cast<Index>(totals.shape(0)) == (x.rows + seeding_rows - 1) / seeding_rows,
         "origin, closest and totals must fit X");
  const double* w = weight_of(weight, x.rows);
  call(threads, [&](const Run& run) {
    seeding_accept(run, x, w, {origin.data(), scale}, table, closest.data(), totals.data());
  });
}

template <class T>
void define_for(nb::module_& m) {
  m.def("nearest_centre", &nearest<T>, "X"_a.noconvert(), "centres"_a.noconvert(), "labels"_a.noconvert(),
        "upper"_a.noconvert().none(), "lower"_a.noconvert().none(), "moved"_a.noconvert().none(),
        "threads"_a);
  m.def("cluster_sums", &sums<T>, "X"_a.noconvert(), "weight"_a.noconvert().none(),
        "before"_a.noconvert().none(), "after"_a.noconvert(), "high"_a.noconvert(), "low"_a.noconvert(),
        "threads"_a);
  m.def("cluster_cost", &cost<T>, "X"_a.noconvert(), "weight"_a.noconvert().none(), "centres"_a.noconvert(),
        "labels"_a.noconvert(), "squares"_a.noconvert().none(), "threads"_a);
  m.def("seeding_potentials", &potentials<T>, "X"_a.noconvert(), "weight"_a.noconvert().none(),
        "origin"_a.noconvert(), "scale"_a, "candidates"_a.noconvert(), "closest"_a.noconvert(),
        "out"_a.noconvert(), "threads"_a);
  m.def("seeding_accept", &accept<T>, "X"_a.noconvert(), "weight"_a.noconvert().none(),
        "origin"_a.noconvert(), "scale"_a, "centre"_a.noconvert(), "closest"_a.noconvert(),
        "totals"_a.noconvert(), "threads"_a);
}

void define(nb::module_& m) {
  define_for<float>(m);
  define_for<double>(m);
}

const Registered centres(&define);

}  // namespace
}  // namespace surefit::bind
