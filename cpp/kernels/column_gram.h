// The Gram matrix of chosen columns, grown row by row: A_S'A_S for A = sqrt(factor s) (X - 1 centre').
//
// Dense columns are packed into slivers, strip of rows after strip of rows, and multiplied by tile.h; few
// stored entries are multiplied as they are. Which columns, and the shape, decide the order of all sums.
#pragma once

#include <cmath>
#include <utility>

#include "columns_dot.h"
#include "panel.h"

namespace surefit {

// Rows [old, which.count) of the symmetric G are wanted, and their mirror images; G has rows of `ld` numbers.
struct ColumnGram {
  Which which;  // named one by one
  Index old = 0;
  const double* centre = nullptr;  // an entry a column of X
  const double* weight = nullptr;  // an entry a row
  double factor = 1;
  double* G = nullptr;
  Index ld = 0;
};

namespace column_gram_detail {

inline constexpr Index few = 4;  // new columns up to which packing the old ones costs more than it saves

// What a sliver holds: up to twelve of the chosen columns, in rows [start, start + rows).
struct Piece {
  const std::int64_t* columns;
  Index count;
  Index start;
  Index rows;
};

template <class T>
void pack(const FortranColumns<T>& x, const Piece& piece, const double* centre, double* out) {
  Index l = 0;
  for (; l + 4 <= piece.count; l += 4) {
    const T* from[4];
    Four m[4];
    for (Index k = 0; k < 4; ++k) {
      const Index j = static_cast<Index>(piece.columns[l + k]);
      const double mean = columns_detail::at(centre, j);
      from[k] = x.column(j) + piece.start;
      m[k] = Four{mean, mean, mean, mean};
    }
    double* to = out + l;
    Index i = 0;
    for (; i + 4 <= piece.rows; i += 4, to += 4 * sliver_width) {
      Four v[4];
      for (Index k = 0; k < 4; ++k) {
        load_four(from[k] + i, v[k]);
        v[k] -= m[k];
      }
      across(v[0], v[1], v[2], v[3]);
      for (Index k = 0; k < 4; ++k) put_four(to + k * sliver_width, v[k]);
    }
    for (; i < piece.rows; ++i, to += sliver_width)
      for (Index k = 0; k < 4; ++k) to[k] = static_cast<double>(from[k][i]) - m[k][0];
  }
  for (; l < piece.count; ++l) {
    const Index j = static_cast<Index>(piece.columns[l]);
    const double mean = columns_detail::at(centre, j);
    const T* from = x.column(j) + piece.start;
    for (Index i = 0; i < piece.rows; ++i) out[i * sliver_width + l] = static_cast<double>(from[i]) - mean;
  }
}

template <class T>
void pack(const Dense<T>& x, const Piece& piece, const double* centre, double* out) {
  double mean[sliver_width] = {};
  for (Index l = 0; l < piece.count; ++l) mean[l] = columns_detail::at(centre, piece.columns[l]);
  for (Index i = 0; i < piece.rows; ++i, out += sliver_width) {
    const T* row = x.data + (piece.start + i) * x.cols;
    for (Index l = 0; l < piece.count; ++l) out[l] = static_cast<double>(row[piece.columns[l]]) - mean[l];
  }
}

template <class T, class I>
void pack(const CscColumns<T, I>& x, const Piece& piece, const double* centre, double* out) {
  for (Index l = 0; l < piece.count; ++l) {
    const Index j = static_cast<Index>(piece.columns[l]);
    const double mean = columns_detail::at(centre, j);
    for (Index i = 0; i < piece.rows; ++i) out[i * sliver_width + l] = -mean;
    const I* end = x.indices + x.end(j);
    for (const I* at = std::lower_bound(x.indices + x.first(j), end, static_cast<I>(piece.start));
         at < end && static_cast<Index>(*at) < piece.start + piece.rows; ++at)
      out[(static_cast<Index>(*at) - piece.start) * sliver_width + l] =
          static_cast<double>(x.data[at - x.indices]) - mean;
  }
}

// The chosen columns as slivers (tile.h), of which those from `first` on have columns that are new.
template <class Columns>
class Slivers {
 public:
  Slivers(const Columns& x, const ColumnGram& job)
      : x_(x), job_(job), m_(job.which.count), root_(job.weight == nullptr ? 0 : x.rows) {
    for (Index i = 0; i < root_.size(); ++i) root_[i] = std::sqrt(job.weight[i]);
  }

  Index count() const { return (m_ + sliver_width - 1) / sliver_width; }
  Index first() const { return job_.old / sliver_width; }

  void pack_one(Index s, Index start, Index rows, double* out) const {
    const Index left = s * sliver_width;
    const Piece piece{job_.which.index + left, std::min<Index>(sliver_width, m_ - left), start, rows};
    pack(x_, piece, job_.centre, out);
    if (root_.empty()) return;
    for (Index i = 0; i < rows; ++i)
      for (Index l = 0; l < sliver_width; ++l) out[i * sliver_width + l] *= root_[start + i];
  }

  // The corners of all squares of slivers with something new on or above the diagonal.
  std::vector<std::pair<Index, Index>> squares() const {
    std::vector<std::pair<Index, Index>> all;
    for (Index col = first(); col < count(); col += square_side)
      for (Index row = 0; row < std::min(count(), col + square_side); row += square_side)
        all.emplace_back(row, col);
    return all;
  }

