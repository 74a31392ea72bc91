// The few BLAS routines that kernels use, as function pointers: scipy's at run time, plain loops in the C++
// tests and wherever scipy's do not have the expected signature. Column-major, 32-bit integers, by pointer,
// as Fortran.
#pragma once

#include "span.h"

namespace surefit {

template <class T>
using Gemm = void (*)(char* transa, char* transb, int* m, int* n, int* k, T* alpha, T* a, int* lda, T* b,
                      int* ldb, T* beta, T* c, int* ldc);

template <class T>
void plain_gemm(char* transa, char* transb, int* m, int* n, int* k, T* alpha, T* a, int* lda, T* b, int* ldb,
                T* beta, T* c, int* ldc) {
  const bool ta = *transa != 'N' && *transa != 'n';
  const bool tb = *transb != 'N' && *transb != 'n';
  const Index sa = *lda, sb = *ldb, sc = *ldc;
  for (Index j = 0; j < *n; ++j) {
    for (Index i = 0; i < *m; ++i) {
      T sum = 0;
      for (Index l = 0; l < *k; ++l)
        sum += (ta ? a[l + i * sa] : a[i + l * sa]) * (tb ? b[j + l * sb] : b[l + j * sb]);
      T& out = c[i + j * sc];
      out = *alpha * sum + (*beta == T(0) ? T(0) : *beta * out);
    }
  }
}

struct Blas {
  Gemm<double> dgemm = plain_gemm<double>;
  Gemm<float> sgemm = plain_gemm<float>;
};

}  // namespace surefit
