// Coordinate descent on 1/(2W) sum_i s_i r_i^2 + table over chosen columns, with the residual r in memory:
// for columns with few entries, or more columns than a Gram matrix is worth while for. Centring is implicit.
#pragma once

#include "columns_dot.h"
#include "coordinate_table.h"
#include "iterates.h"
#include "quad_cd.h"

namespace surefit {

// All arrays but the rows' have one entry a chosen column. centre is the weighted mean of each, or zeros;
// curvature is sum_i s_i (x_i - centre)^2 / W.
struct ColumnProblem {
  Which which;
  const double* centre;
  const double* curvature;
  const double* weight = nullptr;  // one a row; null for ones
  double total = 1;                // W
  CoordinateTable table;
  const double* noise = nullptr;
};

namespace column_cd_detail {

inline constexpr int ahead = 2;  // columns from the one at work to the one that memory is asked for

// The residual, which sparse columns change where they have entries; the rest of the centring is owed.
template <class Columns>
class Residual {
 public:
  Residual(const Columns& x, const ColumnProblem& problem, double* r) : x_(x), problem_(problem), r_(r) {}

  double slope(Index k) {
    const Index j = problem_.which[k];
    if constexpr (Columns::sparse) {
      const double sum = problem_.weight == nullptr ? x_.dot(j, r_) : x_.dot(j, r_, problem_.weight);
      return sum / problem_.total - shift_ * problem_.centre[k];
    } else {
      const auto* column = x_.column(j);
      const double centre = problem_.centre[k];
      return (problem_.weight == nullptr ? centred_dot(column, centre, r_, x_.rows)
                                         : centred_dot(column, centre, r_, problem_.weight, x_.rows)) /
             problem_.total;
    }
  }

  void step(Index k, double by) {
    const Index j = problem_.which[k];
    if constexpr (Columns::sparse) {
      x_.add(j, -by, r_);
      shift_ -= by * problem_.centre[k];
    } else {
      add_centred(x_.column(j), problem_.centre[k], -by, r_, x_.rows);
    }
  }

  // Tells which of the chosen columns comes soon.
  void soon(Index k) const {
    if constexpr (Columns::sparse) x_.fetch(problem_.which[k]);
  }

  // Puts what centring owes into the residual itself.
  void settle() {
    if (shift_ != 0)
      for (Index i = 0; i < x_.rows; ++i) r_[i] -= shift_;
    shift_ = 0;
  }

  // <r, r>/W; the residual must be settled.
  double energy() const {
    double sum = 0;
    for (Index i = 0; i < x_.rows; ++i)
      sum += (problem_.weight == nullptr ? 1.0 : problem_.weight[i]) * r_[i] * r_[i];
    return sum / problem_.total;
  }

 private:
  const Columns& x_;
  const ColumnProblem& problem_;
  double* r_;
  double shift_ = 0;  // the true residual is r - shift
};

}  // namespace column_cd_detail

// w and r belong together at the start (r = y - A w, w within the bounds), and at the end.
template <class Columns>
Descent column_cd(const Run& run, const Columns& x, const ColumnProblem& problem, double* w, double* r,
                  double tolerance, Index most) {
  using column_cd_detail::ahead;
  constexpr Index between = 5;  // sweeps from one look at the gap to the next
  const Index m = problem.which.count;
  Poll poll(run);
  Buffer u(m), length(m), try_w(m), try_r(x.rows);
  for (Index k = 0; k < m; ++k) length[k] = std::sqrt(problem.curvature[k]);
  column_cd_detail::Residual<Columns> residual(x, problem, r);
  Iterates iterates(m, x.rows, length.data());
  std::vector<Index> active;

  auto look = [&] {
    residual.settle();
    double wu = 0;
    for (Index k = 0; k < m; ++k) {
      residual.soon(std::min(k + ahead, m - 1));
      u[k] = residual.slope(k);
      wu += w[k] * u[k];
    }
    const double rr = residual.energy();
    return duality_gap(m, w, u.data(), problem.table, {rr, rr + wu, problem.noise}).gap;
  };
  auto objective = [&](const double* coef, const double* left) {
    double sum = 0, value = 0;
    for (Index i = 0; i < x.rows; ++i)
      sum += (problem.weight == nullptr ? 1.0 : problem.weight[i]) * left[i] * left[i];
    for (Index k = 0; k < m; ++k) value += problem.table.value(k, coef[k]);
    return 0.5 * sum / problem.total + value;
  };
  double moved = 0, size = 0;
  auto update = [&](Index k) {
    const double h = problem.curvature[k];
    if (!(h + problem.table.l2[k] > 0)) return;
    const double next = problem.table.minimiser(k, h, h * w[k] + residual.slope(k)), step = next - w[k];
    size = std::max(size, length[k] * std::fabs(next));
    if (step == 0) return;
    moved = std::max(moved, length[k] * std::fabs(step));
    w[k] = next;
    residual.step(k, step);
  };

  Descent done;
  done.gap = look();
  while (done.epochs < most && done.gap > tolerance && !done.still) {
    iterates.forget();
    iterates.keep(w, r);
    for (Index epoch = 0; epoch < between && done.epochs < most && !done.still; ++epoch) {
      const bool whole = epoch == 0;
      if (whole) active.clear();
      moved = size = 0;
      if (whole) {
        for (Index k = 0; k < m; ++k) {
          residual.soon(std::min(k + ahead, m - 1));
          update(k);
          if (w[k] != 0) active.push_back(k);
          if (k % 1024 == 0) poll();
        }
      } else {
        for (std::size_t a = 0; a < active.size(); ++a) {
          residual.soon(active[std::min(a + ahead, active.size() - 1)]);
          update(active[a]);
        }
      }
      residual.settle();
      ++done.epochs;
      done.still = whole && moved <= 4 * std::numeric_limits<double>::epsilon() * size;
      iterates.keep(w, r);
      if (iterates.full()) {
        if (iterates.combine(try_w.data(), try_r.data()) &&
            quad_detail::allowed(problem.table, try_w.data(), m) &&
            objective(try_w.data(), try_r.data()) < objective(w, r)) {
          std::copy_n(try_w.data(), m, w);
          std::copy_n(try_r.data(), x.rows, r);
          done.still = false;
        }
        iterates.forget();
        iterates.keep(w, r);
      }
      poll();
    }
    done.gap = look();
  }
  residual.settle();
  return done;
}

}  // namespace surefit
