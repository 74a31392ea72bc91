// Python's door to the stochastic proximal steps: batches, SAGA and SVRG.
#include "bind_samples.h"
#include "sampled_steps.h"

namespace surefit::bind {
namespace {

using Floats = Vector<double>;
using MaybeOut = std::optional<OutVector<double>>;

template <class Samples>
void take(Samples x, const Floats& y, const Floats& share, const Vector<std::int64_t>& rows, Index batch,
          const Floats& steps, bool constant, int loss, double parameter, const Floats& l1, const Floats& l2,
          const Floats& lower, const Floats& upper, OutVector<double>& w, MaybeOut& memory, MaybeOut& mean,
          bool renew, MaybeOut& total) {
  const auto n = static_cast<std::size_t>(x.rows()), p = static_cast<std::size_t>(x.cols());
  const std::size_t draws = rows.shape(0);
  expect(y.shape(0) == n && share.shape(0) == n && (!memory || memory->shape(0) == n),
         "y, share and memory must have one entry for each row of X");
  expect(w.shape(0) == p || w.shape(0) == p + 1,
         "w must have one entry for each column of X, and one for an intercept");
  expect((!mean || mean->shape(0) == w.shape(0)) && (!total || total->shape(0) == w.shape(0)),
         "mean and total must be as long as w");
  expect(l1.shape(0) == p && l2.shape(0) == p && lower.shape(0) == p && upper.shape(0) == p,
         "the table must have one entry for each coefficient");
  expect(batch >= 1 && (!renew || (memory && mean && batch == 1)),
         "a memory that is renewed takes single rows, and a mean beside it");
  expect(steps.shape(0) * static_cast<std::size_t>(batch) >= draws, "there must be one length for each step");
  expect(!total || !Samples::sparse, "points are added up for dense rows only");
  expect_order(rows.data(), static_cast<Index>(draws), x.rows());
  const Draws plan{rows.data(), static_cast<Index>(draws), batch, steps.data(), constant};
  const CoordinateTable table{l1.data(), l2.data(), lower.data(), upper.data()};
  SampledState state{w.data(),       memory ? memory->data() : nullptr, mean ? mean->data() : nullptr, renew,
                     w.shape(0) > p, total ? total->data() : nullptr};
  call(1, [&](const Run& run) {
    sampled_steps(run, x, y.data(), share.data(), plan, table, loss, parameter, state);
  });
}

template <class T>
void dense_steps(Matrix<T> X, Floats y, Floats share, Vector<std::int64_t> rows, Index batch, Floats steps,
                 bool constant, int loss, double parameter, Floats l1, Floats l2, Floats lower, Floats upper,
                 OutVector<double> w, MaybeOut memory, MaybeOut mean, bool renew, MaybeOut total) {
  take(dense_samples(X), y, share, rows, batch, steps, constant, loss, parameter, l1, l2, lower, upper, w,
       memory, mean, renew, total);
}

template <class T, class I>
void csr_steps(Vector<T> data, Vector<I> indices, Vector<I> indptr, Index cols, Floats y, Floats share,
               Vector<std::int64_t> rows, Index batch, Floats steps, bool constant, int loss,
               double parameter, Floats l1, Floats l2, Floats lower, Floats upper, OutVector<double> w,
               MaybeOut memory, MaybeOut mean, bool renew, MaybeOut total) {
  take(csr_samples(data, indices, indptr, cols), y, share, rows, batch, steps, constant, loss, parameter, l1,
       l2, lower, upper, w, memory, mean, renew, total);
}

template <class T, class I>
void define_csr(nb::module_& m) {
  m.def("sampled_steps_csr", &csr_steps<T, I>, "data"_a.noconvert(), "indices"_a.noconvert(),
        "indptr"_a.noconvert(), "cols"_a, "y"_a.noconvert(), "share"_a.noconvert(), "rows"_a.noconvert(),
        "batch"_a, "steps"_a.noconvert(), "constant"_a, "loss"_a, "parameter"_a, "l1"_a.noconvert(),
        "l2"_a.noconvert(), "lower"_a.noconvert(), "upper"_a.noconvert(), "w"_a.noconvert(),
        "memory"_a.noconvert().none(), "mean"_a.noconvert().none(), "renew"_a, "total"_a.noconvert().none());
}

template <class T>
void define_for(nb::module_& m) {
  m.def("sampled_steps", &dense_steps<T>, "X"_a.noconvert(), "y"_a.noconvert(), "share"_a.noconvert(),
        "rows"_a.noconvert(), "batch"_a, "steps"_a.noconvert(), "constant"_a, "loss"_a, "parameter"_a,
        "l1"_a.noconvert(), "l2"_a.noconvert(), "lower"_a.noconvert(), "upper"_a.noconvert(),
        "w"_a.noconvert(), "memory"_a.noconvert().none(), "mean"_a.noconvert().none(), "renew"_a,
        "total"_a.noconvert().none());
  define_csr<T, std::int32_t>(m);
  define_csr<T, std::int64_t>(m);
}

void define(nb::module_& m) {
  define_for<float>(m);
  define_for<double>(m);
}

const Registered sampled(&define);

}  // namespace
}  // namespace surefit::bind
