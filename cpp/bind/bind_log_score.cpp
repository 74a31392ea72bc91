// Python's door to the logarithmic score.
#include <nanobind/stl/optional.h>

#include "bind.h"
#include "log_score.h"

namespace surefit::bind {
namespace {

template <class T>
nb::tuple scored(Matrix<T> chance, Vector<std::int64_t> code, std::optional<Vector<double>> weight,
                 double step, int threads) {
  const Dense<T> rows = dense(chance);
  expect(rows.order == Order::C || rows.cols == 1, "chance must be in C order");
  expect(static_cast<Index>(code.shape(0)) == rows.rows &&
             (!weight || static_cast<Index>(weight->shape(0)) == rows.rows),
         "code and weight must have one entry for each row of chance");
  LogScore found;
  call(threads, [&](const Run& run) {
    found = log_score(run, rows.data, rows.cols, code.data(), weight ? weight->data() : nullptr, rows.rows,
                      static_cast<T>(step));
  });
  return nb::make_tuple(found.loss, found.bad, found.worst, found.sum);
}

template <class T>
void define_for(nb::module_& m) {
  m.def("log_score", &scored<T>, "chance"_a.noconvert(), "code"_a.noconvert(), "weight"_a.noconvert().none(),
        "step"_a, "threads"_a);
}

void define(nb::module_& m) {
  define_for<float>(m);
  define_for<double>(m);
}

const Registered logs(&define);

}  // namespace
}  // namespace surefit::bind
