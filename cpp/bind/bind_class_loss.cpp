// Python's door to the softmax loss of linear scores.
#include "bind_loss.h"
#include "class_loss.h"

namespace surefit::bind {
namespace {

template <class Rows>
double pass(const Rows& x, const Vector<double>& coef, const Floats& intercept,
            const Vector<std::int64_t>& code, const Floats& weight, const Floats& offset,
            OutVector<double>& gradient, Out& bends, Out& sums, Out& squares, Out& signs, int threads) {
  const Index classes = static_cast<Index>(gradient.shape(0)) / (x.cols + 1);
  expect(classes >= 1 && static_cast<Index>(gradient.shape(0)) == (x.cols + 1) * classes &&
             static_cast<Index>(coef.shape(0)) == x.cols * classes,
         "coef and gradient must have one entry for each column and class");
  expect_together(bends, sums, squares, signs);
  const ClassLoss loss{classes,     coef.data(),           sized(intercept, classes),
                       code.data(), sized(weight, x.rows), sized(offset, x.rows)};
  expect(static_cast<Index>(code.shape(0)) == x.rows, "code must have one entry a row");
  for (Index i = 0; i < x.rows; ++i)
    expect(loss.code[i] >= 0 && loss.code[i] < classes, "a code lies outside the classes");
  double value = 0;
  const ClassLossOut out{&value,
                         gradient.data(),
                         sized(bends, (x.cols + 1) * classes * (classes + 1) / 2),
                         sized(sums, x.cols),
                         sized(squares, x.cols),
                         sized(signs, 3)};
  call(threads, [&](const Run& run) { class_loss(run, x, loss, out); });
  return value;
}

void define(nb::module_& m) {
  m.def(
      "class_loss",
      [](nb::object X, Vector<double> coef, Floats intercept, Vector<std::int64_t> code, Floats weight,
         Floats offset, OutVector<double> gradient, Out bends, Out sums, Out squares, Out signs,
         int threads) {
        return with_rows(X, code.shape(0), [&](const auto& x) {
          return pass(x, coef, intercept, code, weight, offset, gradient, bends, sums, squares, signs,
                      threads);
        });
      },
      "X"_a, "coef"_a.noconvert(), "intercept"_a.noconvert().none(), "code"_a.noconvert(),
      "weight"_a.noconvert().none(), "offset"_a.noconvert().none(), "gradient"_a.noconvert(),
      "bends"_a.noconvert().none(), "sums"_a.noconvert().none(), "squares"_a.noconvert().none(),
      "signs"_a.noconvert().none(), "threads"_a);
}

const Registered losses(&define);

}  // namespace
}  // namespace surefit::bind
