// The rows of a boosted tree while it grows, node by node.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "span.h"

namespace surefit {

// Rows in node order, parted in place; each part keeps its order.
class RowOrder {
 public:
  static constexpr Index kChunk = 2048;

  RowOrder(std::uint32_t* rows, std::uint32_t* spare) : rows_(rows), spare_(spare) {}

  const std::uint32_t* at(Index i) const { return rows_ + i; }
  static Index chunks(Index count) { return (count + kChunk - 1) / kChunk; }

  // Starts to part [begin, end): part_chunk() of all chunks in any order, count_lefts(), and place_chunk() of
  // all chunks in any order.
  void begin_parting(Index begin, Index end) {
    begin_ = begin, end_ = end;
    lefts_.assign(static_cast<std::size_t>(chunks(end - begin)), 0);
  }

  struct Parts {
    const std::uint32_t *left, *right;
    Index lefts, rights;
  };

  // codes: of the column split by; goes_left: by code. Returns the rows of chunk k, side by side.
  Parts part_chunk(Index k, const std::uint8_t* codes, const std::array<std::uint8_t, 256>& goes_left) {
    const Index from = begin_ + k * kChunk, to = std::min(end_, from + kChunk);
    std::array<std::uint32_t, kChunk> away;
    std::uint32_t *left = spare_ + from, *right = away.data();
    for (Index i = from; i < to; ++i) {
      const std::uint32_t row = rows_[i];
      const std::uint8_t goes = goes_left[codes[row]];
      *left = *right = row;  // both, since a branch would be guessed wrong
      left += goes;
      right += 1 - goes;
    }
    std::copy(away.data(), right, left);
    const Index own = left - (spare_ + from);
    lefts_[static_cast<std::size_t>(k)] = own;
    return {spare_ + from, left, own, to - from - own};
  }

  // Returns how many rows went left, once all chunks are parted.
  Index count_lefts() {
    Index all = 0;
    for (Index& own : lefts_) own = std::exchange(all, all + own);
    return all;
  }

  // all: what count_lefts() returned.
  void place_chunk(Index k, Index all) {
    const Index from = begin_ + k * kChunk, to = std::min(end_, from + kChunk);
    const auto at = static_cast<std::size_t>(k);
    const Index before = lefts_[at], own = (at + 1 < lefts_.size() ? lefts_[at + 1] : all) - before;
    std::copy(spare_ + from, spare_ + from + own, rows_ + begin_ + before);
    std::copy(spare_ + from + own, spare_ + to, rows_ + begin_ + all + (from - begin_ - before));
  }

 private:
  std::uint32_t *rows_, *spare_;
  Index begin_ = 0, end_ = 0;
  std::vector<Index> lefts_;
};

}  // namespace surefit
