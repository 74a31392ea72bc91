// Gram matrices of CSR data. Nearly dense rows are spread out strip by strip and go through the dense kernel;
// short rows are multiplied entry by entry, with the zeros implicit.
//
// Centring by  sum z z' - W m m'  cancels only where a column is nearly full: with a share f of the weight on
// stored entries, at least 1 - f of the sum remains. So columns with f > 1/2, and Y, are shifted to their
// mean first, and form a dense tail beside each row's entries; the others lose one bit at the most.
#pragma once

#include <cstdint>

#include "csr_rows.h"
#include "gram.h"

namespace surefit {
namespace gram_detail {

template <class T, class I>
struct CsrSource {
  CsrReader<T, I> reader;
  Csr<T, I> x;

  RowBlock<double> block(Index start, Index rows, Buffer& scratch) const {
    if (scratch.size() < rows * x.cols) scratch = Buffer(strip_rows * x.cols);
    std::fill_n(scratch.data(), rows * x.cols, 0.0);
    for (Index i = 0; i < rows; ++i) {
      const auto [from, to] = reader.range(start + i);
      for (Index k = from; k < to; ++k)
        scratch[i * x.cols + reader.column(k)] += static_cast<double>(x.data[k]);
    }
    return {scratch.data(), x.cols, 1};
  }
  Ahead ahead(Index, Index, Index) const { return {}; }
};

// Whether multiplying entry by entry is cheaper than the dense kernel, which does some sixty products in the
// time of one.
template <class T, class I>
bool short_rows(const CsrReader<T, I>& reader, Index rows, Index cols) {
  double products = 0;
  for (Index i = 0; i < rows; ++i) {
    const auto [from, to] = reader.range(i);
    products += static_cast<double>(to - from) * static_cast<double>(to - from);
  }
  return 64 * products < static_cast<double>(rows) * static_cast<double>(cols) * static_cast<double>(cols);
}

// The columns that become dense, and the shift of each: full columns of X, then Y or G, then one column more,
// of ones (centred) or of h (not centred), whose products are the sums.
struct Tail {
  std::vector<Index> full;    // columns of X, increasing
  std::vector<Index> place;   // of each column of X: its place in the tail, or -1
  std::vector<double> shift;  // of full and extra columns
  double weight = 0;          // sum of all weights
  Index size() const { return static_cast<Index>(shift.size()) + 1; }
};

template <class T, class I>
Tail make_tail(const Run& run, const GramPlan& plan, const CsrReader<T, I>& reader, const Csr<T, I>& x,
               Index stored) {
  const Index p = plan.x_cols, k = plan.extra.cols, d = p + k;
  Tail tail;
  tail.place.assign(static_cast<std::size_t>(p), -1);
  tail.shift.assign(static_cast<std::size_t>(k), 0.0);
  if (!plan.centred) return tail;
  const Index chunks = std::clamp<Index>(stored / (16 * std::max<Index>(1, d)), 1, 64);
  std::vector<Buffer> fills(static_cast<std::size_t>(chunks)), totals(static_cast<std::size_t>(chunks));
  std::vector<double> weights(static_cast<std::size_t>(chunks), 0.0);
  for_chunks(run, chunks, [&](Index chunk, int) {
    const auto c = static_cast<std::size_t>(chunk);
    Buffer fill(p), total(d);
    for (Index at = plan.rows * chunk / chunks, end = plan.rows * (chunk + 1) / chunks; at < end;
         at += strip_rows) {
      const Strip strip = next_strip(plan, at, end, 0.0);
      weights[c] += strip.weight;
      for (Index i = at; i < at + strip.rows; ++i) {
        const double w = plan.weight != nullptr ? plan.weight[i] : 1.0;
        if (w == 0) continue;
        const auto [from, to] = reader.range(i);
        for (Index e = from; e < to; ++e) {
          const Index j = reader.column(e);
          fill[j] += w;
          total[j] += w * static_cast<double>(x.data[e]);
        }
        for (Index j = 0; j < k; ++j) total[p + j] += w * plan.extra(i, j);
      }
    }
    fills[c] = std::move(fill);
    totals[c] = std::move(total);
  });
  Buffer fill(p), total(d);
  for (std::size_t c = 0; c < fills.size(); ++c) {
    tail.weight += weights[c];
    for (Index j = 0; j < p; ++j) fill[j] += fills[c][j];
    for (Index j = 0; j < d; ++j) total[j] += totals[c][j];
  }
  if (!(tail.weight > 0)) return tail;
  tail.shift.clear();
  for (Index j = 0; j < p; ++j) {
    if (!(fill[j] > tail.weight / 2)) continue;
    tail.place[static_cast<std::size_t>(j)] = static_cast<Index>(tail.full.size());
    tail.full.push_back(j);
    tail.shift.push_back(total[j] / tail.weight);
  }
  for (Index j = 0; j < k; ++j) tail.shift.push_back(total[p + j] / tail.weight);
  return tail;
}

// Some consecutive rows, tidied: row i's sparse entries are at [begin[i], end[i]), its tail is row i of
// `tail`. The entries of one column are linked by `by_column`: which row, and where in the entries.
struct SparseBlock {
  struct Entry {
    std::int32_t row, at;
  };
  Index start = 0, rows = 0;
  std::vector<Index> begin, end, cols, column_begin;
  std::vector<double> values, tail;
  std::vector<Entry> by_column;

