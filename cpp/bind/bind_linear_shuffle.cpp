// Python's door to shuffled columns of a linear model.
#include "bind.h"
#include "linear_shuffle.h"

namespace surefit::bind {
namespace {

void shuffled(Matrix<double> terms, Vector<double> error, Matrix<Index> order, OutMatrix<double> change,
              OutVector<double> spread, int threads) {
  const Dense<double> table = dense(terms);
  const Dense<Index> rows_of = dense(order);
  const Index rows = table.rows, columns = table.cols, repeats = rows_of.rows;
  expect(table.order == Order::C || columns <= 1, "terms must be in C order");
  expect(rows_of.order == Order::C || repeats <= 1, "order must be in C order");
  expect(static_cast<Index>(error.shape(0)) == rows && rows_of.cols == rows,
         "error and each order must have one entry for each row of terms");
  expect(static_cast<Index>(change.shape(0)) == columns && static_cast<Index>(change.shape(1)) == repeats &&
             static_cast<Index>(spread.shape(0)) == columns,
         "change must be columns by repeats, and spread have one entry a column");
  for (Index i = 0; i < repeats * rows; ++i)
    expect(rows_of.data[i] >= 0 && rows_of.data[i] < rows, "order names a row that is not there");
  call(threads, [&](const Run& run) {
    linear_shuffle(run, table.data, error.data(), rows_of.data, rows, columns, repeats, change.data(),
                   spread.data());
  });
}

void define(nb::module_& m) {
  m.def("linear_shuffle", &shuffled, "terms"_a.noconvert(), "error"_a.noconvert(), "order"_a.noconvert(),
        "change"_a.noconvert(), "spread"_a.noconvert(), "threads"_a);
}

const Registered linear_shuffles(&define);

}  // namespace
}  // namespace surefit::bind
