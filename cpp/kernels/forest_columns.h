// What all trees of a forest share: where each value stands among those of its column, and bins of one byte.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "binned_columns.h"
#include "column_order.h"
#include "parallel.h"

namespace surefit {

// Where the cell of a row and a column stands: rows lie together, or columns, of which a node of a wide table
// looks at few.
struct CellOrder {
  Index step = 0, column_step = 0;
  static CellOrder of(Index rows, Index columns, bool by_column) {
    return by_column ? CellOrder{1, rows} : CellOrder{columns, 1};
  }
  Index at(Index row, Index column) const { return row * step + column * column_step; }
};

// rank: of each cell, equal for equal values and ascending with them; kMissingCode where there is none.
// ascending: instead of ranks, the rows of each column in the order of its values, missing ones last; the top
// bit says that a value differs from the one before. bins: the same in bins; kMissingBin. lowest, highest:
// the ends of each bin, kMostBins of them a column; both are values of rows.
struct ForestColumns {
  const std::uint32_t* rank;
  const std::uint32_t* ascending;
  const std::uint8_t* bins;
  const double* lowest;
  const double* highest;
  CellOrder order;
};

inline std::uint32_t ascending_entry(Index row, bool fresh) {
  return static_cast<std::uint32_t>(row) | static_cast<std::uint32_t>(fresh) << 31;
}
inline Index ascending_row(std::uint32_t entry) {
  return static_cast<Index>(entry & 0x7FFFFFFFu);
}

// A column in ascending order but for its zeros, which share one place: of a sparse column little is left to
// sort.
struct RankedColumn {
  std::vector<Ranked> others;  // codes count the zeros as one value
  Index zeros = 0, first_zero = 0, last_zero = 0;
  std::uint32_t zero_code = 0;
  std::vector<std::uint32_t> rows;
  std::vector<KeyedRow> keys, spare;

  template <class T>
  void rank(const Dense<T>& X, Index j) {
    rows.resize(static_cast<std::size_t>(X.rows));
    std::size_t kept = 0;
    zeros = 0;
    for (Index i = 0; i < X.rows; ++i) {
      const bool zero = X(i, j) == T{0};
      rows[kept] = static_cast<std::uint32_t>(i);
      kept += !zero;
      if (!zero) continue;
      if (zeros++ == 0) first_zero = i;
      last_zero = i;
    }
    rows.resize(kept);
    others.resize(kept);
    rank_column(X, j, rows, others.data(), keys, spare);
    const auto above = std::partition_point(others.begin(), others.end(), [&](const Ranked& entry) {
      return X(static_cast<Index>(entry.row), j) < T{0};
    });
    zero_code = above == others.begin() ? 0 : (above - 1)->code + 1;
    if (zeros == 0) return;
    for (auto entry = above; entry != others.end() && entry->code != kMissingCode; ++entry) ++entry->code;
  }
};

// How many rows the next bin should hold, after `seen` and of `left`. Bins hold about as many each, but for
// those at both ends: a column that tells nothing is best cut where few rows go to one side, so that the
// others stay together for one that does.
inline Index rows_of_bin(Index seen, Index left, Index bins_left) {
  if (bins_left == 1) return left;
  // Bins that grow by a half each, from one row to as many as others hold.
  const Index at_end =
      4 + 7 * static_cast<Index>(std::bit_width(static_cast<std::uint64_t>(left / bins_left))) / 4;
  const Index inner = std::max(bins_left - at_end, Index{1}), even = (left + inner - 1) / inner;
  return std::max(std::min({even, seen / 2, left / 3}), Index{1});
}

// One column: values share a bin. One of rank and ascending is null.
template <class T>
void cut_column(const Dense<T>& X, Index j, const RankedColumn& ranked, const CellOrder& order,
                std::uint32_t* rank, std::uint32_t* ascending, std::uint8_t* bins, double* lowest,
                double* highest) {
  Index present = ranked.zeros, distinct = ranked.zeros > 0 ? static_cast<Index>(ranked.zero_code) + 1 : 0;
  for (const Ranked& entry : ranked.others) {
    if (entry.code == kMissingCode) break;  // missing values come last
    ++present;
    distinct = std::max(distinct, static_cast<Index>(entry.code) + 1);
  }
  const bool each = distinct <= kMostBins;
  Index bin = -1, seen = 0, held = 0, full = 0;
  auto hold = [&](bool fresh, Index first, Index last, Index many) {  // some rows of one value
    if (fresh && (each || held >= full)) {
      ++bin;
      lowest[j * kMostBins + bin] = static_cast<double>(X(first, j));
      held = 0;
      full = rows_of_bin(seen, present - seen, kMostBins - bin);
    }
    held += many, seen += many;
    highest[j * kMostBins + bin] = static_cast<double>(X(last, j));
  };
  std::uint32_t before = kMissingCode;
  std::uint32_t* next = ascending == nullptr ? nullptr : ascending + j * X.rows;
  auto place = [&](Index row, std::uint32_t code, Index in_bin) {
    const Index at = order.at(row, j);
    bins[at] = static_cast<std::uint8_t>(in_bin);
    if (next == nullptr)
      rank[at] = code;
    else
      *next++ = ascending_entry(row, code != before);
    before = code;
  };
  bool waiting = ranked.zeros > 0;
  auto hold_zeros = [&] {
    hold(true, ranked.first_zero, ranked.last_zero, ranked.zeros);
    waiting = false;
    for (Index i = 0; i < X.rows; ++i)
      if (X(i, j) == T{0}) place(i, ranked.zero_code, bin);
  };
  for (const Ranked& entry : ranked.others) {
    const auto row = static_cast<Index>(entry.row);
    if (waiting && entry.code > ranked.zero_code) hold_zeros();
    const bool missing = entry.code == kMissingCode;
    if (!missing) hold(entry.code != before, row, row, 1);
    place(row, entry.code, missing ? Index{kMissingBin} : bin);
  }
  if (waiting) hold_zeros();
}

template <class T>
void forest_columns(const Run& run, const Dense<T>& X, bool by_column, std::uint32_t* rank,
                    std::uint32_t* ascending, std::uint8_t* bins, double* lowest, double* highest) {
  const CellOrder order = CellOrder::of(X.rows, X.cols, by_column);
  std::vector<RankedColumn> ranked(static_cast<std::size_t>(std::max(run.threads, 1)));
  for_chunks(run, X.cols, [&](Index j, int worker) {
    RankedColumn& own = ranked[static_cast<std::size_t>(worker)];
    own.rank(X, j);
    cut_column(X, j, own, order, rank, ascending, bins, lowest, highest);
  });
}

}  // namespace surefit
