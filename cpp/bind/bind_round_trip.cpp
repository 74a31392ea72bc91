// Python's door to the product through the rows and back.
#include <nanobind/stl/optional.h>

#include "bind.h"
#include "round_trip.h"

namespace surefit::bind {
namespace {

using CMatrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
void trip(Matrix<T> X, CMatrix V, std::optional<CMatrix> B, std::optional<Vector<double>> weight,
          std::optional<Vector<double>> centre, OutMatrix<double> cross, OutVector<double> sums,
          int threads) {
  const Dense<T> x = dense(X);
  RoundTrip with{V.data(), static_cast<Index>(V.shape(0))};
  expect(static_cast<Index>(V.shape(1)) == x.cols, "V must have one column for each column of X");
  expect(cross.shape(0) == V.shape(0) && cross.shape(1) == V.shape(1) && sums.shape(0) == V.shape(0),
         "cross must have the shape of V, and sums one entry for each of its rows");
  if (B) {
    expect(static_cast<Index>(B->shape(0)) == x.rows && B->shape(1) == V.shape(0),
           "B must have one row for each row of X and one column for each row of V");
    with.B = B->data();
  }
  if (weight) {
    expect(static_cast<Index>(weight->shape(0)) == x.rows, "weight must have one entry for each row of X");
    with.weight = weight->data();
  }
  if (centre) {
    expect(static_cast<Index>(centre->shape(0)) == x.cols, "centre must have one entry for each column of X");
    with.centre = centre->data();
  }
  call(threads, [&](const Run& run) { round_trip(run, x, with, cross.data(), sums.data()); });
}

template <class T>
void define_for(nb::module_& m) {
  m.def("round_trip", &trip<T>, "X"_a.noconvert(), "V"_a.noconvert(), "B"_a.noconvert().none(),
        "weight"_a.noconvert().none(), "centre"_a.noconvert().none(), "cross"_a.noconvert(),
        "sums"_a.noconvert(), "threads"_a);
}

void define(nb::module_& m) {
  define_for<float>(m);
  define_for<double>(m);
}

const Registered round_trips(&define);

}  // namespace
}  // namespace surefit::bind
