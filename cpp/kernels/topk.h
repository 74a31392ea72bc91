// The least entries of each row, in order: one of them (argmin) or k.
//
// Entries are ordered by value, equal values (0.0 and -0.0 among them) by column, and NaN after every number.
// A row in C order is scanned where it is; rows in Fortran order are turned a tile at a time first.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "compare.h"
#include "parallel.h"
#include "span.h"

namespace surefit {

namespace topk_detail {

// Up to so many entries, putting each in its place beats collecting candidates and sorting them out later.
constexpr Index few = 32;

// Column of the least entry: the least number first, then the first place that holds it; 0 in a row of NaN
// alone.
template <class T>
Index argmin(const T* x, Index n) {
  const T least = least_number(x, n);
  Index j = 0;
  for (; j + compared<T> <= n; j += compared<T>)
    if (const unsigned bits = equal_bits(x + j, least); bits != 0) return j + std::countr_zero(bits);
  for (; j < n; ++j)
    if (x[j] == least) return j;
  return 0;
}

template <class T>
struct Entry {
  T key;
  Index column;
};

template <class T>
bool before(const Entry<T>& a, const Entry<T>& b) {
  if (a.key < b.key) return true;
  if (a.key > b.key) return false;
  const bool a_nan = std::isnan(a.key), b_nan = std::isnan(b.key);
  return a_nan == b_nan ? a.column < b.column : b_nan;
}

// Calls offer(column) for the entries of [from, n) that may come before the key that bound() names at the
// time.
template <class T, class Bound, class Offer>
void scan(const T* x, Index from, Index n, const Bound& bound, const Offer& offer) {
  Index j = from;
  for (; j + compared<T> <= n; j += compared<T>)
    for (unsigned bits = below_bits(x + j, bound()); bits != 0; bits &= bits - 1)
      offer(j + std::countr_zero(bits));
  for (; j < n; ++j) offer(j);
}

// The first k entries of a row, kept in order all the time; for small k.
template <class T>
void select_few(const T* x, Index n, Index k, Entry<T>* kept) {
  const auto place = [&](Entry<T> entry, Index last) {
    Index hole = last;
    for (; hole > 0 && before(entry, kept[hole - 1]); --hole) kept[hole] = kept[hole - 1];
    kept[hole] = entry;
  };
  for (Index j = 0; j < k; ++j) place({x[j], j}, j);
  scan(
      x, k, n, [&] { return kept[k - 1].key; },
      [&](Index j) {
        const Entry<T> entry{x[j], j};
        if (before(entry, kept[k - 1])) place(entry, k - 1);
      });
}

// The same for large k: candidates pile up to 2k, then the better half stays. `kept` has room for 2k.
template <class T>
void select_many(const T* x, Index n, Index k, Entry<T>* kept) {
  Index size = std::min(2 * k, n);
  for (Index j = 0; j < size; ++j) kept[j] = {x[j], j};
  const auto halve = [&] {
    std::nth_element(kept, kept + k - 1, kept + size, before<T>);
    size = k;
  };
  const Index from = size;
  if (size > k) halve();
  T bound = kept[k - 1].key;
  scan(
      x, from, n, [&] { return bound; },
      [&](Index j) {
        kept[size++] = {x[j], j};
        if (size < 2 * k) return;
        halve();
        bound = kept[k - 1].key;
      });
  if (size > k) halve();
  std::sort(kept, kept + k, before<T>);
}

// Rows [first, first + count) of A in Fortran order, or their negatives, as a tile in C order.
template <class T>
void turn(const Dense<T>& A, Index first, Index count, T sign, T* tile) {
  constexpr Index strip = 8;  // columns read side by side, so that what is written fills whole cache lines
  for (Index start = 0; start < A.cols; start += strip) {
    const Index stop = std::min(start + strip, A.cols);
    for (Index i = 0; i < count; ++i)
      for (Index j = start; j < stop; ++j) tile[i * A.cols + j] = sign * A.data[j * A.rows + first + i];
  }
}

// Calls visit(row, worker, values) for every row of A; the values are contiguous, and negated if asked.
template <class T, class Visit>
void for_rows(const Run& run, const Dense<T>& A, bool negate, const Visit& visit) {
  const Index step = std::max<Index>((Index{1} << 14) / std::max<Index>(A.cols, 1), 8);
  std::vector<std::vector<T>> tiles(static_cast<std::size_t>(std::max(run.threads, 1)));
  for_chunks(run, (A.rows + step - 1) / step, [&](Index chunk, int worker) {
    const Index first = chunk * step, count = std::min(step, A.rows - first);
    const T* rows = A.data + first * A.cols;
    if (A.order != Order::C || negate) {
      std::vector<T>& tile = tiles[static_cast<std::size_t>(worker)];
      tile.resize(static_cast<std::size_t>(step * A.cols));
      if (A.order == Order::C)
        std::transform(rows, rows + count * A.cols, tile.begin(), [](T value) { return -value; });
      else
        turn(A, first, count, negate ? T(-1) : T(1), tile.data());
      rows = tile.data();
    }
    for (Index i = 0; i < count; ++i) visit(first + i, worker, rows + i * A.cols);
  });
}

}  // namespace topk_detail

// For each row of A, which has at least one column, the column of its least entry and the entry.
template <class T>
void row_argmin(const Run& run, const Dense<T>& A, std::int64_t* index, T* value) {
  using namespace topk_detail;
  for_rows(run, A, false, [&](Index row, int, const T* x) {
    const Index column = argmin(x, A.cols);
    index[row] = column;
    value[row] = x[column];
  });
}

// For each row of A the first k entries in order, or the first k in the order of falling values; 1 <= k <=
// columns.
template <class T>
void top_k(const Run& run, const Dense<T>& A, Index k, bool largest, std::int64_t* index, T* value) {
  using namespace topk_detail;
  std::vector<std::vector<Entry<T>>> rooms(static_cast<std::size_t>(std::max(run.threads, 1)));
  for (auto& room : rooms) room.resize(static_cast<std::size_t>(2 * k));
  for_rows(run, A, largest, [&](Index row, int worker, const T* x) {
    Entry<T>* kept = rooms[static_cast<std::size_t>(worker)].data();
    if (k <= few)
      select_few(x, A.cols, k, kept);
    else
      select_many(x, A.cols, k, kept);
    for (Index j = 0; j < k; ++j) {
      index[row * k + j] = kept[j].column;
      value[row * k + j] = A(row, kept[j].column);
    }
  });
}

}  // namespace surefit
