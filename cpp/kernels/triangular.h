// The triangular factor R of a tall matrix A, with A'A = R'R, by Householder reflections of row panels that
// merge.
//
// Rows enter R panel by panel: the reflections of [R; panel] leave a new R on top and zeros below, at 2 m q^2
// flops for m rows of q columns, whether R was empty or full. Panels go round a fixed number of factors
// ("slots"), which are merged pairwise at the end. Both depend on the shape alone, so any number of threads
// gives the same bits.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "design.h"
#include "parallel.h"
#include "span.h"

namespace surefit {

// The sizes that decide the speed; they follow from the shape alone.
struct PanelPlan {
  static constexpr Index block = 32;  // columns whose reflections are applied together, by GEMM
  static constexpr Index leaf = 8;    // columns that are reflected one by one

  Index rows;   // of a panel: it should stay in the second-level cache
  Index slots;  // factors built side by side: enough for many cores, few enough to be small beside the data

  PanelPlan(Index n, Index q) {
    rows = std::clamp<Index>((Index{1} << 16) / std::max<Index>(q, 1), 256, 4096);
    const Index fit = std::clamp<Index>((Index{1} << 22) / std::max<Index>(q * q, 1), 4, 32);
    slots = std::clamp<Index>(n / std::max(rows, 4 * q), 1, fit);
  }
};

namespace triangular_detail {

// Sixteen partial sums, so that the order of the additions is the same for every vector width.
inline double dot(const double* a, const double* b, Index n) {
  constexpr Index lanes = 16;
  double part[lanes] = {};
  Index i = 0;
  for (; i + lanes <= n; i += lanes)
    for (Index l = 0; l < lanes; ++l) part[l] += a[i + l] * b[i + l];
  double sum = 0;
  for (; i < n; ++i) sum += a[i] * b[i];
  for (Index half = lanes / 2; half > 0; half /= 2)
    for (Index l = 0; l < half; ++l) part[l] += part[l + half];
  return sum + part[0];
}

inline double norm(const double* a, Index n) {
  const double squares = dot(a, a, n);
  if (squares > 1e-280 && squares < 1e280) return std::sqrt(squares);
  double largest = 0;
  for (Index i = 0; i < n; ++i) largest = std::max(largest, std::abs(a[i]));
  if (squares == 0 && largest == 0) return 0;
  if (!(largest <= std::numeric_limits<double>::max()) || std::isnan(squares)) return squares;
  double sum = 0;
  for (Index i = 0; i < n; ++i) sum += (a[i] / largest) * (a[i] / largest);
  return largest * std::sqrt(sum);
}

inline void divide(double* a, Index n, double by) {
  const double inverse = 1 / by;
  if (std::isfinite(inverse)) {
    for (Index i = 0; i < n; ++i) a[i] *= inverse;
  } else {
    for (Index i = 0; i < n; ++i) a[i] /= by;
  }
}

// Room for one worker: a panel and what the reflections of a block need.
struct Workspace {
  std::vector<double> panel, t, w, w2;

  Workspace(Index rows, Index q)
      : panel(static_cast<std::size_t>(rows * q)),
        t(static_cast<std::size_t>(PanelPlan::block * PanelPlan::block)),
        w(static_cast<std::size_t>(PanelPlan::block * q)),
        w2(static_cast<std::size_t>(PanelPlan::block * q)) {}
};

// Reflects `below` into the triangle `top`; both are column-major with q columns. Reflection j is I - tau v
// v' with v = [e_j; column j of below], and a block of them is I - V T V' with T upper triangular. `below` is
// a panel of rows, or another triangle, whose first c columns are zero beyond row c.
class Reflections {
 public:
  Reflections(const Run& run, double* top, double* below, Index ld, Index rows, Index q, bool triangle,
              Workspace& work, Poll* poll)
      : run_(run),
        top_(top),
        below_(below),
        ld_(ld),
        rows_(rows),
        q_(q),
        triangle_(triangle),
        work_(work),
        poll_(poll) {}

  void all() {
    for (Index first = 0; first < q_; first += PanelPlan::block) {
      const Index end = std::min(first + PanelPlan::block, q_);
      block(first, end, first);
      apply(first, end, end, q_, first);
      if (poll_ != nullptr) (*poll_)();
    }
  }

