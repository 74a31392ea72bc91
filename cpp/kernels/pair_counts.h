// How often each pair of two whole numbers occurs: the table behind every score of labels.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "parallel.h"

namespace surefit {

// Adds up, for rows with codes low <= a, b < low + size, the weight of each pair into `table`, size x size,
// row a, column b. weight may be null. Returns the first row with a code outside, `rows` if there is none;
// the table is then undefined. The same bits for any number of threads.
template <class I>
Index pair_counts(const Run& run, const I* a, const I* b, const double* weight, Index rows, std::int64_t low,
                  Index size, double* table) {
  constexpr Index least = 1 << 16;
  constexpr Index most = 16;  // tables kept at a time
  const Index cells = size * size;
  const Index piece = std::max(least, (rows + most - 1) / most), chunks = (rows + piece - 1) / piece;
  // Rows in turn go to four tables while these are small: adding to one place twice in a row makes the second
  // wait for the first.
  const Index copies = cells <= 1024 ? 4 : 1;
  std::vector<double> part(static_cast<std::size_t>(chunks * copies * cells), 0.0);
  std::vector<Index> outside(static_cast<std::size_t>(chunks), rows);
  for_chunks(run, chunks, [&](Index chunk, int) {
    double* to = part.data() + chunk * copies * cells;
    for (Index i = chunk * piece; i < std::min(rows, (chunk + 1) * piece); ++i) {
      const auto row = static_cast<std::uint64_t>(a[i]) - static_cast<std::uint64_t>(low);
      const auto column = static_cast<std::uint64_t>(b[i]) - static_cast<std::uint64_t>(low);
      if (std::max(row, column) >= static_cast<std::uint64_t>(size)) {
        outside[static_cast<std::size_t>(chunk)] = i;
        return;
      }
      const Index cell = static_cast<Index>(row) * size + static_cast<Index>(column);
      to[(i & (copies - 1)) * cells + cell] += weight == nullptr ? 1.0 : weight[i];
    }
  });
  std::fill_n(table, cells, 0.0);
  for (Index copy = 0; copy < chunks * copies; ++copy)
    for (Index cell = 0; cell < cells; ++cell)
      table[cell] += part[static_cast<std::size_t>(copy * cells + cell)];
  Index first = rows;
  for (const Index row : outside) first = std::min(first, row);
  return first;
}

}  // namespace surefit
