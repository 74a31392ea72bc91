// Python's door to absolute errors and to the number at a place in their order.
#include "bind.h"
#include "select_rank.h"

namespace surefit::bind {
namespace {

nb::tuple selected(Vector<double> x, Index low, Index high, int threads) {
  const Index size = static_cast<Index>(x.shape(0));
  expect(0 <= low && low <= high && high <= low + 1 && high < size, "the ranks are out of range");
  std::pair<double, double> found;
  call(threads, [&](const Run& run) { found = select_ranks(run, x.data(), size, low, high); });
  return nb::make_tuple(found.first, found.second);
}

bool errors(Vector<double> truth, Vector<double> guess, OutVector<double> error, int threads) {
  const Index rows = static_cast<Index>(truth.shape(0));
  expect(static_cast<Index>(guess.shape(0)) == rows && static_cast<Index>(error.shape(0)) == rows,
         "guess and error must have one entry for each of truth");
  bool finite = false;
  call(threads, [&](const Run& run) {
    finite = absolute_errors(run, truth.data(), guess.data(), rows, error.data());
  });
  return finite;
}

void define(nb::module_& m) {
  m.def("select_ranks", &selected, "x"_a.noconvert(), "low"_a, "high"_a, "threads"_a);
  m.def("absolute_errors", &errors, "truth"_a.noconvert(), "guess"_a.noconvert(), "error"_a.noconvert(),
        "threads"_a);
}

const Registered ranks(&define);

}  // namespace
}  // namespace surefit::bind
