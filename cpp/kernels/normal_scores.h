// Rows scored by normal densities with independent columns: score(i, c) = offset[c] - 1/2 sum_j
// ((x_ij - mean[c, j]) scale[c, j])^2, or the best c of each row.
//
// The squares are taken of differences, never expanded: products instead would save a third of the arithmetic
// and lose the digits of data that lie far from zero.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "buffer.h"
#include "four.h"
#include "panel.h"
#include "parallel.h"
#include "row_tile.h"

namespace surefit {

// `count` densities over `cols` columns; mean and scale are count x cols.
struct Normals {
  const double* mean = nullptr;
  const double* scale = nullptr;
  const double* offset = nullptr;
  Index count = 0;
  Index cols = 0;
};

namespace normal_detail {

inline constexpr Index width = 8;     // running sums of a row; columns are filled up with zeros to a multiple
inline constexpr Index together = 4;  // rows that share what is read of a density

// A density's numbers, or rows, with each row filled up with zeros to `step` columns.
inline Buffer filled_up(const double* from, Index rows, Index cols, Index step) {
  Buffer to(rows * step);
  for (Index i = 0; i < rows; ++i) std::copy_n(from + i * cols, cols, to.data() + i * step);
  return to;
}

// Scores of R rows for one density, written `to_step` apart; a row scores the same alone and among others.
template <int R>
void score_rows(const double* x, Index step, const double* mean, const double* scale, double offset,
                double* to, Index to_step) {
  Four sums[R][2] = {};
  for (Index j = 0; j < step; j += width) {
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      const Four centre = four(mean + j + 4 * half), factor = four(scale + j + 4 * half);
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) {
        const Four deviation = (four(x + r * step + j + 4 * half) - centre) * factor;
        sums[r][half] += deviation * deviation;
      }
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) {
    const Four both = sums[r][0] + sums[r][1];
    to[r * to_step] = offset - 0.5 * ((both[0] + both[2]) + (both[1] + both[3]));
  }
}

// Calls place(i, worker) for where the scores of rows i, i + 1, ... may be written, `together` rows at the
// most, and after(i, rows, scores) when `rows` of them stand there.
template <class T, class Place, class After>
void for_scores(const Run& run, const Dense<T>& x, const Normals& normals, const Place& place,
                const After& after) {
  const Index step = round_up(x.cols, width), most = tile_rows(step), long_most = 16 * most;
  const Buffer mean = filled_up(normals.mean, normals.count, x.cols, step);
  const Buffer scale = filled_up(normals.scale, normals.count, x.cols, step);
  Run quick = run;
  if (x.rows * x.cols < 20'000) quick.threads = 1;  // done before another thread wakes up
  std::vector<Buffer> tiles;
  for (int worker = 0; worker < quick.threads; ++worker) tiles.emplace_back(std::min(most, x.rows) * step);
  for_chunks(quick, (x.rows + long_most - 1) / long_most, [&](Index chunk, int worker) {
    double* tile = tiles[static_cast<std::size_t>(worker)].data();
    const Index end = std::min((chunk + 1) * long_most, x.rows);
    for (Index first = chunk * long_most; first < end; first += most) {
      const Index count = std::min(most, end - first), next = first + count;
      copy_rows(x, first, count, 0, x.cols, [](Index i) { return i; }, tile, step);
      Ahead ahead = fetch_ahead(x, next, std::min(next + most, end), count / together);
      for (Index i = 0, some; i < count; i += some) {
        some = i + together <= count ? together : 1;
        double* to = place(first + i, worker);
        const auto score = some == 1 ? &score_rows<1> : &score_rows<together>;
        ahead.step();
        for (Index c = 0; c < normals.count; ++c)
          score(tile + i * step, step, mean.data() + c * step, scale.data() + c * step, normals.offset[c],
                to + c, normals.count);
        after(first + i, some, to);
      }
    }
  });
}

}  // namespace normal_detail

// All scores, rows x count.
template <class T>
void normal_scores(const Run& run, const Dense<T>& x, const Normals& normals, double* scores) {
  normal_detail::for_scores(
      run, x, normals, [&](Index i, int) { return scores + i * normals.count; },
      [](Index, Index, const double*) {});
}

// The density with the greatest score of each row, the first of equals; `otherwise` where all are -inf or
// NaN.
template <class T>
void best_normal(const Run& run, const Dense<T>& x, const Normals& normals, Index otherwise,
                 std::int64_t* best) {
  std::vector<Buffer> found;
  for (int worker = 0; worker < run.threads; ++worker)
    found.emplace_back(normal_detail::together * normals.count);
  normal_detail::for_scores(
      run, x, normals, [&](Index, int worker) { return found[static_cast<std::size_t>(worker)].data(); },
      [&](Index i, Index rows, const double* scores) {
        for (Index r = 0; r < rows; ++r, scores += normals.count) {
          double greatest = -std::numeric_limits<double>::infinity();
          Index winner = otherwise;
          for (Index c = 0; c < normals.count; ++c) {
            winner = scores[c] > greatest ? c : winner;
            greatest = scores[c] > greatest ? scores[c] : greatest;
          }
          best[i + r] = winner;
        }
      });
}

}  // namespace surefit
