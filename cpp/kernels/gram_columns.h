// The centred Gram of columns that lie apart in memory, as those of a record batch do: a strip of each at a
// time is packed, so that there is never a copy of the whole. The same bits as from a matrix.
#pragma once

#include "gram.h"

namespace surefit {

// Some consecutive rows of columns.
struct ColumnBlock {
  const double* const* columns = nullptr;
  Index start = 0;
};

// Copies columns [first, first + width) of the block into lanes 0 .. width - 1 of a sliver.
inline void gather(const ColumnBlock& x, Index rows, Index first, Index width, double* out) {
  const auto column = [&](Index l) { return x.columns[first + l] + x.start; };
  Index l = 0;
  for (; l + 4 <= width; l += 4) {
    const double *a = column(l), *b = column(l + 1), *c = column(l + 2), *d = column(l + 3);
    double* to = out + l;
    for (Index i = 0; i < rows; ++i, to += sliver_width) {
      to[0] = a[i];
      to[1] = b[i];
      to[2] = c[i];
      to[3] = d[i];
    }
  }
  for (; l < width; ++l)
    for (Index i = 0; i < rows; ++i) out[i * sliver_width + l] = column(l)[i];
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
