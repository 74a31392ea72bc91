// Codes that tell the values of a column apart within each small node of a tree, for all of them at once.
//
// Each column is walked once in ascending order, and every row takes the next code of its node: no node sorts
// anything. Where the rows of small nodes are few of all, they sort their values instead.
#pragma once

#include <algorithm>
#include <vector>

#include "column_order.h"
#include "forest_columns.h"
#include "forest_keys.h"

namespace surefit {

// Codes are by columns: that of the i-th row of a tree and column j is at j * step() + i, kCodedRows where it
// is missing.
class SpreadCodes {
 public:
  const std::uint16_t* codes() const { return codes_.data(); }
  Index step() const { return step_; }

  // nodes: ranges of rows, `begin` to `end`, none longer than kCodedRows; poll is called now and then.
  template <class T, class Node, class Poll>
  void tell_apart(const Dense<T>& X, const std::uint32_t* ascending, const std::vector<std::uint32_t>& rows,
                  const std::vector<Node>& nodes, const Poll& poll) {
    step_ = static_cast<Index>(rows.size()) + kElsewhere;
    codes_.resize(static_cast<std::size_t>(step_ * X.cols));
    Index many = 0;
    for (const Node& node : nodes) many += node.end - node.begin;
    if (many * kFewOf < X.rows || nodes.size() >= kMostNodes) {
      for (const Node& node : nodes) {
        poll();
        for (Index j = 0; j < X.cols; ++j)
          sort(X, j, rows.data() + node.begin, node.end - node.begin, codes_.data() + j * step_ + node.begin);
      }
      return;
    }
    find_places(X.rows, rows, nodes);
    for (Index j = 0; j < X.cols; ++j) {
      poll();
      spread(X, j, ascending + j * X.rows, codes_.data() + j * step_);
    }
  }

 private:
  // Of how many rows for each in a small node it takes longer to walk over all: measured.
  static constexpr Index kFewOf = 16;
  static constexpr int kPlaceBits = 10;
  static_assert(kCodedRows <= Index{1} << kPlaceBits);
  static constexpr std::size_t kMostNodes = (std::size_t{1} << (32 - kPlaceBits)) - 16;
  // Rows of no small node share these, so that none of them has to wait for the one before.
  static constexpr Index kElsewhere = 16;

  struct Counter {
    std::uint32_t start;  // the first row of the node
    std::uint32_t value;  // of the last row that took a code
    std::uint32_t code;   // that it took
  };

  template <class Node>
  void find_places(Index all, const std::vector<std::uint32_t>& rows, const std::vector<Node>& nodes) {
    const std::size_t count = nodes.size();
    counters_.resize(count + static_cast<std::size_t>(kElsewhere));
    place_.resize(static_cast<std::size_t>(all));
    for (std::size_t i = 0; i < place_.size(); ++i)
      place_[i] = static_cast<std::uint32_t>(count + i % static_cast<std::size_t>(kElsewhere)) << kPlaceBits;
    for (std::size_t n = 0; n < count; ++n) {
      counters_[n].start = static_cast<std::uint32_t>(nodes[n].begin);
      for (Index i = nodes[n].begin; i < nodes[n].end; ++i)
        place_[rows[static_cast<std::size_t>(i)]] =
            static_cast<std::uint32_t>(n) << kPlaceBits | static_cast<std::uint32_t>(i - nodes[n].begin);
    }
    for (std::size_t n = 0; n < static_cast<std::size_t>(kElsewhere); ++n)
      counters_[count + n].start = static_cast<std::uint32_t>(rows.size() + n);
  }

  template <class T>
  void spread(const Dense<T>& X, Index j, const std::uint32_t* ascending, std::uint16_t* codes) {
    constexpr std::uint32_t kPlaces = (1u << kPlaceBits) - 1;
    const std::uint32_t* const end = ascending + X.rows;
    const std::uint32_t* const missing = std::partition_point(
        ascending, end, [&](std::uint32_t entry) { return !std::isnan(X(ascending_row(entry), j)); });
    for (Counter& counter : counters_) counter.value = 0, counter.code = 0xFFFFFFFFu;
    std::uint32_t value = 0;
    for (; ascending != missing; ++ascending) {
      value += *ascending >> 31;
      const std::uint32_t place = place_[static_cast<std::size_t>(ascending_row(*ascending))];
      Counter& own = counters_[place >> kPlaceBits];
      own.code += own.value != value;
      own.value = value;
      codes[own.start + (place & kPlaces)] = static_cast<std::uint16_t>(own.code);
    }
    for (; ascending != end; ++ascending) {
      const std::uint32_t place = place_[static_cast<std::size_t>(ascending_row(*ascending))];
      codes[counters_[place >> kPlaceBits].start + (place & kPlaces)] =
          static_cast<std::uint16_t>(kCodedRows);
    }
  }

  template <class T>
  void sort(const Dense<T>& X, Index j, const std::uint32_t* rows, Index count, std::uint16_t* codes) {
    keys_.resize(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < keys_.size(); ++i)
      keys_[i] = {order_key(static_cast<double>(X(static_cast<Index>(rows[i]), j))),
                  static_cast<std::uint32_t>(i)};
    sort_keys(keys_, spare_);
    std::uint16_t code = 0;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (i > 0 && keys_[i].key != keys_[i - 1].key) ++code;
      codes[keys_[i].row] = keys_[i].key == order_key(std::nan("")) ? std::uint16_t{kCodedRows} : code;
    }
  }

  Index step_ = 0;
  std::vector<std::uint16_t> codes_;
  std::vector<std::uint32_t> place_;  // of each row: its node, and where it stands there
  std::vector<Counter> counters_;
  std::vector<KeyedRow> keys_, spare_;
};

}  // namespace surefit