  void link(Index p) {
    column_begin.assign(static_cast<std::size_t>(p) + 1, 0);
    for_entries([&](Index, Index at) {
      ++column_begin[static_cast<std::size_t>(cols[static_cast<std::size_t>(at)]) + 1];
    });
    for (std::size_t j = 1; j < column_begin.size(); ++j) column_begin[j] += column_begin[j - 1];
    by_column.resize(static_cast<std::size_t>(column_begin.back()));
    std::vector<Index> next(column_begin.begin(), column_begin.end() - 1);
    for_entries([&](Index i, Index at) {
      const auto slot =
          static_cast<std::size_t>(next[static_cast<std::size_t>(cols[static_cast<std::size_t>(at)])]++);
      by_column[slot] = {static_cast<std::int32_t>(i), static_cast<std::int32_t>(at)};
    });
  }

 private:
  template <class Visit>
  void for_entries(const Visit& visit) const {
    for (Index i = 0; i < rows; ++i)
      for (Index at = begin[static_cast<std::size_t>(i)]; at < end[static_cast<std::size_t>(i)]; ++at)
        visit(i, at);
  }
};

template <class T, class I>
class SparseGram {
 public:
  // pairs: p x p products of sparse columns at row step `step`, upper triangle, zeroed by the caller.
  SparseGram(const GramPlan& plan, const Csr<T, I>& x, Index stored, Tail tail, double* pairs, Index step)
      : sums(plan.x_cols * tail.size() + (plan.centred ? tail.size() * tail.size() : 0)),
        plan_(plan),
        x_(x),
        stored_(stored),
        reader_(x, stored),
        tail_(std::move(tail)),
        pairs_(pairs),
        step_(step) {}

  void add_all(const Run& run) {
    Poll poll(run);
    const Index entry_limit = std::max<Index>(Index{1} << 16, 8 * plan_.x_cols);
    const Index row_limit = std::clamp<Index>((Index{1} << 19) / tail_.size(), 64, 8192);
    for (Index start = 0, end = 0; start < plan_.rows; start = end) {
      Index entries = 0;
      do {
        const auto [from, to] = reader_.range(end++);
        entries += to - from;
      } while (end < plan_.rows && end - start < row_limit && entries < entry_limit);
      read(run, start, end, entries);
      block_.link(plan_.x_cols);
      multiply(run);
      poll();
    }
  }

  // Sums over rows against the tail: row j of X's columns at j * tail.size(), then (centred) the tail against
  // itself.
  Buffer sums;

