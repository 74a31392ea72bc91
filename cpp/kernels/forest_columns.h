// What all trees of a forest share: where each value stands among those of its column, and bins of one byte.
#pragma once

#include <algorithm>
#include <vector>

#include "binned_columns.h"
#include "column_order.h"
#include "parallel.h"

namespace surefit {

// rank: rows by columns, equal for equal values and ascending with them; kMissingCode where there is none.
// bins: the same in bins; kMissingBin. lowest, highest: the ends of each bin, kMostBins of them a column;
// both are values of rows.
struct ForestColumns {
  const std::uint32_t* rank;
  const std::uint8_t* bins;
  const double* lowest;
  const double* highest;
};

// One column: values share a bin, and bins hold about as many rows each.
template <class T>
void cut_column(const Dense<T>& X, Index j, const std::vector<Ranked>& ranked, std::uint32_t* rank,
                std::uint8_t* bins, double* lowest, double* highest) {
  Index present = 0, distinct = 0;
  for (const Ranked& entry : ranked) {
    rank[static_cast<Index>(entry.row) * X.cols + j] = entry.code;
    if (entry.code == kMissingCode) {
      bins[static_cast<Index>(entry.row) * X.cols + j] = kMissingBin;
      continue;
    }
    ++present;
    distinct = static_cast<Index>(entry.code) + 1;
  }
  const bool each = distinct <= kMostBins;
  Index bin = -1, held = 0, full = 0;
  std::uint32_t before = kMissingCode;
  for (Index i = 0; i < present; ++i) {
    const Ranked& entry = ranked[static_cast<std::size_t>(i)];
    const auto row = static_cast<Index>(entry.row);
    const bool fresh = entry.code != before;
    before = entry.code;
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
void forest_columns(const Run& run, const Dense<T>& X, std::uint32_t* rank, std::uint8_t* bins,
                    double* lowest, double* highest) {
  const auto workers = static_cast<std::size_t>(std::max(run.threads, 1));
  std::vector<std::uint32_t> rows(static_cast<std::size_t>(X.rows));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::uint32_t>(i);
  std::vector<std::vector<KeyedRow>> keys(workers), spares(workers);
  std::vector<std::vector<Ranked>> ranked(workers);
  for_chunks(run, X.cols, [&](Index j, int worker) {
    const auto w = static_cast<std::size_t>(worker);
    ranked[w].resize(rows.size());
    rank_column(X, j, rows, ranked[w].data(), keys[w], spares[w]);
    cut_column(X, j, ranked[w], rank, bins, lowest, highest);
  });
}

}  // namespace surefit
