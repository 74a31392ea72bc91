// A loss of one linear score a row, in one pass over rows or columns: value and gradient, what a duality gap
// is made of, or the second derivatives.
//
// Rows are copied to a tile of doubles, scored, and multiplied back while the tile is in the cache. Chunks of
// rows have sums of their own, merged in order, so the number of threads never changes a bit.
#pragma once

#include <vector>

#include "gram.h"
#include "linear_rows.h"
#include "row_tile.h"

namespace surefit {

// Scores z = X coef + intercept + offset, and what stands beside the rows; weight and offset may be null.
struct LinearScores {
  const double* coef = nullptr;
  double intercept = 0;
  const double* y = nullptr;
  const double* weight = nullptr;
  const double* offset = nullptr;
};

// gradient and bends, X'u and X'h for slopes u and curvatures h, end in the sums of u and h; sums and squares
// of the columns, X's and (X*X)'s. signs: the sums of u where negative and where positive, and of u*u/s. All
// are weighted. Null for what is not wanted; bends, sums, squares and signs only together.
struct LinearLossOut {
  double* value = nullptr;
  double* gradient = nullptr;
  double* bends = nullptr;
  double* sums = nullptr;
  double* squares = nullptr;
  double* signs = nullptr;
};

namespace linear_loss_detail {

inline constexpr Index chunk_rows = 8192;
inline constexpr int together = 4;  // rows that share a trip through the coefficients

// Rows as doubles, `step` numbers each, zero beyond the columns and beyond the rows; and numbers a row.
struct Tile {
  double *rows, *y, *weight, *value, *slope, *bend;
  Index step;

  Tile(Buffer& memory, Index height, Index width) : step(width) {
    if (memory.empty()) memory = Buffer(height * (width + 5));
    rows = memory.data();
    y = rows + height * width, weight = y + height;
    value = weight + height, slope = value + height, bend = slope + height;
  }
};

// A whole number of lanes for the columns.
inline Index padded_width(Index cols) {
  return std::max<Index>(round_up(cols, lanes), lanes);
}

inline double added(Lanes sum) {
  alignas(32) double part[lanes];
  store(part, sum);
  double total = part[0];
  for (int l = 1; l < lanes; ++l) total += part[l];
  return total;
}

// Fills the tile with rows [start, start + count) of x, their targets and weights; scores come to `slope`.
template <class Rows>
void score(const Rows& x, const LinearScores& about, const Buffer& coef, Index start, Index count,
           const Tile& tile) {
  const Index step = tile.step, padded = round_up(count, together);
  const double* rows = tile.rows;
  fill_rows(x, about.weight, start, count, padded, tile.rows, step);
  std::fill(tile.weight + count, tile.weight + padded, 0.0);
  std::fill(tile.y + count, tile.y + padded, 0.0);
  std::copy_n(about.y + start, count, tile.y);
  if (about.weight == nullptr)
    std::fill_n(tile.weight, count, 1.0);
  else
    std::copy_n(about.weight + start, count, tile.weight);
  double* z = tile.slope;
  for (Index first = 0; first < padded; first += together) {
    const double* from = rows + first * step;
    Lanes sum[together] = {};
    for (Index j = 0; j < step; j += lanes) {
      const Lanes w = load(coef.data() + j);
      for (int r = 0; r < together; ++r) sum[r] = fused(load(from + r * step + j), w, sum[r]);
    }
    for (int r = 0; r < together; ++r) z[first + r] = added(sum[r]) + about.intercept;
  }
  if (about.offset != nullptr)
    for (Index i = 0; i < count; ++i) z[i] += about.offset[start + i];
}

// Fills the tile, weighted losses and derivatives included.
template <class Rows, class Loss>
void fill(const Rows& x, const LinearScores& about, const Loss& loss, const Buffer& coef, Index start,
          Index count, const Tile& tile) {
  score(x, about, coef, start, count, tile);
  const Lanes zero = broadcast(0.0);
  for (Index i = 0; i < round_up(count, together); i += lanes) {
    const Derivatives at = loss(load(tile.y + i), load(tile.slope + i));
    const Lanes s = load(tile.weight + i);
    const auto none = s == zero;
    store(tile.value + i, none ? zero : s * at.value);
    store(tile.slope + i, none ? zero : s * at.slope);
    store(tile.bend + i, none ? zero : s * at.bend);
  }
}

// to += the rows' products with u.
inline void pull(const Tile& tile, Index count, const double* u, double* to) {
  const Index step = tile.step;
  for (Index first = 0; first < count; first += together) {
    const double* rows = tile.rows + first * step;
    Lanes by[together];
    for (int r = 0; r < together; ++r) by[r] = broadcast(u[first + r]);
    for (Index j = 0; j < step; j += lanes) {
      Lanes sum = load(to + j);
      for (int r = 0; r < together; ++r) sum = fused(load(rows + r * step + j), by[r], sum);
      store(to + j, sum);
    }
  }
}

// What the rows of a chunk add: as in LinearLossOut, columns padded to whole lanes.
struct Sums {
  Buffer gradient, bends, sums, squares;
  double value = 0, slope = 0, bend = 0, negative = 0, positive = 0, energy = 0;
};

inline void add_columns(const Tile& tile, Index count, Sums& sums) {
  pull(tile, count, tile.bend, sums.bends.data());
  pull(tile, count, tile.weight, sums.sums.data());
  double* to = sums.squares.data();
  for (Index i = 0; i < count; ++i) {
    const double* row = tile.rows + i * tile.step;
    const Lanes s = broadcast(tile.weight[i]);
    if (tile.weight[i] == 0) continue;
    for (Index j = 0; j < tile.step; j += lanes) {
      const Lanes at = load(row + j);
      store(to + j, fused(at * at, s, load(to + j)));
    }
    const double u = tile.slope[i];
    (u < 0 ? sums.negative : sums.positive) += u;
    sums.energy += u * u / tile.weight[i];
    sums.bend += tile.bend[i];
  }
}

// Rows for the Gram kernel, scored as they are read: their curvature is the weight of the strip that is
// packed next, their slopes are the column beside X.
template <class Rows, class Loss>
struct ScoredSource {
  Rows x;
  LinearScores about;
  Loss loss;
  const Buffer* coef;
  double *value, *slope, *bend;

