// Reads a CSR matrix row by row: columns in increasing order, entries stored twice added up, every index
// checked.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "span.h"

namespace surefit {

template <class T, class I>
class CsrReader {
 public:
  CsrReader(const Csr<T, I>& x, Index stored) : x_(x), stored_(stored) {}

  // Where row i starts and ends in the stored entries.
  std::pair<Index, Index> range(Index i) const {
    const Index start = static_cast<Index>(x_.indptr[i]), end = static_cast<Index>(x_.indptr[i + 1]);
    if (start < 0 || start > end || end > stored_)
      throw std::invalid_argument(
          "the sparse matrix has an indptr that does not fit its entries: rebuild the matrix.");
    return {start, end};
  }

  // The column of stored entry k.
  Index column(Index k) const {
    const Index col = static_cast<Index>(x_.indices[k]);
    if (col < 0 || col >= x_.cols)
      throw std::invalid_argument(
          "the sparse matrix has a column index outside its width: rebuild the matrix.");
    return col;
  }

  // Writes the row's columns and values, and returns how many there are; there must be room for all stored
  // ones.
  Index read(Index i, Index* cols, double* values) {
    const auto [start, end] = range(i);
    Index previous = -1;
    bool increasing = true;
    for (Index k = start; k < end; ++k) {
      const Index col = column(k);
      increasing = increasing && col > previous;
      previous = col;
      cols[k - start] = col;
      values[k - start] = static_cast<double>(x_.data[k]);
    }
    return increasing ? end - start : tidy(end - start, cols, values);
  }

 private:
  Index tidy(Index count, Index* cols, double* values) {
    entries_.clear();
    for (Index k = 0; k < count; ++k) entries_.emplace_back(cols[k], values[k]);
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    Index out = -1;
    for (const auto& [col, value] : entries_) {
      if (out >= 0 && cols[out] == col) {
        values[out] += value;
      } else {
        ++out;
        cols[out] = col;
        values[out] = value;
      }
    }
    return out + 1;
  }

  Csr<T, I> x_;
  Index stored_;
  std::vector<std::pair<Index, double>> entries_;
};

// The most entries stored in one row.
template <class T, class I>
Index longest_row(const Csr<T, I>& x, Index stored) {
  const CsrReader<T, I> reader(x, stored);
  Index longest = 0;
  for (Index i = 0; i < x.rows; ++i) {
    const auto [start, end] = reader.range(i);
    longest = std::max(longest, end - start);
  }
  return longest;
}

}  // namespace surefit
