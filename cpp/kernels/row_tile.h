// Some rows of a dense matrix, or of columns that lie apart, as doubles in C order, copied to a tile that
// stays in the second-level cache.
#pragma once

#include <algorithm>

#include "panel.h"

namespace surefit {

// How many rows of so many columns make a tile of some 128 KB.
inline Index tile_rows(Index cols) {
  return std::clamp<Index>((Index{1} << 14) / std::max<Index>(cols, 1), 16, 1024);
}

// Copies rows [start, start + count), columns [first, last) of x: row start + i to to + place(i) * step,
// unless that is negative.
template <class T, class Place>
void copy_rows(const Dense<T>& x, Index start, Index count, Index first, Index last, const Place& place,
               double* to, Index step) {
  if (x.order == Order::C) {
    const T* row = x.data + start * x.cols + first;
    for (Index i = 0; i < count; ++i, row += x.cols) {
      if (place(i) < 0) continue;
      double* out = to + place(i) * step;
      for (Index j = 0; j < last - first; ++j) out[j] = static_cast<double>(row[j]);
    }
    return;
  }
  constexpr Index strip = 8;  // columns read side by side, so that what is written fills whole cache lines
  for (Index from = first; from < last; from += strip) {
    const Index end = std::min(from + strip, last);
    for (Index i = 0; i < count; ++i) {
      if (place(i) < 0) continue;
      double* out = to + place(i) * step - first;
      for (Index j = from; j < end; ++j) out[j] = static_cast<double>(x.data[j * x.rows + start + i]);
    }
  }
}

// Columns that lie apart in memory, as those of a record batch do.
struct ApartColumns {
  const double* const* columns = nullptr;
  Index rows = 0;
  Index cols = 0;
};

template <class Place>
void copy_rows(const ApartColumns& x, Index start, Index count, Index first, Index last, const Place& place,
               double* to, Index step) {
  constexpr Index strip = 8;  // as above
  for (Index from = first; from < last; from += strip) {
    const Index end = std::min(from + strip, last);
    for (Index i = 0; i < count; ++i) {
      if (place(i) < 0) continue;
      double* out = to + place(i) * step - first;
      for (Index j = from; j < end; ++j) out[j] = x.columns[j][start + i];
    }
  }
}

inline Ahead fetch_ahead(const ApartColumns&, Index, Index, Index) {
  return {};  // each column brings itself in
}

// Rows [start, start + count) at `to`, zeros after them up to `padded` rows; those of weight 0, which may
// hold anything, are zeros too.
template <class Rows>
void fill_rows(const Rows& x, const double* weight, Index start, Index count, Index padded, double* to,
               Index step) {
  copy_rows(x, start, count, 0, x.cols, [](Index i) { return i; }, to, step);
  std::fill(to + count * step, to + padded * step, 0.0);
  if (weight == nullptr) return;
  for (Index i = 0; i < count; ++i)
    if (weight[start + i] == 0) std::fill_n(to + i * step, step, 0.0);
}

}  // namespace surefit
