// Some rows of a dense matrix, or of columns that lie apart, as doubles in C order, copied to a tile that
// stays in the second-level cache.
#pragma once

#include <algorithm>

#include "columns.h"
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

namespace row_tile_detail {

// Four rows of four columns, to `to` and three steps on.
template <class T>
void turn(const T* a, const T* b, const T* c, const T* d, double* to, Index step) {
  Four w, x, y, z;
  load_four(a, w), load_four(b, x), load_four(c, y), load_four(d, z);
  across(w, x, y, z);
  put_four(to, w), put_four(to + step, x), put_four(to + 2 * step, y), put_four(to + 3 * step, z);
}

// Rows [0, count) of columns column(0) to column(cols - 1), four by four.
template <class Column>
void turn_columns(const Column& column, Index cols, Index count, double* to, Index step) {
  Index j = 0;
  for (; j + 4 <= cols; j += 4) {
    const auto *a = column(j), *b = column(j + 1), *c = column(j + 2), *d = column(j + 3);
    Index i = 0;
    for (; i + 4 <= count; i += 4) turn(a + i, b + i, c + i, d + i, to + i * step + j, step);
    for (; i < count; ++i) {
      double* out = to + i * step + j;
      out[0] = static_cast<double>(a[i]), out[1] = static_cast<double>(b[i]);
      out[2] = static_cast<double>(c[i]), out[3] = static_cast<double>(d[i]);
    }
  }
  for (; j < cols; ++j)
    for (Index i = 0; i < count; ++i) to[i * step + j] = static_cast<double>(column(j)[i]);
}

}  // namespace row_tile_detail

// Copies rows [start, start + count), all columns of them.
template <class T>
void copy_rows(const Dense<T>& x, Index start, Index count, double* to, Index step) {
  if (x.order == Order::C)
    copy_rows(x, start, count, 0, x.cols, [](Index i) { return i; }, to, step);
  else
    row_tile_detail::turn_columns([&](Index j) { return x.data + j * x.rows + start; }, x.cols, count, to,
                                  step);
}

inline void copy_rows(const ApartColumns& x, Index start, Index count, double* to, Index step) {
  row_tile_detail::turn_columns([&](Index j) { return x.columns[j] + start; }, x.cols, count, to, step);
}

inline Ahead fetch_ahead(const ApartColumns&, Index, Index, Index) {
  return {};  // each column brings itself in
}

// Rows [start, start + count) at `to`, zeros after them up to `padded` rows; those of weight 0, which may
// hold anything, are zeros too.
template <class Rows>
void fill_rows(const Rows& x, const double* weight, Index start, Index count, Index padded, double* to,
               Index step) {
  copy_rows(x, start, count, to, step);
  std::fill(to + count * step, to + padded * step, 0.0);
  if (weight == nullptr) return;
  for (Index i = 0; i < count; ++i)
    if (weight[start + i] == 0) std::fill_n(to + i * step, step, 0.0);
}

}  // namespace surefit
