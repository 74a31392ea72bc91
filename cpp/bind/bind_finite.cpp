// Python's door to the test for finite numbers.
#include "bind.h"
#include "finite.h"

namespace surefit::bind {
namespace {

template <class T>
bool finite(Vector<T> x, int threads) {
  bool found = false;
  call(threads, [&](const Run& run) { found = all_finite(run, x.data(), static_cast<Index>(x.shape(0))); });
  return found;
}

void define(nb::module_& m) {
  m.def("all_finite", &finite<float>, "x"_a.noconvert(), "threads"_a);
  m.def("all_finite", &finite<double>, "x"_a.noconvert(), "threads"_a);
}

const Registered finites(&define);

}  // namespace
}  // namespace surefit::bind
