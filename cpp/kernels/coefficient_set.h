// Bounds and ordered levels that coefficients keep: a convex set, and the nearest point of it.
//
// The levels of a group share their bounds. Neighbours that fall are pooled to their mean, which gives the
// nearest levels in order; clipping by common bounds keeps an order, so that the two together are the nearest
// point that is in order and within the bounds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "span.h"

namespace surefit {

struct CoefficientSet {
  Index columns = 0;
  const double* lower = nullptr;
  const double* upper = nullptr;
  const std::int64_t* members = nullptr;  // the columns of each group, in the order of their levels
  const std::int64_t* starts = nullptr;   // where each group begins among them, and where the last one ends
  Index groups = 0;

  // Whether shrinking coefficients that are in the set keeps them there.
  bool holds_zero() const {
    for (Index j = 0; j < columns; ++j)
      if (lower[j] > 0 || upper[j] < 0) return false;
    return true;
  }
};

// Projects coefficients v / unit, group by group or one by one, and remembers which groups a row has touched.
class Projector {
 public:
  explicit Projector(const CoefficientSet& set)
      : set_(set),
        group_(set.groups > 0 ? static_cast<std::size_t>(set.columns) : 0, -1),
        seen_(static_cast<std::size_t>(set.groups), false) {
    std::int64_t longest = 0;
    for (Index g = 0; g < set.groups; ++g) {
      longest = std::max(longest, set.starts[g + 1] - set.starts[g]);
      each(g, [&](Index j) { group_[static_cast<std::size_t>(j)] = g; });
    }
    was_.resize(static_cast<std::size_t>(longest));
    pools_.resize(static_cast<std::size_t>(longest));
  }

  const CoefficientSet& set() const { return set_; }
  bool grouped(Index j) const { return !group_.empty() && group_[static_cast<std::size_t>(j)] >= 0; }

  template <class F>
  void each(Index g, F&& f) const {
    for (std::int64_t k = set_.starts[g]; k < set_.starts[g + 1]; ++k) f(static_cast<Index>(set_.members[k]));
  }

  double clip(Index j, double v, double unit) const {
    return std::min(std::max(v, set_.lower[j] * unit), set_.upper[j] * unit);
  }

  // A side that a coefficient cannot be on owes nothing of an absolute penalty: the projection takes it all.
  bool may_be_positive(Index j) const { return set_.upper[j] > 0; }
  bool may_be_negative(Index j) const { return set_.lower[j] < 0; }

  // What a coefficient that was moved here has paid: all that its side owes. Debts of the side that it came
  // from would press it for ever.
  double paid(Index j, double v, double before, double owed) const {
    if (v > 0 || (v == 0 && !may_be_negative(j))) return -owed;
    return v < 0 || !may_be_positive(j) ? owed : before;
  }

  // Puts a group in order and within its bounds; q may be null.
  void hold(Index g, double* v, double unit, double* q, double owed) {
    const std::int64_t* member = set_.members + set_.starts[g];
    const auto size = static_cast<std::size_t>(set_.starts[g + 1] - set_.starts[g]);
    std::size_t count = 0;
    for (std::size_t k = 0; k < size; ++k) {
      was_[k] = v[member[k]];
      pools_[count++] = {was_[k], was_[k], 1};
      for (; count > 1 && pools_[count - 2].mean > pools_[count - 1].mean; --count)
        pools_[count - 2].take(pools_[count - 1]);
    }
    std::size_t k = 0;
    for (std::size_t pool = 0; pool < count; ++pool)
      for (std::size_t end = k + pools_[pool].size; k < end; ++k) {
        const Index j = static_cast<Index>(member[k]);
        v[j] = clip(j, pools_[pool].mean, unit);
        if (q != nullptr && v[j] != was_[k]) q[j] = paid(j, v[j], q[j], owed);
      }
  }

  void hold_all(double* v, double* q, double owed) {
    for (Index g = 0; g < set_.groups; ++g) hold(g, v, 1.0, q, owed);
    for (Index j = 0; j < set_.columns; ++j) {
      if (grouped(j)) continue;
      const double near = clip(j, v[j], 1.0);
      if (q != nullptr && near != v[j]) q[j] = paid(j, near, q[j], owed);
      v[j] = near;
    }
  }

  // The groups of some columns, each once.
  void touch(Index j) {
    if (!grouped(j)) return;
    const Index g = group_[static_cast<std::size_t>(j)];
    if (seen_[static_cast<std::size_t>(g)]) return;
    seen_[static_cast<std::size_t>(g)] = true;
    touched_.push_back(g);
  }
  const std::vector<Index>& touched() const { return touched_; }
  void forget_touched() {
    for (const Index g : touched_) seen_[static_cast<std::size_t>(g)] = false;
    touched_.clear();
  }

 private:
  struct Pool {
    double mean = 0, sum = 0;
    std::size_t size = 0;
    void take(const Pool& next) {
      sum += next.sum;
      size += next.size;
      mean = sum / static_cast<double>(size);
    }
  };

  CoefficientSet set_;
  std::vector<Index> group_;  // of each column; -1 for none
  std::vector<bool> seen_;
  std::vector<Index> touched_;
  std::vector<double> was_;
  std::vector<Pool> pools_;
};

}  // namespace surefit
