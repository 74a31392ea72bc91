// The dual of kernel machines on two levels: sets of some hundred variables, whose kernel rows are one
// product of matrices, are solved to the end (smo_block.h), and the gradient follows by the rows.
//
// Rows are kept in a cache bounded in bytes, of float32 where the gradient is checked again in float64 in the
// end. Variables at a bound that no pair wants are left out for a while (shrinking). Chunks are fixed, so the
// bits are the same for any number of threads. It always ends: by its tolerance, by the bound of steps, or
// where rounding lets no pair move; `Smo::Result` says which.
#pragma once

#include <numeric>

#include "kernel_block.h"
#include "smo_block.h"

namespace surefit {

struct SmoProblem {
  Index variables = 0;
  const Index* row = nullptr;  // which kernel row each variable has; null: its own number
  const double *plus = nullptr, *minus = nullptr, *low = nullptr, *high = nullptr;
  const unsigned char* group = nullptr;  // 0 or 1; null: all are in one
  double tolerance = 1e-3;               // of the violation: the largest slope of a pair
  Index most_steps = 0;
  Index cache_bytes = 0;
  bool shrinking = true, single = true;
  Index working_set = 512;
};

struct SmoResult {
  Index steps = 0, sets = 0, computed_rows = 0, cache_bytes = 0;
  double violation = 0;
  int ended = 0;  // 0: by the tolerance, 1: by the bound of steps, 2: no pair moves any more
};

namespace smo_detail {

// Rows of kernel values, by the number of the row; the one used longest ago goes first.
template <class T>
class RowCache {
 public:
  RowCache(Index rows, Index bytes) : slot_(static_cast<std::size_t>(rows), -1), bytes_(bytes) {}

  void reset(Index width) {
    width_ = width;
    const Index most = static_cast<Index>(slot_.size());
    capacity_ = std::min(most, bytes_ / std::max<Index>(1, width * static_cast<Index>(sizeof(T))));
    capacity_ = std::max<Index>(capacity_, std::min<Index>(most, 2));
    values_.reset();
    values_.reset(new T[static_cast<std::size_t>(capacity_ * width)]);
    std::fill(slot_.begin(), slot_.end(), Index{-1});
    owner_.assign(static_cast<std::size_t>(capacity_), -1);
    used_.assign(static_cast<std::size_t>(capacity_), 0);
    filled_ = 0;
  }

  Index capacity() const { return capacity_; }
  Index width() const { return width_; }
  Index bytes() const { return capacity_ * width_ * static_cast<Index>(sizeof(T)); }
  T* at(Index slot) { return values_.get() + slot * width_; }

  // Slots for all of `rows`, which are at most `capacity`; those in `missing` hold nothing yet.
  void place(const std::vector<Index>& rows, std::vector<Index>& slots, std::vector<Index>& missing) {
    ++now_;
    slots.assign(rows.size(), -1);
    missing.clear();
    Index wanted = 0;
    for (std::size_t w = 0; w < rows.size(); ++w) {
      slots[w] = slot_[static_cast<std::size_t>(rows[w])];
      if (slots[w] >= 0)
        used_[static_cast<std::size_t>(slots[w])] = now_;
      else
        ++wanted;
    }
    // Free slots first, then those not used for longest, a run of neighbours if possible.
    std::vector<Index> free;
    for (; filled_ < capacity_ && static_cast<Index>(free.size()) < wanted; ++filled_)
      free.push_back(filled_);
    if (static_cast<Index>(free.size()) < wanted) {
      std::vector<Index> old;
      for (Index s = 0; s < capacity_; ++s)
        if (used_[static_cast<std::size_t>(s)] != now_ && owner_[static_cast<std::size_t>(s)] >= 0)
          old.push_back(s);
      const auto more = static_cast<std::ptrdiff_t>(wanted - static_cast<Index>(free.size()));
      const auto earlier = [&](Index a, Index b) {
        const auto x = used_[static_cast<std::size_t>(a)], y = used_[static_cast<std::size_t>(b)];
        return x != y ? x < y : a < b;
      };
      std::nth_element(
          old.begin(),
          old.begin() + std::min<std::ptrdiff_t>(more, static_cast<std::ptrdiff_t>(old.size()) - 1),
          old.end(), earlier);
      std::sort(old.begin(), old.begin() + more);
      free.insert(free.end(), old.begin(), old.begin() + more);
    }
    std::size_t next = 0;
    for (std::size_t w = 0; w < rows.size(); ++w) {
      if (slots[w] >= 0) continue;
      const Index s = free[next++];
      Index& before = owner_[static_cast<std::size_t>(s)];
      if (before >= 0) slot_[static_cast<std::size_t>(before)] = -1;
      before = rows[w];
      slot_[static_cast<std::size_t>(rows[w])] = slots[w] = s;
      used_[static_cast<std::size_t>(s)] = now_;
      missing.push_back(static_cast<Index>(w));
    }
  }

