// The border between Python and the kernels: array types, views, the GIL, Ctrl-C and BLAS, each handled once.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <stdexcept>
#include <utility>
#include <vector>

#include "parallel.h"
#include "run.h"

namespace surefit::bind {

namespace nb = nanobind;
using namespace nb::literals;

// Inputs are const, so that read-only arrays pass; nothing is ever converted or copied at the border.
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
// Outputs are allocated by the caller, in C order.
template <class T>
using OutMatrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using OutVector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
Dense<T> dense(const Matrix<T>& a) {
  const Index rows = static_cast<Index>(a.shape(0)), cols = static_cast<Index>(a.shape(1));
  const auto row_step = a.stride(0), col_step = a.stride(1);
  const bool c = (cols <= 1 || col_step == 1) && (rows <= 1 || row_step == cols);
  const bool f = (rows <= 1 || row_step == 1) && (cols <= 1 || col_step == rows);
  if (rows > 0 && cols > 0 && !c && !f)
    throw nb::type_error("the matrix is neither C- nor Fortran-contiguous: pass numpy.ascontiguousarray(X)");
  return {a.data(), rows, cols, c ? Order::C : Order::Fortran};
}

inline void expect(bool condition, const char* message) {
  if (!condition) throw nb::value_error(message);
}

// Each bind_<kernel>.cpp files its definitions with one line: `static const Registered gram(&define);`.
using Binding = void (*)(nb::module_&);
std::vector<Binding>& bindings();
struct Registered {
  explicit Registered(Binding binding) { bindings().push_back(binding); }
};

// BLAS of this process; plain loops until use_blas has been called with scipy's capsules.
Blas& blas();

// Runs a kernel with the GIL released and Ctrl-C polled; the pending KeyboardInterrupt goes on as itself.
template <class Kernel>
void call(int threads, Kernel&& kernel) {
  Run run;
  run.threads = threads < 1 ? 1 : threads;
  run.blas = blas();
  run.cancel = [] {
    nb::gil_scoped_acquire held;
    return PyErr_CheckSignals() != 0;
  };
  bool cancelled = false;
  {
    nb::gil_scoped_release released;
    try {
      std::forward<Kernel>(kernel)(run);
    } catch (const Cancelled&) {
      cancelled = true;
    }
  }
  if (cancelled) throw nb::python_error();
}

}  // namespace surefit::bind
