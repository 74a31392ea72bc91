// The centred Gram of columns that lie apart in memory, as those of a record batch do: a strip of each at a
// time is packed, so that there is never a copy of the whole. The same bits as from a matrix.
#pragma once

#include "gram.h"
#include "row_tile.h"

namespace surefit {

// Some consecutive rows of columns.
struct ColumnBlock {
  const double* const* columns = nullptr;
  Index start = 0;
};

// Copies columns [first, first + width) of the block into lanes 0 .. width - 1 of a sliver.
inline void gather(const ColumnBlock& x, Index rows, Index first, Index width, double* out) {
  const auto column = [&](Index l) { return x.columns[first + l] + x.start; };
  row_tile_detail::turn_columns(column, width, rows, out, sliver_width);
}

// A whole sliver, each row of weight 1, copied and centred at once; the bits of less_centre (panel.h).
inline void gather_less_centre(const ColumnBlock& x, Index first, Index rows, const double* centre, double* z,
                               double* sums) {
  constexpr int groups = sliver_width / 4;
  const double* column[sliver_width];
  Four middle[groups], sum[groups] = {};
  for (int l = 0; l < sliver_width; ++l) column[l] = x.columns[first + l] + x.start;
  for (int g = 0; g < groups; ++g) middle[g] = four(centre + 4 * g);
  Index i = 0;
  for (; i + 4 <= rows; i += 4, z += 4 * sliver_width)
#pragma GCC unroll 3
    for (int g = 0; g < groups; ++g) {
      Four row[4];
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) row[k] = four(column[4 * g + k] + i);
      across(row[0], row[1], row[2], row[3]);
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) {
        const Four deviation = row[k] - middle[g];
        sum[g] += deviation;
        put_four(z + k * sliver_width + 4 * g, deviation);
      }
    }
  for (; i < rows; ++i, z += sliver_width)
    for (int l = 0; l < sliver_width; ++l) {
      z[l] = column[l][i] - centre[l];
      sum[l / 4][l % 4] += z[l];
    }
  for (int g = 0; g < groups; ++g) put_four(sums + 4 * g, four(sums + 4 * g) + sum[g]);
}

namespace gram_detail {

struct ColumnSource {
  const double* const* columns = nullptr;
  ColumnBlock block(Index start, Index, Buffer&) const { return {columns, start}; }
  Ahead ahead(Index, Index, Index) const { return {}; }
};

}  // namespace gram_detail

inline double centred_gram(const Run& run, const std::vector<const double*>& x, Index rows,
                           const Dense<double>& y, const double* weight, const CentredOut& out) {
  const GramPlan plan{rows, static_cast<Index>(x.size()), y, weight, true};
  return centred_gram_of(run, plan, gram_detail::ColumnSource{x.data()}, out);
}

}  // namespace surefit
