// All columns sorted once, and the ranges of a node in them.
#pragma once

#include "column_order.h"
#include "parallel.h"

namespace surefit {

// A node owns the same range of every sorted column. A split parts each range in two and keeps its order.
template <class T>
class SortedColumns {
 public:
  SortedColumns(const Run& run, const Dense<T>& X, const std::vector<std::uint32_t>& rows)
      : X_(X),
        n_(static_cast<Index>(rows.size())),
        entries_(rows.size() * static_cast<std::size_t>(X.cols)),
        goes_left_(static_cast<std::size_t>(X.rows)) {
    const auto workers = static_cast<std::size_t>(std::max(run.threads, 1));
    std::vector<std::vector<KeyedRow>> keys(workers), spares(workers);
    for_chunks(run, X.cols, [&](Index j, int worker) {
      const auto w = static_cast<std::size_t>(worker);
      rank_column(X_, j, rows, column(j), keys[w], spares[w]);
    });
  }

  Index rows() const { return n_; }
  Index columns() const { return X_.cols; }
  Ranked* column(Index j) { return entries_.data() + j * n_; }
  const Ranked* column(Index j) const { return entries_.data() + j * n_; }
  double value(const Ranked& entry, Index j) const {
    return static_cast<double>(X_(static_cast<Index>(entry.row), j));
  }
  bool constant(Index j, Index begin, Index end) const {
    return column(j)[begin].code == column(j)[end - 1].code;
  }

  // How many of a range have a value; missing ones stand last.
  Index present(Index j, Index begin, Index end) const {
    const Ranked *first = column(j) + begin, *last = column(j) + end;
    if (last[-1].code != kMissingCode) return end - begin;
    auto less = [](const Ranked& a, std::uint32_t code) { return a.code < code; };
    return std::lower_bound(first, last, kMissingCode, less) - first;
  }

  bool marked(std::uint32_t row) const { return goes_left_[row] != 0; }
  void mark(std::uint32_t row, bool goes_left) { goes_left_[row] = goes_left ? 1 : 0; }

  // Moves the marked rows of a range to its front.
  void part(Index j, Index begin, Index end, std::vector<Ranked>& spare) {
    Ranked* range = column(j) + begin;
    if (static_cast<Index>(spare.size()) < end - begin) spare.resize(static_cast<std::size_t>(end - begin));
    Ranked *kept = range, *away = spare.data();
    for (Index i = 0; i < end - begin; ++i) {
      const Ranked entry = range[i];
      const bool goes = goes_left_[entry.row] != 0;
      *kept = *away = entry;  // both, since a branch would be guessed wrong half of the time
      kept += goes;
      away += !goes;
    }
    std::copy(spare.data(), away, kept);
  }

 private:
  const Dense<T>& X_;
  Index n_;
  std::vector<Ranked> entries_;
  std::vector<std::uint8_t> goes_left_;
};

}  // namespace surefit