 private:
  static constexpr Index ldt = PanelPlan::block;

  Index height(Index end) const { return triangle_ ? std::min(end, rows_) : rows_; }
  double* column(Index j) { return below_ + j * ld_; }
  double& top(Index i, Index j) { return top_[i + j * q_]; }
  double& t(Index i, Index j) { return work_.t[static_cast<std::size_t>(i + j * ldt)]; }

  void gemm(char transa, Index m, Index n, Index k, double alpha, double* a, Index lda, double* b, Index ldb,
            double beta, double* c, Index ldc) const {
    if (m == 0 || n == 0) return;
    char no = 'N';
    int im = static_cast<int>(m), in = static_cast<int>(n), ik = static_cast<int>(k);
    int ia = static_cast<int>(lda), ib = static_cast<int>(ldb), ic = static_cast<int>(ldc);
    run_.blas.dgemm(&transa, &no, &im, &in, &ik, &alpha, a, &ia, b, &ib, &beta, c, &ic);
  }

  // Reduces columns [first, end) and leaves their T at (first - origin) of the workspace; halves until it is
  // narrow.
  void block(Index first, Index end, Index origin) {
    if (end - first <= PanelPlan::leaf) {
      narrow(first, end, origin);
      return;
    }
    const Index middle = first + (end - first) / 2;
    block(first, middle, origin);
    apply(first, middle, middle, end, origin);
    block(middle, end, origin);
    join(first, middle, end, origin);
  }

  // One column after the other.
  void narrow(Index first, Index end, Index origin) {
    const Index m = height(end);
    for (Index j = first; j < end; ++j) {
      double* v = column(j);
      const double alpha = top(j, j);
      const double below = norm(v, m);
      double tau = 0;
      if (below != 0) {
        const double beta = -std::copysign(std::hypot(alpha, below), alpha);
        tau = (beta - alpha) / beta;
        divide(v, m, alpha - beta);
        top(j, j) = beta;
        for (Index k = j + 1; k < end; ++k) {
          double* x = column(k);
          const double step = tau * (top(j, k) + dot(v, x, m));
          top(j, k) -= step;
          for (Index i = 0; i < m; ++i) x[i] -= step * v[i];
        }
      }
      const Index here = j - origin;
      t(here, here) = tau;
      for (Index i = first; i < j; ++i) work_.w[static_cast<std::size_t>(i - first)] = dot(column(i), v, m);
      for (Index i = first; i < j; ++i) {
        double sum = 0;
        for (Index k = i; k < j; ++k)
          sum += t(i - origin, k - origin) * work_.w[static_cast<std::size_t>(k - first)];
        t(i - origin, here) = -tau * sum;
      }
    }
  }

  // The corner of T between two halves: -T1 (V1'V2) T2.
  void join(Index first, Index middle, Index end, Index origin) {
    const Index a = middle - first, b = end - middle;
    double* left = &t(first - origin, first - origin);
    double* right = &t(middle - origin, middle - origin);
    gemm('T', a, b, height(middle), 1.0, column(first), ld_, column(middle), ld_, 0.0, work_.w.data(), a);
    clear_lower(left, a);
    clear_lower(right, b);
    gemm('N', a, b, a, 1.0, left, ldt, work_.w.data(), a, 0.0, work_.w2.data(), a);
    gemm('N', a, b, b, -1.0, work_.w2.data(), a, right, ldt, 0.0, &t(first - origin, middle - origin), ldt);
  }

  static void clear_lower(double* t, Index n) {
    for (Index j = 0; j < n; ++j) std::fill(t + j * ldt + j + 1, t + j * ldt + n, 0.0);
  }

