// Coordinate descent on w'Gw/2 - c'w + table, with G in memory: a change of one coefficient costs one row of
// G, a coefficient that stays costs nothing, and the duality gap is known after every sweep.
#pragma once

#include "coordinate_table.h"
#include "iterates.h"
#include "parallel.h"

namespace surefit {

// G is symmetric, in rows of ld numbers. energy is <y, y>/W, so that energy - 2 c'w + w'Gw = <r, r>/W.
struct Quadratic {
  Index m;
  const double* G;
  Index ld;
  const double* c;
  double energy;
  CoordinateTable table;
  const double* noise = nullptr;
};

struct Descent {
  Index epochs = 0;
  double gap = infinite;
  bool still = false;  // a whole sweep moved nothing any more
};

namespace quad_detail {

inline void add_row(const double* row, double step, double* g, Index m) {
  for (Index i = 0; i < m; ++i) g[i] += step * row[i];
}

inline double objective(const Quadratic& q, const double* w, const double* g) {
  double sum = 0;
  for (Index j = 0; j < q.m; ++j)
    if (w[j] != 0) sum += 0.5 * w[j] * (g[j] - q.c[j]) + q.table.value(j, w[j]);
  return sum;
}

inline double gap(const Quadratic& q, const double* w, const double* g, double* u) {
  double cw = 0, gw = 0;
  for (Index j = 0; j < q.m; ++j) {
    u[j] = -g[j];
    cw += q.c[j] * w[j];
    gw += g[j] * w[j];
  }
  const GapSums sums{std::max(0.0, q.energy - cw + gw), q.energy - cw, q.noise};
  return duality_gap(q.m, w, u, q.table, sums).gap;
}

// Whether w keeps the bounds.
inline bool allowed(const CoordinateTable& table, const double* w, Index m) {
  for (Index j = 0; j < m; ++j)
    if (!(w[j] >= table.lower[j] && w[j] <= table.upper[j])) return false;
  return true;
}

}  // namespace quad_detail

// Starts from w (within the bounds) and leaves there the answer, and in g its gradient Gw - c.
inline Descent quad_cd(const Run& run, const Quadratic& q, double* w, double* g, double tolerance,
                       Index most) {
  using namespace quad_detail;
  const Index m = q.m;
  Poll poll(run);
  for (Index j = 0; j < m; ++j) g[j] = -q.c[j];
  for (Index j = 0; j < m; ++j)
    if (w[j] != 0) add_row(q.G + j * q.ld, w[j], g, m);
  Buffer u(m), length(m), try_w(m), try_g(m);
  for (Index j = 0; j < m; ++j) length[j] = std::sqrt(std::max(0.0, q.G[j * q.ld + j]));
  Iterates iterates(m, m, length.data());
  Descent done;
  done.gap = gap(q, w, g, u.data());
  iterates.keep(w, g);
  while (done.epochs < most && done.gap > tolerance && !done.still) {
    double moved = 0, size = 0;
    for (Index j = 0; j < m; ++j) {
      const double h = q.G[j * q.ld + j];
      if (!(h + q.table.l2[j] > 0)) continue;
      const double next = q.table.minimiser(j, h, h * w[j] - g[j]), step = next - w[j];
      size = std::max(size, length[j] * std::fabs(next));
      if (step == 0) continue;
      moved = std::max(moved, length[j] * std::fabs(step));
      w[j] = next;
      add_row(q.G + j * q.ld, step, g, m);
    }
    ++done.epochs;
    // Steps of a rounding or two go on for ever.
    done.still = moved <= 4 * std::numeric_limits<double>::epsilon() * size;
    iterates.keep(w, g);
    if (iterates.full()) {
      if (iterates.combine(try_w.data(), try_g.data()) && allowed(q.table, try_w.data(), m) &&
          objective(q, try_w.data(), try_g.data()) < objective(q, w, g)) {
        std::copy_n(try_w.data(), m, w);
        std::copy_n(try_g.data(), m, g);
        done.still = false;
      }
      iterates.forget();
      iterates.keep(w, g);
    }
    done.gap = gap(q, w, g, u.data());
    poll();
  }
  return done;
}

}  // namespace surefit
