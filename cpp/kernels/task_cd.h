// Block coordinate descent on tr(W'GW)/2 - <C, W> + sum_j l1_j |W_j| + l2_j/2 |W_j|^2: the rows of W, one a
// column of X with an entry a target, move one after the other, and are zero together.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "buffer.h"
#include "parallel.h"
#include "span.h"

namespace surefit {

// G is symmetric, in rows of ld numbers; C, and W and its gradient below, are m rows of `outputs` numbers.
struct TaskQuadratic {
  Index m;
  Index outputs;
  const double* G;
  Index ld;
  const double* C;
  const double* l1;
  const double* l2;
};

namespace task_detail {

inline void add_outer(const double* row, const double* step, double* gradient, Index m, Index outputs) {
  for (Index i = 0; i < m; ++i)
    for (Index k = 0; k < outputs; ++k) gradient[i * outputs + k] += row[i] * step[k];
}

inline double norm(const double* row, Index outputs) {
  double sum = 0;
  for (Index k = 0; k < outputs; ++k) sum += row[k] * row[k];
  return std::sqrt(sum);
}

}  // namespace task_detail

// Sweeps at most `most` times, or until no row moves by more than `least` in units of its column's length.
// Starts from W and leaves there the answer, and in gradient GW - C. Returns the sweeps made.
inline Index task_cd(const Run& run, const TaskQuadratic& q, double* W, double* gradient, double least,
                     Index most) {
  using namespace task_detail;
  const Index m = q.m, K = q.outputs;
  Poll poll(run);
  std::transform(q.C, q.C + m * K, gradient, [](double c) { return -c; });
  for (Index j = 0; j < m; ++j)
    if (norm(W + j * K, K) > 0) add_outer(q.G + j * q.ld, W + j * K, gradient, m, K);
  Buffer step(K);
  Index epochs = 0;
  for (bool moving = true; moving && epochs < most; ++epochs) {
    double moved = 0, size = 0;
    for (Index j = 0; j < m; ++j) {
      const double h = q.G[j * q.ld + j];
      if (!(h + q.l2[j] > 0)) continue;
      double* w = W + j * K;
      const double* g = gradient + j * K;
      for (Index k = 0; k < K; ++k) step[k] = h * w[k] - g[k];
      const double pull = norm(step.data(), K);
      const double factor = pull > q.l1[j] ? (1 - q.l1[j] / pull) / (h + q.l2[j]) : 0.0;
      bool still = true;
      for (Index k = 0; k < K; ++k) {
        const double next = factor * step[k];
        step[k] = next - w[k];
        still = still && step[k] == 0;
        w[k] = next;
      }
      const double length = std::sqrt(std::max(h, 0.0));
      size = std::max(size, length * norm(w, K));
      if (still) continue;
      moved = std::max(moved, length * norm(step.data(), K));
      add_outer(q.G + j * q.ld, step.data(), gradient, m, K);
    }
    // Steps of a rounding or two go on for ever.
    moving = moved > std::max(least, 4 * std::numeric_limits<double>::epsilon() * size);
    poll();
  }
  return epochs;
}

}  // namespace surefit