  // Columns [from, to) get the reflections of columns [first, end): [top; below] -= [I; V] T' ([I; V]' [top;
  // below]).
  void apply(Index first, Index end, Index from, Index to, Index origin) {
    const Index b = end - first, n = to - from, m = height(end);
    if (n == 0) return;
    double* w = work_.w.data();
    double* w2 = work_.w2.data();
    double* factor = &t(first - origin, first - origin);
    for (Index j = 0; j < n; ++j) std::copy_n(&top(first, from + j), b, w + j * b);
    gemm('T', b, n, m, 1.0, column(first), ld_, column(from), ld_, 1.0, w, b);
    clear_lower(factor, b);
    gemm('T', b, n, b, 1.0, factor, ldt, w, b, 0.0, w2, b);
    for (Index j = 0; j < n; ++j)
      for (Index i = 0; i < b; ++i) top(first + i, from + j) -= w2[i + j * b];
    gemm('N', m, n, b, -1.0, column(first), ld_, w2, b, 1.0, column(from), ld_);
  }

  const Run& run_;
  double* top_;
  double* below_;
  Index ld_, rows_, q_;
  bool triangle_;
  Workspace& work_;
  Poll* poll_;  // for the thread that called the kernel, and for no other
};

// Column-major upper triangle to C order, with a diagonal that is nowhere negative: R is then unique at full
// rank.
inline void write_factor(const double* r, Index q, double* out) {
  for (Index i = 0; i < q; ++i) {
    const double sign = r[i + i * q] < 0 ? -1.0 : 1.0;
    for (Index j = 0; j < q; ++j) out[i * q + j] = j < i ? 0.0 : sign * r[i + j * q];
  }
}

}  // namespace triangular_detail

// Writes to `out` (q x q, C order) the factor of sqrt(weight) [1 | X | Y]; Rows is Dense or SparseRows.
template <class Rows>
void triangular_factor(const Run& run, const Rows& X, const Design& design, double* out) {
  using namespace triangular_detail;
  const Index q = design.cols(X.cols);
  const PanelPlan plan(X.rows, q);
  const Index panels = (X.rows + plan.rows - 1) / plan.rows;
  const auto size = static_cast<std::size_t>(q * q);
  std::vector<double> factors(size * static_cast<std::size_t>(plan.slots), 0.0);
  const auto factor = [&](Index slot) { return factors.data() + static_cast<std::size_t>(slot) * size; };
  const int threads = static_cast<int>(std::clamp<Index>(plan.slots, 1, std::max(run.threads, 1)));
  std::vector<Workspace> work(static_cast<std::size_t>(threads), Workspace(plan.rows, q));
  Run limited = run;
  limited.threads = threads;

  Poll poll(run);
  for (Index round = 0; round < panels; round += plan.slots) {
    for_chunks(limited, std::min(plan.slots, panels - round), [&](Index slot, int worker) {
      Workspace& mine = work[static_cast<std::size_t>(worker)];
      const Index first = (round + slot) * plan.rows, count = std::min(plan.rows, X.rows - first);
      fill_panel(X, design, first, count, mine.panel.data(), plan.rows);
      Reflections(run, factor(slot), mine.panel.data(), plan.rows, count, q, false, mine,
                  worker == 0 ? &poll : nullptr)
          .all();
    });
  }
  for (Index step = 1; step < plan.slots; step *= 2) {
    for_chunks(limited, (plan.slots - step + 2 * step - 1) / (2 * step), [&](Index pair, int worker) {
      const Index left = pair * 2 * step;
      Reflections(run, factor(left), factor(left + step), q, q, q, true,
                  work[static_cast<std::size_t>(worker)], worker == 0 ? &poll : nullptr)
          .all();
    });
  }
  write_factor(factor(0), q, out);
}

// Writes to `out` the factor of [R1; R2], both upper triangular, q x q and in C order.
inline void merge_triangular(const Run& run, const double* r1, const double* r2, Index q, double* out) {
  using namespace triangular_detail;
  const auto turned = [q](const double* r) {
    std::vector<double> columns(static_cast<std::size_t>(q * q), 0.0);
    for (Index i = 0; i < q; ++i)
      for (Index j = i; j < q; ++j) columns[static_cast<std::size_t>(i + j * q)] = r[i * q + j];
    return columns;
  };
  std::vector<double> top = turned(r1), below = turned(r2);
  Workspace work(0, q);
  Poll poll(run);
  Reflections(run, top.data(), below.data(), q, q, q, true, work, &poll).all();
  write_factor(top.data(), q, out);
}

}  // namespace surefit
