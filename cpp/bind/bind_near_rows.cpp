// Python's door to near rows by comparing all pairs.
#include "bind_near.h"
#include "near_rows.h"

namespace surefit::bind {
namespace {

void expect_rows(const Dense<double>& X, const Dense<double>& Q, std::size_t centre, bool own) {
  expect(X.order == Order::C && Q.order == Order::C, "X and Q must be in C order");
  expect(X.rows > 0 && X.cols == Q.cols && static_cast<Index>(centre) == X.cols,
         "X must have rows, and X, Q and centre as many columns");
  expect(!own || X.rows == Q.rows, "with own, Q must be X");
}

void nearest(Matrix<double> X, Vector<double> centre, double scale, Matrix<double> Q, bool own,
             OutMatrix<std::int64_t> index, OutMatrix<double> value, int threads) {
  const Dense<double> rows = dense(X), queries = dense(Q);
  expect_rows(rows, queries, centre.shape(0), own);
  const Index k = static_cast<Index>(index.shape(1));
  expect(k >= 1 && k <= rows.rows, "k must lie between 1 and the number of rows of X");
  expect(static_cast<Index>(index.shape(0)) == queries.rows &&
             static_cast<Index>(value.shape(0)) == queries.rows && static_cast<Index>(value.shape(1)) == k,
         "index and value must have one row for each query, and k columns");
  call(threads, [&](const Run& run) {
    rows_nearest(run, rows, centre.data(), scale, queries, k, own, index.data(), value.data());
  });
}

nb::tuple within(Matrix<double> X, Vector<double> centre, double scale, Matrix<double> Q,
                 Vector<double> radius, bool own, bool by_distance, int threads) {
  const Dense<double> rows = dense(X), queries = dense(Q);
  expect_rows(rows, queries, centre.shape(0), own);
  expect(static_cast<Index>(radius.shape(0)) == queries.rows, "radius must have one entry for each query");
  NearLists lists;
  call(threads, [&](const Run& run) {
    lists = rows_within(run, rows, centre.data(), scale, queries, radius.data(), own, by_distance);
  });
  return arrays_of(lists, threads);
}

void define(nb::module_& m) {
  m.def("rows_nearest", &nearest, "X"_a.noconvert(), "centre"_a.noconvert(), "scale"_a, "Q"_a.noconvert(),
        "own"_a, "index"_a.noconvert(), "value"_a.noconvert(), "threads"_a);
  m.def("rows_within", &within, "X"_a.noconvert(), "centre"_a.noconvert(), "scale"_a, "Q"_a.noconvert(),
        "radius"_a.noconvert(), "own"_a, "by_distance"_a, "threads"_a);
}

const Registered rows(&define);

}  // namespace
}  // namespace surefit::bind