  // Keeps the given columns of each row only, in order, and makes room for more rows by it.
  void narrow(const std::vector<Index>& kept) {
    const Index width = static_cast<Index>(kept.size());
    for (Index s = 0; s < filled_; ++s) {
      const T* from = at(s);
      T* to = values_.get() + s * width;
      for (Index c = 0; c < width; ++c) to[c] = from[kept[static_cast<std::size_t>(c)]];
    }
    const Index room = capacity_ * width_;
    width_ = width;
    capacity_ = std::min(static_cast<Index>(slot_.size()), room / std::max<Index>(1, width));
    owner_.resize(static_cast<std::size_t>(capacity_), -1);
    used_.resize(static_cast<std::size_t>(capacity_), 0);
  }

 private:
  std::unique_ptr<T[]> values_;
  std::vector<Index> slot_, owner_;
  std::vector<std::uint64_t> used_;
  Index bytes_, width_ = 0, capacity_ = 0, filled_ = 0;
  std::uint64_t now_ = 0;
};

// f[c] += sum over w of by[w] row_w[c], four rows at a time.
template <class T>
void add_rows(const Run& run, const std::vector<const T*>& rows, const std::vector<double>& by, double* f,
              Index width) {
  constexpr Index step = 1024;
  Run quick = run;
  if (static_cast<Index>(rows.size()) * width < 1 << 15) quick.threads = 1;
  for_chunks(quick, (width + step - 1) / step, [&](Index chunk, int) {
    const Index start = chunk * step, end = std::min(start + step, width);
    std::size_t w = 0;
    for (; w + 4 <= rows.size(); w += 4) {
      const T *a = rows[w], *b = rows[w + 1], *c = rows[w + 2], *d = rows[w + 3];
      const double p = by[w], q = by[w + 1], r = by[w + 2], s = by[w + 3];
      for (Index i = start; i < end; ++i)
        f[i] += (p * static_cast<double>(a[i]) + q * static_cast<double>(b[i])) +
                (r * static_cast<double>(c[i]) + s * static_cast<double>(d[i]));
    }
    for (; w < rows.size(); ++w)
      for (Index i = start; i < end; ++i) f[i] += by[w] * static_cast<double>(rows[w][i]);
  });
}

}  // namespace smo_detail

template <class T>
class Smo {
 public:
  Smo(const Run& run, const Points& points, const SmoProblem& problem, double* beta, double* f)
      : run_(run),
        points_(points),
        p_(problem),
        beta_(beta),
        f_(f),
        n_(points.at.rows),
        cache_(n_, problem.cache_bytes),
        position_(at(n_)),
        taken_(at(problem.variables), 0) {}

  // f must hold K b at the start, and does in the end, in float64.
  SmoResult solve() {
    Poll poll(run_);
    everything();
    Index stalled = 0, rounds = 0;
    bool exact = true;
    for (;;) {
      poll();
      result_.violation = look();
      if (result_.violation <= std::max(p_.tolerance, rounding())) {
        if (exact && whole_) return ended(result_.violation <= p_.tolerance ? 0 : 2);
        exact = settle();
        everything();
        // Far from their fixed points, float32 rows can send a fit round in circles.
        if (look() > std::max(p_.tolerance, rounding()) && ++rounds > 20) return ended(2);
        continue;
      }
      if (result_.steps >= p_.most_steps) return finish(1, exact);
      if (p_.shrinking && result_.sets > 0 && result_.sets % 8 == 0) shrink();
      const double won = next_set(poll);
      ++result_.sets;
      exact = exact && sizeof(T) == sizeof(double);
      const double scale = std::abs(objective_) + won;
      objective_ -= won;
      stalled = won <= 1e-16 * scale ? stalled + 1 : 0;
      if (stalled >= 8) {
        if (exact && whole_) return ended(2);
        const double before = result_.violation;
        exact = settle();
        everything();
        if (look() >= before && ++rounds > 3) return ended(2);
        stalled = 0;
      }
    }
  }

