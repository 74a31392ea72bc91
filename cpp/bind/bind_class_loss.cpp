// Python's door to the losses of classes over linear scores.
#include <nanobind/stl/optional.h>

#include "bind.h"
#include "class_loss.h"

namespace surefit::bind {
namespace {

using Floats = std::optional<Vector<double>>;
using Codes = std::optional<Vector<std::int64_t>>;
using Out = std::optional<OutVector<double>>;

template <class Optional>
auto* rows_of(Optional& vector, Index rows) {
  expect(!vector || static_cast<Index>(vector->shape(0)) == rows,
         "what stands beside X must have one entry for each of its rows");
  return vector ? vector->data() : nullptr;
}

template <class T>
double pass(Matrix<T> X, Vector<double> coef, Floats intercept, Floats share, Codes code, Floats weight,
            Floats offset, OutVector<double> gradient, Out slope, Out bend, int threads) {
  const Dense<T> x = dense(X);
  const Index classes = static_cast<Index>(gradient.shape(0)) / (x.cols + 1);
  expect(classes >= 1 && static_cast<Index>(gradient.shape(0)) == (x.cols + 1) * classes &&
             static_cast<Index>(coef.shape(0)) == x.cols * classes,
         "coef and gradient must have one entry for each column and class");
  expect(!intercept || static_cast<Index>(intercept->shape(0)) == classes,
         "intercept must have one entry for each class");
  expect(classes == 1 ? share.has_value() : code.has_value() && !slope && !bend,
         "one class takes shares, several take codes");
  const ClassLoss loss{classes,
                       coef.data(),
                       intercept ? intercept->data() : nullptr,
                       rows_of(share, x.rows),
                       rows_of(code, x.rows),
                       rows_of(weight, x.rows),
                       rows_of(offset, x.rows)};
  if (code)
    for (Index i = 0; i < x.rows; ++i)
      expect(loss.code[i] >= 0 && loss.code[i] < classes, "a code lies outside the classes");
  double value = 0;
  const ClassLossOut out{&value, gradient.data(), rows_of(slope, x.rows), rows_of(bend, x.rows)};
  call(threads, [&](const Run& run) { class_loss(run, x, loss, out); });
  return value;
}

template <class T>
void define_for(nb::module_& m) {
  m.def("class_loss", &pass<T>, "X"_a.noconvert(), "coef"_a.noconvert(), "intercept"_a.noconvert().none(),
        "share"_a.noconvert().none(), "code"_a.noconvert().none(), "weight"_a.noconvert().none(),
        "offset"_a.noconvert().none(), "gradient"_a.noconvert(), "slope"_a.noconvert().none(),
        "bend"_a.noconvert().none(), "threads"_a);
}

void define(nb::module_& m) {
  define_for<float>(m);
  define_for<double>(m);
}

const Registered losses(&define);

}  // namespace
}  // namespace surefit::bind
