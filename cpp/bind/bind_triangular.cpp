// Python's door to the triangular factor.
#include <nanobind/stl/optional.h>

#include <optional>

#include "bind.h"
#include "triangular.h"

namespace surefit::bind {
namespace {

using OptionalMatrix = std::optional<Matrix<double>>;
using OptionalVector = std::optional<Vector<double>>;

// What comes with X in every signature.
struct Beside {
  const OptionalMatrix& Y;
  const OptionalVector& weight;
  const OptionalVector& shift;
  bool ones;

  Design design(Index rows, Index cols) const {
    Design all;
    all.ones = ones;
    if (Y) {
      all.Y = dense(*Y);
      expect(all.Y.rows == rows, "Y must have one row for each row of X");
    }
    if (weight) {
      expect(static_cast<Index>(weight->shape(0)) == rows, "weight must have one number for each row of X");
      all.weight = weight->data();
    }
    if (shift) {
      expect(static_cast<Index>(shift->shape(0)) == cols + all.Y.cols,
             "shift must have one number for each column of [X | Y]");
      all.shift = shift->data();
    }
    return all;
  }
};

template <class Rows>
void factor(const Rows& X, const Beside& beside, const OutMatrix<double>& out, int threads) {
  const Design design = beside.design(X.rows, X.cols);
  const Index q = design.cols(X.cols);
  expect(static_cast<Index>(out.shape(0)) == q && static_cast<Index>(out.shape(1)) == q,
         "out must have one row and one column for each column of [1 | X | Y]");
  call(threads, [&](const Run& run) { triangular_factor(run, X, design, out.data()); });
}

template <class T>
void factor_dense(Matrix<T> X, OptionalMatrix Y, OptionalVector weight, OptionalVector shift, bool ones,
                  OutMatrix<double> out, int threads) {
  factor(dense(X), Beside{Y, weight, shift, ones}, out, threads);
}

template <class T, class I>
void factor_csr(Vector<T> data, Vector<I> indices, Vector<I> indptr, Index cols, OptionalMatrix Y,
                OptionalVector weight, OptionalVector shift, bool ones, OutMatrix<double> out, int threads) {
  expect(data.shape(0) == indices.shape(0) && indptr.shape(0) >= 1,
         "data and indices must be equally long and indptr must not be empty");
  const Index rows = static_cast<Index>(indptr.shape(0)) - 1;
  const SparseRows<T, I> X({data.data(), indices.data(), indptr.data(), rows, cols},
                           static_cast<Index>(data.shape(0)));
  factor(X, Beside{Y, weight, shift, ones}, out, threads);
}

void merge(OutMatrix<const double> r1, OutMatrix<const double> r2, OutMatrix<double> out) {
  const auto q = r1.shape(0);
  for (const auto side : {r1.shape(1), r2.shape(0), r2.shape(1), out.shape(0), out.shape(1)})
    expect(side == q, "the two factors and out must be square and of one size");
  call(1, [&](const Run& run) {
    merge_triangular(run, r1.data(), r2.data(), static_cast<Index>(q), out.data());
  });
}

template <class T, class I>
void define_csr(nb::module_& m) {
  m.def("triangular_factor_csr", &factor_csr<T, I>, "data"_a.noconvert(), "indices"_a.noconvert(),
        "indptr"_a.noconvert(), "cols"_a, "Y"_a.noconvert().none(), "weight"_a.noconvert().none(),
        "shift"_a.noconvert().none(), "ones"_a, "out"_a.noconvert(), "threads"_a);
}

template <class T>
void define_dense(nb::module_& m) {
  m.def("triangular_factor", &factor_dense<T>, "X"_a.noconvert(), "Y"_a.noconvert().none(),
        "weight"_a.noconvert().none(), "shift"_a.noconvert().none(), "ones"_a, "out"_a.noconvert(),
        "threads"_a);
}

void define(nb::module_& m) {
  define_dense<float>(m);
  define_dense<double>(m);
  define_csr<float, std::int32_t>(m);
  define_csr<double, std::int32_t>(m);
  define_csr<float, std::int64_t>(m);
  define_csr<double, std::int64_t>(m);
  m.def("merge_triangular", &merge, "R1"_a.noconvert(), "R2"_a.noconvert(), "out"_a.noconvert());
}

const Registered triangular(&define);

}  // namespace
}  // namespace surefit::bind