 private:
  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }
  Index row_of(Index v) const { return p_.row != nullptr ? p_.row[v] : v; }
  unsigned char group_of(Index v) const { return p_.group != nullptr ? p_.group[v] : 0; }
  SmoVariable variable(Index v) const { return {beta_[v], p_.low[v], p_.high[v], p_.plus[v], p_.minus[v]}; }
  double gradient(Index v) const { return local_[at(position_[at(row_of(v))])]; }

  SmoResult ended(int how) {
    result_.ended = how;
    return result_;
  }

  SmoResult finish(int how, bool exact) {
    if (!exact || !whole_) {
      settle();
      everything();
      result_.violation = look();
    }
    return ended(how);
  }

  // All variables are looked at again.
  void everything() {
    active_.resize(at(p_.variables));
    std::iota(active_.begin(), active_.end(), Index{0});
    rows_.resize(at(n_));
    std::iota(rows_.begin(), rows_.end(), Index{0});
    std::copy(rows_.begin(), rows_.end(), position_.begin());
    local_.assign(f_, f_ + n_);
    known_.assign(beta_, beta_ + p_.variables);
    if (cache_.width() != n_) cache_.reset(n_);
    whole_ = true;
  }

  // f = K b in float64: what changed since it was known, added to it.
  bool settle() {
    std::vector<double> change(at(n_), 0.0);
    for (Index v = 0; v < p_.variables; ++v) change[at(row_of(v))] += beta_[v] - known_[at(v)];
    std::vector<Index> from;
    std::vector<double> by;
    for (Index i = 0; i < n_; ++i)
      if (change[at(i)] != 0) from.push_back(i), by.push_back(change[at(i)]);
    kernel_sums(run_, points_, from.data(), static_cast<Index>(from.size()), by.data(), 1, points_, f_);
    return true;
  }

  // The violation of the active variables, and what pairs could begin and end with.
  double look() {
    double worst = 0;
    largest_ = 0;
    for (int g = 0; g < 2; ++g) least_[g] = std::numeric_limits<double>::infinity(), most_[g] = -least_[g];
    for (const Index v : active_) {
      const SmoVariable variable_ = variable(v);
      const double here = gradient(v);
      const int g = group_of(v);
      largest_ = std::max({largest_, std::abs(here), std::abs(variable_.plus), std::abs(variable_.minus)});
      least_[g] = std::min(least_[g], here + variable_.up()),
      most_[g] = std::max(most_[g], here + variable_.down());
    }
    for (int g = 0; g < 2; ++g)
      if (most_[g] > least_[g]) worst = std::max(worst, most_[g] - least_[g]);
    return worst;
  }

  // A violation that rounding alone can leave.
  double rounding() const { return 4 * std::numeric_limits<double>::epsilon() * largest_; }

  // Leaves out variables at a bound that no pair wants, if they are many.
  void shrink() {
    std::vector<Index> kept;
    for (const Index v : active_) {
      const SmoVariable it = variable(v);
      const double here = gradient(v), up = here + it.up(), down = here + it.down();
      const int g = group_of(v);
      if (up < most_[g] || down > least_[g]) kept.push_back(v);
    }
    if (static_cast<Index>(kept.size()) * 5 > static_cast<Index>(active_.size()) * 4 || kept.size() < 2)
      return;
    std::vector<char> needed(at(n_), 0);
    for (const Index v : kept) needed[at(row_of(v))] = 1;
    std::vector<Index> columns, rows;
    for (std::size_t c = 0; c < rows_.size(); ++c)
      if (needed[at(rows_[c])] != 0) columns.push_back(static_cast<Index>(c)), rows.push_back(rows_[c]);
    std::fill(position_.begin(), position_.end(), Index{-1});
    for (std::size_t c = 0; c < rows.size(); ++c) {
      local_[c] = local_[at(columns[c])];
      position_[at(rows[c])] = static_cast<Index>(c);
    }
    if (rows.size() < rows_.size()) cache_.narrow(columns);
    rows_ = std::move(rows), active_ = std::move(kept);
    local_.resize(rows_.size());
    whole_ = false;
  }

