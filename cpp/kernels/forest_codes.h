// Codes of the values within a node of a forest's tree, which tell all of them apart.
#pragma once

#include <vector>

#include "forest_columns.h"
#include "forest_keys.h"

namespace surefit {

// A place among the rows of a node, and the code of its value above it.
using PlacedCode = std::uint32_t;
inline Index code_of(PlacedCode entry) {
  return static_cast<Index>(entry >> 16);
}
inline std::size_t place_of(PlacedCode entry) {
  return entry & 0xFFFFu;
}

// Codes are by columns: that of row i and column j is at j * rows + i, kOrderedRows where it is missing.
class NodeCodes {
 public:
  const std::uint16_t* codes() const { return codes_.data(); }
  PlacedCode* order() { return order_.data(); }

  // Gives the values of each column codes within a small node, and puts places in their order.
  void tell_apart(const ForestColumns& columns, Index width, const std::uint32_t* rows, Index count) {
    order_.resize(static_cast<std::size_t>(count * width));
    codes_.resize(order_.size());
    gather(columns, width, rows, count);
    for (Index j = 0; j < width; ++j) {
      const std::uint32_t* own = order_.data() + j * count;  // ranks, which are sorted before they go
      std::uint16_t* codes = codes_.data() + j * count;
      RankedPlace* keys = sorter_.keys();
      std::uint32_t low = kMissingCode, high = 0;
      std::size_t known = 0;
      for (Index i = 0; i < count; ++i) {
        codes[i] = static_cast<std::uint16_t>(kOrderedRows);
        if (own[i] == kMissingCode) continue;
        low = std::min(low, own[i]), high = std::max(high, own[i]);
        keys[known++] = ranked_place(own[i], i);
      }
      const RankedPlace* sorted = sorter_.sorted(known, low, high);
      std::uint16_t code = 0xFFFF;
      std::uint64_t before = ~std::uint64_t{0};
      for (std::size_t i = 0; i < known; ++i) {
        code = static_cast<std::uint16_t>(code + (rank_of(sorted[i]) != before));
        before = rank_of(sorted[i]);
        codes[ranked_at(sorted[i])] = code;
      }
      put_in_order(sorted, known, codes, count, order_.data() + j * count);
    }
  }

 private:
  // In the order in which ranks lie, since a table is larger than a cache.
  void gather(const ForestColumns& columns, Index width, const std::uint32_t* rows, Index count) {
    const CellOrder& order = columns.order;
    if (order.step == 1) {
      for (Index j = 0; j < width; ++j)
        for (Index i = 0; i < count; ++i)
          order_[static_cast<std::size_t>(j * count + i)] =
              columns.rank[order.at(static_cast<Index>(rows[i]), j)];
      return;
    }
    for (Index i = 0; i < count; ++i) {
      const std::uint32_t* own = columns.rank + static_cast<Index>(rows[i]) * order.step;
      for (Index j = 0; j < width; ++j) order_[static_cast<std::size_t>(j * count + i)] = own[j];
    }
  }

  static void put_in_order(const RankedPlace* sorted, std::size_t known, const std::uint16_t* codes,
                           Index count, PlacedCode* order) {
    for (std::size_t i = 0; i < known; ++i) {
      const auto place = static_cast<PlacedCode>(ranked_at(sorted[i]));
      order[i] = PlacedCode{codes[place]} << 16 | place;
    }
    for (Index i = 0; i < count && known < static_cast<std::size_t>(count); ++i)
      if (codes[i] == kOrderedRows)
        order[known++] = static_cast<PlacedCode>(kOrderedRows) << 16 | static_cast<PlacedCode>(i);
  }

  std::vector<std::uint16_t> codes_;
  std::vector<PlacedCode> order_;
  KeySorter sorter_;
};

}  // namespace surefit
