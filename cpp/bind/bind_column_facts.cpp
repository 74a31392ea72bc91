// Python's door to the facts of columns.
#include "bind_columns.h"
#include "column_facts.h"

namespace surefit::bind {
namespace {

struct Inputs {
  FactsInput in;
  std::vector<double> scaled;
  FactsOut out;

  Inputs(const Vector<double>& target, const OptionalVector& weight, double total, bool centred,
         OutMatrix<double>& facts, Index rows, Index cols)
      : in{entries(weight, rows, "weight must have one entry for each row of X"), total, target.data(),
           centred},
        scaled(target.data(), target.data() + target.shape(0)),
        out{facts.data(), facts.data() + cols, facts.data() + 2 * cols} {
    expect(static_cast<Index>(target.shape(0)) == rows, "target must have one entry for each row of X");
    expect(facts.shape(0) == 3 && static_cast<Index>(facts.shape(1)) == cols,
           "facts must have three rows and one column for each column of X");
    if (in.weight != nullptr)
      for (std::size_t i = 0; i < scaled.size(); ++i) scaled[i] *= in.weight[i];
  }
};

template <class T>
void facts_dense(Matrix<T> X, Vector<double> target, OptionalVector weight, double total, bool centred,
                 OutMatrix<double> facts, int threads) {
  const Dense<T> x = dense(X);
  expect(x.order == Order::Fortran || x.rows <= 1 || x.cols <= 1, "X must be in Fortran order");
  const Inputs with(target, weight, total, centred, facts, x.rows, x.cols);
  call(threads,
       [&](const Run& run) { column_facts(run, fortran(x), with.in, with.scaled.data(), with.out); });
}

template <class T, class I>
bool facts_csc(Vector<T> data, Vector<I> indices, Vector<I> indptr, Index rows, Vector<double> target,
               OptionalVector weight, double total, bool centred, OutMatrix<double> facts, int threads) {
  const CscColumns<T, I> x = csc(data, indices, indptr, rows);
  const Inputs with(target, weight, total, centred, facts, rows, x.cols);
  bool sound = false;
  call(threads, [&](const Run& run) {
    sound = column_facts(run, x, static_cast<Index>(data.shape(0)), with.in, with.scaled.data(), with.out);
  });
  return sound;
}

template <class T, class I>
void define_csc(nb::module_& m) {
  m.def("column_facts_csc", &facts_csc<T, I>, "data"_a.noconvert(), "indices"_a.noconvert(),
        "indptr"_a.noconvert(), "rows"_a, "target"_a.noconvert(), "weight"_a.noconvert().none(), "total"_a,
        "centred"_a, "facts"_a.noconvert(), "threads"_a);
}

template <class T>
void define_for(nb::module_& m) {
  m.def("column_facts", &facts_dense<T>, "X"_a.noconvert(), "target"_a.noconvert(),
        "weight"_a.noconvert().none(), "total"_a, "centred"_a, "facts"_a.noconvert(), "threads"_a);
  define_csc<T, std::int32_t>(m);
  define_csc<T, std::int64_t>(m);
}

void define(nb::module_& m) {
  define_for<float>(m);
  define_for<double>(m);
}

const Registered facts(&define);

}  // namespace
}  // namespace surefit::bind