  // The variables of the next set, those of the first group first.
  void choose_set() {
    const Index most = std::min(p_.working_set, static_cast<Index>(active_.size()));
    std::vector<Index> before;
    before.swap(set_);
    set_.clear();
    for (const Index v : before) taken_[at(v)] = 0;
    const auto take = [&](Index v) {
      if (taken_[at(v)] != 0 || static_cast<Index>(set_.size()) >= most) return;
      taken_[at(v)] = 1;
      set_.push_back(v);
    };
    // Half of the set before stays, the newest of it, as far as it is active.
    const Index stay = result_.sets == 0 ? 0 : most / 2;
    Index kept = 0;
    for (auto v = before.rbegin(); v != before.rend() && kept < stay; ++v)
      if (position_[at(row_of(*v))] >= 0 && free(*v)) take(*v), ++kept;
    const Index each = std::max<Index>(1, (most - kept) / 2);
    pick(each, true, take);
    pick(most, false, take);
    pick(most, true, take);
    for (auto v = before.rbegin(); v != before.rend(); ++v)
      if (position_[at(row_of(*v))] >= 0) take(*v);
  }

  bool free(Index v) const { return beta_[v] > p_.low[v] && beta_[v] < p_.high[v] && beta_[v] != 0; }

  // Takes the steepest violators that may go up, or down.
  template <class Take>
  void pick(Index count, bool up, const Take& take) {
    found_.clear();
    for (const Index v : active_) {
      if (taken_[at(v)] != 0) continue;
      const SmoVariable it = variable(v);
      const int g = group_of(v);
      const double here = gradient(v);
      if (up ? here + it.up() < most_[g] : here + it.down() > least_[g])
        found_.push_back({up ? here + it.up() - most_[g] : least_[g] - here - it.down(), v});
    }
    const auto end =
        found_.begin() + std::min<std::ptrdiff_t>(count, static_cast<std::ptrdiff_t>(found_.size()));
    if (end != found_.end()) std::nth_element(found_.begin(), end, found_.end());
    std::sort(found_.begin(), end);
    for (auto it = found_.begin(); it != end; ++it) take(it->second);
  }

  // Solves the next set and carries the gradient on; returns how much the objective fell.
  double next_set(Poll& poll) {
    choose_set();
    // In the order of choice, but by groups, the second beginning at full lanes.
    order_.clear();
    for (const Index v : set_)
      if (group_of(v) == 0) order_.push_back(v);
    const Index second = p_.group != nullptr ? round_up(static_cast<Index>(order_.size()), lanes) : 0;
    while (static_cast<Index>(order_.size()) < second) order_.push_back(-1);
    if (p_.group != nullptr)
      for (const Index v : set_)
        if (group_of(v) != 0) order_.push_back(v);
    const Index size = static_cast<Index>(order_.size());
    wanted_.clear();
    for (const Index v : order_) wanted_.push_back(v < 0 ? 0 : row_of(v));
    distinct_.clear();
    for (const Index v : order_)
      if (v >= 0) distinct_.push_back(row_of(v));
    std::sort(distinct_.begin(), distinct_.end());
    distinct_.erase(std::unique(distinct_.begin(), distinct_.end()), distinct_.end());

    if (!block_ || block_->stride() < size + lanes)
      block_ = std::make_unique<SmoBlock>(
          std::max(size, std::min(p_.working_set + 2 * lanes, p_.variables + 2 * lanes)));
    SmoBlock& block = *block_;
    kernel_block<double>(run_, points_, wanted_.data(), size, wanted_.data(), size, block.kernel_row(0),
                         block.stride());
    block.variables.resize(order_.size());
    for (Index w = 0; w < size; ++w) {
      const Index v = order_[at(w)];
      block.variables[at(w)] = v < 0 ? SmoVariable{0, 0, 0, 0, 0} : variable(v);
      block.gradient(w, v < 0 ? 0 : gradient(v));
      for (Index c = size; c < round_up(size, lanes); ++c) block.kernel_row(w)[c] = 0;
    }
    block.begin(size, second);
    for (Index w = 0; w < size; ++w)
      if (order_[at(w)] < 0) block.pad(w);
    const double enough = std::max({0.5 * p_.tolerance, 0.1 * block.violation(), 0.5 * rounding()});
    const Index bound = std::min(p_.most_steps, result_.steps + 64 * size);
    double won = 0;
    for (Index steps = 0; result_.steps < bound && block.step(enough, won) > enough; ++steps) {
      ++result_.steps;
      if (steps % 4096 == 0) poll();
    }
    carry(block, size);
    return won;
  }

