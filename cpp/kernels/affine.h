// The two maps that scalers are made of, (x - a) / b and x * a + b column by column, and in the same pass
// whether all of x is finite.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "parallel.h"

namespace surefit {

struct Standardise {
  double operator()(double x, double shift, double scale) const { return (x - shift) / scale; }
};

struct Stretch {
  double operator()(double x, double scale, double shift) const { return x * scale + shift; }
};

namespace affine_detail {

inline constexpr Index piece = 1 << 15;  // cells that a thread maps at a time
inline constexpr Index least = 256;      // cells of a run, so that narrow rows are mapped several at a time

template <class T>
using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <class T>
Bits<T> not_finite(T x) {
  constexpr Bits<T> exponent = sizeof(T) == 8 ? Bits<T>(0x7ff0000000000000) : Bits<T>(0x7f800000);
  return static_cast<Bits<T>>((std::bit_cast<Bits<T>>(x) & exponent) == exponent);
}

// Cells whose columns change from one to the next.
template <class T, class Map>
Bits<T> across(const T* x, Index size, const double* first, const double* second, T* out, Map map) {
  Bits<T> bad = 0;
  for (Index i = 0; i < size; ++i) {
    bad |= not_finite(x[i]);
    out[i] = static_cast<T>(map(static_cast<double>(x[i]), first[i], second[i]));
  }
  return bad;
}

// Cells of one column.
template <class T, class Map>
Bits<T> down(const T* x, Index size, double first, double second, T* out, Map map) {
  Bits<T> bad = 0;
  for (Index i = 0; i < size; ++i) {
    bad |= not_finite(x[i]);
    out[i] = static_cast<T>(map(static_cast<double>(x[i]), first, second));
  }
  return bad;
}

}  // namespace affine_detail

// Maps every cell with the two numbers of its column, in double precision, rounded once. `out` has the shape
// and order of x, and may be x itself. Returns whether no cell of x is NaN or infinite.
template <class T, class Map>
bool affine(const Run& run, const Dense<T>& x, const double* first, const double* second, T* out, Map map) {
  using namespace affine_detail;
  const Index size = x.rows * x.cols;
  if (size == 0) return true;
  std::atomic<bool> finite{true};
  Run quick = run;
  if (size < 200'000) quick.threads = 1;  // done before another thread wakes up
  if (x.order == Order::Fortran) {
    const Index pieces = (x.rows + piece - 1) / piece;
    for_chunks(quick, pieces * x.cols, [&](Index chunk, int) {
      const Index column = chunk / pieces, start = chunk % pieces * piece, from = column * x.rows + start;
      const Index count = std::min(piece, x.rows - start);
      if (down(x.data + from, count, first[column], second[column], out + from, map) != 0)
        finite.store(false, std::memory_order_relaxed);
    });
    return finite.load();
  }
  const Index rows_of_run = std::min((least + x.cols - 1) / x.cols, x.rows), length = rows_of_run * x.cols;
  std::vector<double> a(static_cast<std::size_t>(length)), b(static_cast<std::size_t>(length));
  for (Index i = 0; i < length; ++i) {
    a[static_cast<std::size_t>(i)] = first[i % x.cols];
    b[static_cast<std::size_t>(i)] = second[i % x.cols];
  }
  const Index step = std::max<Index>(1, piece / length) * length;
  for_chunks(quick, (size + step - 1) / step, [&](Index chunk, int) {
    const Index end = std::min((chunk + 1) * step, size);
    Bits<T> bad = 0;
    for (Index at = chunk * step; at < end; at += length)
      bad |= across(x.data + at, std::min(length, end - at), a.data(), b.data(), out + at, map);
    if (bad != 0) finite.store(false, std::memory_order_relaxed);
  });
  return finite.load();
}

}  // namespace surefit