  // c, with its corner at (row, col), += the products of a square; the panel holds all slivers.
  void multiply(const double* panel, Index depth, Index row, Index col, double* c, Index ldc) const {
    Ahead nothing;
    for (Index j = col; j < std::min(col + square_side, count()); ++j)
      for (Index i = row; i < std::min(row + square_side, j + 1); ++i)
        sliver_product(depth, panel + i * sliver_step, panel + j * sliver_step, i == j, width_of(j, m_),
                       c + (i - row) * sliver_width * ldc + (j - col) * sliver_width, ldc, nothing);
  }

  // Adds such a square to G, below the diagonal.
  void add(Index row, Index col, const double* c, Index ldc) const {
    const Index left = row * sliver_width, top = col * sliver_width, side = square_side * sliver_width;
    for (Index b = std::max(top, job_.old); b < std::min(top + side, m_); ++b)
      for (Index a = left; a < std::min(left + side, b + 1); ++a)
        job_.G[b * job_.ld + a] += job_.factor * c[(a - left) * ldc + (b - top)];
  }

 private:
  const Columns& x_;
  const ColumnGram& job_;
  Index m_;
  Buffer root_;
};

inline constexpr Index square_columns = square_side * sliver_width;

// How many chunks of rows, each with a sum of its own, are worth while: their sums may take four megabytes.
inline Index row_chunks(Index rows, Index squares) {
  const Index sum = std::max<Index>(1, squares) * square_columns * square_columns;
  return std::min({Index{64}, rows / 1024, (Index{1} << 19) / sum});
}

// Many rows of few columns: chunks of rows in parallel.
template <class Columns>
void by_rows(const Run& run, const Slivers<Columns>& slivers, Index rows, Index chunks) {
  const auto corners = slivers.squares();
  constexpr Index size = square_columns * square_columns;
  std::vector<Buffer> sums(static_cast<std::size_t>(chunks)), panels(static_cast<std::size_t>(run.threads));
  for_chunks(run, chunks, [&](Index chunk, int worker) {
    Buffer& panel = panels[static_cast<std::size_t>(worker)];
    if (panel.empty()) panel = Buffer(slivers.count() * sliver_step);
    Buffer sum(static_cast<Index>(corners.size()) * size);
    const Index end = rows * (chunk + 1) / chunks;
    for (Index at = rows * chunk / chunks; at < end; at += strip_rows) {
      const Index depth = std::min(strip_rows, end - at);
      for (Index s = 0; s < slivers.count(); ++s)
        slivers.pack_one(s, at, depth, panel.data() + s * sliver_step);
      for (std::size_t k = 0; k < corners.size(); ++k)
        slivers.multiply(panel.data(), depth, corners[k].first, corners[k].second,
                         sum.data() + static_cast<Index>(k) * size, square_columns);
    }
    sums[static_cast<std::size_t>(chunk)] = std::move(sum);
  });
  for (const Buffer& sum : sums)
    for (std::size_t k = 0; k < corners.size(); ++k)
      slivers.add(corners[k].first, corners[k].second, sum.data() + static_cast<Index>(k) * size,
                  square_columns);
}

// Many columns: some strips of rows are packed, then the squares in parallel.
template <class Columns>
void by_squares(const Run& run, const Slivers<Columns>& slivers, Index rows) {
  constexpr Index group = 2;  // strips
  const auto corners = slivers.squares();
  const Index step = slivers.count() * sliver_step;
  Buffer panel(std::min(group, (rows + strip_rows - 1) / strip_rows) * step);
  std::vector<Buffer> squares(static_cast<std::size_t>(run.threads));
  for (Index at = 0; at < rows; at += group * strip_rows) {
    const Index count = std::min(group, (rows - at + strip_rows - 1) / strip_rows);
    auto depth = [&](Index g) { return std::min(strip_rows, rows - at - g * strip_rows); };
    for_chunks(run, slivers.count(), [&](Index s, int) {
      for (Index g = 0; g < count; ++g)
        slivers.pack_one(s, at + g * strip_rows, depth(g), panel.data() + g * step + s * sliver_step);
    });
    for_chunks(run, static_cast<Index>(corners.size()), [&](Index corner, int worker) {
      const auto [row, col] = corners[static_cast<std::size_t>(corner)];
      Buffer& square = squares[static_cast<std::size_t>(worker)];
      if (square.empty()) square = Buffer(square_columns * square_columns);
      std::fill_n(square.data(), square.size(), 0.0);
      for (Index g = 0; g < count; ++g)
        slivers.multiply(panel.data() + g * step, depth(g), row, col, square.data(), square_columns);
      slivers.add(row, col, square.data(), square_columns);
    });
  }
}

template <class Columns>
void by_slivers(const Run& run, const Columns& x, const ColumnGram& job) {
  const Index m = job.which.count;
  for (Index b = job.old; b < m; ++b) std::fill_n(job.G + b * job.ld, m, 0.0);
  if (job.old == m) return;
  const Slivers<Columns> slivers(x, job);
  const Run quick = columns_detail::for_work(run, m * (m - job.old) * x.rows / 64);
  if (const Index chunks = row_chunks(x.rows, static_cast<Index>(slivers.squares().size())); chunks >= 8)
    by_rows(quick, slivers, x.rows, chunks);
  else
    by_squares(quick, slivers, x.rows);
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
      column_gram_detail::by_slivers(run, x, job);
  } else if constexpr (requires { x.column(0); }) {
    if (job.which.count - job.old <= column_gram_detail::few)
      column_gram_detail::by_products(run, x, job);
    else
      column_gram_detail::by_slivers(run, x, job);
  } else {
    column_gram_detail::by_slivers(run, x, job);
  }
  column_gram_detail::mirror_new(job);
}

}  // namespace surefit
