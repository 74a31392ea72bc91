// Absolute deviations from the median, for every beginning and every end of a sequence of rows.
#pragma once

#include <limits>
#include <numeric>

#include "column_order.h"
#include "split_criteria.h"

namespace surefit {

// Weights by rank of y; the median and the deviations from it are found in the logarithm of their number.
class RankedWeights {
 public:
  void clear(std::size_t ranks) {
    weight_.assign(ranks + 1, 0.0);
    moment_.assign(ranks + 1, 0.0);
    total_ = total_moment_ = 0.0;
    top_ = std::bit_floor(ranks);
  }

  void insert(std::size_t rank, double w, double y) {
    total_ += w;
    total_moment_ += w * y;
    for (std::size_t i = rank + 1; i < weight_.size(); i += i & (~i + 1)) {
      weight_[i] += w;
      moment_[i] += w * y;
    }
  }

  double weight() const { return total_; }

  // The deviations from the least number with half of the weight at or below it, which is written to
  // `median`.
  double deviations(const std::vector<double>& by_rank, double& median) const {
    double below = 0.0, moment = 0.0;
    std::size_t at = 0;
    for (std::size_t step = top_; step > 0; step >>= 1)
      if (at + step < weight_.size() && below + weight_[at + step] < total_ / 2.0) {
        at += step;
        below += weight_[at];
        moment += moment_[at];
      }
    const double lower = by_rank[std::min(at, by_rank.size() - 1)];
    median = lower / 2.0 + by_rank[std::min(first_above_half(), by_rank.size() - 1)] / 2.0;
    return std::max((total_moment_ - 2.0 * moment) - lower * (total_ - 2.0 * below), 0.0);
  }

 private:
  std::size_t first_above_half() const {
    double below = 0.0;
    std::size_t at = 0;
    for (std::size_t step = top_; step > 0; step >>= 1)
      if (at + step < weight_.size() && below + weight_[at + step] <= total_ / 2.0) {
        at += step;
        below += weight_[at];
      }
    return at;
  }

  std::vector<double> weight_, moment_;
  double total_ = 0.0, total_moment_ = 0.0;
  std::size_t top_ = 0;
};

class MedianScan {
 public:
  // Ranks the rows of a node by each output, once for all columns.
  void rank(const NumberSums& criterion, const Ranked* entries, Index begin, Index end) {
    if (begin == begin_ && end == end_) return;
    begin_ = begin, end_ = end;
    const auto n = static_cast<std::size_t>(end - begin);
    by_rank_.resize(static_cast<std::size_t>(criterion.outputs));
    rank_of_.resize(by_rank_.size());
    std::vector<std::uint32_t> rows(n);
    for (std::size_t o = 0; o < by_rank_.size(); ++o) {
      auto y = [&](std::uint32_t row) {
        return criterion.y[static_cast<Index>(row) * criterion.outputs + static_cast<Index>(o)];
      };
      for (std::size_t i = 0; i < n; ++i) rows[i] = entries[i].row;
      std::sort(rows.begin(), rows.end(),
                [&](std::uint32_t a, std::uint32_t b) { return y(a) != y(b) ? y(a) < y(b) : a < b; });
      const std::size_t most = n == 0 ? 0 : *std::max_element(rows.begin(), rows.end()) + std::size_t{1};
      if (rank_of_[o].size() < most) rank_of_[o].resize(most);
      by_rank_[o].resize(n);
      for (std::size_t i = 0; i < n; ++i) {
        by_rank_[o][i] = y(rows[i]);
        rank_of_[o][rows[i]] = static_cast<std::uint32_t>(i);
      }
    }
  }

