// Python's door to an epoch of stochastic gradient descent.
#include "bind_sgd.h"

namespace surefit::bind {
namespace {

template <class Samples>
nb::tuple run_epoch(Samples x, SgdCall given) {
  return given.over(x, [](auto&&... all) { return sgd_epoch(all...); });
}

template <class T>
nb::tuple dense_epoch(Matrix<T> X, Floats y, std::optional<Floats> weight, OutVector<std::int64_t> order,
                      bool shuffle, std::uint32_t seed, int loss, double parameter, Floats plan,
                      OutVector<double> w, MaybeOut mean, MaybeOut q, OutVector<double> state) {
  return run_epoch(dense_samples(X),
                   {y, weight, order, shuffle, seed, loss, parameter, plan, w, mean, q, state});
}

template <class T, class I>
nb::tuple csr_epoch(Vector<T> data, Vector<I> indices, Vector<I> indptr, Index cols, Floats y,
                    std::optional<Floats> weight, OutVector<std::int64_t> order, bool shuffle,
                    std::uint32_t seed, int loss, double parameter, Floats plan, OutVector<double> w,
                    MaybeOut mean, MaybeOut q, OutVector<double> state) {
  return run_epoch(csr_samples(data, indices, indptr, cols),
                   {y, weight, order, shuffle, seed, loss, parameter, plan, w, mean, q, state});
}

template <class T, class I>
void define_csr(nb::module_& m) {
  m.def("sgd_epoch_csr", &csr_epoch<T, I>, "data"_a.noconvert(), "indices"_a.noconvert(),
        "indptr"_a.noconvert(), "cols"_a, "y"_a.noconvert(), "weight"_a.noconvert().none(),
        "order"_a.noconvert(), "shuffle"_a, "seed"_a, "loss"_a, "parameter"_a, "plan"_a.noconvert(),
        "w"_a.noconvert(), "mean"_a.noconvert().none(), "q"_a.noconvert().none(), "state"_a.noconvert());
}

template <class T>
void define_for(nb::module_& m) {
  m.def("sgd_epoch", &dense_epoch<T>, "X"_a.noconvert(), "y"_a.noconvert(), "weight"_a.noconvert().none(),
        "order"_a.noconvert(), "shuffle"_a, "seed"_a, "loss"_a, "parameter"_a, "plan"_a.noconvert(),
        "w"_a.noconvert(), "mean"_a.noconvert().none(), "q"_a.noconvert().none(), "state"_a.noconvert());
  define_csr<T, std::int32_t>(m);
  define_csr<T, std::int64_t>(m);
}

void define(nb::module_& m) {
  define_for<float>(m);
  define_for<double>(m);
}

const Registered sgd(&define);

}  // namespace
}  // namespace surefit::bind