  RowBlock<double> block(Index start, Index rows, Buffer& memory) const {
    const Tile tile(memory, strip_rows, coef->size());
    fill(x, about, loss, *coef, start, rows, tile);
    std::copy_n(tile.value, rows, value + start);
    std::copy_n(tile.slope, rows, slope + start);
    std::copy_n(tile.bend, rows, bend + start);
    return {tile.rows, tile.step, 1};
  }
  Ahead ahead(Index start, Index end, Index steps) const { return fetch_ahead(x, start, end, steps); }
};

}  // namespace linear_loss_detail

template <class Rows, class Loss>
void linear_loss(const Run& run, const Rows& x, const LinearScores& about, const Loss& loss,
                 const LinearLossOut& out) {
  using namespace linear_loss_detail;
  const Index p = x.cols, chunks = (x.rows + chunk_rows - 1) / chunk_rows;
  const Index height = round_up(tile_rows(p), together);
  std::vector<Sums> parts(static_cast<std::size_t>(chunks));
  Buffer coef(padded_width(p));
  std::copy_n(about.coef, p, coef.data());
  std::vector<Buffer> memory(static_cast<std::size_t>(run.threads));
  for_chunks(run, chunks, [&](Index chunk, int worker) {
    const Tile tile(memory[static_cast<std::size_t>(worker)], height, coef.size());
    Sums sums;
    if (out.gradient != nullptr) sums.gradient = Buffer(tile.step);
    if (out.bends != nullptr)
      sums.bends = Buffer(tile.step), sums.sums = Buffer(tile.step), sums.squares = Buffer(tile.step);
    const Index end = std::min(x.rows, (chunk + 1) * chunk_rows);
    for (Index at = chunk * chunk_rows; at < end; at += height) {
      const Index count = std::min(height, end - at);
      fill(x, about, loss, coef, at, count, tile);
      for (Index i = 0; i < count; ++i) sums.value += tile.value[i], sums.slope += tile.slope[i];
      if (out.gradient != nullptr) pull(tile, count, tile.slope, sums.gradient.data());
      if (out.bends != nullptr) add_columns(tile, count, sums);
    }
    parts[static_cast<std::size_t>(chunk)] = std::move(sums);
  });
  const auto merge = [&](double* to, Buffer Sums::* columns, double Sums::* last) {
    if (to == nullptr) return;
    std::fill_n(to, last == nullptr ? p : p + 1, 0.0);
    for (const Sums& part : parts) {
      for (Index j = 0; j < p; ++j) to[j] += (part.*columns)[j];
      if (last != nullptr) to[p] += part.*last;
    }
  };
  merge(out.gradient, &Sums::gradient, &Sums::slope);
  merge(out.bends, &Sums::bends, &Sums::bend);
  merge(out.sums, &Sums::sums, nullptr);
  merge(out.squares, &Sums::squares, nullptr);
  *out.value = 0;
  if (out.signs != nullptr) std::fill_n(out.signs, 3, 0.0);
  for (const Sums& part : parts) {
    *out.value += part.value;
    if (out.signs == nullptr) continue;
    out.signs[0] += part.negative, out.signs[1] += part.positive, out.signs[2] += part.energy;
  }
}

// The second derivatives X' diag(h) X beside X'u and X'h; value, slope and bend get one number a row.
template <class Rows, class Loss>
void linear_hessian(const Run& run, const Rows& x, const LinearScores& about, const Loss& loss, double* value,
                    double* slope, double* bend, const SandwichOut& out) {
  Buffer coef(linear_loss_detail::padded_width(x.cols));
  std::copy_n(about.coef, x.cols, coef.data());
  const GramPlan plan{x.rows, x.cols, Dense<double>{slope, x.rows, 1}, bend, false};
  sandwich_of(run, plan,
              linear_loss_detail::ScoredSource<Rows, Loss>{x, about, loss, &coef, value, slope, bend}, out);
}

}  // namespace surefit
