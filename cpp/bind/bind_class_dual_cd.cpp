// Python's door to dual coordinate descent for all classes at once.
#include "bind_samples.h"
#include "class_dual_cd.h"

namespace surefit::bind {
namespace {

using Floats = Vector<double>;
using Codes = Vector<std::int64_t>;

template <class Samples>
nb::tuple descend(Samples x, const Codes& y, const Floats& cost, Index classes, OutVector<double>& a,
                  OutVector<double>& w, double tolerance, Index most, std::uint64_t seed) {
  const auto rows = static_cast<std::size_t>(x.rows()), wide = static_cast<std::size_t>(classes);
  expect(classes > 1, "classes must be at least 2");
  expect(y.shape(0) == rows && cost.shape(0) == rows && a.shape(0) == rows * wide,
         "y and cost must have one entry for each row of X, and a one for each class of each row");
  expect(w.shape(0) == wide * static_cast<std::size_t>(x.cols()),
         "w must have one entry for each column of X in each class");
  for (std::size_t i = 0; i < rows; ++i)
    expect(y.data()[i] >= 0 && y.data()[i] < classes, "y must hold codes of classes");
  DualDescent done;
  call(1, [&](const Run& run) {
    done = class_dual_cd(run, x, y.data(), cost.data(), classes, a.data(), w.data(), tolerance, most, seed);
  });
  return nb::make_tuple(done.epochs, done.violation);
}

template <class T>
nb::tuple dense_cd(Matrix<T> X, Codes y, Floats cost, Index classes, OutVector<double> a, OutVector<double> w,
                   double tolerance, Index most, std::uint64_t seed) {
  return descend(dense_samples(X), y, cost, classes, a, w, tolerance, most, seed);
}

template <class T, class I>
nb::tuple csr_cd(Vector<T> data, Vector<I> indices, Vector<I> indptr, Index cols, Codes y, Floats cost,
                 Index classes, OutVector<double> a, OutVector<double> w, double tolerance, Index most,
                 std::uint64_t seed) {
  return descend(csr_samples(data, indices, indptr, cols), y, cost, classes, a, w, tolerance, most, seed);
}

template <class T, class I>
void define_csr(nb::module_& m) {
  m.def("class_dual_cd_csr", &csr_cd<T, I>, "data"_a.noconvert(), "indices"_a.noconvert(),
        "indptr"_a.noconvert(), "cols"_a, "y"_a.noconvert(), "cost"_a.noconvert(), "classes"_a,
        "a"_a.noconvert(), "w"_a.noconvert(), "tolerance"_a, "most"_a, "seed"_a);
}

template <class T>
void define_for(nb::module_& m) {
  m.def("class_dual_cd", &dense_cd<T>, "X"_a.noconvert(), "y"_a.noconvert(), "cost"_a.noconvert(),
        "classes"_a, "a"_a.noconvert(), "w"_a.noconvert(), "tolerance"_a, "most"_a, "seed"_a);
  define_csr<T, std::int32_t>(m);
  define_csr<T, std::int64_t>(m);
}

void define(nb::module_& m) {
  define_for<float>(m);
  define_for<double>(m);
}

const Registered class_dual(&define);

}  // namespace
}  // namespace surefit::bind
