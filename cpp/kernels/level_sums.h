// Sums of whole numbers by node, column and code: what a level of a tree is searched by, added up batch by
// batch. Whole numbers add up exactly, so neither the cut into batches nor their order changes a bit.
#pragma once

#include <vector>

#include "binned_columns.h"

namespace surefit {

// codes: Fortran order. slot: where the sums of a row's node are; below 0 for a row that does not count.
// part: of each row, which of the `parts` sums of a code it adds to; null for the only one. terms: what each
// row adds, `depth` numbers.
struct LevelRows {
  const std::uint8_t* codes;
  Index rows, width;
  const std::int32_t* slot;
  const std::int32_t* part;
  const std::int64_t* terms;
  Index parts, depth;
};

// sums: slots by codes of all columns by parts by depth. offset: where the codes of each column begin, and at
// last their number; missing values come after the last bin.
inline void level_sums(const Run& run, const LevelRows& rows, const std::int64_t* counts, const Index* offset,
                       std::int64_t* sums) {
  std::vector<Index> counted;
  for (Index i = 0; i < rows.rows; ++i)
    if (rows.slot[i] >= 0) counted.push_back(i);
  const Index entry = rows.parts * rows.depth, node = offset[rows.width] * entry;
  for_chunks(run, rows.width, [&](Index j, int) {
    const std::uint8_t* codes = rows.codes + j * rows.rows;
    std::int64_t* own = sums + offset[j] * entry;
    for (const Index i : counted) {
      const Index code = std::min<Index>(codes[i], counts[j]);  // missing values have the last
      std::int64_t* to = own + rows.slot[i] * node + code * entry;
      if (rows.part != nullptr) to += rows.part[i] * rows.depth;
      const std::int64_t* terms = rows.terms + i * rows.depth;
      for (Index k = 0; k < rows.depth; ++k) to[k] += terms[k];
    }
  });
}

// A tree of codes; a leaf has column -1. levels: four words a node, of a column of levels those that go left.
struct LevelTree {
  const std::int32_t *column, *bin, *left, *right;
  const std::uint8_t* missing_left;
  const std::uint64_t* levels;
  const std::uint8_t* is_level;  // of each column
};

inline bool goes_left(const LevelTree& tree, Index node, std::uint8_t code) {
  if (code == kMissingBin) return tree.missing_left[node] != 0;
  if (tree.is_level[tree.column[node]] == 0) return static_cast<std::int32_t>(code) <= tree.bin[node];
  return ((tree.levels[node * 4 + code / 64] >> (code % 64)) & 1) != 0;
}

// The leaf of each row.
inline void level_route(const Run& run, const std::uint8_t* codes, Index rows, const LevelTree& tree,
                        std::int32_t* leaf) {
  constexpr Index kRows = 4096;
  for_chunks(run, (rows + kRows - 1) / kRows, [&](Index block, int) {
    for (Index i = block * kRows; i < std::min(rows, (block + 1) * kRows); ++i) {
      std::int32_t node = 0;
      while (tree.column[node] >= 0)
        node =
            goes_left(tree, node, codes[tree.column[node] * rows + i]) ? tree.left[node] : tree.right[node];
      leaf[i] = node;
    }
  });
}

}  // namespace surefit
