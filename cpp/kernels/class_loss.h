// The softmax loss of linear scores, in one pass over the rows: value, gradient, and what a duality gap is
// made of.
//
// Rows are copied to a tile of doubles that stays in the first-level cache, scored, and multiplied back, four
// rows or columns by up to three vectors of classes at a time. Chunks of rows have sums of their own, merged
// in order, so the number of threads never changes a bit.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "buffer.h"
#include "lane_math.h"
#include "panel.h"
#include "parallel.h"
#include "row_tile.h"

namespace surefit {

// What the scores are made of: z = X W + intercept + offset, W being cols x classes in C order.
struct ClassLoss {
  Index classes = 2;
  const double* coef = nullptr;
  const double* intercept = nullptr;   // one a class, or null
  const std::int64_t* code = nullptr;  // the class of each row
  const double* weight = nullptr;      // null means 1 each
  const double* offset = nullptr;      // null means none
};

// gradient: (cols + 1) x classes, the intercept's row last. bends: (cols + 1) x pairs, the sums of the second
// derivatives by z_a and z_b times the columns, for a <= b row by row, or null. sums and squares of the
// columns, X's and (X*X)'s, and the sums of the slopes where negative and positive, and of their squares:
// with bends only. All are weighted.
struct ClassLossOut {
  double* value = nullptr;
  double* gradient = nullptr;
  double* bends = nullptr;
  double* sums = nullptr;
  double* squares = nullptr;
  double* signs = nullptr;
};

namespace class_loss_detail {

inline constexpr Index chunk_rows = 4096;
inline constexpr int together = 4;  // rows, or columns, by
inline constexpr int across = 3;    // vectors, whose sums stay in registers

// to (together x lead) = from (together x lead, each of its rows the same) + rows times coef (cols x lead).
template <int V>
void score(const double* rows, Index step, const double* coef, Index cols, Index lead, double* to) {
  Lanes sum[together][V];
  for (int r = 0; r < together; ++r)
    for (int v = 0; v < V; ++v) sum[r][v] = load(to + r * lead + v * lanes);
  for (Index j = 0; j < cols; ++j) {
    Lanes w[V];
    for (int v = 0; v < V; ++v) w[v] = load(coef + j * lead + v * lanes);
    for (int r = 0; r < together; ++r) {
      const Lanes x = broadcast(rows[r * step + j]);
      for (int v = 0; v < V; ++v) sum[r][v] = fused(x, w[v], sum[r][v]);
    }
  }
  for (int r = 0; r < together; ++r)
    for (int v = 0; v < V; ++v) store(to + r * lead + v * lanes, sum[r][v]);
}

// to (together x lead) += `together` columns of the rows times u (count x lead).
template <int V>
void pull(const double* columns, Index step, const double* u, Index count, Index lead, double* to) {
  Lanes sum[together][V] = {};
  for (Index i = 0; i < count; ++i) {
    Lanes by[V];
    for (int v = 0; v < V; ++v) by[v] = load(u + i * lead + v * lanes);
    for (int m = 0; m < together; ++m) {
      const Lanes x = broadcast(columns[i * step + m]);
      for (int v = 0; v < V; ++v) sum[m][v] = fused(x, by[v], sum[m][v]);
    }
  }
  for (int m = 0; m < together; ++m)
    for (int v = 0; v < V; ++v) {
      double* out = to + m * lead + v * lanes;
      store(out, load(out) + sum[m][v]);
    }
}

// Calls f(first, std::integral_constant<int, V>) for stretches of V vectors that make up `lead`.
template <class F>
void by_vectors(Index lead, const F& f) {
  Index first = 0;
  for (; lead - first >= across * lanes; first += across * lanes)
    f(first, std::integral_constant<int, across>{});
  if (lead - first == 2 * lanes) f(first, std::integral_constant<int, 2>{});
  if (lead - first == lanes) f(first, std::integral_constant<int, 1>{});
}

inline void pull_all(const double* rows, Index step, const double* u, Index count, Index lead, double* to) {
  by_vectors(lead, [&](Index first, auto vectors) {
    for (Index j = 0; j < step; j += together)
      pull<decltype(vectors)::value>(rows + j, step, u + first, count, lead, to + j * lead + first);
  });
}

// Turns the scores of one row (`lead` numbers, -inf beyond the classes) into weighted slopes and returns the
// weighted loss. The highest score is left out of the sum, and one less a share is never formed of it. With
// `pairs`, writes the weighted second derivatives there.
inline double softmax(Index classes, Index lead, Index code, double s, double* z, double* pairs) {
  if (s == 0) {
    std::fill_n(z, lead, 0.0);
    if (pairs != nullptr) std::fill_n(pairs, classes * (classes + 1) / 2, 0.0);
    return 0;
  }
  double most = z[0];
  for (Index k = 1; k < classes; ++k) most = std::max(most, z[k]);
  const double missed = most - z[code];
  const Lanes level = broadcast(most), zero = broadcast(0.0), one = broadcast(1.0);
  Lanes others = zero, tops = zero;
  for (Index k = 0; k < lead; k += lanes) {
    const Lanes at = load(z + k), e = exponential(at - level);
    const auto top = at == level;
    others += top ? zero : e;
    tops += top ? one : zero;
    store(z + k, e);
  }
  alignas(32) double part[2][lanes];
  store(part[0], others), store(part[1], tops);
  double rest = 0, count = 0;
  for (int l = 0; l < lanes; ++l) rest += part[0][l], count += part[1][l];
  rest += count - 1.0;
  const double share = 1.0 / (1.0 + rest), left = rest * share;
  if (pairs != nullptr) {
    for (Index a = 0; a < classes; ++a) {
      const double p = s * share * z[a];
      *pairs++ = z[a] == 1.0 ? p * left : p * (1.0 - share * z[a]);
      for (Index b = a + 1; b < classes; ++b) *pairs++ = -p * share * z[b];
    }
  }
  for (Index k = 0; k < lead; k += lanes) store(z + k, load(z + k) * broadcast(s * share));
  z[code] = missed == 0 ? -s * left : z[code] - s;
  return s * (missed + std::log1p(rest));
}

// What the rows of a chunk add, columns padded to whole groups and classes to whole vectors.
struct Sums {
  Buffer gradient, last, bends, last_bends, sums, squares;
  double value = 0, negative = 0, positive = 0, energy = 0;
};

struct Shape {
  Index classes, pairs, lead, lead_pairs, step, height;
};

// The rows of a tile, their scores and second derivatives.
struct Tile {
  double *rows, *scores, *pairs;
  Tile(Buffer& memory, const Shape& shape) {
    if (memory.empty()) memory = Buffer(shape.height * (shape.step + shape.lead + shape.lead_pairs));
    rows = memory.data();
    scores = rows + shape.height * shape.step;
    pairs = scores + shape.height * shape.lead;
  }
};

template <class Rows>
void add_rows(const Rows& x, const ClassLoss& loss, const Shape& shape, const Buffer& coef,
              const Buffer& start_at, Index start, Index count, const Tile& tile, Sums& sums) {
  const Index step = shape.step, lead = shape.lead, padded = round_up(count, together);
  const bool bends = shape.lead_pairs > 0;
  fill_rows(x, loss.weight, start, count, padded, tile.rows, step);
  for (Index i = 0; i < padded; ++i) std::copy_n(start_at.data(), lead, tile.scores + i * lead);
  by_vectors(lead, [&](Index first, auto vectors) {
    for (Index i = 0; i < padded; i += together)
      score<decltype(vectors)::value>(tile.rows + i * step, step, coef.data() + first, x.cols, lead,
                                      tile.scores + i * lead + first);
  });
  Ahead ahead = fetch_ahead(x, start + count, std::min(start + count + shape.height, x.rows), count);
  for (Index i = 0; i < count; ++i) {
    ahead.step();
    double* z = tile.scores + i * lead;
    const double s = loss.weight == nullptr ? 1.0 : loss.weight[start + i];
    if (loss.offset != nullptr)
      for (Index k = 0; k < shape.classes; ++k) z[k] += loss.offset[start + i];
    double* pairs = bends ? tile.pairs + i * shape.lead_pairs : nullptr;
    sums.value += softmax(shape.classes, lead, static_cast<Index>(loss.code[start + i]), s, z, pairs);
    for (Index k = 0; k < lead; k += lanes)
      store(sums.last.data() + k, load(sums.last.data() + k) + load(z + k));
    if (!bends || s == 0) continue;
    for (Index k = 0; k < shape.lead_pairs; k += lanes)
      store(sums.last_bends.data() + k, load(sums.last_bends.data() + k) + load(pairs + k));
    for (Index k = 0; k < shape.classes; ++k) {
      (z[k] < 0 ? sums.negative : sums.positive) += z[k];
      sums.energy += z[k] * z[k] / s;
    }
    const Lanes by = broadcast(s);
    for (Index j = 0; j < step; j += lanes) {
      const Lanes at = load(tile.rows + i * step + j);
      store(sums.sums.data() + j, fused(at, by, load(sums.sums.data() + j)));
      store(sums.squares.data() + j, fused(at * at, by, load(sums.squares.data() + j)));
    }
  }
  pull_all(tile.rows, step, tile.scores, count, lead, sums.gradient.data());
  if (bends) pull_all(tile.rows, step, tile.pairs, count, shape.lead_pairs, sums.bends.data());
}

// to (cols + 1) x width = the sums of all chunks, in order.
inline void merge(const std::vector<Sums>& parts, Buffer Sums::* columns, Buffer Sums::* last, Index cols,
                  Index width, Index lead, double* to) {
  std::fill_n(to, (cols + 1) * width, 0.0);
  for (const Sums& part : parts)
    for (Index j = 0; j <= cols; ++j) {
      const double* from = j < cols ? (part.*columns).data() + j * lead : (part.*last).data();
      for (Index k = 0; k < width; ++k) to[j * width + k] += from[k];
    }
}

}  // namespace class_loss_detail

template <class Rows>
void class_loss(const Run& run, const Rows& x, const ClassLoss& loss, const ClassLossOut& out) {
  using namespace class_loss_detail;
  const Index K = loss.classes, p = x.cols, chunks = (x.rows + chunk_rows - 1) / chunk_rows;
  const Index pairs = out.bends == nullptr ? 0 : K * (K + 1) / 2;
  const Index step = round_up(std::max<Index>(p, 1), 4);
  const Index height = round_up(std::clamp<Index>(3072 / step, 8, 64), together);  // some 24 KB
  const Shape shape{K, pairs, round_up(K, lanes), round_up(pairs, lanes), step, height};
  const Index lead = shape.lead;
  Buffer coef(std::max<Index>(p, 1) * lead), start_at(lead);
  for (Index k = 0; k < lead; ++k) {
    const double from = loss.intercept == nullptr || k >= K ? 0.0 : loss.intercept[k];
    start_at[k] = k < K ? from : -std::numeric_limits<double>::infinity();
    for (Index j = 0; j < p && k < K; ++j) coef[j * lead + k] = loss.coef[j * K + k];
  }
  std::vector<Sums> parts(static_cast<std::size_t>(chunks));
  std::vector<Buffer> memory(static_cast<std::size_t>(run.threads));
  for_chunks(run, chunks, [&](Index chunk, int worker) {
    Sums sums{Buffer(step * lead),
              Buffer(lead),
              Buffer(step * shape.lead_pairs),
              Buffer(shape.lead_pairs),
              Buffer(pairs ? step : 0),
              Buffer(pairs ? step : 0)};
    const Tile tile(memory[static_cast<std::size_t>(worker)], shape);
    const Index end = std::min(x.rows, (chunk + 1) * chunk_rows);
    for (Index at = chunk * chunk_rows; at < end; at += height)
      add_rows(x, loss, shape, coef, start_at, at, std::min(height, end - at), tile, sums);
    parts[static_cast<std::size_t>(chunk)] = std::move(sums);
  });
  *out.value = 0;
  for (const Sums& part : parts) *out.value += part.value;
  merge(parts, &Sums::gradient, &Sums::last, p, K, lead, out.gradient);
  if (out.bends == nullptr) return;
  merge(parts, &Sums::bends, &Sums::last_bends, p, pairs, shape.lead_pairs, out.bends);
  std::fill_n(out.sums, p, 0.0);
  std::fill_n(out.squares, p, 0.0);
  std::fill_n(out.signs, 3, 0.0);
  for (const Sums& part : parts) {
    for (Index j = 0; j < p; ++j) out.sums[j] += part.sums[j], out.squares[j] += part.squares[j];
    out.signs[0] += part.negative, out.signs[1] += part.positive, out.signs[2] += part.energy;
  }
}

}  // namespace surefit
