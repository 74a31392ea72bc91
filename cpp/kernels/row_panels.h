// Rows packed eight side by side, column after column, so that squared distances from one row to eight others
// are a few vector instructions.
#pragma once

#include <limits>

#include "buffer.h"
#include "parallel.h"
#include "span.h"
#include "tile.h"

namespace surefit {

class RowPanels {
 public:
  static constexpr Index width = 8;

  RowPanels() = default;
  // Packs `count` rows of `depth` numbers, which row(i) points to. Lanes after the last row hold zeros.
  template <class Row>
  RowPanels(Index count, Index depth, const Row& row)
      : count_(count), depth_(depth), data_(round_up(count, width) * depth) {
    for (Index i = 0; i < count; ++i) {
      double* to = data_.data() + i / width * width * depth + i % width;
      const double* from = row(i);
      for (Index k = 0; k < depth; ++k) to[k * width] = from[k];
    }
  }

  Index count() const { return count_; }
  Index depth() const { return depth_; }
  Index panels() const { return (count_ + width - 1) / width; }
  const double* panel(Index p) const { return data_.data() + p * width * depth_; }

  // How many panels fill half of a second-level cache.
  Index block() const { return std::max<Index>(1, (Index{1} << 15) / (width * std::max<Index>(depth_, 1))); }

 private:
  Index count_ = 0, depth_ = 0;
  Buffer data_;
};

// Squared distances of M rows to the eight of a panel: out[m * 8 + lane].
template <int M>
inline void squares_to_panel(const double* const* rows, const double* panel, Index depth, double* out) {
  constexpr int V = static_cast<int>(RowPanels::width) / lanes;
  Lanes sum[M][V] = {};
  for (Index k = 0; k < depth; ++k, panel += RowPanels::width) {
    Lanes right[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) right[v] = load(panel + v * lanes);
#pragma GCC unroll 4
    for (int m = 0; m < M; ++m) {
      const Lanes left = broadcast(rows[m][k]);
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) {
        const Lanes apart = left - right[v];
        sum[m][v] = fused(apart, apart, sum[m][v]);
      }
    }
  }
#pragma GCC unroll 4
  for (int m = 0; m < M; ++m)
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) store(out + m * RowPanels::width + v * lanes, sum[m][v]);
}

typedef long long LaneCompare __attribute__((vector_size(sizeof(Lanes))));

inline bool any(const LaneCompare& bits) {
#if defined(__AVX2__) && defined(__FMA__)
  return _mm256_movemask_pd(reinterpret_cast<__m256d>(bits)) != 0;
#else
  return (bits[0] | bits[1]) != 0;
#endif
}

inline Lanes root(Lanes x) {
#if defined(__AVX2__) && defined(__FMA__)
  return _mm256_sqrt_pd(x);
#else
  return Lanes{__builtin_sqrt(x[0]), __builtin_sqrt(x[1])};
#endif
}

// The nearest other row of each of some rows.
struct Nearest {
  double value = std::numeric_limits<double>::infinity();
  Index index = -1;
};

// For each row in `asked` (numbers of packed rows, whose numbers row(i) points to), the packed row for which
// value(squares, i, first), a change in place of eight squared distances to rows first .. first + 7, is
// least; equal ones by number. `value` makes infinite what does not count, itself included where that is so
// by more than its number.
template <class Row, class Value>
void nearest_rows(const Run& run, const RowPanels& panels, const Row& row, const Index* asked, Index count,
                  const Value& value, Nearest* found) {
  constexpr Index M = 4, W = RowPanels::width;
  constexpr Index step = 64;  // rows that go over a block of panels while it is in the cache
  for_chunks(run, (count + step - 1) / step, [&](Index chunk, int) {
    const Index first = chunk * step, stop = std::min(count, first + step);
    for (Index r = first; r < stop; ++r) found[r] = Nearest{};
    alignas(64) double squares[M * W];
    for (Index start = 0; start < panels.panels(); start += panels.block()) {
      const Index end = std::min(panels.panels(), start + panels.block());
      for (Index r = first; r < stop; r += M) {
        const Index here = std::min(M, stop - r);
        const double* rows[M];
        for (Index m = 0; m < M; ++m) rows[m] = row(asked[r + std::min(m, here - 1)]);
        for (Index p = start; p < end; ++p) {
          if (here > 1)
            squares_to_panel<M>(rows, panels.panel(p), panels.depth(), squares);
          else
            squares_to_panel<1>(rows, panels.panel(p), panels.depth(), squares);
          for (Index m = 0; m < here; ++m) {
            const Index i = asked[r + m];
            double* eight = squares + m * W;
            value(eight, i, p * W);
            Nearest& best = found[r + m];
            const Lanes bound = broadcast(best.value);
            LaneCompare below = load(eight) < bound;
            for (Index v = lanes; v < W; v += lanes) below |= load(eight + v) < bound;
            if (!any(below)) continue;
            for (Index l = 0; l < W; ++l) {
              const Index j = p * W + l;
              if (eight[l] < best.value && j != i && j < panels.count()) best = {eight[l], j};
            }
          }
        }
      }
    }
  });
}

}  // namespace surefit
