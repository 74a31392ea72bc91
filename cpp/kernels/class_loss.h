// The logistic and the softmax loss of linear scores, in one pass over the rows: value, gradient, and what a
// second pass may want of each row.
//
// Rows are copied to a tile of doubles, scored, and multiplied back while the tile is in the cache. Chunks of
// rows have sums of their own, merged in order, so the number of threads never changes a bit.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "buffer.h"
#include "parallel.h"
#include "row_tile.h"
#include "tile.h"

namespace surefit {

// What the scores are made of: z = X W + intercept + offset, W being cols x classes in C order. One class
// means the logistic loss of y in [0, 1]; more, the softmax of codes.
struct ClassLoss {
  Index classes = 1;
  const double* coef = nullptr;
  const double* intercept = nullptr;   // one a class
  const double* share = nullptr;       // y of the logistic loss
  const std::int64_t* code = nullptr;  // y of the softmax
  const double* weight = nullptr;      // null means 1 each
  const double* offset = nullptr;      // null means none
};

// gradient: (cols + 1) x classes, the intercept's row last. slope and bend may be null; else one a row: the
// weighted first and second derivative of the logistic loss.
struct ClassLossOut {
  double* value;
  double* gradient;
  double* slope = nullptr;
  double* bend = nullptr;
};

namespace class_loss_detail {

inline constexpr Index chunk_rows = 8192;
inline constexpr int together = 4;  // rows scored at once: their sums stay in registers

// The sums of one chunk, and the tile that its rows pass through; `lead` numbers a row of scores.
struct Work {
  Buffer tile, coef, scores, gradient;
  Index step, lead;
  double value = 0;
};

// scores (together x lead) = rows (together x step) times coef (cols x lead).
inline void score(const double* rows, Index step, const double* coef, Index cols, Index lead, double* out) {
  for (Index first = 0; first < lead; first += lanes) {
    Lanes sum[together] = {};
    for (Index j = 0; j < cols; ++j) {
      const Lanes w = load(coef + j * lead + first);
      for (int r = 0; r < together; ++r) sum[r] = fused(broadcast(rows[r * step + j]), w, sum[r]);
    }
    for (int r = 0; r < together; ++r) store(out + r * lead + first, sum[r]);
  }
}

// gradient (cols x lead) += rows' slopes.
inline void pull(const double* rows, Index step, const double* slopes, Index cols, Index lead,
                 double* gradient) {
  for (Index first = 0; first < lead; first += lanes) {
    Lanes slope[together];
    for (int r = 0; r < together; ++r) slope[r] = load(slopes + r * lead + first);
    for (Index j = 0; j < cols; ++j) {
      double* out = gradient + j * lead + first;
      Lanes sum = load(out);
      for (int r = 0; r < together; ++r) sum = fused(broadcast(rows[r * step + j]), slope[r], sum);
      store(out, sum);
    }
  }
}

// The same for one class: along the row, `cols` rounded up to whole lanes, which are zero.
inline void score_one(const double* rows, Index step, const double* coef, double* out) {
  Lanes sum[together] = {};
  for (Index j = 0; j < step; j += lanes) {
    const Lanes w = load(coef + j);
    for (int r = 0; r < together; ++r) sum[r] = fused(load(rows + r * step + j), w, sum[r]);
  }
  for (int r = 0; r < together; ++r) {
    alignas(32) double part[lanes];
    store(part, sum[r]);
    double total = part[0];
    for (int l = 1; l < lanes; ++l) total += part[l];
    out[r] = total;
  }
}

inline void pull_one(const double* rows, Index step, const double* slopes, double* gradient) {
  Lanes slope[together];
  for (int r = 0; r < together; ++r) slope[r] = broadcast(slopes[r]);
  for (Index j = 0; j < step; j += lanes) {
    Lanes sum = load(gradient + j);
    for (int r = 0; r < together; ++r) sum = fused(load(rows + r * step + j), slope[r], sum);
    store(gradient + j, sum);
  }
}

// The logistic loss of one row; its score becomes its weighted slope. With t the share of the class that z
// speaks against, f = t |z| + log(1 + exp(-|z|)): nothing cancels.
inline double logistic(const ClassLoss& loss, Index i, double& z, const ClassLossOut& out) {
  const double s = loss.weight == nullptr ? 1.0 : loss.weight[i];
  if (s == 0) {
    z = 0;
    if (out.slope != nullptr) out.slope[i] = 0;
    if (out.bend != nullptr) out.bend[i] = 0;
    return 0;
  }
  const double size = std::fabs(z), e = std::exp(-size);
  const double against = std::signbit(z) ? loss.share[i] : 1.0 - loss.share[i];
  const double value = s * (against * size + std::log1p(e));
  const double slope = s * std::copysign(1.0, z) * (against - e / (1.0 + e));
  if (out.bend != nullptr) out.bend[i] = s * (e / ((1.0 + e) * (1.0 + e)));
  if (out.slope != nullptr) out.slope[i] = slope;
  z = slope;
  return value;
}

// The softmax of one row; its scores become their weighted slopes. The highest score is left out of the sum.
inline double softmax(const ClassLoss& loss, Index i, double* z) {
  const double s = loss.weight == nullptr ? 1.0 : loss.weight[i];
  if (s == 0) {
    std::fill_n(z, loss.classes, 0.0);
    return 0;
  }
  Index top = 0;
  for (Index k = 1; k < loss.classes; ++k)
    if (z[k] > z[top]) top = k;
  const Index code = static_cast<Index>(loss.code[i]);
  const double most = z[top], missed = most - z[code];
  double rest = 0;
  for (Index k = 0; k < loss.classes; ++k) {
    z[k] = k == top ? 1.0 : std::exp(z[k] - most);
    if (k != top) rest += z[k];
  }
  const double share = s / (1.0 + rest);
  for (Index k = 0; k < loss.classes; ++k) z[k] *= share;
  if (code == top) {
    z[top] = -rest * share;
  } else {
    z[code] -= s;
  }
  return s * (missed + std::log1p(rest));
}

template <class T>
void add_rows(const Dense<T>& x, const ClassLoss& loss, Index start, Index count, Work& work,
              const ClassLossOut& out) {
  const Index K = loss.classes, lead = work.lead, step = work.step;
  double* tile = work.tile.data();
  copy_rows(x, start, count, 0, x.cols, [](Index i) { return i; }, tile, step);
  const Index padded = round_up(count, together);
  for (Index i = count; i < padded; ++i) std::fill_n(tile + i * step, step, 0.0);
  double* last = work.gradient.data() + (K == 1 ? step : x.cols * lead);
  for (Index first = 0; first < count; first += together) {
    const double* rows = tile + first * step;
    double* z = work.scores.data();
    if (K == 1)
      score_one(rows, step, work.coef.data(), z);
    else
      score(rows, step, work.coef.data(), x.cols, lead, z);
    for (Index r = 0; r < together; ++r) {
      double* scores = z + r * (K == 1 ? 1 : lead);
      if (first + r >= count) {
        std::fill_n(scores, K, 0.0);
        continue;
      }
      const Index i = start + first + r;
      const double shift = loss.offset == nullptr ? 0.0 : loss.offset[i];
      for (Index k = 0; k < K; ++k)
        scores[k] += (loss.intercept == nullptr ? 0.0 : loss.intercept[k]) + shift;
      work.value += K == 1 ? logistic(loss, i, scores[0], out) : softmax(loss, i, scores);
      for (Index k = 0; k < K; ++k) last[k] += scores[k];
    }
    if (K == 1)
      pull_one(rows, step, z, work.gradient.data());
    else
      pull(rows, step, z, x.cols, lead, work.gradient.data());
  }
}

}  // namespace class_loss_detail

template <class T>
void class_loss(const Run& run, const Dense<T>& x, const ClassLoss& loss, const ClassLossOut& out) {
  using namespace class_loss_detail;
  const Index K = loss.classes, p = x.cols, chunks = (x.rows + chunk_rows - 1) / chunk_rows;
  const Index step = std::max<Index>(round_up(p, lanes), lanes), lead = round_up(K, lanes);
  const Index height = round_up(tile_rows(p), together), size = K == 1 ? step + 1 : p * lead + lead;
  std::vector<Work> works(static_cast<std::size_t>(chunks));
  Buffer coef(K == 1 ? step : std::max<Index>(p * lead, lanes));
  for (Index j = 0; j < p; ++j)
    for (Index k = 0; k < K; ++k) coef[K == 1 ? j : j * lead + k] = loss.coef[j * K + k];
  std::vector<Buffer> tiles(static_cast<std::size_t>(run.threads));
  for_chunks(run, chunks, [&](Index chunk, int worker) {
    Work work{std::move(tiles[static_cast<std::size_t>(worker)]),
              Buffer(coef.size()),
              Buffer(together * lead),
              Buffer(round_up(size, lanes)),
              step,
              lead};
    if (work.tile.empty()) work.tile = Buffer(height * step);
    std::copy_n(coef.data(), coef.size(), work.coef.data());
    const Index end = std::min(x.rows, (chunk + 1) * chunk_rows);
    for (Index at = chunk * chunk_rows; at < end; at += height)
      add_rows(x, loss, at, std::min(height, end - at), work, out);
    tiles[static_cast<std::size_t>(worker)] = std::move(work.tile);
    works[static_cast<std::size_t>(chunk)] = std::move(work);
  });
  std::fill_n(out.gradient, (p + 1) * K, 0.0);
  *out.value = 0;
  for (const Work& work : works) {
    *out.value += work.value;
    for (Index j = 0; j <= p; ++j)
      for (Index k = 0; k < K; ++k)
        out.gradient[j * K + k] += work.gradient[K == 1 ? (j < p ? j : step) : j * lead + k];
  }
}

}  // namespace surefit
