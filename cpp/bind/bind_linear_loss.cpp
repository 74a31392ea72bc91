// Python's door to the losses of one linear score a row.
#include <nanobind/stl/optional.h>

#include "bind.h"
#include "linear_loss.h"

namespace surefit::bind {
namespace {

using Floats = std::optional<Vector<double>>;
using Out = std::optional<OutVector<double>>;

template <class Optional>
auto* sized(Optional& vector, Index size) {
  expect(!vector || static_cast<Index>(vector->shape(0)) == size,
         "a vector has another length than the rows or columns it stands beside");
  return vector ? vector->data() : nullptr;
}

template <class T>
LinearScores scores(const Dense<T>& x, const Vector<double>& coef, double intercept, const Vector<double>& y,
                    const Floats& weight, const Floats& offset) {
  expect(static_cast<Index>(coef.shape(0)) == x.cols && static_cast<Index>(y.shape(0)) == x.rows,
         "coef must have one entry a column, and y one a row");
  return {coef.data(), intercept, y.data(), sized(weight, x.rows), sized(offset, x.rows)};
}

template <class T>
double pass(int kind, Matrix<T> X, Vector<double> coef, double intercept, Vector<double> y, Floats weight,
            Floats offset, Out gradient, Out bends, Out sums, Out squares, Out signs, int threads) {
  const Dense<T> x = dense(X);
  const LinearScores about = scores(x, coef, intercept, y, weight, offset);
  expect((bends && sums && squares && signs) || (!bends && !sums && !squares && !signs),
         "bends, sums, squares and signs come together");
  double value = 0;
  const LinearLossOut out{&value,
                          sized(gradient, x.cols + 1),
                          sized(bends, x.cols + 1),
                          sized(sums, x.cols),
                          sized(squares, x.cols),
                          sized(signs, 3)};
  with_linear_loss(kind, [&](const auto& loss) {
    call(threads, [&](const Run& run) { linear_loss(run, x, about, loss, out); });
  });
  return value;
}

template <class T>
void hessian(int kind, Matrix<T> X, Vector<double> coef, double intercept, Vector<double> y, Floats weight,
             Floats offset, OutVector<double> value, OutVector<double> slope, OutVector<double> bend,
             OutMatrix<double> gram, OutVector<double> cross, OutVector<double> sums, int threads) {
  const Dense<T> x = dense(X);
  const LinearScores about = scores(x, coef, intercept, y, weight, offset);
  const auto n = static_cast<std::size_t>(x.rows), p = static_cast<std::size_t>(x.cols);
  expect(value.shape(0) == n && slope.shape(0) == n && bend.shape(0) == n,
         "value, slope and bend must have one entry a row");
  expect(gram.shape(0) == p && gram.shape(1) == p && cross.shape(0) == p && sums.shape(0) == p,
         "gram, cross and sums must have one entry a column");
  with_linear_loss(kind, [&](const auto& loss) {
    call(threads, [&](const Run& run) {
      linear_hessian(run, x, about, loss, value.data(), slope.data(), bend.data(),
                     {gram.data(), cross.data(), sums.data()});
    });
  });
}

template <class T>
void define_for(nb::module_& m) {
  m.def("linear_loss", &pass<T>, "kind"_a, "X"_a.noconvert(), "coef"_a.noconvert(), "intercept"_a,
        "y"_a.noconvert(), "weight"_a.noconvert().none(), "offset"_a.noconvert().none(),
        "gradient"_a.noconvert().none(), "bends"_a.noconvert().none(), "sums"_a.noconvert().none(),
        "squares"_a.noconvert().none(), "signs"_a.noconvert().none(), "threads"_a);
  m.def("linear_hessian", &hessian<T>, "kind"_a, "X"_a.noconvert(), "coef"_a.noconvert(), "intercept"_a,
        "y"_a.noconvert(), "weight"_a.noconvert().none(), "offset"_a.noconvert().none(),
        "value"_a.noconvert(), "slope"_a.noconvert(), "bend"_a.noconvert(), "gram"_a.noconvert(),
        "cross"_a.noconvert(), "sums"_a.noconvert(), "threads"_a);
}

void define(nb::module_& m) {
  define_for<float>(m);
  define_for<double>(m);
}

const Registered losses(&define);

}  // namespace
}  // namespace surefit::bind
