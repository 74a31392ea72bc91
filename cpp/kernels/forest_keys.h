// Sorts the values of a small node of a forest's tree, given as keys: a rank, and a place below it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>

#include "span.h"

namespace surefit {

// Up to how many rows the values of a node are told apart: by codes, whose sums stay in cache, or in the
// order of each column.
constexpr Index kCodedRows = 1024, kOrderedRows = 8192;

// The same for a tree of so many rows: bins of a small table are fine enough for more of its nodes.
inline Index rows_told_apart(Index root, bool ordered) {
  return ordered ? std::clamp(root / 8, kCodedRows, kOrderedRows) : kCodedRows;
}

using RankedPlace = std::uint64_t;
inline RankedPlace ranked_place(std::uint32_t rank, Index place) {
  return RankedPlace{rank} << 32 | static_cast<RankedPlace>(place);
}
inline std::uint32_t rank_of(RankedPlace key) {
  return static_cast<std::uint32_t>(key >> 32);
}
inline Index ranked_at(RankedPlace key) {
  return static_cast<Index>(key & 0xFFFFFFFFu);
}

class KeySorter {
 public:
  // Room for kOrderedRows keys, whose places are to ascend.
  RankedPlace* keys() { return keys_.data(); }

  // By the first bits of their distance from the lowest rank, which spread them well, and what shares a
  // bucket by insertion, unless that is too much. low, high: the least and the greatest rank.
  const RankedPlace* sorted(std::size_t count, std::uint32_t low, std::uint32_t high) {
    if (count < kFew) {
      insert(keys_.data(), count);
      return keys_.data();
    }
    const int bits = std::min(kBucketBits, static_cast<int>(std::bit_width(count)) + 1);
    const int shift = std::max(static_cast<int>(std::bit_width(high - low)) - bits, 0);
    std::array<std::uint16_t, (1 << kBucketBits) + 1> start;
    const std::uint32_t last = (high - low) >> shift;
    std::fill(start.begin(), start.begin() + last + 2, std::uint16_t{0});
    auto bucket = [&](RankedPlace key) { return (rank_of(key) - low) >> shift; };
    for (std::size_t i = 0; i < count; ++i) ++start[bucket(keys_[i]) + 1];
    std::uint16_t fullest = 0;
    for (std::uint32_t b = 0; b <= last; ++b) {
      fullest = std::max(fullest, start[b + 1]);
      start[b + 1] = static_cast<std::uint16_t>(start[b + 1] + start[b]);
    }
    for (std::size_t i = 0; i < count; ++i) spare_[start[bucket(keys_[i])]++] = keys_[i];
    if (shift == 0) return spare_.data();
    if (fullest > kFull)
      std::sort(spare_.data(), spare_.data() + count);
    else
      insert(spare_.data(), count);
    return spare_.data();
  }

 private:
  static constexpr int kBucketBits = 13;
  static constexpr std::size_t kFew = 16;
  static constexpr std::uint16_t kFull = 48;

  static void insert(RankedPlace* keys, std::size_t count) {
    for (std::size_t i = 1; i < count; ++i) {
      const RankedPlace key = keys[i];
      std::size_t at = i;
      for (; at > 0 && keys[at - 1] > key; --at) keys[at] = keys[at - 1];
      keys[at] = key;
    }
  }

  std::array<RankedPlace, static_cast<std::size_t>(kOrderedRows)> keys_, spare_;
};

}  // namespace surefit
