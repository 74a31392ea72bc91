// What a search for near rows fills: the k nearest, or all within a radius.
//
// Rows are ordered by distance, equal distances by row number, so that the answer does not depend on the
// order in which rows are met.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "parallel.h"
#include "span.h"

namespace surefit {

struct Near {
  double key;
  Index row;
};

inline bool before(const Near& a, const Near& b) {
  return a.key < b.key || (a.key == b.key && a.row < b.row);
}

// The k first of all rows that are offered: a short list is kept in order, a long one as a heap.
class Nearest {
 public:
  explicit Nearest(Index k) : k_(k), ordered_(k <= 48), kept_(static_cast<std::size_t>(k)) {}

  void start(Index skipped) {
    size_ = 0;
    skipped_ = skipped;
    bound_ = std::numeric_limits<double>::infinity();
  }

  // Rows farther than this are of no use.
  double bound() const { return bound_; }

  void offer(double key, Index row) {
    const Near entry{key, row};
    if (row == skipped_ || (size_ == k_ && !before(entry, worst()))) return;
    Near* kept = kept_.data();
    if (ordered_) {
      Index hole = size_ < k_ ? size_++ : k_ - 1;
      for (; hole > 0 && before(entry, kept[hole - 1]); --hole) kept[hole] = kept[hole - 1];
      kept[hole] = entry;
    } else {
      if (size_ == k_) std::pop_heap(kept, kept + size_--, before);
      kept[size_++] = entry;
      std::push_heap(kept, kept + size_, before);
    }
    if (size_ == k_) bound_ = worst().key;
  }

  // Writes the rows in order; where fewer than k were offered, -1 and infinity fill the places.
  void write(std::int64_t* index, double* value) {
    if (!ordered_) std::sort_heap(kept_.begin(), kept_.begin() + size_, before);
    for (Index i = 0; i < k_; ++i) {
      const bool there = i < size_;
      index[i] = there ? static_cast<std::int64_t>(kept_[static_cast<std::size_t>(i)].row) : -1;
      value[i] = there ? kept_[static_cast<std::size_t>(i)].key : std::numeric_limits<double>::infinity();
    }
  }

 private:
  const Near& worst() const { return kept_[static_cast<std::size_t>(ordered_ ? k_ - 1 : 0)]; }

  Index k_, size_ = 0, skipped_ = -1;
  bool ordered_;
  double bound_ = 0.0;
  std::vector<Near> kept_;
};

// All rows offered that are not farther than a bound.
class Within {
 public:
  void start(double bound, Index skipped) {
    bound_ = bound;
    skipped_ = skipped;
  }
  double bound() const { return bound_; }
  void offer(double key, Index row) {
    if (key <= bound_ && row != skipped_) found.push_back({key, row});
  }

  std::vector<Near> found;

 private:
  double bound_ = 0.0;
  Index skipped_ = -1;
};

// Lists of rows, one a query, of lengths that are known only when they are there.
struct NearLists {
  struct Place {
    Index chunk = 0, first = 0, count = 0;
  };
  std::vector<Place> places;              // one a query
  std::vector<std::vector<Near>> chunks;  // what the queries of a chunk found

  Index count() const {
    Index all = 0;
    for (const Place& place : places) all += place.count;
    return all;
  }

  void write(const Run& run, std::int64_t* start, std::int64_t* index, double* value) const {
    const Index queries = static_cast<Index>(places.size());
    start[0] = 0;
    for (Index i = 0; i < queries; ++i) start[i + 1] = start[i] + places[static_cast<std::size_t>(i)].count;
    constexpr Index step = 256;
    for_chunks(run, (queries + step - 1) / step, [&](Index chunk, int) {
      for (Index i = chunk * step; i < std::min(queries, (chunk + 1) * step); ++i) {
        const Place& place = places[static_cast<std::size_t>(i)];
        const Near* from = chunks[static_cast<std::size_t>(place.chunk)].data() + place.first;
        for (Index j = 0; j < place.count; ++j) {
          index[start[i] + j] = from[j].row;
          value[start[i] + j] = from[j].key;
        }
      }
    });
  }
};

// Whether lists are put in order of distance, or of row numbers.
inline void put_in_order(Near* from, Near* to, bool by_distance) {
  if (by_distance)
    std::sort(from, to, before);
  else
    std::sort(from, to, [](const Near& a, const Near& b) { return a.row < b.row; });
}

}  // namespace surefit