 private:
  void read(const Run& run, Index start, Index end, Index entries) {
    const Index t = tail_.size(), rows = end - start;
    block_.start = start;
    block_.rows = rows;
    block_.begin.resize(static_cast<std::size_t>(rows));
    block_.end.resize(static_cast<std::size_t>(rows));
    block_.cols.resize(static_cast<std::size_t>(entries));
    block_.values.resize(static_cast<std::size_t>(entries));
    block_.tail.resize(static_cast<std::size_t>(rows * t));
    constexpr Index some = 512;
    for_chunks(run, (rows + some - 1) / some, [&](Index chunk, int) {
      CsrReader<T, I> reader(x_, stored_);
      for (Index i = chunk * some; i < std::min(rows, (chunk + 1) * some); ++i) read_row(reader, i);
    });
  }

  void read_row(CsrReader<T, I>& reader, Index i) {
    const Index row = block_.start + i, k = plan_.extra.cols, full = static_cast<Index>(tail_.full.size());
    const Index base = reader.range(block_.start).first, from = reader.range(row).first - base;
    double* tail = block_.tail.data() + i * tail_.size();
    const double w = plan_.weight != nullptr ? plan_.weight[row] : 1.0;
    block_.begin[static_cast<std::size_t>(i)] = block_.end[static_cast<std::size_t>(i)] = from;
    std::fill_n(tail, tail_.size(), 0.0);
    if (plan_.centred && w == 0) return;
    for (Index j = 0; j < full; ++j) tail[j] = -tail_.shift[static_cast<std::size_t>(j)];
    for (Index j = 0; j < k; ++j)
      tail[full + j] = plan_.extra(row, j) - tail_.shift[static_cast<std::size_t>(full + j)];
    tail[full + k] = plan_.centred ? 1.0 : w;
    Index* cols = block_.cols.data() + from;
    double* values = block_.values.data() + from;
    const Index count = reader.read(row, cols, values);
    Index kept = 0;
    for (Index e = 0; e < count; ++e) {
      const Index place = tail_.place[static_cast<std::size_t>(cols[e])];
      if (place >= 0) {
        tail[place] += values[e];
      } else {
        cols[kept] = cols[e];
        values[kept++] = values[e];
      }
    }
    block_.end[static_cast<std::size_t>(i)] = from + kept;
  }

  void multiply(const Run& run) {
    constexpr Index some = 16;
    const Index p = plan_.x_cols, groups = (p + some - 1) / some, dense = plan_.centred ? tail_.size() : 0;
    for_chunks(run, groups + dense, [&](Index task, int) {
      if (task >= groups) return add_tail_row(task - groups);
      for (Index j = task * some; j < std::min(p, (task + 1) * some); ++j) add_sparse_row(j);
    });
  }

  double weight_of(Index i) const { return plan_.weight != nullptr ? plan_.weight[block_.start + i] : 1.0; }

  void add_sparse_row(Index j) {
    const Index t = tail_.size();
    double* out = pairs_ + j * step_;
    double* sum = sums.data() + j * t;
    const Index first = block_.column_begin[static_cast<std::size_t>(j)];
    const Index last = block_.column_begin[static_cast<std::size_t>(j) + 1];
    for (Index e = first; e < last; ++e) {
      const auto [i, at] = block_.by_column[static_cast<std::size_t>(e)];
      const double value = block_.values[static_cast<std::size_t>(at)], weighted = weight_of(i) * value;
      const Index end = block_.end[static_cast<std::size_t>(i)];
      for (Index q = at; q < end; ++q)
        out[block_.cols[static_cast<std::size_t>(q)]] +=
            weighted * block_.values[static_cast<std::size_t>(q)];
      const double* tail = block_.tail.data() + i * t;
      const double left = plan_.centred ? weighted : value;
      for (Index q = 0; q < t; ++q) sum[q] += left * tail[q];
    }
  }

  void add_tail_row(Index a) {
    const Index t = tail_.size();
    double* sum = sums.data() + (plan_.x_cols + a) * t;
    for (Index i = 0; i < block_.rows; ++i) {
      const double* tail = block_.tail.data() + i * t;
      const double left = weight_of(i) * tail[a];
      for (Index q = a; q < t; ++q) sum[q] += left * tail[q];
    }
  }

