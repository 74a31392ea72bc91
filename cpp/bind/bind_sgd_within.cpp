// Python's door to an epoch of stochastic gradient descent within a set of coefficients.
//
// A file of its own: beside it, the compiler would inline less of the steps without a set.
#include "bind_sgd.h"
#include "sgd_within.h"

namespace surefit::bind {
namespace {

using Columns = Vector<std::int64_t>;

CoefficientSet coefficient_set(const Floats& lower, const Floats& upper, const Columns& members,
                               const Columns& starts, Index cols) {
  const auto width = static_cast<std::size_t>(cols);
  expect(lower.shape(0) == width && upper.shape(0) == width,
         "lower and upper must have one entry for each column of X");
  expect(starts.shape(0) >= 1, "starts must not be empty");
  const std::size_t groups = starts.shape(0) - 1, size = members.shape(0);
  expect(starts.data()[0] == 0 && starts.data()[groups] == static_cast<std::int64_t>(size),
         "starts must go from 0 to the number of members");
  for (std::size_t g = 0; g < groups; ++g)
    expect(starts.data()[g] <= starts.data()[g + 1], "starts must not fall");
  for (std::size_t k = 0; k < size; ++k)
    expect(members.data()[k] >= 0 && members.data()[k] < cols, "members must hold columns of X");
  return {cols, lower.data(), upper.data(), members.data(), starts.data(), static_cast<Index>(groups)};
}

template <class Samples>
nb::tuple run_epoch(Samples x, const CoefficientSet& set, SgdCall given) {
  return given.over(x, [&](auto&&... all) { return sgd_epoch_within(all..., set); });
}

template <class T>
nb::tuple dense_epoch(Matrix<T> X, Floats y, std::optional<Floats> weight, OutVector<std::int64_t> order,
                      bool shuffle, std::uint32_t seed, int loss, double parameter, Floats plan,
                      OutVector<double> w, MaybeOut mean, MaybeOut q, OutVector<double> state, Floats lower,
                      Floats upper, Columns members, Columns starts) {
  const DenseSamples<T> x = dense_samples(X);
  return run_epoch(x, coefficient_set(lower, upper, members, starts, x.cols()),
                   {y, weight, order, shuffle, seed, loss, parameter, plan, w, mean, q, state});
}

template <class T, class I>
nb::tuple csr_epoch(Vector<T> data, Vector<I> indices, Vector<I> indptr, Index cols, Floats y,
                    std::optional<Floats> weight, OutVector<std::int64_t> order, bool shuffle,
                    std::uint32_t seed, int loss, double parameter, Floats plan, OutVector<double> w,
                    MaybeOut mean, MaybeOut q, OutVector<double> state, Floats lower, Floats upper,
                    Columns members, Columns starts) {
  return run_epoch(csr_samples(data, indices, indptr, cols),
                   coefficient_set(lower, upper, members, starts, cols),
                   {y, weight, order, shuffle, seed, loss, parameter, plan, w, mean, q, state});
}

template <class T, class I>
void define_csr(nb::module_& m) {
  m.def("sgd_epoch_within_csr", &csr_epoch<T, I>, "data"_a.noconvert(), "indices"_a.noconvert(),
        "indptr"_a.noconvert(), "cols"_a, "y"_a.noconvert(), "weight"_a.noconvert().none(),
        "order"_a.noconvert(), "shuffle"_a, "seed"_a, "loss"_a, "parameter"_a, "plan"_a.noconvert(),
        "w"_a.noconvert(), "mean"_a.noconvert().none(), "q"_a.noconvert().none(), "state"_a.noconvert(),
        "lower"_a.noconvert(), "upper"_a.noconvert(), "members"_a.noconvert(), "starts"_a.noconvert());
}

template <class T>
void define_for(nb::module_& m) {
  m.def("sgd_epoch_within", &dense_epoch<T>, "X"_a.noconvert(), "y"_a.noconvert(),
        "weight"_a.noconvert().none(), "order"_a.noconvert(), "shuffle"_a, "seed"_a, "loss"_a, "parameter"_a,
        "plan"_a.noconvert(), "w"_a.noconvert(), "mean"_a.noconvert().none(), "q"_a.noconvert().none(),
        "state"_a.noconvert(), "lower"_a.noconvert(), "upper"_a.noconvert(), "members"_a.noconvert(),
        "starts"_a.noconvert());
  define_csr<T, std::int32_t>(m);
  define_csr<T, std::int64_t>(m);
}

void define(nb::module_& m) {
  define_for<float>(m);
  define_for<double>(m);
}

const Registered sgd_within(&define);

}  // namespace
}  // namespace surefit::bind
