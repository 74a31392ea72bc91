// Python's door to the affine maps.
#include "affine.h"
#include "bind.h"

namespace surefit::bind {
namespace {

template <class T, class Map>
bool mapped(Matrix<T> X, Vector<double> first, Vector<double> second,
            nb::ndarray<T, nb::ndim<2>, nb::device::cpu> out, int threads) {
  const Dense<T> x = dense(X), to = dense(Matrix<T>(out));
  expect(x.rows == to.rows && x.cols == to.cols && (x.order == to.order || x.rows * x.cols == 0),
         "out must have the shape and memory order of X");
  expect(static_cast<Index>(first.shape(0)) == x.cols && static_cast<Index>(second.shape(0)) == x.cols,
         "shift and scale must have one entry for each column of X");
  bool finite = true;
  call(threads,
       [&](const Run& run) { finite = affine(run, x, first.data(), second.data(), out.data(), Map{}); });
  return finite;
}

template <class T>
void define_for(nb::module_& m) {
  m.def("standardise", &mapped<T, Standardise>, "X"_a.noconvert(), "shift"_a.noconvert(),
        "scale"_a.noconvert(), "out"_a.noconvert(), "threads"_a);
  m.def("stretch", &mapped<T, Stretch>, "X"_a.noconvert(), "scale"_a.noconvert(), "shift"_a.noconvert(),
        "out"_a.noconvert(), "threads"_a);
}

void define(nb::module_& m) {
  define_for<float>(m);
  define_for<double>(m);
}

const Registered affines(&define);

}  // namespace
}  // namespace surefit::bind
