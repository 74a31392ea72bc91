// Codes of the values within a node of a forest's tree, which tell all of them apart.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "forest_columns.h"

namespace surefit {

constexpr Index kLocalRows = 1024;  // up to which a node's values are told apart: its sums stay in cache
constexpr Index kTinyRows = 63;     // up to which one word says which codes are there

// Codes are by columns: that of row i and column j is at j * rows + i. Missing values have kLocalRows or
// kTinyRows as their code.
class NodeCodes {
 public:
  const std::uint16_t* small() const { return small_.data(); }
  const std::uint8_t* tiny() const { return tiny_.data(); }

  // Gives the values of each column codes within a small node.
  void tell_apart(const ForestColumns& columns, Index width, const std::uint32_t* rows, Index count) {
    ranks_.resize(static_cast<std::size_t>(count * width));
    small_.resize(ranks_.size());
    for (Index i = 0; i < count; ++i) {
      const std::uint32_t* own = columns.rank + static_cast<Index>(rows[i]) * width;
      for (Index j = 0; j < width; ++j) ranks_[static_cast<std::size_t>(j * count + i)] = own[j];
    }
    for (Index j = 0; j < width; ++j) {
      const std::uint32_t* own = ranks_.data() + j * count;
      std::uint16_t* codes = small_.data() + j * count;
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
    }
  }

  // Counts anew the codes of some places of a small node, by columns that are `step` apart.
  void count_anew(Index width, Index step, const std::uint16_t* places, Index count) {
    tiny_.resize(static_cast<std::size_t>(count * width));
    for (Index j = 0; j < width; ++j)
      count_column(small_.data() + j * step, places, count, tiny_.data() + j * count);
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

  // The codes of some places, from 0 without a gap and in the same order.
  static void count_column(const std::uint16_t* codes, const std::uint16_t* places, Index count,
                           std::uint8_t* out) {
    constexpr std::size_t words = kLocalRows / 64;
    std::array<std::uint64_t, words + 1> seen{};
    std::array<std::uint8_t, words + 1> before;
    for (Index i = 0; i < count; ++i)
      seen[codes[places[i]] >> 6] |= std::uint64_t{1} << (codes[places[i]] & 63);
    std::uint8_t total = 0;
    for (std::size_t w = 0; w < words; ++w) {
      before[w] = total;
      total = static_cast<std::uint8_t>(total + std::popcount(seen[w]));
    }
    for (Index i = 0; i < count; ++i) {
      const std::uint16_t code = codes[places[i]];
      const std::uint64_t lower = seen[code >> 6] & ((std::uint64_t{1} << (code & 63)) - 1);
      out[i] = code == kLocalRows ? static_cast<std::uint8_t>(kTinyRows)
                                  : static_cast<std::uint8_t>(before[code >> 6] + std::popcount(lower));
    }
  }

  std::vector<std::uint32_t> ranks_;
  std::vector<std::uint16_t> small_;
  std::vector<std::uint8_t> tiny_;
  std::array<std::uint64_t, static_cast<std::size_t>(kLocalRows)> keys_, spare_keys_;
};

}  // namespace surefit
