// Sums over the rows of each cluster, to twice double precision, and their cost.
//
// Sums are pairs of doubles, so that rows which come and go leave nothing behind and the order of rows does
// not show: an update by the rows that changed clusters gives what a new sum would.
#pragma once

#include <cstdint>
#include <vector>

#include "centre_table.h"
#include "parallel.h"

namespace surefit {

// For each cluster, the sums of its columns and then its weight: count x (cols + 1), in two parts.
struct ClusterSums {
  double* high = nullptr;
  double* low = nullptr;
};

namespace sums_detail {

inline constexpr Index fewest_rows = 4096, most_chunks = 32;

inline void add_term(double& high, double& low, double value) {
  const double sum = high + value, part = sum - high;
  low += (high - (sum - part)) + (value - part);
  high = sum;
}

template <class T>
void add_row(const T* x, Index cols, double weight, double* high, double* low) {
  Index j = 0;
  for (; j + 4 <= cols; j += 4) {
    const Four value = weight * Four{static_cast<double>(x[j]), static_cast<double>(x[j + 1]),
                                     static_cast<double>(x[j + 2]), static_cast<double>(x[j + 3])};
    const Four before = four(high + j), sum = before + value, part = sum - before;
    put_four(low + j, four(low + j) + ((before - (sum - part)) + (value - part)));
    put_four(high + j, sum);
  }
  for (; j < cols; ++j) add_term(high[j], low[j], weight * static_cast<double>(x[j]));
  add_term(high[cols], low[cols], weight);
}

inline Index chunks_of(Index rows, Index cells) {
  const Index affordable = std::max<Index>(1, (Index{1} << 24) / std::max<Index>(1, 2 * cells));
  return std::clamp<Index>(rows / fewest_rows, 1, std::min(most_chunks, affordable));
}

}  // namespace sums_detail

// Adds every row that is in another cluster than before to its new cluster, and takes it from the old one;
// without `before`, all rows are new. A label below 0 is no cluster. Returns how many rows have changed.
template <class T>
std::int64_t add_to_clusters(const Run& run, const Dense<T>& x, const double* weight,
                             const std::int32_t* before, const std::int32_t* after, Index count,
                             const ClusterSums& sums) {
  using namespace sums_detail;
  const Index width = x.cols + 1, cells = count * width, chunks = chunks_of(x.rows, cells);
  std::vector<Buffer> high(static_cast<std::size_t>(chunks)), low(static_cast<std::size_t>(chunks));
  std::vector<std::int64_t> changed(static_cast<std::size_t>(chunks), 0);
  for_chunks(run, chunks, [&](Index chunk, int) {
    const auto place = static_cast<std::size_t>(chunk);
    const Index end = x.rows * (chunk + 1) / chunks;
    for (Index i = x.rows * chunk / chunks; i < end; ++i) {
      const Index from = before == nullptr ? -1 : before[i], to = after[i];
      if (from == to) continue;
      if (high[place].empty()) high[place] = Buffer(cells), low[place] = Buffer(cells);
      const double w = weight == nullptr ? 1.0 : weight[i];
      double *h = high[place].data(), *l = low[place].data();
      const T* row = x.data + i * x.cols;
      if (from >= 0) add_row(row, x.cols, -w, h + from * width, l + from * width);
      if (to >= 0) add_row(row, x.cols, w, h + to * width, l + to * width);
      ++changed[place];
    }
  });
  std::int64_t total = 0;
  for (std::size_t chunk = 0; chunk < changed.size(); ++chunk) {
    total += changed[chunk];
    if (changed[chunk] == 0) continue;
    for (Index e = 0; e < cells; ++e) {
      add_term(sums.high[e], sums.low[e], high[chunk][e]);
      sums.low[e] += low[chunk][e];
    }
  }
  return total;
}

// The squared distance of each row to the centre of its label, into `squares` where that is not null; returns
// the sum of them times the weights.
template <class T>
double cluster_cost(const Run& run, const Dense<T>& x, const double* weight, const double* centres,
                    const std::int32_t* labels, double* squares) {
  using namespace sums_detail;
  const Index chunks = std::max<Index>(1, x.rows / fewest_rows);
  std::vector<double> high(static_cast<std::size_t>(chunks), 0.0), low(high);
  for_chunks(run, chunks, [&](Index chunk, int) {
    double h = 0, l = 0;
    const Index end = x.rows * (chunk + 1) / chunks;
    for (Index i = x.rows * chunk / chunks; i < end; ++i) {
      const double square = exact_square(x.data + i * x.cols, centres + labels[i] * x.cols, x.cols);
      if (squares != nullptr) squares[i] = square;
      add_term(h, l, weight == nullptr ? square : weight[i] * square);
    }
    high[static_cast<std::size_t>(chunk)] = h, low[static_cast<std::size_t>(chunk)] = l;
  });
  double h = 0, l = 0;
  for (std::size_t chunk = 0; chunk < high.size(); ++chunk) add_term(h, l, high[chunk]), l += low[chunk];
  return h + l;
}

}  // namespace surefit
