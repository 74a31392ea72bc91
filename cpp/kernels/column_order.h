// A column in ascending order: which row stands where, and a code that equal values share.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "span.h"

namespace surefit {

constexpr std::uint32_t kMissingCode = 0xFFFFFFFFu;

struct Ranked {
  std::uint32_t row;
  std::uint32_t code;  // equal for equal values, ascending with them; missing values come last
};

struct KeyedRow {
  std::uint64_t key;
  std::uint32_t row;
};

// Numbers in order are keys in order; both zeros share one, and NaN is greater than every number.
inline std::uint64_t order_key(double value) {
  if (std::isnan(value)) return ~std::uint64_t{0};
  const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);
  return (bits >> 63) != 0 ? ~bits : bits | (std::uint64_t{1} << 63);
}

// Sorts by key, equal keys by row, for rows that come in ascending order.
inline void sort_keys(std::vector<KeyedRow>& keys, std::vector<KeyedRow>& spare) {
  constexpr Index kFew = 512;
  constexpr int kBits = 11, kDigits = 6;
  constexpr std::size_t kBuckets = std::size_t{1} << kBits;
  const Index n = static_cast<Index>(keys.size());
  if (n <= kFew) {
    std::stable_sort(keys.begin(), keys.end(),
                     [](const KeyedRow& a, const KeyedRow& b) { return a.key < b.key; });
    return;
  }
  std::vector<std::array<std::uint32_t, kBuckets>> counts(kDigits);
  for (auto& count : counts) count.fill(0);
  for (const KeyedRow& entry : keys)
    for (int digit = 0; digit < kDigits; ++digit)
      ++counts[static_cast<std::size_t>(digit)][(entry.key >> (digit * kBits)) & (kBuckets - 1)];
  spare.resize(keys.size());
  for (int digit = 0; digit < kDigits; ++digit) {
    auto& count = counts[static_cast<std::size_t>(digit)];
    const auto first = (keys.front().key >> (digit * kBits)) & (kBuckets - 1);
    if (count[first] == static_cast<std::uint32_t>(n)) continue;  // a digit that all share
    std::uint32_t start = 0;
    for (std::uint32_t& bucket : count) start += std::exchange(bucket, start);
    for (const KeyedRow& entry : keys)
      spare[count[(entry.key >> (digit * kBits)) & (kBuckets - 1)]++] = entry;
    keys.swap(spare);
  }
}

// Writes column j of X, for the rows given in ascending order.
template <class T>
void rank_column(const Dense<T>& X, Index j, const std::vector<std::uint32_t>& rows, Ranked* out,
                 std::vector<KeyedRow>& keys, std::vector<KeyedRow>& spare) {
  keys.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    keys[i] = {order_key(static_cast<double>(X(static_cast<Index>(rows[i]), j))), rows[i]};
  sort_keys(keys, spare);
  std::uint32_t code = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i > 0 && keys[i].key != keys[i - 1].key) ++code;
    out[i] = {keys[i].row, keys[i].key == ~std::uint64_t{0} ? kMissingCode : code};
  }
}

}  // namespace surefit
