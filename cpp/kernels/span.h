// The plain views that every kernel takes: no ownership, no Python.
#pragma once

#include <cstddef>
#include <cstdint>

namespace surefit {

using Index = std::ptrdiff_t;

enum class Order : std::uint8_t { C, Fortran };

// A read-only dense matrix, contiguous in one of the two orders.
template <class T>
struct Dense {
  const T* data = nullptr;
  Index rows = 0;
  Index cols = 0;
  Order order = Order::C;

  const T& operator()(Index i, Index j) const {
    return data[order == Order::C ? i * cols + j : j * rows + i];
  }
};

// A read-only compressed-sparse-row matrix; I is int32 or int64, as scipy chooses. Column indices need not be
// sorted; an entry stored twice counts as the sum of the two, as in scipy.
template <class T, class I>
struct Csr {
  const T* data = nullptr;
  const I* indices = nullptr;
  const I* indptr = nullptr;
  Index rows = 0;
  Index cols = 0;
};

}  // namespace surefit
