// One step of expectation and maximisation for a mixture of normal densities, in one pass over the rows.
//
// Rows go through in tiles, turned so that each column of a tile stands together: densities, responsibilities
// and weighted squares then run over rows side by side. Deviations are taken from each component's mean
// before anything is multiplied. A tile in which a component has no share worth counting is left out of its
// sums; where few rows have one, they are packed together first.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "buffer.h"
#include "lane_math.h"
#include "parallel.h"

namespace surefit {

// `count` densities over `cols` columns: log density of x is offset[k] - |(x - mean[k]) factor[k]|^2 / 2.
// factor is upper triangular, cols x cols a component, or one number a column where `diagonal`.
struct NormalMixture {
  const double* mean = nullptr;
  const double* factor = nullptr;
  const double* offset = nullptr;
  Index count = 0;
  Index cols = 0;
  bool diagonal = false;

  Index square() const { return diagonal ? cols : cols * cols; }
};

namespace mixture_detail {

inline constexpr Index tile_rows = 128;
inline constexpr double negligible = 1e-25;  // a share below it changes no digit of a sum of shares
inline constexpr Index along = 2 * lanes;    // rows side by side

// What one worker has to itself; all columns are tile_rows long.
struct Desk {
  Buffer columns, deviation, weighted, score, share;
  Desk(Index cols, Index count)
      : columns(round_up(cols, 4) * tile_rows),
        deviation(round_up(cols, 4) * tile_rows),
        weighted(round_up(cols, 4) * tile_rows),
        score(std::max<Index>(count, 1) * tile_rows),
        share(4 * tile_rows) {}
};

// The sums over some rows: weight, first moments and squares about the old means; the log-likelihood.
struct Sums {
  Buffer weight, first, square;
  double likelihood = 0;
  Sums() = default;
  Sums(const NormalMixture& m) : weight(m.count), first(m.count * m.cols), square(m.count * m.square()) {}
};

template <class T>
void turn(const Dense<T>& x, Index first, Index rows, Buffer& to) {
  for (Index j = 0; j < x.cols; ++j) {
    double* out = to.data() + j * tile_rows;
    if (x.order == Order::C)
      for (Index i = 0; i < rows; ++i) out[i] = static_cast<double>(x.data[(first + i) * x.cols + j]);
    else
      for (Index i = 0; i < rows; ++i) out[i] = static_cast<double>(x.data[j * x.rows + first + i]);
    for (Index i = rows; i < tile_rows; ++i) out[i] = rows > 0 ? out[rows - 1] : 0.0;
  }
}

inline void deviate(const NormalMixture& m, Index k, const Buffer& columns, Buffer& to) {
  for (Index j = 0; j < m.cols; ++j) {
    const Lanes centre = broadcast(m.mean[k * m.cols + j]);
    const double* from = columns.data() + j * tile_rows;
    double* out = to.data() + j * tile_rows;
    for (Index i = 0; i < tile_rows; i += lanes) store(out + i, load(from + i) - centre);
  }
}

// sum[i] += the squares of columns [first, first + W) of D factor, over `along` rows from i on.
template <int W>
inline void add_squares(const double* d, const double* factor, Index cols, Index first, Lanes* sum) {
  Lanes y[W][2] = {};
  const Index last = first + W;
  for (Index i = 0; i < last; ++i) {
    const Lanes a = load(d + i * tile_rows), b = load(d + i * tile_rows + lanes);
#pragma GCC unroll 4
    for (int w = 0; w < W; ++w) {
      const Lanes f = broadcast(factor[i * cols + first + w]);
      y[w][0] = fused(a, f, y[w][0]);
      y[w][1] = fused(b, f, y[w][1]);
    }
  }
#pragma GCC unroll 4
  for (int w = 0; w < W; ++w) {
    sum[0] = fused(y[w][0], y[w][0], sum[0]);
    sum[1] = fused(y[w][1], y[w][1], sum[1]);
  }
}

inline void scores(const NormalMixture& m, Index k, const Buffer& deviation, double* to) {
  const double* factor = m.factor + k * m.square();
  const Lanes offset = broadcast(m.offset[k]), half = broadcast(-0.5);
  for (Index i = 0; i < tile_rows; i += along) {
    const double* d = deviation.data() + i;
    Lanes sum[2] = {};
    if (m.diagonal) {
      for (Index j = 0; j < m.cols; ++j) {
        const Lanes f = broadcast(factor[j]);
        const Lanes a = load(d + j * tile_rows) * f, b = load(d + j * tile_rows + lanes) * f;
        sum[0] = fused(a, a, sum[0]);
        sum[1] = fused(b, b, sum[1]);
      }
    } else {
      Index j = 0;
      for (; j + 4 <= m.cols; j += 4) add_squares<4>(d, factor, m.cols, j, sum);
      for (; j < m.cols; ++j) add_squares<1>(d, factor, m.cols, j, sum);
    }
    store(to + i, fused(half, sum[0], offset));
    store(to + i + lanes, fused(half, sum[1], offset));
  }
}

// From log densities to shares, column by column; log_row gets the log of their sum.
inline void share_out(Index count, double* score, double* log_row) {
  for (Index i = 0; i < tile_rows; i += lanes) {
    Lanes high = load(score + i);
    for (Index k = 1; k < count; ++k) high = larger(high, load(score + k * tile_rows + i));
    const auto lost = high == broadcast(-std::numeric_limits<double>::infinity());
    const Lanes base = lost ? broadcast(0.0) : high;
    Lanes sum = broadcast(0.0);
    for (Index k = 0; k < count; ++k) {
      double* at = score + k * tile_rows + i;
      const Lanes e = exponential(load(at) - base);
      store(at, e);
      sum = sum + e;
    }
    store(log_row + i, base);
    store(log_row + tile_rows + i, sum);
    const Lanes inverse = broadcast(1.0) / sum;
    for (Index k = 0; k < count; ++k) {
      double* at = score + k * tile_rows + i;
      store(at, load(at) * inverse);
    }
  }
  for (Index i = 0; i < tile_rows; ++i) log_row[i] += std::log(log_row[tile_rows + i]);
}

inline double total(Lanes v) {
  double sum = 0;
  for (int l = 0; l < lanes; ++l) sum += v[l];
  return sum;
}

// c[row, col + 0..3] += a_row' b_col over `rows` rows, for R rows of the square and four columns.
template <int R>
inline void add_products(const double* a, const double* b, Index rows, double* c, Index ldc, Index wide) {
  Lanes sum[R][4] = {};
  for (Index i = 0; i < rows; i += lanes) {
    Lanes right[4];
#pragma GCC unroll 4
    for (int w = 0; w < 4; ++w) right[w] = load(b + w * tile_rows + i);
#pragma GCC unroll 2
    for (int r = 0; r < R; ++r) {
      const Lanes left = load(a + r * tile_rows + i);
#pragma GCC unroll 4
      for (int w = 0; w < 4; ++w) sum[r][w] = fused(left, right[w], sum[r][w]);
    }
  }
  for (int r = 0; r < R; ++r)
    for (Index w = 0; w < wide; ++w) c[r * ldc + w] += total(sum[r][w]);
}

// Adds a tile's rows, with shares r (tile_rows long, zero where none), to the sums of component k.
inline void add_tile(const NormalMixture& m, Index k, const double* r, Desk& desk, Sums& sums) {
  Index active = 0;
  double weight = 0;
  std::uint8_t which[tile_rows];
  for (Index i = 0; i < tile_rows; ++i) {
    which[active] = static_cast<std::uint8_t>(i);
    const bool counts = r[i] > negligible;
    active += counts;
    weight += r[i];
  }
  sums.weight[k] += weight;
  if (active == 0) return;
  const Index padded = round_up(active, lanes);
  const bool packs = 4 * padded <= 3 * tile_rows;
  const Index rows = packs ? padded : tile_rows;
  double* share = desk.share.data() + 2 * tile_rows;
  if (packs) {
    for (Index i = 0; i < active; ++i) share[i] = r[which[i]];
    std::fill(share + active, share + rows, 0.0);
  } else {
    std::copy_n(r, tile_rows, share);
  }
  double *d = desk.deviation.data(), *s = desk.weighted.data();
  for (Index j = 0; j < m.cols; ++j) {
    const double* from = desk.columns.data() + j * tile_rows;
    const double centre = m.mean[k * m.cols + j];
    double* out = d + j * tile_rows;
    if (packs) {
      for (Index i = 0; i < active; ++i) out[i] = from[which[i]] - centre;
      std::fill(out + active, out + rows, 0.0);
    } else {
      for (Index i = 0; i < tile_rows; ++i) out[i] = from[i] - centre;
    }
    double* to = s + j * tile_rows;
    Lanes first = {}, square = {};
    for (Index i = 0; i < rows; i += lanes) {
      const Lanes v = load(out + i), w = load(share + i) * v;
      store(to + i, w);
      first = first + w;
      square = fused(w, v, square);
    }
    sums.first[k * m.cols + j] += total(first);
    if (m.diagonal) sums.square[k * m.cols + j] += total(square);
  }
  if (m.diagonal) return;
  double* c = sums.square.data() + k * m.square();
  for (Index col = 0; col < m.cols; col += 4) {
    const Index wide = std::min<Index>(4, m.cols - col), last = std::min(col + 4, m.cols);
    Index row = 0;
    for (; row + 2 <= last; row += 2)
      add_products<2>(d + row * tile_rows, s + col * tile_rows, rows, c + row * m.cols + col, m.cols, wide);
    for (; row < last; ++row)
      add_products<1>(d + row * tile_rows, s + col * tile_rows, rows, c + row * m.cols + col, m.cols, wide);
  }
}

}  // namespace mixture_detail

// One pass: weight[k], first[k, :] and square[k] about the old means, summed over rows with their share in
// each component; returns the log-likelihood. Only what lies on and above the diagonal of a square is right
// before the end, where it is mirrored. sample_weight may be null.
template <class T>
double mixture_sums(const Run& run, const Dense<T>& x, const double* sample_weight, const NormalMixture& m,
                    double* weight, double* first, double* square) {
  using namespace mixture_detail;
  constexpr Index fewest = 16 * tile_rows;
  const Index chunks = std::clamp<Index>((x.rows + fewest - 1) / fewest, 1, 64);
  const Index tiles = (x.rows + tile_rows - 1) / tile_rows;
  std::vector<Sums> sums(static_cast<std::size_t>(chunks));
  std::vector<std::unique_ptr<Desk>> desks(static_cast<std::size_t>(run.threads));
  for_chunks(run, chunks, [&](Index chunk, int worker) {
    auto& desk = desks[static_cast<std::size_t>(worker)];
    if (!desk) desk = std::make_unique<Desk>(m.cols, m.count);
    Sums& sum = sums[static_cast<std::size_t>(chunk)] = Sums(m);
    const Index end = tiles * (chunk + 1) / chunks;
    for (Index tile = tiles * chunk / chunks; tile < end; ++tile) {
      const Index start = tile * tile_rows, rows = std::min(tile_rows, x.rows - start);
      turn(x, start, rows, desk->columns);
      for (Index k = 0; k < m.count; ++k) {
        deviate(m, k, desk->columns, desk->deviation);
        scores(m, k, desk->deviation, desk->score.data() + k * tile_rows);
      }
      share_out(m.count, desk->score.data(), desk->share.data());
      for (Index i = 0; i < rows; ++i) {
        const double s = sample_weight == nullptr ? 1.0 : sample_weight[start + i];
        if (s > 0) sum.likelihood += s * desk->share[i];
      }
      for (Index k = 0; k < m.count; ++k) {
        double* r = desk->score.data() + k * tile_rows;
        std::fill(r + rows, r + tile_rows, 0.0);
        if (sample_weight != nullptr)
          for (Index i = 0; i < rows; ++i)
            r[i] = sample_weight[start + i] > 0 ? r[i] * sample_weight[start + i] : 0.0;
        add_tile(m, k, r, *desk, sum);
      }
    }
  });
  double likelihood = 0;
  for (const Sums& sum : sums) {
    likelihood += sum.likelihood;
    for (Index e = 0; e < m.count; ++e) weight[e] += sum.weight[e];
    for (Index e = 0; e < m.count * m.cols; ++e) first[e] += sum.first[e];
    for (Index e = 0; e < m.count * m.square(); ++e) square[e] += sum.square[e];
  }
  if (!m.diagonal)
    for (Index k = 0; k < m.count; ++k)
      for (Index i = 0; i < m.cols; ++i)
        for (Index j = 0; j < i; ++j)
          square[(k * m.cols + i) * m.cols + j] = square[(k * m.cols + j) * m.cols + i];
  return likelihood;
}

// The log density of every row under every component, weights of the mixture included: rows x count.
template <class T>
void mixture_scores(const Run& run, const Dense<T>& x, const NormalMixture& m, double* out) {
  using namespace mixture_detail;
  Run quick = run;
  if (x.rows * x.cols * m.count < 20'000) quick.threads = 1;  // done before another thread wakes up
  const Index tiles = (x.rows + tile_rows - 1) / tile_rows;
  std::vector<std::unique_ptr<Desk>> desks(static_cast<std::size_t>(quick.threads));
  for_chunks(quick, tiles, [&](Index tile, int worker) {
    auto& desk = desks[static_cast<std::size_t>(worker)];
    if (!desk) desk = std::make_unique<Desk>(m.cols, m.count);
    const Index start = tile * tile_rows, rows = std::min(tile_rows, x.rows - start);
    turn(x, start, rows, desk->columns);
    for (Index k = 0; k < m.count; ++k) {
      deviate(m, k, desk->columns, desk->deviation);
      scores(m, k, desk->deviation, desk->score.data());
      for (Index i = 0; i < rows; ++i) out[(start + i) * m.count + k] = desk->score[i];
    }
  });
}

}  // namespace surefit
