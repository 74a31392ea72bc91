// Column moments in one pass: weight, mean, sum of squared deviations, minimum and maximum of each column.
//
// Blocks that fit the cache are summed about a row of their own, then squared about their own mean; blocks
// join by Chan's formula, so nothing cancels. NaN makes a column's mean and scatter NaN; minimum and maximum
// pass over it.
#pragma once

#include <functional>
#include <limits>
#include <stdexcept>
#include <vector>

#include "csr_rows.h"
#include "parallel.h"

namespace surefit {

// The running moments of some columns, struct of arrays. The mean is shift + mean, the shift being a number
// met in the column, so that means far from zero keep their digits; weights are per column so that lanes and
// sparse columns, which see different rows, can share the code.
class Moments {
 public:
  explicit Moments(Index cols = 0)
      : weight(size(cols), 0.0),
        shift(size(cols), 0.0),
        mean(size(cols), 0.0),
        scatter(size(cols), 0.0),
        minimum(size(cols), std::numeric_limits<double>::infinity()),
        maximum(size(cols), -std::numeric_limits<double>::infinity()) {}

  // Joins other rows of the column, with mean `from + m`.
  void join(Index column, double w, double from, double m, double s, double low, double high) {
    const auto j = static_cast<std::size_t>(column);
    minimum[j] = low < minimum[j] ? low : minimum[j];
    maximum[j] = high > maximum[j] ? high : maximum[j];
    if (!(w > 0)) return;
    if (weight[j] == 0) shift[j] = from;
    const double total = weight[j] + w, share = w / total, gap = (from - shift[j]) + (m - mean[j]);
    scatter[j] += s + gap * gap * (weight[j] * share);
    mean[j] += gap * share;
    weight[j] = total;
  }

  // Joins column `from` of another.
  void join(Index column, const Moments& other, Index from) {
    const auto j = static_cast<std::size_t>(from);
    join(column, other.weight[j], other.shift[j], other.mean[j], other.scatter[j], other.minimum[j],
         other.maximum[j]);
  }

  void clear(Index cols) {
    std::fill_n(weight.begin(), cols, 0.0);
    std::fill_n(mean.begin(), cols, 0.0);
    std::fill_n(scatter.begin(), cols, 0.0);
    std::fill_n(minimum.begin(), cols, std::numeric_limits<double>::infinity());
    std::fill_n(maximum.begin(), cols, -std::numeric_limits<double>::infinity());
  }

  std::vector<double> weight, shift, mean, scatter, minimum, maximum;

