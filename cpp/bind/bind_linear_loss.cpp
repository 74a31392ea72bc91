// Python's door to the losses of one linear score a row.
#include "bind_loss.h"
#include "linear_excess.h"
#include "linear_loss.h"

namespace surefit::bind {
namespace {

// The loss by its number and options, and what stands beside the rows.
struct About {
  int kind;
  Vector<double> options, coef;
  double intercept;
  Vector<double> y;
  Floats weight, offset;

  template <class Rows>
  LinearScores scores(const Rows& x) const {
    expect(static_cast<Index>(coef.shape(0)) == x.cols && static_cast<Index>(y.shape(0)) == x.rows,
           "coef must have one entry a column, and y one a row");
    return {coef.data(), intercept, y.data(), sized(weight, x.rows), sized(offset, x.rows)};
  }

  template <class F>
  void with_loss(const F& f) const {
    with_linear_loss(kind, options.data(), static_cast<Index>(options.shape(0)), f);
  }
};

template <class Rows>
double pass(const Rows& x, const About& about, Out& gradient, Out& bends, Out& sums, Out& squares, Out& signs,
            int threads) {
  const LinearScores scores = about.scores(x);
  expect_together(bends, sums, squares, signs);
  double value = 0;
  const LinearLossOut out{&value,
                          sized(gradient, x.cols + 1),
                          sized(bends, x.cols + 1),
                          sized(sums, x.cols),
                          sized(squares, x.cols),
                          sized(signs, 3)};
  about.with_loss([&](const auto& loss) {
    call(threads, [&](const Run& run) { linear_loss(run, x, scores, loss, out); });
  });
  return value;
}

struct Seconds {
  OutVector<double> value, slope, bend;
  OutMatrix<double> gram;
  OutVector<double> cross, sums;
};

template <class Rows>
void hessian(const Rows& x, const About& about, const Seconds& to, int threads) {
  const LinearScores scores = about.scores(x);
  const auto n = static_cast<std::size_t>(x.rows), p = static_cast<std::size_t>(x.cols);
  expect(to.value.shape(0) == n && to.slope.shape(0) == n && to.bend.shape(0) == n,
         "value, slope and bend must have one entry a row");
  expect(to.gram.shape(0) == p && to.gram.shape(1) == p && to.cross.shape(0) == p && to.sums.shape(0) == p,
         "gram, cross and sums must have one entry a column");
  about.with_loss([&](const auto& loss) {
    call(threads, [&](const Run& run) {
      linear_hessian(run, x, scores, loss, to.value.data(), to.slope.data(), to.bend.data(),
                     {to.gram.data(), to.cross.data(), to.sums.data()});
    });
  });
}

template <class Rows>
nb::tuple excess(const Rows& x, const About& about, const Vector<double>& change, int threads) {
  const LinearScores scores = about.scores(x);
  expect(change.shape(0) == 4, "change must be a factor, a shift, and factors of either sign");
  const double* a = change.data();
  ExcessSums found;
  about.with_loss([&](const auto& loss) {
    call(threads,
         [&](const Run& run) { found = linear_excess(run, x, scores, loss, {a[0], a[1], a[2], a[3]}); });
  });
  return nb::make_tuple(found.total, found.energy);
}

void define(nb::module_& m) {
  m.def(
      "linear_loss",
      [](nb::object X, int kind, Vector<double> options, Vector<double> coef, double intercept,
         Vector<double> y, Floats weight, Floats offset, Out gradient, Out bends, Out sums, Out squares,
         Out signs, int threads) {
        const About about{kind, options, coef, intercept, y, weight, offset};
        return with_rows(X, y.shape(0), [&](const auto& x) {
          return pass(x, about, gradient, bends, sums, squares, signs, threads);
        });
      },
      "X"_a, "kind"_a, "options"_a.noconvert(), "coef"_a.noconvert(), "intercept"_a, "y"_a.noconvert(),
      "weight"_a.noconvert().none(), "offset"_a.noconvert().none(), "gradient"_a.noconvert().none(),
      "bends"_a.noconvert().none(), "sums"_a.noconvert().none(), "squares"_a.noconvert().none(),
      "signs"_a.noconvert().none(), "threads"_a);
  m.def(
      "linear_hessian",
      [](nb::object X, int kind, Vector<double> options, Vector<double> coef, double intercept,
         Vector<double> y, Floats weight, Floats offset, OutVector<double> value, OutVector<double> slope,
         OutVector<double> bend, OutMatrix<double> gram, OutVector<double> cross, OutVector<double> sums,
         int threads) {
        const About about{kind, options, coef, intercept, y, weight, offset};
        with_rows(X, y.shape(0), [&](const auto& x) {
          hessian(x, about, {value, slope, bend, gram, cross, sums}, threads);
        });
      },
      "X"_a, "kind"_a, "options"_a.noconvert(), "coef"_a.noconvert(), "intercept"_a, "y"_a.noconvert(),
      "weight"_a.noconvert().none(), "offset"_a.noconvert().none(), "value"_a.noconvert(),
      "slope"_a.noconvert(), "bend"_a.noconvert(), "gram"_a.noconvert(), "cross"_a.noconvert(),
      "sums"_a.noconvert(), "threads"_a);
  m.def(
      "linear_excess",
      [](nb::object X, int kind, Vector<double> options, Vector<double> coef, double intercept,
         Vector<double> y, Floats weight, Floats offset, Vector<double> change, int threads) {
        const About about{kind, options, coef, intercept, y, weight, offset};
        return with_rows(X, y.shape(0), [&](const auto& x) { return excess(x, about, change, threads); });
      },
      "X"_a, "kind"_a, "options"_a.noconvert(), "coef"_a.noconvert(), "intercept"_a, "y"_a.noconvert(),
      "weight"_a.noconvert().none(), "offset"_a.noconvert().none(), "change"_a.noconvert(), "threads"_a);
}

const Registered losses(&define);

}  // namespace
}  // namespace surefit::bind
