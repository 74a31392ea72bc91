// What k-means++ needs of each candidate: by how much it would lower the sum of weighted squared distances to
// the nearest centre so far.
//
// Distances are taken of differences in single precision, about an origin and scaled: a row that equals a
// centre is at distance 0, exactly, so it is never drawn again.
#pragma once

#include <vector>

#include "centre_table.h"
#include "parallel.h"

namespace surefit {

// Rows less `origin`, times `scale`, are of the order of 1.
struct Scaled {
  const double* origin = nullptr;
  double scale = 1;
};

inline constexpr Index seeding_rows = 1024;  // of a block of closest distances that is summed by itself

namespace seeding_detail {

// Eight candidates side by side, column after column.
inline FloatBuffer packed(const double* candidates, Index count, Index cols, const Scaled& scaled) {
  FloatBuffer to(cols * 8);
  for (Index c = 0; c < 8; ++c)
    for (Index j = 0; j < cols; ++j)
      to.data()[j * 8 + c] = static_cast<float>(
          (candidates[std::min(c, count - 1) * cols + j] - scaled.origin[j]) * scaled.scale);
  return to;
}

template <class T>
void squares(const T* x, const float* candidates, Index cols, const Scaled& scaled, Eight& sum) {
  sum = Eight{};
  for (Index j = 0; j < cols; ++j) {
    const Eight e = eight(candidates + 8 * j) -
                    static_cast<float>((static_cast<double>(x[j]) - scaled.origin[j]) * scaled.scale);
    sum += e * e;
  }
}

}  // namespace seeding_detail

// The potential with each candidate added, count of them, eight at the most.
template <class T>
void seeding_potentials(const Run& run, const Dense<T>& x, const double* weight, const Scaled& scaled,
                        const double* candidates, Index count, const float* closest, double* potentials) {
  const Index blocks = (x.rows + seeding_rows - 1) / seeding_rows;
  const FloatBuffer table = seeding_detail::packed(candidates, count, x.cols, scaled);
  std::vector<double> sums(static_cast<std::size_t>(blocks * 8), 0.0);
  for_chunks(run, blocks, [&](Index block, int) {
    const Index end = std::min((block + 1) * seeding_rows, x.rows);
    Four low = {}, high = {};
    for (Index i = block * seeding_rows; i < end; ++i) {
      Eight to;
      seeding_detail::squares(x.data + i * x.cols, table.data(), x.cols, scaled, to);
      const Eight now = Eight{} + closest[i];
      const Eight least = to < now ? to : now;
      const double w = weight == nullptr ? 1.0 : weight[i];
      low += w * __builtin_convertvector(__builtin_shufflevector(least, least, 0, 1, 2, 3), Four);
      high += w * __builtin_convertvector(__builtin_shufflevector(least, least, 4, 5, 6, 7), Four);
    }
    put_four(sums.data() + block * 8, low), put_four(sums.data() + block * 8 + 4, high);
  });
  for (Index c = 0; c < count; ++c) {
    potentials[c] = 0;
    for (Index block = 0; block < blocks; ++block)
      potentials[c] += sums[static_cast<std::size_t>(block * 8 + c)];
  }
}

// Lowers `closest` to the distance to the new centre where that is nearer, and sums it over blocks of rows.
template <class T>
void seeding_accept(const Run& run, const Dense<T>& x, const double* weight, const Scaled& scaled,
                    const double* centre, float* closest, double* totals) {
  const Index blocks = (x.rows + seeding_rows - 1) / seeding_rows;
  const FloatBuffer table = seeding_detail::packed(centre, 1, x.cols, scaled);
  for_chunks(run, blocks, [&](Index block, int) {
    const Index end = std::min((block + 1) * seeding_rows, x.rows);
    double total = 0;
    for (Index i = block * seeding_rows; i < end; ++i) {
      Eight to;
      seeding_detail::squares(x.data + i * x.cols, table.data(), x.cols, scaled, to);
      closest[i] = std::min(closest[i], static_cast<float>(to[0]));
      total += (weight == nullptr ? 1.0 : weight[i]) * static_cast<double>(closest[i]);
    }
    totals[block] = total;
  });
}

}  // namespace surefit
