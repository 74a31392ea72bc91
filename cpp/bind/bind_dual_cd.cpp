// Python's door to dual coordinate descent.
#include "bind_samples.h"
#include "dual_cd.h"

namespace surefit::bind {
namespace {

using Floats = Vector<double>;

template <class Samples>
nb::tuple descend(Samples x, const Floats& at, const Floats& low, const Floats& high,
                  const std::optional<Floats>& weight, const Floats& plan, OutVector<double>& u,
                  OutVector<double>& w, Index most, std::uint64_t seed) {
  const auto rows = static_cast<std::size_t>(x.rows());
  expect(at.shape(0) == rows && low.shape(0) == rows && high.shape(0) == rows && u.shape(0) == rows &&
             (!weight || weight->shape(0) == rows),
         "at, low, high, weight and u must have one entry for each row of X");
  expect(w.shape(0) == static_cast<std::size_t>(x.cols()), "w must have one entry for each column of X");
  expect(plan.shape(0) == 4 && plan.data()[2] > 0, "plan must be tube, bend, a positive strength, tolerance");
  const double* a = plan.data();
  const DualRows problem{at.data(), low.data(), high.data(), weight ? weight->data() : nullptr,
                         a[0],      a[1],       a[2]};
  DualDescent done;
  call(1, [&](const Run& run) { done = dual_cd(run, x, problem, u.data(), w.data(), a[3], most, seed); });
  return nb::make_tuple(done.epochs, done.violation);
}

template <class T>
nb::tuple dense_cd(Matrix<T> X, Floats at, Floats low, Floats high, std::optional<Floats> weight, Floats plan,
                   OutVector<double> u, OutVector<double> w, Index most, std::uint64_t seed) {
  return descend(dense_samples(X), at, low, high, weight, plan, u, w, most, seed);
}

template <class T, class I>
nb::tuple csr_cd(Vector<T> data, Vector<I> indices, Vector<I> indptr, Index cols, Floats at, Floats low,
                 Floats high, std::optional<Floats> weight, Floats plan, OutVector<double> u,
                 OutVector<double> w, Index most, std::uint64_t seed) {
  return descend(csr_samples(data, indices, indptr, cols), at, low, high, weight, plan, u, w, most, seed);
}

template <class T, class I>
void define_csr(nb::module_& m) {
  m.def("dual_cd_csr", &csr_cd<T, I>, "data"_a.noconvert(), "indices"_a.noconvert(), "indptr"_a.noconvert(),
        "cols"_a, "at"_a.noconvert(), "low"_a.noconvert(), "high"_a.noconvert(),
        "weight"_a.noconvert().none(), "plan"_a.noconvert(), "u"_a.noconvert(), "w"_a.noconvert(), "most"_a,
        "seed"_a);
}

template <class T>
void define_for(nb::module_& m) {
  m.def("dual_cd", &dense_cd<T>, "X"_a.noconvert(), "at"_a.noconvert(), "low"_a.noconvert(),
        "high"_a.noconvert(), "weight"_a.noconvert().none(), "plan"_a.noconvert(), "u"_a.noconvert(),
        "w"_a.noconvert(), "most"_a, "seed"_a);
  define_csr<T, std::int32_t>(m);
  define_csr<T, std::int64_t>(m);
}

void define(nb::module_& m) {
  define_for<float>(m);
  define_for<double>(m);
}

const Registered dual(&define);

}  // namespace
}  // namespace surefit::bind
