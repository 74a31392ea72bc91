// What Fenchel's inequality leaves open for slopes that were moved to be a dual point, in one pass:
// sum_i s_i (f(y_i, z_i) + f*(y_i, u_i) - z_i u_i) with u = factor * (signed slopes - shift * curvature).
#pragma once

#include "linear_loss.h"

namespace surefit {

// negative, positive: factors of slopes of either sign.
struct SlopeChange {
  double factor = 1, shift = 0, negative = 1, positive = 1;
};

struct ExcessSums {
  double total = 0, energy = 0;  // energy: the sum of s_i u_i^2
};

template <class Rows, class Loss>
ExcessSums linear_excess(const Run& run, const Rows& x, const LinearScores& about, const Loss& loss,
                         const SlopeChange& change) {
  using namespace linear_loss_detail;
  const Index chunks = (x.rows + chunk_rows - 1) / chunk_rows;
  const Index height = round_up(tile_rows(x.cols), together);
  Buffer coef(padded_width(x.cols));
  std::copy_n(about.coef, x.cols, coef.data());
  std::vector<ExcessSums> parts(static_cast<std::size_t>(chunks));
  std::vector<Buffer> memory(static_cast<std::size_t>(run.threads));
  for_chunks(run, chunks, [&](Index chunk, int worker) {
    const Tile tile(memory[static_cast<std::size_t>(worker)], height, coef.size());
    ExcessSums sums;
    const Index end = std::min(x.rows, (chunk + 1) * chunk_rows);
    for (Index at = chunk * chunk_rows; at < end; at += height) {
      const Index count = std::min(height, end - at);
      score(x, about, coef, at, count, tile);
      for (Index i = 0; i < count; i += lanes) {
        const Derivatives here = loss(load(tile.y + i), load(tile.slope + i));
        store(tile.value + i, here.slope), store(tile.bend + i, here.bend);
      }
      for (Index i = 0; i < count; ++i) {
        const double s = tile.weight[i], own = tile.value[i];
        if (s == 0) continue;
        const double signed_slope = own * (own < 0 ? change.negative : change.positive);
        const double u = change.factor * (signed_slope - change.shift * tile.bend[i]);
        sums.total += s * std::max(loss.excess({tile.y[i], tile.slope[i], u, u - own}), 0.0);
        sums.energy += s * u * u;
      }
    }
    parts[static_cast<std::size_t>(chunk)] = sums;
  });
  ExcessSums all;
  for (const ExcessSums& part : parts) all.total += part.total, all.energy += part.energy;
  return all;
}

}  // namespace surefit