  GramPlan plan_;
  Csr<T, I> x_;
  Index stored_;
  CsrReader<T, I> reader_;
  Tail tail_;
  double* pairs_;
  Index step_;
  SparseBlock block_;
};

template <class T, class I>
double sparse_centred(const Run& run, const GramPlan& plan, const Csr<T, I>& x, Index stored,
                      const CentredOut& out) {
  const Index p = plan.x_cols, d = plan.cols();
  const Tail tail = make_tail(run, plan, CsrReader<T, I>(x, stored), x, stored);
  for (Index j = 0; j < d; ++j) out.set_mean(j, 0.0, 0.0);
  std::fill_n(out.scatter, d * d, 0.0);
  if (!(tail.weight > 0)) return 0.0;
  SparseGram<T, I> gram(plan, x, stored, tail, out.scatter, d);
  gram.add_all(run);
  const Index t = tail.size(), full = static_cast<Index>(tail.full.size());
  auto place = [&](Index j) { return j < p ? tail.place[static_cast<std::size_t>(j)] : full + j - p; };
  auto row = [&](Index j) { return gram.sums.data() + (place(j) < 0 ? j : p + place(j)) * t; };
  for (Index i = 0; i < d; ++i)
    for (Index j = i; j < d; ++j) {
      const Index a = place(i), b = place(j);
      double& to = out.scatter[i * d + j];
      if (a >= 0 || b >= 0) to = b < 0 ? row(j)[a] : row(i)[b];
      to -= row(i)[t - 1] / tail.weight * row(j)[t - 1];
    }
  for (Index j = 0; j < d; ++j)
    out.set_mean(j, place(j) < 0 ? 0.0 : tail.shift[static_cast<std::size_t>(place(j))],
                 row(j)[t - 1] / tail.weight);
  mirror(out.scatter, d);
  return tail.weight;
}

template <class T, class I>
void sparse_sandwich(const Run& run, const GramPlan& plan, const Csr<T, I>& x, Index stored,
                     const SandwichOut& out) {
  const Index p = plan.x_cols, k = plan.extra.cols;
  std::fill_n(out.gram, p * p, 0.0);
  const Tail tail = make_tail(run, plan, CsrReader<T, I>(x, stored), x, stored);
  SparseGram<T, I> gram(plan, x, stored, tail, out.gram, p);
  gram.add_all(run);
  for (Index i = 0; i < p; ++i) {
    const double* sum = gram.sums.data() + i * tail.size();
    std::copy_n(sum, k, out.cross + i * k);
    out.sums[i] = sum[k];
  }
  mirror(out.gram, p);
}

}  // namespace gram_detail

// As for dense data; `stored` is the number of entries that data and indices hold.
template <class T, class I>
double centred_gram(const Run& run, const Csr<T, I>& x, Index stored, const Dense<double>& y,
                    const double* weight, const CentredOut& out) {
  const GramPlan plan{x.rows, x.cols, y, weight, true};
  const CsrReader<T, I> reader(x, stored);
  if (gram_detail::short_rows(reader, x.rows, x.cols))
    return gram_detail::sparse_centred(run, plan, x, stored, out);
  return centred_gram_of(run, plan, gram_detail::CsrSource<T, I>{reader, x}, out);
}

template <class T, class I>
void sandwich(const Run& run, const Csr<T, I>& x, Index stored, const Dense<double>& g, const double* weight,
              const SandwichOut& out) {
  const GramPlan plan{x.rows, x.cols, g, weight, false};
  const CsrReader<T, I> reader(x, stored);
  if (gram_detail::short_rows(reader, x.rows, x.cols))
    return gram_detail::sparse_sandwich(run, plan, x, stored, out);
  sandwich_of(run, plan, gram_detail::CsrSource<T, I>{reader, x}, out);
}

}  // namespace surefit
