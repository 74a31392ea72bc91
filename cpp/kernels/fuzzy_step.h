// One iteration of fuzzy c-means in one pass: memberships from distances, and the sums that the next centres
// are made of, without a matrix of either.
#pragma once

#include <cmath>
#include <vector>

#include "buffer.h"
#include "parallel.h"
#include "tile.h"

namespace surefit {

// power: the fuzzifier m. sums: for each centre the sums of r^m x, then of r^m: count x (cols + 1).
struct FuzzyOut {
  double* sums = nullptr;
  double cost = 0;  // sum of s r^m d^2
};

namespace fuzzy_detail {

inline constexpr Index fewest_rows = 2048, most_chunks = 64;

// Squared distances of a row to all centres, which stand column by column, filled up to whole lanes.
template <class T>
void squares(const T* x, const double* centres, Index cols, Index step, double* to) {
  for (Index c = 0; c < step; c += lanes) {
    Lanes sum = broadcast(0.0);
    for (Index j = 0; j < cols; ++j) {
      const Lanes e = broadcast(static_cast<double>(x[j])) - load(centres + j * step + c);
      sum += e * e;
    }
    store(to + c, sum);
  }
}

// Turns squared distances into memberships; a row at a centre belongs to it, or to all that it is at.
inline void memberships(double* square, Index count, double power) {
  double least = square[0], total = 0;
  for (Index c = 1; c < count; ++c) least = square[c] < least ? square[c] : least;
  if (power == 2 && least > 0)
    for (Index c = 0; c < count; ++c) total += square[c] = least / square[c];
  else
    for (Index c = 0; c < count; ++c) {
      square[c] = square[c] <= least ? 1.0 : least > 0 ? std::pow(least / square[c], 1 / (power - 1)) : 0.0;
      total += square[c];
    }
  const double share = 1 / total;
  for (Index c = 0; c < count; ++c) square[c] *= share;
}

}  // namespace fuzzy_detail

// Centres are count x cols in C order; memberships, rows x count, are written where not null.
template <class T>
void fuzzy_step(const Run& run, const Dense<T>& x, const double* weight, const double* centres, Index count,
                double power, FuzzyOut& out, double* shares) {
  using namespace fuzzy_detail;
  const Index cols = x.cols, step = round_up(count, lanes), width = cols + 1;
  Buffer across(cols * step);
  for (Index j = 0; j < cols; ++j)
    for (Index c = 0; c < step; ++c) across[j * step + c] = centres[std::min(c, count - 1) * cols + j];
  const Index chunks = std::clamp<Index>(x.rows / fewest_rows, 1, most_chunks);
  std::vector<Buffer> sums(static_cast<std::size_t>(chunks));
  std::vector<double> costs(static_cast<std::size_t>(chunks), 0.0);
  for_chunks(run, chunks, [&](Index chunk, int) {
    const auto place = static_cast<std::size_t>(chunk);
    sums[place] = Buffer(width * step);
    Buffer square(step), share(step);
    double* sum = sums[place].data();
    const Index end = x.rows * (chunk + 1) / chunks;
    for (Index i = x.rows * chunk / chunks; i < end; ++i) {
      const T* row = x.data + i * cols;
      const double s = weight == nullptr ? 1.0 : weight[i];
      squares(row, across.data(), cols, step, square.data());
      for (Index c = 0; c < count; ++c) share[c] = square[c];
      memberships(share.data(), count, power);
      if (shares != nullptr) std::copy_n(share.data(), count, shares + i * count);
      double cost = 0;
      for (Index c = 0; c < count; ++c) {
        share[c] = s * (power == 2 ? share[c] * share[c] : std::pow(share[c], power));
        cost += share[c] * square[c];
      }
      costs[place] += cost;
      for (Index j = 0; j <= cols; ++j) {
        const Lanes value = broadcast(j < cols ? static_cast<double>(row[j]) : 1.0);
        for (Index c = 0; c < step; c += lanes)
          store(sum + j * step + c, fused(load(share.data() + c), value, load(sum + j * step + c)));
      }
    }
  });
  out.cost = 0;
  for (Index c = 0; c < count; ++c)
    for (Index j = 0; j <= cols; ++j) {
      double total = 0;
      for (const Buffer& part : sums) total += part[j * step + c];
      out.sums[c * width + j] = total;
    }
  for (const double cost : costs) out.cost += cost;
}

}  // namespace surefit