  // The costs of all cuts of a sequence, with so many of the missing rows on the left and on the right.
  void cost(const NumberSums& criterion, const std::vector<Ranked>& sequence, const Ranked* missing,
            Index missing_left, Index missing_right) {
    const std::size_t n = sequence.size();
    sequence_ = &sequence;
    ends_ = missing_left + missing_right > 0;
    cost_.assign(n + 1, 0.0);
    left_weight_.assign(n + 1, 0.0);
    left_.assign(n + 1, 0.0);
    right_.assign(n + 1, 0.0);
    for (std::size_t o = 0; o < by_rank_.size(); ++o) {
      auto insert = [&](std::uint32_t row) {
        const Index r = static_cast<Index>(row);
        seen_.insert(rank_of_[o][row], criterion.weight_of(r),
                     criterion.y[r * criterion.outputs + static_cast<Index>(o)]);
      };
      auto cut_at = [&](std::size_t i) { return i == n || sequence[i].code != sequence[i - 1].code; };
      seen_.clear(by_rank_[o].size());
      for (Index i = 0; i < missing_left; ++i) insert(missing[i].row);
      for (std::size_t i = 1; i <= n; ++i) {
        insert(sequence[i - 1].row);
        if (!cut_at(i)) continue;
        cost_[i] += seen_.deviations(by_rank_[o], left_[i]);
        left_weight_[i] = seen_.weight();
      }
      seen_.clear(by_rank_[o].size());
      for (Index i = 0; i < missing_right; ++i) insert(missing[i].row);
      for (std::size_t i = n; i > 0; --i) {
        if (i < n) insert(sequence[i].row);
        if (cut_at(i)) cost_[i] += seen_.deviations(by_rank_[o], right_[i]);
      }
    }
  }

  // Offers each cut, or only one, with its score; returns the last that was taken, or -1.
  template <class Take>
  Index best(Index only, const Take& take) const {
    const auto& rows = *sequence_;
    Index found = -1;
    for (std::size_t i = 1; i <= rows.size(); ++i) {
      const bool end = i == rows.size();
      if (only >= 0 ? static_cast<Index>(i) != only : (end ? !ends_ : rows[i].code == rows[i - 1].code))
        continue;
      if (take(static_cast<Index>(i), -cost_[i])) found = static_cast<Index>(i);
    }
    return found;
  }

  double left_weight(Index cut) const { return left_weight_[static_cast<std::size_t>(cut)]; }
  double left_median(Index cut) const { return left_[static_cast<std::size_t>(cut)]; }
  double right_median(Index cut) const { return right_[static_cast<std::size_t>(cut)]; }

 private:
  Index begin_ = -1, end_ = -1;
  std::vector<std::vector<double>> by_rank_;
  std::vector<std::vector<std::uint32_t>> rank_of_;
  RankedWeights seen_;
  const std::vector<Ranked>* sequence_ = nullptr;
  bool ends_ = false;
  std::vector<double> cost_, left_weight_, left_, right_;
};

constexpr double kHalfBlur = 32 * std::numeric_limits<double>::epsilon();  // of a sum of shares of rows

// Writes the median of each output, times the weight, and the deviations from it. Where half of the weight
// lies below a number, but for the rounding of its sum, the median is half-way to the next.
inline void settle_medians(const NumberSums& criterion, std::vector<std::uint32_t>& rows, double weight,
                           double* sums) {
  for (Index o = 0; o < criterion.outputs; ++o) {
    auto y = [&](std::uint32_t row) { return criterion.y[static_cast<Index>(row) * criterion.outputs + o]; };
    std::sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) { return y(a) < y(b); });
    const double half = weight / 2.0, blur = kHalfBlur * weight;
    double below = 0.0, median = y(rows.back()), deviations = 0.0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      below += criterion.weight_of(rows[i]);
      if (below < half - blur) continue;
      const bool two = below <= half + blur && i + 1 < rows.size();
      median = two ? y(rows[i]) / 2.0 + y(rows[i + 1]) / 2.0 : y(rows[i]);
      break;
    }
    for (const std::uint32_t row : rows) deviations += criterion.weight_of(row) * std::abs(y(row) - median);
    sums[o] = median * weight;
    sums[criterion.outputs + o] = deviations;
  }
}

}  // namespace surefit
