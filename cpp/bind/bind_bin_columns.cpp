// Python's door to columns as codes of one byte.
#include "bind.h"
#include "binned_columns.h"

namespace surefit::bind {
namespace {

using Codes = nb::ndarray<std::uint8_t, nb::ndim<2>, nb::f_contig, nb::device::cpu>;

template <class T>
void bin(Matrix<T> X, Vector<double> edges, Vector<std::int64_t> start, Vector<std::int64_t> levels,
         Codes codes, int threads) {
  const Dense<T> table = dense(X);
  const auto width = static_cast<std::size_t>(table.cols);
  expect(start.shape(0) == width + 1 && levels.shape(0) == width,
         "start and levels must fit the columns of X");
  expect(codes.shape(0) == X.shape(0) && codes.shape(1) == width, "codes must have the shape of X");
  for (std::size_t j = 0; j < width; ++j) {
    const auto count = start.data()[j + 1] - start.data()[j];
    expect(count >= 0 && count < kMostBins && levels.data()[j] <= kMostBins,
           "a column may have at most 255 bins");
  }
  expect(start.data()[0] == 0 && start.data()[width] == static_cast<std::int64_t>(edges.shape(0)),
         "start must end where the edges do");
  const BinEdges bins{edges.data(), start.data(), levels.data()};
  call(threads, [&](const Run& run) { bin_columns(run, table, bins, codes.data()); });
}

template <class T>
void define_for(nb::module_& m) {
  m.def("bin_columns", &bin<T>, "X"_a.noconvert(), "edges"_a.noconvert(), "start"_a.noconvert(),
        "levels"_a.noconvert(), "codes"_a.noconvert(), "threads"_a);
}

void define(nb::module_& m) {
  define_for<float>(m);
  define_for<double>(m);
}

const Registered bin_columns_(&define);

}  // namespace
}  // namespace surefit::bind
