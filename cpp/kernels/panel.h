// Packing: a strip of rows, from any dense layout and either precision, into slivers of doubles for tile.h.
//
// Centred packing subtracts the strip's own mean while the sliver is in the first-level cache, so nothing
// cancels whatever the offset of the data; or a centre that is given, in one go. Chan's formula for merging
// the strip with the rows before it,
//   S = S_a + S_b + (W_a W_b / (W_a + W_b)) (m_b - m_a)(m_b - m_a)',
// is one more row of the panel: sqrt(W_a W_b / (W_a + W_b)) (m_b - m_a).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "tile.h"

namespace surefit {

// Rows of a strip: a sliver of A and one of B fill three quarters of a 32 KB first-level cache.
inline constexpr Index strip_rows = 128;
inline constexpr Index sliver_step = (strip_rows + 1) * sliver_width;

// Some consecutive rows of a dense matrix in either order; data points at the first of them.
template <class T>
struct RowBlock {
  const T* data = nullptr;
  Index row_step = 0;
  Index col_step = 0;
};

template <class T>
RowBlock<T> rows_from(const Dense<T>& x, Index start) {
  if (x.order == Order::C) return {x.data + start * x.cols, x.cols, 1};
  return {x.data + start, 1, x.rows};
}

// The memory of rows [start, end) of the matrix, to be fetched in so many steps.
template <class T>
Ahead fetch_ahead(const Dense<T>& x, Index start, Index end, Index steps) {
  const Index rows = std::max<Index>(0, end - start), item = sizeof(T);
  if (rows == 0) return {};
  if (x.order == Order::C) return {x.data + start * x.cols, 1, rows * x.cols * item, 0, steps};
  return {x.data + start, x.cols, rows * item, x.rows * item, steps};
}

// Which rows a strip holds and what they weigh.
struct Strip {
  Index start = 0;
  Index rows = 0;
  const double* row_weight = nullptr;  // of this strip's rows; null means 1 each
  double root[strip_rows];             // square roots of the weights
  double before = 0;                   // weight of the rows before this strip
  double weight = 0;                   // weight of this strip; a strip of weight 0 is left out
  Index pivot = 0;                     // the first row that counts
};

inline Strip make_strip(Index start, Index rows, const double* weight, double before) {
  Strip strip;
  strip.start = start;
  strip.rows = rows;
  strip.before = before;
  strip.weight = static_cast<double>(rows);
  if (weight == nullptr) return strip;
  strip.row_weight = weight + start;
  strip.weight = 0;
  strip.pivot = rows;
  for (Index i = 0; i < rows; ++i) {
    const double w = strip.row_weight[i];
    if (!(w >= 0 && w <= std::numeric_limits<double>::max()))
      throw std::invalid_argument("a row weight is negative or not finite: weights must be 0 or more.");
    if (w > 0) strip.pivot = std::min(strip.pivot, i);
    strip.weight += w;
    strip.root[i] = std::sqrt(w);
  }
  return strip;
}

// Copies columns [first, first + width) of the block into lanes 0 .. width - 1 of a sliver, as doubles.
template <class T>
void gather(const RowBlock<T>& x, Index rows, Index first, Index width, double* out) {
  const T* in = x.data + first * x.col_step;
  if (x.col_step == 1 && width == sliver_width) {
    for (Index i = 0; i < rows; ++i, in += x.row_step, out += sliver_width)
      for (int l = 0; l < sliver_width; ++l) out[l] = static_cast<double>(in[l]);
  } else if (x.col_step == 1) {
    for (Index i = 0; i < rows; ++i, in += x.row_step, out += sliver_width)
      for (Index l = 0; l < width; ++l) out[l] = static_cast<double>(in[l]);
  } else {
    Index l = 0;
    for (; l + 4 <= width; l += 4) {
      const T* a = in + l * x.col_step;
      const T* b = a + x.col_step;
      const T* c = b + x.col_step;
      const T* d = c + x.col_step;
      double* to = out + l;
      for (Index i = 0; i < rows; ++i, to += sliver_width) {
        const Index k = i * x.row_step;
        to[0] = static_cast<double>(a[k]);
        to[1] = static_cast<double>(b[k]);
        to[2] = static_cast<double>(c[k]);
        to[3] = static_cast<double>(d[k]);
      }
    }
    for (; l < width; ++l)
      for (Index i = 0; i < rows; ++i)
        out[i * sliver_width + l] = static_cast<double>(in[l * x.col_step + i * x.row_step]);
  }
}

// Centres the sliver on its own mean, scales its rows by the root of their weights, and adds the row that
// merges it with what came before. `shift` and `mean` (twelve numbers each) say that the rows before have
// mean shift + mean, and then that all have; shift is the first row that counts, so that means far from zero
// keep their digits, and a constant column has deviations of exactly zero.
template <bool Weighted>
void centre_sliver(double* z, const Strip& strip, double* shift, double* mean) {
  constexpr int V = sliver_width / lanes;
  Lanes pivot[V], offset[V] = {};
  for (int v = 0; v < V; ++v) pivot[v] = load(z + strip.pivot * sliver_width + v * lanes);
  for (Index i = 0; i < strip.rows; ++i) {
    if (Weighted && strip.row_weight[i] == 0) continue;
    for (int v = 0; v < V; ++v) {
      const Lanes deviation = load(z + i * sliver_width + v * lanes) - pivot[v];
      if constexpr (Weighted)
        offset[v] += deviation * broadcast(strip.row_weight[i]);
      else
        offset[v] += deviation;
    }
  }
  if (!(strip.before > 0)) std::copy_n(z + strip.pivot * sliver_width, sliver_width, shift);
  const double total = strip.before + strip.weight;
  const Lanes merge = broadcast(std::sqrt(strip.before * (strip.weight / total)));
  const Lanes share = broadcast(strip.weight / total);
  for (int v = 0; v < V; ++v) {
    offset[v] /= broadcast(strip.weight);
    const Lanes gap = (pivot[v] - load(shift + v * lanes)) + (offset[v] - load(mean + v * lanes));
    store(z + strip.rows * sliver_width + v * lanes, merge * gap);
    store(mean + v * lanes, load(mean + v * lanes) + share * gap);
  }
  for (Index i = 0; i < strip.rows; ++i) {
    double* row = z + i * sliver_width;
    if (Weighted && strip.row_weight[i] == 0) {
      std::fill_n(row, sliver_width, 0.0);
      continue;
    }
    for (int v = 0; v < V; ++v) {
      const Lanes deviation = (load(row + v * lanes) - pivot[v]) - offset[v];
      if constexpr (Weighted)
        store(row + v * lanes, deviation * broadcast(strip.root[i]));
      else
        store(row + v * lanes, deviation);
    }
  }
}

// The mean of the sliver, up to rounding; of a constant column, exactly it.
inline void mean_of_sliver(const double* z, const Strip& strip, double* mean) {
  const double* pivot = z + strip.pivot * sliver_width;
  std::fill_n(mean, sliver_width, 0.0);
  for (Index i = strip.pivot; i < strip.rows; ++i) {
    const double share = (strip.row_weight == nullptr ? 1.0 : strip.row_weight[i]) / strip.weight;
    if (share == 0) continue;
    for (int l = 0; l < sliver_width; ++l) mean[l] += share * (z[i * sliver_width + l] - pivot[l]);
  }
  for (int l = 0; l < sliver_width; ++l) mean[l] += pivot[l];
}

// Packs a whole sliver less `centre`, scales its rows by the root of their weights, and adds what they come
// to (twelve weighted sums) to `sums`. `from`, in rows of `step` doubles, may be the sliver itself.
template <bool Weighted>
void less_centre(const double* from, Index step, const Strip& strip, const double* centre, double* z,
                 double* sums) {
  constexpr int V = sliver_width / lanes;
  Lanes middle[V], sum[V] = {};
  for (int v = 0; v < V; ++v) middle[v] = load(centre + v * lanes);
  for (Index i = 0; i < strip.rows; ++i, from += step, z += sliver_width) {
    if (Weighted && strip.row_weight[i] == 0) {
      std::fill_n(z, sliver_width, 0.0);
      continue;
    }
#pragma GCC unroll 6
    for (int v = 0; v < V; ++v) {
      Lanes deviation = load_anywhere(from + v * lanes) - middle[v];
      if constexpr (Weighted) {
        deviation *= broadcast(strip.root[i]);
        sum[v] += deviation * broadcast(strip.root[i]);
      } else {
        sum[v] += deviation;
      }
      store(z + v * lanes, deviation);
    }
  }
  for (int v = 0; v < V; ++v) store(sums + v * lanes, load(sums + v * lanes) + sum[v]);
}

}  // namespace surefit
