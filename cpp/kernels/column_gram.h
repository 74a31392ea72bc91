// The Gram matrix of chosen columns, grown row by row: A_S'A_S for A = sqrt(factor s) (X - 1 centre').
//
// Dense columns are gathered into panels, strip of rows after strip of rows, and multiplied by BLAS; few
// stored entries are multiplied as they are. The chosen columns alone decide the order of all sums.
#pragma once

#include <cmath>
#include <utility>

#include "columns_dot.h"

namespace surefit {

// Rows [old, which.count) of the symmetric G are wanted, and their mirror images; G has rows of `ld` numbers.
struct ColumnGram {
  Which which;
  Index old = 0;
  const double* centre = nullptr;  // an entry a column of X
  const double* weight = nullptr;  // an entry a row
  double factor = 1;
  double* G = nullptr;
  Index ld = 0;
};

namespace column_gram_detail {

inline constexpr Index strip = 256;  // rows in a panel
inline constexpr Index tile = 192;   // columns of a tile of G
inline constexpr Index few = 24;  // new columns up to which gathering the old ones costs more than it saves

template <class T>
void gather(const FortranColumns<T>& x, Index j, double centre, const double* scale, Index start, Index count,
            Index&, double* to) {
  const T* from = x.column(j) + start;
  for (Index i = 0; i < count; ++i) to[i] = scale[i] * (static_cast<double>(from[i]) - centre);
}

template <class T>
void gather(const Dense<T>& x, Index j, double centre, const double* scale, Index start, Index count, Index&,
            double* to) {
  const T* from = x.data + start * x.cols + j;
  for (Index i = 0; i < count; ++i) to[i] = scale[i] * (static_cast<double>(from[i * x.cols]) - centre);
}

// cursor remembers where the column's entries of the next strip begin.
template <class T, class I>
void gather(const CscColumns<T, I>& x, Index j, double centre, const double* scale, Index start, Index count,
            Index& cursor, double* to) {
  for (Index i = 0; i < count; ++i) to[i] = -scale[i] * centre;
  if (start == 0) cursor = x.first(j);
  for (; cursor < x.end(j) && static_cast<Index>(x.indices[cursor]) < start + count; ++cursor) {
    const Index i = static_cast<Index>(x.indices[cursor]) - start;
    to[i] = scale[i] * (static_cast<double>(x.data[cursor]) - centre);
  }
}

template <class Columns>
void by_panels(const Run& run, const Columns& x, const ColumnGram& job) {
  const Index m = job.which.count, depth = std::min(strip, x.rows);
  Buffer panel(m * depth), scale(depth);
  std::vector<Index> cursor(static_cast<std::size_t>(m));
  std::vector<std::pair<Index, Index>> tiles;
  for (Index b = job.old; b < m; b += tile)
    for (Index a = 0; a < std::min(m, b + tile); a += tile) tiles.emplace_back(a, b);
  for (Index b = job.old; b < m; ++b) std::fill_n(job.G + b * job.ld, m, 0.0);
  const Run quick = columns_detail::for_work(run, m * (m - job.old) * depth / 64);
  for (Index start = 0; start < x.rows; start += depth) {
    const Index count = std::min(depth, x.rows - start);
    for (Index i = 0; i < count; ++i)
      scale[i] = std::sqrt(job.factor * (job.weight == nullptr ? 1.0 : job.weight[start + i]));
    for_chunks(quick, (m + 15) / 16, [&](Index chunk, int) {
      for (Index k = chunk * 16; k < std::min(m, chunk * 16 + 16); ++k) {
        const Index j = job.which[k];
        gather(x, j, columns_detail::at(job.centre, j), scale.data(), start, count,
               cursor[static_cast<std::size_t>(k)], panel.data() + k * depth);
      }
    });
    for_chunks(quick, static_cast<Index>(tiles.size()), [&](Index t, int) {
      const auto [a, b] = tiles[static_cast<std::size_t>(t)];
      int wide = static_cast<int>(std::min(tile, m - a)), high = static_cast<int>(std::min(tile, m - b));
      int k = static_cast<int>(count), lda = static_cast<int>(depth), ldc = static_cast<int>(job.ld);
      char yes = 'T', no = 'N';
      double one = 1.0;
      run.blas.dgemm(&yes, &no, &wide, &high, &k, &one, panel.data() + a * depth, &lda,
                     panel.data() + b * depth, &lda, &one, job.G + b * job.ld + a, &ldc);
    });
  }
}

// A few new columns, each multiplied with all: no panel is worth while.
template <class T>
void by_products(const Run& run, const FortranColumns<T>& x, const ColumnGram& job) {
  const Index m = job.which.count, fresh = m - job.old;
  Buffer scaled(fresh * x.rows);
  for (Index b = 0; b < fresh; ++b) {
    const Index j = job.which[job.old + b];
    const T* column = x.column(j);
    const double centre = columns_detail::at(job.centre, j);
    double* to = scaled.data() + b * x.rows;
    for (Index i = 0; i < x.rows; ++i)
      to[i] = job.factor * (job.weight == nullptr ? 1.0 : job.weight[i]) *
              (static_cast<double>(column[i]) - centre);
  }
  const Index step = std::max<Index>(1, columns_detail::chunk_work / std::max<Index>(1, x.rows * fresh));
  for_chunks(columns_detail::for_work(run, m * fresh * x.rows), (m + step - 1) / step, [&](Index chunk, int) {
    for (Index a = chunk * step; a < std::min(m, (chunk + 1) * step); ++a) {
      const Index j = job.which[a];
      const double centre = columns_detail::at(job.centre, j);
      for (Index b = 0; b < fresh; ++b)
        if (a <= job.old + b)
          job.G[(job.old + b) * job.ld + a] =
              centred_dot(x.column(j), centre, scaled.data() + b * x.rows, x.rows);
    }
  });
}

template <class T, class I>
void by_entries(const Run& run, const CscColumns<T, I>& x, const ColumnGram& job) {
  const Index m = job.which.count, fresh = m - job.old;
  double total = 0;
  for (Index i = 0; i < x.rows; ++i) total += job.factor * (job.weight == nullptr ? 1.0 : job.weight[i]);
  std::vector<Buffer> scratch(static_cast<std::size_t>(run.threads));
  constexpr Index step = 8;
  for_chunks(columns_detail::for_work(run, fresh * m), (fresh + step - 1) / step,
             [&](Index chunk, int worker) {
               Buffer& dense = scratch[static_cast<std::size_t>(worker)];
               if (dense.empty() && x.rows > 0) dense = Buffer(x.rows);
               for (Index b = job.old + chunk * step; b < std::min(m, job.old + (chunk + 1) * step); ++b) {
                 const Index j = job.which[b];
                 for (Index k = x.first(j); k < x.end(j); ++k)
                   dense[x.indices[k]] = static_cast<double>(x.data[k]) * job.factor *
                                         (job.weight == nullptr ? 1.0 : job.weight[x.indices[k]]);
                 const double mine = columns_detail::at(job.centre, j) * total;
                 double* row = job.G + b * job.ld;
                 for (Index a = 0; a <= b; ++a) {
                   const Index other = job.which[a];
                   row[a] = x.dot(other, dense.data()) - mine * columns_detail::at(job.centre, other);
                 }
                 for (Index k = x.first(j); k < x.end(j); ++k) dense[x.indices[k]] = 0;
               }
             });
}

inline void mirror_new(const ColumnGram& job) {
  constexpr Index side = 64;  // squares, so that both sides stay in the cache
  const Index m = job.which.count;
  for (Index b0 = job.old; b0 < m; b0 += side)
    for (Index a0 = 0; a0 < std::min(m, b0 + side); a0 += side)
      for (Index b = b0; b < std::min(m, b0 + side); ++b)
        for (Index a = a0; a < std::min(b, a0 + side); ++a) job.G[a * job.ld + b] = job.G[b * job.ld + a];
}

}  // namespace column_gram_detail

// Columns is FortranColumns, a Dense in C order, or CscColumns.
template <class Columns>
void column_gram(const Run& run, const Columns& x, const ColumnGram& job) {
  if constexpr (requires { x.indptr; }) {
    Index stored = 0;
    for (Index k = 0; k < job.which.count; ++k) stored += x.stored(job.which[k]);
    // An entry fetched by its index costs about as much as ten that stand in line.
    if (10 * stored < x.rows * job.which.count)
      column_gram_detail::by_entries(run, x, job);
    else
      column_gram_detail::by_panels(run, x, job);
  } else if constexpr (requires { x.column(0); }) {
    if (job.which.count - job.old <= column_gram_detail::few)
      column_gram_detail::by_products(run, x, job);
    else
      column_gram_detail::by_panels(run, x, job);
  } else {
    column_gram_detail::by_panels(run, x, job);
  }
  column_gram_detail::mirror_new(job);
}

}  // namespace surefit