 private:
  static std::size_t size(Index cols) { return static_cast<std::size_t>(cols); }
};

// What the caller allocates, one number a column each; the range may be left out.
struct MomentsOut {
  double* mean;
  double* scatter;
  double* minimum = nullptr;
  double* maximum = nullptr;
};

namespace moments_detail {

inline constexpr Index block_rows = 64;    // of a C-order block, which is then at most 128 KB
inline constexpr Index strip_cols = 256;   // of a C-order block
inline constexpr Index run_rows = 4096;    // of a Fortran-order column at a time
inline constexpr Index fold = 16;          // a column is folded into so many lanes, each summed by itself
inline constexpr Index chunk_rows = 8192;  // at least, in a chunk of rows with moments of its own

inline double checked_weight(const double* weight, Index start, Index end) {
  double sum = 0;
  for (Index i = start; i < end; ++i) {
    if (!(weight[i] >= 0 && weight[i] <= std::numeric_limits<double>::max()))
      throw std::invalid_argument("a row weight is negative or not finite: weights must be 0 or more.");
    sum += weight[i];
  }
  return sum;
}

// Moments of a small C-order block; the caller sets out.shift to numbers near the data. The weight of entry
// (i, j) is weight[i * weight_step] in column blocks, weight[i * weight_step + j] in folded ones; entries of
// weight 0 are not looked at.
enum class Weights : std::uint8_t { none, by_row, by_entry };

template <Weights kind, class T>
void block_moments(const T* x, Index rows, Index cols, Index row_step, const double* weight,
                   Index weight_step, Moments& out) {
  out.clear(cols);
  const double* shift = out.shift.data();
  double *total = out.weight.data(), *mean = out.mean.data(), *scatter = out.scatter.data();
  double *low = out.minimum.data(), *high = out.maximum.data();
  auto weight_of = [&](Index i, Index j) {
    if constexpr (kind == Weights::none) return 1.0;
    if constexpr (kind == Weights::by_row) return weight[i * weight_step];
    return weight[i * weight_step + j];
  };
  for (Index i = 0; i < rows; ++i) {
    if (kind == Weights::by_row && weight_of(i, 0) == 0) continue;
    const T* row = x + i * row_step;
    for (Index j = 0; j < cols; ++j) {
      const double w = weight_of(i, j), value = static_cast<double>(row[j]);
      const bool counts = kind != Weights::by_entry || w > 0;
      mean[j] += counts ? w * (value - shift[j]) : 0.0;
      low[j] = counts && value < low[j] ? value : low[j];
      high[j] = counts && value > high[j] ? value : high[j];
      if constexpr (kind != Weights::none) total[j] += w;
    }
  }
  for (Index j = 0; j < cols; ++j) {
    if constexpr (kind == Weights::none) total[j] = static_cast<double>(rows);
    mean[j] = total[j] > 0 ? mean[j] / total[j] : 0.0;
  }
  for (Index i = 0; i < rows; ++i) {
    if (kind == Weights::by_row && weight_of(i, 0) == 0) continue;
    const T* row = x + i * row_step;
    for (Index j = 0; j < cols; ++j) {
      const double w = weight_of(i, j), deviation = (static_cast<double>(row[j]) - shift[j]) - mean[j];
      scatter[j] += kind != Weights::by_entry || w > 0 ? w * (deviation * deviation) : 0.0;
    }
  }
}

inline Index first_counted(const double* weight, Index start, Index end) {
  while (weight != nullptr && start < end && weight[start] == 0) ++start;
  return start;
}

// Rows [start, end), columns [first, last) of C-order data into `sum`, whose columns are those of x.
template <class T>
void strip_by_rows(const Dense<T>& x, const double* weight, Index start, Index end, Index first, Index last,
                   Moments& sum) {
  const Index cols = last - first;
  Moments block(cols);
  for (Index at = start; at < end; at += block_rows) {
    const Index stop = std::min(at + block_rows, end), from = first_counted(weight, at, stop);
    if (from == stop) continue;
    for (Index j = 0; j < cols; ++j)
      block.shift[static_cast<std::size_t>(j)] = static_cast<double>(x(from, first + j));
    const T* data = x.data + at * x.cols + first;
    if (weight == nullptr)
      block_moments<Weights::none>(data, stop - at, cols, x.cols, weight, 0, block);
    else
      block_moments<Weights::by_row>(data, stop - at, cols, x.cols, weight + at, 1, block);
    for (Index j = 0; j < cols; ++j) sum.join(first + j, block, j);
  }
}

// The same for Fortran order: each column's run of rows is read as a small C-order block of `fold` columns.
template <class T>
void strip_by_columns(const Dense<T>& x, const double* weight, Index start, Index end, Index first,
                      Index last, Moments& sum) {
  Moments block(fold);
  auto folded = [&](const T* data, Index at, Index rows, Index cols, Index column) {
    if (weight == nullptr)
      block_moments<Weights::none>(data + at, rows, cols, cols, weight, 0, block);
    else
      block_moments<Weights::by_entry>(data + at, rows, cols, cols, weight + at, cols, block);
    for (Index l = 0; l < cols; ++l) sum.join(column, block, l);
  };
  for (Index j = first; j < last; ++j) {
    const T* column = x.data + j * x.rows;
    for (Index at = start; at < end; at += run_rows) {
      const Index stop = std::min(at + run_rows, end), from = first_counted(weight, at, stop);
      if (from == stop) continue;
      std::fill(block.shift.begin(), block.shift.end(), static_cast<double>(column[from]));
      const Index whole = (stop - at) / fold;
      if (whole > 0) folded(column, at, whole, fold, j);
      if (at + whole * fold < stop) folded(column, at + whole * fold, 1, stop - at - whole * fold, j);
    }
  }
}

inline void write(const std::vector<Moments>& parts, Index cols, const MomentsOut& out) {
  Moments sum(cols);
  for (const Moments& part : parts)
    for (Index j = 0; j < cols; ++j) sum.join(j, part, j);
  std::transform(sum.shift.begin(), sum.shift.end(), sum.mean.begin(), out.mean, std::plus<>());
  std::copy(sum.scatter.begin(), sum.scatter.end(), out.scatter);
  if (out.minimum != nullptr) std::copy(sum.minimum.begin(), sum.minimum.end(), out.minimum);
  if (out.maximum != nullptr) std::copy(sum.maximum.begin(), sum.maximum.end(), out.maximum);
}

}  // namespace moments_detail

// Returns the sum of weights; rows of weight 0 are not looked at. No rows: zeros, and a range from inf to
// -inf.
template <class T>
double column_moments(const Run& run, const Dense<T>& x, const double* weight, const MomentsOut& out) {
  using namespace moments_detail;
  const double total = weight == nullptr ? static_cast<double>(x.rows) : checked_weight(weight, 0, x.rows);
  const Index chunks = std::clamp<Index>(x.rows / chunk_rows, 1, 64);
  const Index width = x.order == Order::C ? strip_cols : 8;
  const Index strips = (x.cols + width - 1) / width;
  std::vector<Moments> parts(static_cast<std::size_t>(chunks), Moments(x.cols));
  Run quick = run;
  if (x.rows * x.cols < 50'000) quick.threads = 1;  // done before another thread wakes up
  for_chunks(quick, chunks * strips, [&](Index task, int) {
    const Index chunk = task / strips, first = task % strips * width, last = std::min(first + width, x.cols);
    const Index start = x.rows * chunk / chunks, end = x.rows * (chunk + 1) / chunks;
    Moments& part = parts[static_cast<std::size_t>(chunk)];
    if (x.order == Order::C)
      strip_by_rows(x, weight, start, end, first, last, part);
    else
      strip_by_columns(x, weight, start, end, first, last, part);
  });
  write(parts, x.cols, out);
  return total;
}

// The same for a sparse matrix with `stored` entries: the zeros between them join each column as one block.
template <class T, class I>
double column_moments(const Run& run, const Csr<T, I>& x, Index stored, const double* weight,
                      const MomentsOut& out) {
  using namespace moments_detail;
  const double total = weight == nullptr ? static_cast<double>(x.rows) : checked_weight(weight, 0, x.rows);
  const Index longest = longest_row(x, stored);
  const Index chunks = std::clamp<Index>(stored / (16 * std::max<Index>(1, x.cols)), 1, 64);
  std::vector<Moments> parts(static_cast<std::size_t>(chunks), Moments(x.cols));
  std::vector<std::vector<Index>> seen(static_cast<std::size_t>(chunks));
  for_chunks(run, chunks, [&](Index chunk, int) {
    Moments& part = parts[static_cast<std::size_t>(chunk)];
    auto& count = seen[static_cast<std::size_t>(chunk)];
    count.assign(static_cast<std::size_t>(x.cols), 0);
    CsrReader<T, I> reader(x, stored);
    std::vector<Index> cols(static_cast<std::size_t>(longest));
    std::vector<double> values(static_cast<std::size_t>(longest));
    for (Index i = x.rows * chunk / chunks; i < x.rows * (chunk + 1) / chunks; ++i) {
      const double w = weight == nullptr ? 1.0 : weight[i];
      if (w == 0) continue;
      const Index entries = reader.read(i, cols.data(), values.data());
      for (Index k = 0; k < entries; ++k) {
        const auto e = static_cast<std::size_t>(k);
        part.join(cols[e], w, values[e], 0.0, 0.0, values[e], values[e]);
        ++count[static_cast<std::size_t>(cols[e])];
      }
    }
  });
  const Index counted = weight == nullptr ? x.rows : x.rows - std::count(weight, weight + x.rows, 0.0);
  Moments zeros(x.cols);
  for (Index j = 0; j < x.cols; ++j) {
    Index stored_rows = 0;
    double stored_weight = 0;
    for (std::size_t c = 0; c < parts.size(); ++c) {
      stored_rows += seen[c][static_cast<std::size_t>(j)];
      stored_weight += parts[c].weight[static_cast<std::size_t>(j)];
    }
    if (stored_rows < counted) zeros.join(j, std::max(0.0, total - stored_weight), 0.0, 0.0, 0.0, 0.0, 0.0);
  }
  parts.push_back(std::move(zeros));
  write(parts, x.cols, out);
  return total;
}

}  // namespace surefit
