// The inner problem of kernel machines: a few variables whose kernel values are all at hand.
//
// Pairs of variables are moved against each other, so that their sum stays; the pair is that of the steepest
// way up and the one that lowers the objective most against it (second-order choice). Variables of different
// groups never meet.
#pragma once

#include <limits>
#include <vector>

#include "buffer.h"
#include "lane_math.h"

namespace surefit {

// min 1/2 b'Kb + sum of p(b), with low <= b <= high, the sum of b in each group kept; p has slope `plus`
// above zero and `minus` <= plus below.
struct SmoVariable {
  double beta, low, high, plus, minus;

  double up() const {
    return beta < high ? (beta >= 0 ? plus : minus) : std::numeric_limits<double>::infinity();
  }
  double down() const {
    return beta > low ? (beta > 0 ? plus : minus) : -std::numeric_limits<double>::infinity();
  }
  // How far it may go until its slope changes or it ends.
  double room_up() const { return (beta < 0 ? std::min(high, 0.0) : high) - beta; }
  double room_down() const { return beta - (beta > 0 ? std::max(low, 0.0) : low); }
};

class SmoBlock {
 public:
  static constexpr double least_curvature = 1e-12;

  // Rows of K are `stride` doubles apart; those of the second group begin at `second`, a multiple of the
  // lanes.
  SmoBlock(Index size)
      : stride_(round_up(size + lanes, lanes)),
        K(size_of(stride_)),
        f(stride_),
        cu_(stride_),
        cl_(stride_),
        diag_(stride_) {}

  Index stride() const { return stride_; }

  std::vector<SmoVariable> variables;
  double* kernel_row(Index i) { return K.data() + i * stride_; }
  void gradient(Index i, double value) { f[i] = value; }
  double gradient(Index i) const { return f[i]; }

  // Begins with `count` variables, the second group from `second` on; their kernel values are in place.
  void begin(Index count, Index second) {
    count_ = count, second_ = second;
    const Index end = round_up(count, lanes);
    for (Index i = 0; i < end; ++i) {
      if (i < count) {
        diag_[i] = kernel_row(i)[i];
        refresh(i);
      } else {
        pad(i);
      }
    }
  }

  // A variable that is not there, to fill up the lanes.
  void pad(Index i) {
    cu_[i] = std::numeric_limits<double>::infinity(), cl_[i] = -cu_[i];
    f[i] = 0, diag_[i] = 1;
  }

  // How much the steepest pair falls at first order; 0 where none does.
  double violation() const {
    return std::max(gap(0, second_ > 0 ? second_ : count_), second_ > 0 ? gap(second_, count_) : 0.0);
  }

  // Moves the best pair; returns the violation it found, and stops below `enough`. Sums what was won.
  double step(double enough, double& won) {
    Choice best = choose(0, second_ > 0 ? second_ : count_);
    if (second_ > 0) {
      const Choice other = choose(second_, count_);
      const double worst = std::max(best.violation, other.violation);
      if (other.j >= 0 && (best.j < 0 || other.gain > best.gain)) best = other;
      best.violation = worst;
    }
    if (best.j < 0 || best.violation <= enough) return best.violation;
    SmoVariable &a = variables[static_cast<std::size_t>(best.i)],
                &b = variables[static_cast<std::size_t>(best.j)];
    const double* rise = kernel_row(best.i);
    const double* fall = kernel_row(best.j);
    const double slope = f[best.j] + cl_[best.j] - f[best.i] - cu_[best.i];
    const double curved = std::max(diag_[best.i] + diag_[best.j] - 2 * rise[best.j], least_curvature);
    const double room = std::min(a.room_up(), b.room_down());
    double t = slope / curved;
    const double a_before = a.beta, b_before = b.beta;
    if (t >= room) {
      t = room;
      const bool first = a.room_up() <= b.room_down(), both = a.room_up() == b.room_down();
      const double a_end = a.beta < 0 ? std::min(a.high, 0.0) : a.high,
                   b_end = b.beta > 0 ? std::max(b.low, 0.0) : b.low;
      a.beta = first ? a_end : a.beta + t;
      b.beta = !first || both ? b_end : b.beta - t;
    } else {
      a.beta += t, b.beta -= t;
    }
    const double rose = a.beta - a_before, fell = b_before - b.beta;
    if (rose == 0 && fell == 0) return 0;  // less than rounding
    won += t * slope - 0.5 * t * t * curved;
    const Lanes up = broadcast(rose), down = broadcast(-fell);
    for (Index k = 0; k < count_; k += lanes)
      store(f.data() + k, fused(up, load(rise + k), fused(down, load(fall + k), load(f.data() + k))));
    refresh(best.i), refresh(best.j);
    return best.violation;
  }

 private:
  struct Choice {
    Index i = -1, j = -1;
    double gain = 0, violation = 0;
  };

  static Index size_of(Index stride) { return stride * stride; }

  void refresh(Index i) {
    const SmoVariable& v = variables[static_cast<std::size_t>(i)];
    cu_[i] = v.up(), cl_[i] = v.down();
  }

  double gap(Index begin, Index end) const {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (Index k = begin; k < end; ++k)
      least = std::min(least, f[k] + cu_[k]), most = std::max(most, f[k] + cl_[k]);
    return most > least ? most - least : 0.0;
  }

  Choice choose(Index begin, Index end) const {
    Choice found;
    const Lanes inf = broadcast(std::numeric_limits<double>::infinity());
    Lanes best = inf, where = broadcast(-1.0), number = broadcast(static_cast<double>(begin)),
          steps = broadcast(lanes);
    for (int l = 0; l < lanes; ++l) number[l] += l;
    const Lanes first = number;
    for (Index k = begin; k < end; k += lanes) {
      const Lanes v = load(f.data() + k) + load(cu_.data() + k);
      const auto better = v < best;
      best = better ? v : best;
      where = better ? number : where;
      number = number + steps;
    }
    double least = std::numeric_limits<double>::infinity();
    for (int l = 0; l < lanes; ++l)
      if (best[l] < least || (best[l] == least && where[l] < static_cast<double>(found.i)))
        least = best[l], found.i = static_cast<Index>(where[l]);
    if (found.i < 0) return found;
    const double* row = K.data() + found.i * stride_;
    const Lanes from = broadcast(least), own = broadcast(diag_[found.i]), two = broadcast(2.0);
    const Lanes floor = broadcast(least_curvature), zero = broadcast(0.0);
    Lanes most = zero, gain = zero;
    where = broadcast(-1.0), number = first;
    for (Index k = begin; k < end; k += lanes) {
      const Lanes v = load(f.data() + k) + load(cl_.data() + k) - from;
      most = larger(most, v);
      const Lanes curved = larger(own + load(diag_.data() + k) - two * load(row + k), floor);
      const Lanes won = (v > zero) ? v * v / curved : zero;
      const auto better = won > gain;
      gain = better ? won : gain;
      where = better ? number : where;
      number = number + steps;
    }
    for (int l = 0; l < lanes; ++l) {
      found.violation = std::max(found.violation, most[l]);
      if (gain[l] > found.gain ||
          (gain[l] == found.gain && found.j >= 0 && where[l] >= 0 && where[l] < static_cast<double>(found.j)))
        found.gain = gain[l], found.j = static_cast<Index>(where[l]);
    }
    return found;
  }

  Index stride_, count_ = 0, second_ = 0;
  Buffer K, f, cu_, cl_, diag_;
};

}  // namespace surefit
