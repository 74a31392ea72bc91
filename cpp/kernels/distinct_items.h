// Items of a fixed number of bytes, such as text in an array, numbered by their first appearance: a hash
// table for each chunk of rows, and one more that unites them. Sorting all rows for the same costs ten times
// more.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "parallel.h"

namespace surefit {

namespace item_detail {

// Numbers the items it has seen; the place of each is a row that holds it.
class Numbers {
 public:
  Numbers(const unsigned char* items, Index width, std::size_t room) : items_(items), width_(width) {
    slots_.assign(room, none);
  }

  // The number of the item in a row, a new one when it was not seen before; -1 when there is no more room.
  std::int32_t of(Index row) {
    const unsigned char* item = items_ + row * width_;
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t slot = hash(item) & mask;; slot = (slot + 1) & mask) {
      const std::int32_t number = slots_[slot];
      if (number == none) {
        if (2 * (rows.size() + 1) > slots_.size()) return -1;
        slots_[slot] = static_cast<std::int32_t>(rows.size());
        rows.push_back(row);
        return slots_[slot];
      }
      if (std::memcmp(items_ + rows[static_cast<std::size_t>(number)] * width_, item,
                      static_cast<std::size_t>(width_)) == 0)
        return number;
    }
  }

  std::vector<Index> rows;

 private:
  static constexpr std::int32_t none = -1;

  std::size_t hash(const unsigned char* item) const {
    std::uint64_t state = 0x9e3779b97f4a7c15ULL;
    Index i = 0;
    for (; i + 8 <= width_; i += 8) state = mixed(state, item + i, 8);
    if (i < width_) state = mixed(state, item + i, static_cast<std::size_t>(width_ - i));
    return static_cast<std::size_t>(state ^ (state >> 29));
  }

  static std::uint64_t mixed(std::uint64_t state, const unsigned char* from, std::size_t bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, from, bytes);
    state = (state ^ word) * 0xff51afd7ed558ccdULL;
    return state ^ (state >> 32);
  }

  const unsigned char* items_;
  Index width_;
  std::vector<std::int32_t> slots_;
};

}  // namespace item_detail

// Writes the number of each row's item to `code` and returns a row for each number. Gives up with an empty
// list when there are more than a few thousand items: the caller then sorts.
inline std::vector<Index> distinct_items(const Run& run, const unsigned char* items, Index width, Index rows,
                                         std::int32_t* code) {
  constexpr Index piece = 1 << 16;
  constexpr std::size_t room = 1 << 13;
  const Index chunks = (rows + piece - 1) / piece;
  std::vector<std::vector<Index>> seen(static_cast<std::size_t>(chunks));
  std::atomic<bool> full{false};
  for_chunks(run, chunks, [&](Index chunk, int) {
    if (full.load(std::memory_order_relaxed)) return;
    item_detail::Numbers numbers(items, width, room);
    for (Index i = chunk * piece; i < std::min(rows, (chunk + 1) * piece); ++i)
      if ((code[i] = numbers.of(i)) < 0) {
        full.store(true, std::memory_order_relaxed);
        return;
      }
    seen[static_cast<std::size_t>(chunk)] = std::move(numbers.rows);
  });
  item_detail::Numbers all(items, width, room);
  std::vector<std::vector<std::int32_t>> renamed(static_cast<std::size_t>(chunks));
  for (Index chunk = 0; chunk < chunks && !full.load(); ++chunk)
    for (const Index row : seen[static_cast<std::size_t>(chunk)]) {
      renamed[static_cast<std::size_t>(chunk)].push_back(all.of(row));
      if (renamed[static_cast<std::size_t>(chunk)].back() < 0) full.store(true);
    }
  if (full.load()) return {};
  for_chunks(run, chunks, [&](Index chunk, int) {
    const auto& name = renamed[static_cast<std::size_t>(chunk)];
    for (Index i = chunk * piece; i < std::min(rows, (chunk + 1) * piece); ++i)
      code[i] = name[static_cast<std::size_t>(code[i])];
  });
  return std::move(all.rows);
}

}  // namespace surefit