  void carry(const SmoBlock& block, Index size) {
    std::vector<Index> moved;
    std::vector<double> change(distinct_.size(), 0.0);
    for (Index w = 0; w < size; ++w) {
      const Index v = order_[at(w)];
      if (v < 0) continue;
      const double by = block.variables[at(w)].beta - beta_[v];
      beta_[v] = block.variables[at(w)].beta;
      change[at(std::lower_bound(distinct_.begin(), distinct_.end(), row_of(v)) - distinct_.begin())] += by;
    }
    std::vector<double> by;
    for (std::size_t r = 0; r < distinct_.size(); ++r)
      if (change[r] != 0) moved.push_back(distinct_[r]), by.push_back(change[r]);
    const Index width = static_cast<Index>(rows_.size());
    std::vector<Index> part, slots, missing, from;
    // As many rows at a time as there is room for.
    for (std::size_t start = 0; start < moved.size(); start += at(cache_.capacity())) {
      const std::size_t end = std::min(moved.size(), start + at(cache_.capacity()));
      part.assign(moved.begin() + static_cast<std::ptrdiff_t>(start),
                  moved.begin() + static_cast<std::ptrdiff_t>(end));
      cache_.place(part, slots, missing);
      // Neighbouring slots are filled by one product.
      for (std::size_t m = 0; m < missing.size();) {
        std::size_t next = m + 1;
        from.assign(1, part[at(missing[m])]);
        while (next < missing.size() && slots[at(missing[next])] == slots[at(missing[next - 1])] + 1)
          from.push_back(part[at(missing[next++])]);
        kernel_block<T>(run_, points_, from.data(), static_cast<Index>(from.size()),
                        whole_ ? nullptr : rows_.data(), width, cache_.at(slots[at(missing[m])]), width);
        m = next;
      }
      result_.computed_rows += static_cast<Index>(missing.size());
      std::vector<const T*> rows;
      for (const Index slot : slots) rows.push_back(cache_.at(slot));
      smo_detail::add_rows(
          run_, rows,
          {by.begin() + static_cast<std::ptrdiff_t>(start), by.begin() + static_cast<std::ptrdiff_t>(end)},
          local_.data(), width);
    }
    result_.cache_bytes = std::max(result_.cache_bytes, cache_.bytes());
    if constexpr (sizeof(T) == sizeof(double))
      if (whole_) {
        std::copy(local_.begin(), local_.end(), f_);
        for (const Index v : order_)
          if (v >= 0) known_[at(v)] = beta_[v];
      }
  }

  Run run_;
  const Points& points_;
  SmoProblem p_;
  double *beta_, *f_;
  Index n_;
  smo_detail::RowCache<T> cache_;
  std::vector<Index> active_, rows_, position_, set_, order_, wanted_, distinct_;
  std::vector<double> local_, known_;
  std::vector<char> taken_;
  std::vector<std::pair<double, Index>> found_;
  std::unique_ptr<SmoBlock> block_;
  double least_[2] = {}, most_[2] = {}, objective_ = 0, largest_ = 0;
  bool whole_ = true;
  SmoResult result_;
};

inline SmoResult smo(const Run& run, const Points& points, const SmoProblem& problem, double* beta,
                     double* f) {
  if (problem.variables == 0) return {};
  if (problem.single) {
    const SmoResult first = Smo<float>(run, points, problem, beta, f).solve();
    if (first.ended != 2) return first;
    SmoProblem left = problem;
    left.most_steps -= first.steps;
    SmoResult second = Smo<double>(run, points, left, beta, f).solve();
    second.steps += first.steps, second.sets += first.sets, second.computed_rows += first.computed_rows;
    second.cache_bytes = std::max(first.cache_bytes, second.cache_bytes);
    return second;
  }
  return Smo<double>(run, points, problem, beta, f).solve();
}

}  // namespace surefit
