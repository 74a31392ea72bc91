// Codes of the values within a node of a forest's tree, which tell all of them apart.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "forest_columns.h"

namespace surefit {

constexpr Index kLocalRows = 1024;  // up to which a node's values are told apart: its sums stay in cache

// A place among the rows of a node, and the code of its value above it.
using PlacedCode = std::uint32_t;
inline Index code_of(PlacedCode entry) {
  return static_cast<Index>(entry >> 16);
}
inline std::size_t place_of(PlacedCode entry) {
  return entry & 0xFFFFu;
}

// Codes are by columns: that of row i and column j is at j * rows + i, kLocalRows where it is missing.
class NodeCodes {
 public:
  const std::uint16_t* codes() const { return codes_.data(); }
  PlacedCode* order() { return order_.data(); }

  // Gives the values of each column codes within a small node; ordered: and puts places in their order.
  void tell_apart(const ForestColumns& columns, Index width, const std::uint32_t* rows, Index count,
                  bool ordered) {
    ranks_.resize(static_cast<std::size_t>(count * width));
    codes_.resize(ranks_.size());
    if (ordered) order_.resize(ranks_.size());
    for (Index i = 0; i < count; ++i) {
      const std::uint32_t* own = columns.rank + static_cast<Index>(rows[i]) * width;
      for (Index j = 0; j < width; ++j) ranks_[static_cast<std::size_t>(j * count + i)] = own[j];
    }
    for (Index j = 0; j < width; ++j) {
      const std::uint32_t* own = ranks_.data() + j * count;
      std::uint16_t* codes = codes_.data() + j * count;
      std::uint32_t low = kMissingCode, high = 0;
      std::size_t known = 0;
      for (Index i = 0; i < count; ++i) {
        codes[i] = static_cast<std::uint16_t>(kLocalRows);
        if (own[i] == kMissingCode) continue;
        low = std::min(low, own[i]), high = std::max(high, own[i]);
        keys_[known++] = std::uint64_t{own[i]} << 32 | static_cast<std::uint64_t>(i);
      }
      const std::uint64_t* sorted = sort_keys(known, low, high);
      std::uint16_t code = 0xFFFF;
      std::uint64_t before = ~std::uint64_t{0};
      for (std::size_t i = 0; i < known; ++i) {
        code = static_cast<std::uint16_t>(code + (sorted[i] >> 32 != before));
        before = sorted[i] >> 32;
        codes[sorted[i] & 0xFFFFFFFFu] = code;
      }
      if (ordered) put_in_order(sorted, known, codes, count, order_.data() + j * count);
    }
  }

 private:
  static constexpr int kBucketBits = 10;
  static constexpr std::uint16_t kFull = 48;

  // Sorts keys by their ranks, from `low` to `high`: by the first bits of their distance from the lowest,
  // which spread them well, and what shares a bucket by insertion, unless that is too much.
  const std::uint64_t* sort_keys(std::size_t count, std::uint32_t low, std::uint32_t high) {
    if (count == 0) return keys_.data();
    const int shift = std::max(static_cast<int>(std::bit_width(high - low)) - kBucketBits, 0);
    std::array<std::uint16_t, (1 << kBucketBits) + 1> start{};
    auto bucket = [&](std::uint64_t key) { return (static_cast<std::uint32_t>(key >> 32) - low) >> shift; };
    for (std::size_t i = 0; i < count; ++i) ++start[bucket(keys_[i]) + 1];
    const std::uint32_t last = (high - low) >> shift;
    std::uint16_t fullest = 0;
    for (std::uint32_t b = 0; b <= last; ++b) {
      fullest = std::max(fullest, start[b + 1]);
      start[b + 1] = static_cast<std::uint16_t>(start[b + 1] + start[b]);
    }
    std::uint64_t* sorted = spare_keys_.data();
    for (std::size_t i = 0; i < count; ++i) sorted[start[bucket(keys_[i])]++] = keys_[i];
    if (shift == 0) return sorted;
    if (fullest > kFull) {
      std::sort(sorted, sorted + count);
      return sorted;
    }
    for (std::size_t i = 1; i < count; ++i) {
      const std::uint64_t key = sorted[i];
      std::size_t at = i;
      for (; at > 0 && sorted[at - 1] > key; --at) sorted[at] = sorted[at - 1];
      sorted[at] = key;
    }
    return sorted;
  }

  static void put_in_order(const std::uint64_t* sorted, std::size_t known, const std::uint16_t* codes,
                           Index count, PlacedCode* order) {
    for (std::size_t i = 0; i < known; ++i) {
      const auto place = static_cast<PlacedCode>(sorted[i] & 0xFFFFFFFFu);
      order[i] = PlacedCode{codes[place]} << 16 | place;
    }
    for (Index i = 0; i < count && known < static_cast<std::size_t>(count); ++i)
      if (codes[i] == kLocalRows)
        order[known++] = static_cast<PlacedCode>(kLocalRows) << 16 | static_cast<PlacedCode>(i);
  }

  std::vector<std::uint32_t> ranks_;
  std::vector<std::uint16_t> codes_;
  std::vector<PlacedCode> order_;
  std::array<std::uint64_t, static_cast<std::size_t>(kLocalRows)> keys_, spare_keys_;
};

}  // namespace surefit
