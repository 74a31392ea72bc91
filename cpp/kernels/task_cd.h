// Block coordinate descent on tr(W'GW)/2 - <C, W> + sum_j l1_j |W_j| + l2_j/2 |W_j|^2: the rows of W, one a
// column of X with an entry a target, move one after the other, and are zero together.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

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

// To a gradient with a row an output, so that the long loop is the inner one.
inline void add_outer(const double* row, const double* step, double* gradient, Index m, Index outputs) {
  for (Index k = 0; k < outputs; ++k, gradient += m)
    for (Index i = 0; i < m; ++i) gradient[i] += row[i] * step[k];
}

inline void transpose(const double* from, Index rows, Index columns, double* to) {
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < columns; ++j) to[j * rows + i] = from[i * columns + j];
}

inline double norm(const double* row, Index outputs) {
  double sum = 0;
  for (Index k = 0; k < outputs; ++k) sum += row[k] * row[k];
  return std::sqrt(sum);
}

inline double product(const double* a, const double* b, Index count) {
  double sum = 0;
  for (Index i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace task_detail

// The duality gap of rows W where the mean loss has this gradient and the residual the mean square rr. The
// dual point is a multiple tau of the residual: the largest that rows without l2 allow, or one that all
// allow. No term of the sum is negative.
inline double row_gap(Index m, Index outputs, const double* W, const double* gradient, const double* l1,
                      const double* l2, double rr) {
  using namespace task_detail;
  double most = 1, within = 1;
  for (Index j = 0; j < m; ++j) {
    const double size = norm(gradient + j * outputs, outputs);
    if (!(size > l1[j])) continue;
    within = std::min(within, l1[j] / size);
    if (l2[j] == 0) most = std::min(most, l1[j] / size);
  }
  const auto with = [&](double tau) {
    double sum = 0.5 * (1 - tau) * (1 - tau) * rr;
    for (Index j = 0; j < m; ++j) {
      const double *w = W + j * outputs, *g = gradient + j * outputs;
      const double length = norm(w, outputs);
      const double excess = l2[j] > 0 ? std::max(tau * norm(g, outputs) - l1[j], 0.0) : 0.0;
      const double conjugate = l2[j] > 0 ? 0.5 * excess * excess / l2[j] : 0.0;
      sum += std::max(
          l1[j] * length + 0.5 * l2[j] * length * length + conjugate + tau * product(w, g, outputs), 0.0);
    }
    return sum;
  };
  const double found = with(most);
  return within < most ? std::min(found, with(within)) : found;
}

// What sweeps ended with: how many there were, and the duality gap.
struct TaskEnd {
  Index sweeps;
  double gap;
};

constexpr Index kSweepsToALook = 20;

// Sweeps until the gap is at most `tolerance`, until no row moves any more, or `most` times. `outside` is the
// mean square of the residual at W = 0. Starts from W and leaves there the answer, and in gradient GW - C.
inline TaskEnd task_cd(const Run& run, const TaskQuadratic& q, double* W, double* gradient, double outside,
                       double tolerance, Index most) {
  using namespace task_detail;
  const Index m = q.m, K = q.outputs;
  Poll poll(run);
  Buffer step(K), slopes(m * K);
  transpose(q.C, m, K, slopes.data());
  for (double& slope : std::span(slopes.data(), static_cast<std::size_t>(m * K))) slope = -slope;
  for (Index j = 0; j < m; ++j)
    if (norm(W + j * K, K) > 0) add_outer(q.G + j * q.ld, W + j * K, slopes.data(), m, K);
  const auto gap_here = [&] {
    transpose(slopes.data(), K, m, gradient);
    const double rr = outside + product(W, gradient, m * K) - product(W, q.C, m * K);
    return row_gap(m, K, W, gradient, q.l1, q.l2, std::max(rr, 0.0));
  };
  TaskEnd end{0, gap_here()};
  for (bool moving = true; moving && end.sweeps < most && !(end.gap <= tolerance);) {
    double moved = 0, size = 0;
    for (Index j = 0; j < m; ++j) {
      const double h = q.G[j * q.ld + j];
      if (!(h + q.l2[j] > 0)) continue;
      double* w = W + j * K;
      for (Index k = 0; k < K; ++k) step[k] = h * w[k] - slopes[k * m + j];
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
      add_outer(q.G + j * q.ld, step.data(), slopes.data(), m, K);
    }
    // Steps of a rounding or two go on for ever.
    moving = moved > 4 * std::numeric_limits<double>::epsilon() * size;
    if (++end.sweeps % kSweepsToALook == 0 || !moving || end.sweeps == most) end.gap = gap_here();
    poll();
  }
  return end;
}

}  // namespace surefit
