// Dual coordinate descent for the hinge of all classes at once (Crammer and Singer): K slopes a row that add
// up to 0, and the coefficients they make, w_k = sum_i a_ik x_i, kept up to date.
//
// A row's slopes minimise |x|^2 |a|^2 / 2 + b'a with a_k <= cost [k = y], where b_k is the score of class k,
// plus 1 for all classes but its own, without what the row itself adds: they are min(limit, (level - b_k) /
// |x|^2) at the level where they add up to 0.
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "buffer.h"
#include "dual_cd.h"
#include "node_random.h"
#include "parallel.h"
#include "sample_rows.h"

namespace surefit {

namespace class_dual_detail {

// The level, from b with the cost of the row's own class added to its entry: sorted, largest first.
inline double level(std::vector<double>& d, double own) {
  std::sort(d.begin(), d.end(), std::greater<>());
  double sum = d[0] - own;
  std::size_t r = 1;
  for (; r < d.size() && sum < static_cast<double>(r) * d[r]; ++r) sum += d[r];
  return sum / static_cast<double>(r);
}

}  // namespace class_dual_detail

// a is (n, classes), w is (classes, columns); they belong together at the start and at the end. Stops after
// `most` epochs, or when no slope times |x|^2 moves by more than the tolerance.
template <class Samples>
DualDescent class_dual_cd(const Run& run, Samples& x, const std::int64_t* y, const double* cost,
                          Index classes, double* a, double* w, double tolerance, Index most,
                          std::uint64_t seed) {
  const Index n = x.rows(), p = x.cols();
  Poll poll(run);
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index{0});
  std::vector<double> b(static_cast<std::size_t>(classes)), d(b.size());
  NodeRandom random(seed);
  DualDescent done;
  while (done.epochs < most) {
    for (Index k = 0; k < n - 1; ++k)
      std::swap(order[static_cast<std::size_t>(k)], order[static_cast<std::size_t>(k + random.below(n - k))]);
    double worst = 0;
    for (Index k = 0; k < n; ++k) {
      const Index i = order[static_cast<std::size_t>(k)];
      if (k + 2 < n) x.fetch(order[static_cast<std::size_t>(k + 2)]);
      x.go_to(i);
      const double bend = x.squares();
      if (cost[i] <= 0 || bend <= 0) continue;
      double* slopes = a + i * classes;
      for (Index c = 0; c < classes; ++c) {
        const double score = dual_cd_detail::score(x, w + c * p) + (c == y[i] ? 0.0 : 1.0);
        b[static_cast<std::size_t>(c)] = score - bend * slopes[c];
      }
      d = b;
      d[static_cast<std::size_t>(y[i])] += bend * cost[i];
      const double at = class_dual_detail::level(d, bend * cost[i]);
      for (Index c = 0; c < classes; ++c) {
        const double most_of = c == y[i] ? cost[i] : 0.0;
        const double next = std::min(most_of, (at - b[static_cast<std::size_t>(c)]) / bend);
        const double step = next - slopes[c];
        if (step == 0) continue;
        worst = std::max(worst, std::fabs(step) * bend);
        slopes[c] = next;
        x.add(step, w + c * p);
      }
      if (k % 256 == 0) poll();
    }
    ++done.epochs;
    done.violation = worst;
    poll();
    if (worst <= tolerance) break;
  }
  return done;
}

}  // namespace surefit
