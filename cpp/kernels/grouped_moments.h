// Column moments of each group of rows in one pass: weight, and for every column mean and sum of squared
// deviations.
//
// The rows of a block that fits the cache are copied in the order of their groups. The rows of a group are
// summed about the first of them, then squared about their own mean, and join those before by Chan's formula,
// so nothing cancels. NaN makes the mean and scatter of its group and column NaN.
#pragma once

#include <cstdint>
#include <cstring>
#include <numeric>

#include "buffer.h"
#include "four.h"
#include "moments.h"
#include "row_tile.h"

namespace surefit {

// What the caller allocates: one weight a group, and groups x cols numbers each.
struct GroupedOut {
  double* weight;
  double* mean;
  double* scatter;
};

// Which group each row belongs to, in 0 .. count - 1, and how often it counts; no weights mean once each.
struct Groups {
  const std::int64_t* of = nullptr;
  Index count = 0;
  const double* weight = nullptr;

  Index checked(Index row) const {
    if (of[row] < 0 || of[row] >= count)
      throw std::invalid_argument("a row's group is not one of 0 to groups - 1: pass codes in that range.");
    return static_cast<Index>(of[row]);
  }
  double weight_of(Index row) const { return weight == nullptr ? 1.0 : weight[row]; }
};

namespace grouped_detail {

// Where each row of a block goes when they are put in the order of their groups.
class Places {
 public:
  Places(const Groups& groups, Index most)
      : groups_(groups),
        ends_(static_cast<std::size_t>(groups.count) + 1),
        places_(static_cast<std::size_t>(most)) {}

  void sort(Index start, Index end) {
    std::fill(ends_.begin(), ends_.end(), 0);
    for (Index i = start; i < end; ++i)
      if (groups_.weight_of(i) != 0) ++ends_[static_cast<std::size_t>(groups_.of[i]) + 1];
    for (std::size_t g = 1; g < ends_.size(); ++g) ends_[g] += ends_[g - 1];
    // Now ends_[g] is where group g begins; placing its rows moves it to where the group ends.
    for (Index i = start; i < end; ++i)
      places_[static_cast<std::size_t>(i - start)] =
          groups_.weight_of(i) == 0 ? -1 : ends_[static_cast<std::size_t>(groups_.of[i])]++;
  }

  // The place of row i of the block; -1 for a row of weight 0.
  Index operator()(Index i) const { return places_[static_cast<std::size_t>(i)]; }
  Index begin(Index g) const { return g == 0 ? 0 : ends_[static_cast<std::size_t>(g - 1)]; }
  Index end(Index g) const { return ends_[static_cast<std::size_t>(g)]; }

