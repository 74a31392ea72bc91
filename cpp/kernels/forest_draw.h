// How often each row is drawn into the sample of a tree.
#pragma once

#include <algorithm>

#include "node_random.h"
#include "span.h"

namespace surefit {

// Rows are drawn with replacement, in proportion to weights whose running sums are `cumulative`, or alike
// where it is null. counts must be zero before.
inline void draw_rows(std::uint64_t seed, Index draws, const double* cumulative, Index rows,
                      std::uint32_t* counts) {
  NodeRandom random(mixed(seed ^ 0xB5297A4D3F84D5A5u));
  const double total = cumulative == nullptr ? static_cast<double>(rows) : cumulative[rows - 1];
  for (Index i = 0; i < draws; ++i) {
    const double at = random.unit() * total;
    const Index row = cumulative == nullptr
                          ? static_cast<Index>(at)
                          : std::upper_bound(cumulative, cumulative + rows, at) - cumulative;
    ++counts[std::min(row, rows - 1)];
  }
}

}  // namespace surefit
