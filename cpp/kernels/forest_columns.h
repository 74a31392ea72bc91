// What all trees of a forest share: each column in ascending order, and cut into bins of one byte.
#pragma once

#include <algorithm>
#include <vector>

#include "binned_columns.h"
#include "column_order.h"
#include "parallel.h"

namespace surefit {

constexpr std::uint32_t kSameValue = 0x80000000u;  // on a row whose value is that of the row before it

// order: rows of column j from j * rows on, ascending by value, those with none last. known: how many of a
// column have a value. bins: rows by columns; kMissingBin where there is no value. lowest, highest: the ends
// of each bin, kMostBins of them a column; both are values of rows.
struct ForestColumns {
  const std::uint32_t* order;
  const std::int64_t* known;
  const std::uint8_t* bins;
  const double* lowest;
  const double* highest;
};

// One column: values share a bin, and bins hold about as many rows each.
template <class T>
void cut_column(const Dense<T>& X, Index j, const std::vector<Ranked>& ranked, std::uint32_t* order,
                std::int64_t* known, std::uint8_t* bins, double* lowest, double* highest) {
  const Index n = X.rows;
  std::uint32_t* own = order + j * n;
  Index present = 0, distinct = 0;
  for (Index i = 0; i < n; ++i) {
    const Ranked& entry = ranked[static_cast<std::size_t>(i)];
    const bool missing = entry.code == kMissingCode;
    const bool same = i > 0 && entry.code == ranked[static_cast<std::size_t>(i - 1)].code;
    own[i] = entry.row | (same ? kSameValue : 0u);
    present += !missing;
    distinct += !missing && !same;
    if (missing) bins[static_cast<Index>(entry.row) * X.cols + j] = kMissingBin;
  }
  known[j] = present;
  const bool each = distinct <= kMostBins;
  Index bin = -1, held = 0, full = 0;
  for (Index i = 0; i < present; ++i) {
    const auto row = static_cast<Index>(own[i] & ~kSameValue);
    const bool fresh = (own[i] & kSameValue) == 0;
    const bool next = fresh && (each || held >= full);
    if (next) {
      ++bin;
      lowest[j * kMostBins + bin] = static_cast<double>(X(row, j));
      held = 0;
      full =
          (present - i + kMostBins - bin - 1) / (kMostBins - bin);  // what is left, shared by the bins left
    }
    ++held;
    highest[j * kMostBins + bin] = static_cast<double>(X(row, j));
    bins[row * X.cols + j] = static_cast<std::uint8_t>(bin);
  }
}

template <class T>
void forest_columns(const Run& run, const Dense<T>& X, std::uint32_t* order, std::int64_t* known,
                    std::uint8_t* bins, double* lowest, double* highest) {
  const auto workers = static_cast<std::size_t>(std::max(run.threads, 1));
  std::vector<std::uint32_t> rows(static_cast<std::size_t>(X.rows));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::uint32_t>(i);
  std::vector<std::vector<KeyedRow>> keys(workers), spares(workers);
  std::vector<std::vector<Ranked>> ranked(workers);
  for_chunks(run, X.cols, [&](Index j, int worker) {
    const auto w = static_cast<std::size_t>(worker);
    ranked[w].resize(rows.size());
    rank_column(X, j, rows, ranked[w].data(), keys[w], spares[w]);
    cut_column(X, j, ranked[w], order, known, bins, lowest, highest);
  });
}

}  // namespace surefit
