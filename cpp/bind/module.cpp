// The module: what Python asks about the machine, and then every kernel that has a bind_<kernel>.cpp beside
// this file.
#include <string>

#include "bind.h"
#include "cpu.h"

namespace surefit::bind {

Blas& blas() {
  static Blas routines;
  return routines;
}

namespace {

// scipy publishes its BLAS as capsules whose name is the C signature; only that of gemm with 32-bit integers
// is taken.
bool is_gemm(const nb::handle& capsule, const char* letter) {
  if (!PyCapsule_CheckExact(capsule.ptr())) return false;
  const char* name = PyCapsule_GetName(capsule.ptr());
  const std::string real = std::string("__pyx_t_5scipy_6linalg_11cython_blas_") + letter + " *, ";
  return name != nullptr && name == "void (char *, char *, int *, int *, int *, " + real + real + "int *, " +
                                        real + "int *, " + real + real + "int *)";
}

template <class Function>
Function pointer(const nb::handle& capsule) {
  return reinterpret_cast<Function>(PyCapsule_GetPointer(capsule.ptr(), PyCapsule_GetName(capsule.ptr())));
}

bool use_blas(nb::object dgemm, nb::object sgemm) {
  if (!is_gemm(dgemm, "d") || !is_gemm(sgemm, "s")) return false;
  blas().dgemm = pointer<Gemm<double>>(dgemm);
  blas().sgemm = pointer<Gemm<float>>(sgemm);
  return true;
}

}  // namespace

std::vector<Binding>& bindings() {
  static std::vector<Binding> all;
  return all;
}

}  // namespace surefit::bind

NB_MODULE(SUREFIT_MODULE, m) {
  using namespace surefit;
  m.attr("variant") = SUREFIT_VARIANT;
  m.def("cpu_has_v3", &cpu_has_v3);
  m.def("use_blas", &bind::use_blas, nanobind::arg("dgemm"), nanobind::arg("sgemm"));
  m.def("pool_size", [] { return Pool::shared().size(); });
  for (const bind::Binding binding : bind::bindings()) binding(m);
}