 private:
  Groups groups_;
  std::vector<Index> ends_, places_;
};

inline constexpr Index width = 8;  // columns whose sums are kept in registers

// Moments of `rows` rows (one at least) of a tile whose rows are `step` apart, a multiple of `width`.
template <bool Weighted>
void tile_moments(const double* x, Index rows, Index step, const double* weight, double total, Moments& out) {
  for (Index j = 0; j < step; j += width) {
    Four shift[2] = {four(x + j), four(x + j + 4)}, mean[2] = {}, scatter[2] = {};
    for (Index i = 0; i < rows; ++i) {
#pragma GCC unroll 2
      for (int h = 0; h < 2; ++h) {
        const Four deviation = four(x + i * step + j + 4 * h) - shift[h];
        mean[h] += Weighted ? weight[i] * deviation : deviation;
      }
    }
    mean[0] /= total;
    mean[1] /= total;
    for (Index i = 0; i < rows; ++i) {
#pragma GCC unroll 2
      for (int h = 0; h < 2; ++h) {
        const Four deviation = (four(x + i * step + j + 4 * h) - shift[h]) - mean[h];
        scatter[h] += Weighted ? weight[i] * (deviation * deviation) : deviation * deviation;
      }
    }
    const auto store = [j](std::vector<double>& to, const Four* from) {
      std::memcpy(to.data() + j, from, 2 * sizeof(Four));
    };
    store(out.shift, shift);
    store(out.mean, mean);
    store(out.scatter, scatter);
  }
}

// Joins `cols` columns of equal weight w to those of `sum` from column `at` on.
inline void join(Moments& sum, Index at, const Moments& block, Index cols, double w) {
  double *weight = sum.weight.data() + at, *shift = sum.shift.data() + at, *mean = sum.mean.data() + at;
  double* scatter = sum.scatter.data() + at;
  const double before = cols > 0 ? weight[0] : 0.0, share = w / (before + w), between = before * share;
  if (before == 0) std::copy_n(block.shift.data(), cols, shift);
  for (Index j = 0; j < cols; ++j) {
    const auto b = static_cast<std::size_t>(j);
    const double gap = (block.shift[b] - shift[j]) + (block.mean[b] - mean[j]);
    scatter[j] += block.scatter[b] + gap * gap * between;
    mean[j] += gap * share;
    weight[j] = before + w;
  }
}

// Rows [start, end), columns [first, last) into `sum`, where group g has columns [g x.cols, (g + 1) x.cols).
template <class T>
void strip(const Dense<T>& x, const Groups& groups, Index start, Index end, Index first, Index last,
           Moments& sum) {
  const Index cols = last - first, step = (cols + width - 1) / width * width;
  const Index most = std::min(tile_rows(cols), end - start);
  Buffer tile(most * step), weight(groups.weight == nullptr ? 0 : most);
  Moments block(step);
  Places places(groups, most);
  for (Index at = start; at < end; at += most) {
    const Index count = std::min(most, end - at);
    places.sort(at, at + count);
    copy_rows(x, at, count, first, last, places, tile.data(), step);
    for (Index i = 0; i < count && !weight.empty(); ++i)
      if (places(i) >= 0) weight[places(i)] = groups.weight[at + i];
    for (Index g = 0; g < groups.count; ++g) {
      const Index begin = places.begin(g), rows = places.end(g) - begin;
      if (rows == 0) continue;
      const double* data = tile.data() + begin * step;
      double total = static_cast<double>(rows);
      if (weight.empty()) {
        tile_moments<false>(data, rows, step, nullptr, total, block);
      } else {
        total = std::accumulate(weight.data() + begin, weight.data() + begin + rows, 0.0);
        tile_moments<true>(data, rows, step, weight.data() + begin, total, block);
      }
      join(sum, g * x.cols + first, block, cols, total);
    }
  }
}

// Some chunks of rows, so few that their moments stay small beside the data.
inline Index chunks_of(Index rows, Index groups) {
  return std::clamp<Index>(std::min(rows / moments_detail::chunk_rows, rows / (64 * groups + 1)), 1, 64);
}

// The weight of each group, added up in row order; every group and weight is checked.
inline void group_weights(const Groups& groups, Index rows, double* weight) {
  std::fill_n(weight, groups.count, 0.0);
  if (groups.weight != nullptr) moments_detail::checked_weight(groups.weight, 0, rows);
  for (Index i = 0; i < rows; ++i) weight[groups.checked(i)] += groups.weight_of(i);
}

}  // namespace grouped_detail

// Rows of weight 0 are not looked at. A group without rows: zeros.
template <class T>
void grouped_moments(const Run& run, const Dense<T>& x, const Groups& groups, const GroupedOut& out) {
  using namespace grouped_detail;
  group_weights(groups, x.rows, out.weight);
  const Index cells = groups.count * x.cols, chunks = chunks_of(x.rows, groups.count);
  const Index strips = (x.cols + moments_detail::strip_cols - 1) / moments_detail::strip_cols;
  std::vector<Moments> parts(static_cast<std::size_t>(chunks), Moments(cells));
  Run quick = run;
  if (x.rows * x.cols < 50'000) quick.threads = 1;  // done before another thread wakes up
  for_chunks(quick, chunks * strips, [&](Index task, int) {
    const Index chunk = task / strips, first = task % strips * moments_detail::strip_cols;
    strip(x, groups, x.rows * chunk / chunks, x.rows * (chunk + 1) / chunks, first,
          std::min(first + moments_detail::strip_cols, x.cols), parts[static_cast<std::size_t>(chunk)]);
  });
  moments_detail::write(parts, cells, {out.mean, out.scatter});
}

// The same for a sparse matrix with `stored` entries: the zeros between them join each group and column as
// one block.
template <class T, class I>
void grouped_moments(const Run& run, const Csr<T, I>& x, Index stored, const Groups& groups,
                     const GroupedOut& out) {
  using namespace grouped_detail;
  group_weights(groups, x.rows, out.weight);
  const Index cells = groups.count * x.cols, longest = longest_row(x, stored);
  const Index chunks = std::clamp<Index>(stored / (16 * std::max<Index>(1, cells)), 1, 64);
  std::vector<Moments> parts(static_cast<std::size_t>(chunks), Moments(cells));
  std::vector<std::vector<Index>> seen(static_cast<std::size_t>(chunks));
  for_chunks(run, chunks, [&](Index chunk, int) {
    Moments& part = parts[static_cast<std::size_t>(chunk)];
    auto& count = seen[static_cast<std::size_t>(chunk)];
    count.assign(static_cast<std::size_t>(cells), 0);
    CsrReader<T, I> reader(x, stored);
    std::vector<Index> cols(static_cast<std::size_t>(longest));
    std::vector<double> values(static_cast<std::size_t>(longest));
    for (Index i = x.rows * chunk / chunks; i < x.rows * (chunk + 1) / chunks; ++i) {
      const double w = groups.weight_of(i);
      if (w == 0) continue;
      const Index at = static_cast<Index>(groups.of[i]) * x.cols;
      const Index entries = reader.read(i, cols.data(), values.data());
      for (Index k = 0; k < entries; ++k) {
        const auto e = static_cast<std::size_t>(k);
        part.join(at + cols[e], w, values[e], 0.0, 0.0, values[e], values[e]);
        ++count[static_cast<std::size_t>(at + cols[e])];
      }
    }
  });
  std::vector<Index> counted(static_cast<std::size_t>(groups.count), 0);
  for (Index i = 0; i < x.rows; ++i)
    counted[static_cast<std::size_t>(groups.of[i])] += groups.weight_of(i) != 0;
  Moments zeros(cells);
  for (Index e = 0; e < cells; ++e) {
    Index stored_rows = 0;
    double stored_weight = 0;
    for (std::size_t c = 0; c < parts.size(); ++c) {
      stored_rows += seen[c][static_cast<std::size_t>(e)];
      stored_weight += parts[c].weight[static_cast<std::size_t>(e)];
    }
    const Index g = e / x.cols;
    if (stored_rows < counted[static_cast<std::size_t>(g)])
      zeros.join(e, std::max(0.0, out.weight[g] - stored_weight), 0.0, 0.0, 0.0, 0.0, 0.0);
  }
  parts.push_back(std::move(zeros));
  moments_detail::write(parts, cells, {out.mean, out.scatter});
}

}  // namespace surefit
