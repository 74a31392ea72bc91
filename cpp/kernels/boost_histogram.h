// Sums of gradients and curvatures by code, in whole numbers.
//
// A gradient becomes a fixed-point number; a curvature too, in the upper bits of a word whose lower bits
// count rows. Whole numbers add up exactly, so histograms are the same bits for any order, number of threads
// and batches, and a sibling's is an exact difference.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "binned_columns.h"

namespace surefit {

struct Sums {
  std::int64_t gradient = 0;
  std::int64_t curvature_and_rows = 0;
};

// What the whole numbers stand for: powers of two, so that conversion rounds once.
struct FixedPoint {
  double gradient = 1.0, curvature = 1.0;  // multiply by these to encode
  int row_bits = 1;

  // largest: of absolute gradients and of curvatures, that of any one row; total: of all curvatures.
  static FixedPoint of(Index rows, double largest_gradient, double largest_curvature,
                       double total_curvature) {
    FixedPoint unit;
    unit.row_bits = std::bit_width(static_cast<std::uint64_t>(rows));
    const int sum_bits = 62 - unit.row_bits;
    unit.gradient = power(sum_bits, largest_gradient, largest_gradient);
    unit.curvature = power(sum_bits, total_curvature, largest_curvature);
    return unit;
  }

  Sums encode(double g, double h) const {
    return {whole(g * gradient), (whole(h * curvature) << row_bits) + 1};
  }
  double gradient_of(const Sums& s) const { return static_cast<double>(s.gradient) / gradient; }
  double curvature_of(const Sums& s) const {
    return static_cast<double>(s.curvature_and_rows >> row_bits) / curvature;
  }
  Index rows_of(const Sums& s) const {
    return static_cast<Index>(s.curvature_and_rows & ((std::int64_t{1} << row_bits) - 1));
  }

 private:
  // In two instructions, where llrint is a call.
  static std::int64_t whole(double x) { return static_cast<std::int64_t>(std::rint(x)); }

  // The greatest power of two that keeps `bounded` below 2^bits and an entry within a double's 52 bits.
  static double power(int bits, double bounded, double entry) {
    if (!(bounded > 0.0)) return 1.0;
    return std::ldexp(1.0, std::min({bits - 1 - std::ilogb(bounded), 51 - std::ilogb(entry), 1000}));
  }
};

inline Sums operator+(const Sums& a, const Sums& b) {
  return {a.gradient + b.gradient, a.curvature_and_rows + b.curvature_and_rows};
}
inline Sums operator-(const Sums& a, const Sums& b) {
  return {a.gradient - b.gradient, a.curvature_and_rows - b.curvature_and_rows};
}

inline void encode_rows(const Run& run, const FixedPoint& unit, const double* gradient,
                        const double* curvature, Index rows, Sums* out) {
  constexpr Index kRows = 16384;
  for_chunks(run, (rows + kRows - 1) / kRows, [&](Index block, int) {
    for (Index i = block * kRows; i < std::min(rows, (block + 1) * kRows); ++i)
      out[i] = unit.encode(gradient[i], curvature[i]);
  });
}

// The codes of all rows, row by row, so that one cache line has all of a row's; missing values have the code
// after the last bin. offset: where the sums of each column begin in a histogram, and at last their number.
struct PackedRows {
  const std::uint8_t* codes;
  Index stride;
  Index width;
  const Index* offset;
};

inline Index packed_stride(Index width) {
  if (width > 16) return (width + 31) / 32 * 32;
  return width > 8 ? 16 : width > 4 ? 8 : 4;
}

inline void pack_rows(const Run& run, const std::uint8_t* columns, Index rows, Index width,
                      const std::int64_t* counts, Index stride, std::uint8_t* out) {
  constexpr Index kRows = 1024;
  for_chunks(run, (rows + kRows - 1) / kRows, [&](Index block, int) {
    const Index begin = block * kRows, end = std::min(rows, begin + kRows);
    for (Index j = 0; j < width; ++j) {
      const std::uint8_t* in = columns + j * rows;
      const auto missing = static_cast<std::uint8_t>(counts[j]);
      for (Index i = begin; i < end; ++i) out[i * stride + j] = in[i] == kMissingBin ? missing : in[i];
    }
  });
}

namespace histogram_detail {

using Two = std::int64_t __attribute__((vector_size(16)));

inline void add(Sums* to, const Two& value) {
  Two sum;
  std::memcpy(&sum, to, sizeof sum);
  sum += value;
  std::memcpy(static_cast<void*>(to), &sum, sizeof sum);
}

// Four columns at once: their sums stay in the nearest cache, and four additions never wait for each other.
inline void add_rows(const std::uint8_t* codes, Index stride, const Sums* sums, Index count, Index width,
                     const Index* offset, Sums* histogram) {
  Index j = 0;
  for (; j + 4 <= width; j += 4) {
    Sums *a = histogram + offset[j], *b = histogram + offset[j + 1], *c = histogram + offset[j + 2],
         *d = histogram + offset[j + 3];
    for (Index i = 0; i < count; ++i) {
      const std::uint8_t* at = codes + i * stride + j;
      Two value;
      std::memcpy(&value, sums + i, sizeof value);
      add(a + at[0], value);
      add(b + at[1], value);
      add(c + at[2], value);
      add(d + at[3], value);
    }
  }
  for (; j < width; ++j) {
    Sums* a = histogram + offset[j];
    for (Index i = 0; i < count; ++i) {
      Two value;
      std::memcpy(&value, sums + i, sizeof value);
      add(a + codes[i * stride + j], value);
    }
  }
}

}  // namespace histogram_detail

// Adds rows up, in either of two ways. Many rows: threads share the rows, each with sums of its own, and
// threads that share the columns put those together. Few rows: they are brought together once, and threads
// share the columns.
class HistogramBuilder {
 public:
  explicit HistogramBuilder(const Run& run, const PackedRows& rows)
      : rows_(rows), size_(static_cast<std::size_t>(rows.offset[rows.width])) {
    const auto workers = static_cast<std::size_t>(std::max(run.threads, 1));
    codes_.resize(workers);
    gathered_.resize(workers);
    partial_.resize(workers);
    used_.resize(workers);
  }

  std::size_t size() const { return size_; }

  void begin() {
    std::fill(used_.begin(), used_.end(), std::uint8_t{0});
    few_ = 0;
  }

  // sums: of each row of the table. rows: those to add, ascending; null for `count` from `first` on.
  void add(const Sums* sums, const std::uint32_t* rows, Index first, Index count, int worker) {
    const auto w = static_cast<std::size_t>(worker);
    if (used_[w] == 0) {
      partial_[w].assign(size_, Sums{});
      used_[w] = 1;
    }
    for (Index at = 0; at < count; at += kBlock) {
      const Index own = std::min(kBlock, count - at);
      if (rows == nullptr) {
        add_up(rows_.codes + (first + at) * rows_.stride, sums + first + at, own, 0, rows_.width,
               partial_[w].data());
      } else {
        gather(sums, rows + at, own, w);
        add_up(codes_[w].data(), gathered_[w].data(), own, 0, rows_.width, partial_[w].data());
      }
    }
  }

  void keep_few(const Sums* sums, const std::uint32_t* rows, Index count) {
    gather(sums, rows, count, 0);
    few_ = count;
  }

  // The sums of columns [from, to), of all rows that were added or kept since begin().
  void collect(Index from, Index to, Sums* histogram) const {
    Sums *begin = histogram + rows_.offset[from], *end = histogram + rows_.offset[to];
    bool first = true;
    for (std::size_t w = 0; w < used_.size(); ++w) {
      if (used_[w] == 0) continue;
      const Sums* own = partial_[w].data() + rows_.offset[from];
      if (first)
        std::copy(own, own + (end - begin), begin);
      else
        for (Sums* at = begin; at < end; ++at, ++own) *at = *at + *own;
      first = false;
    }
    if (first) std::fill(begin, end, Sums{});
    if (few_ > 0) add_up(codes_[0].data(), gathered_[0].data(), few_, from, to, histogram);
  }

 private:
  static constexpr Index kBlock = 512;
  static constexpr Index kAhead = 16;

  void add_up(const std::uint8_t* codes, const Sums* sums, Index count, Index from, Index to,
              Sums* histogram) const {
    histogram_detail::add_rows(codes + from, rows_.stride, sums, count, to - from, rows_.offset + from,
                               histogram);
  }

  // Rows that lie apart are brought together once for all columns.
  void gather(const Sums* sums, const std::uint32_t* rows, Index count, std::size_t worker) {
    auto& codes = codes_[worker];
    auto& gathered = gathered_[worker];
    const auto stride = static_cast<std::size_t>(rows_.stride);
    const auto wanted = static_cast<std::size_t>(count);
    if (gathered.size() < wanted) {
      codes.resize(wanted * stride);
      gathered.resize(wanted);
    }
    for (Index i = 0; i < count; ++i) {
      if (i + kAhead < count) {
        __builtin_prefetch(rows_.codes + rows[i + kAhead] * stride);
        __builtin_prefetch(sums + rows[i + kAhead]);
      }
      copy_codes(codes.data() + static_cast<std::size_t>(i) * stride, rows_.codes + rows[i] * stride, stride);
      gathered[static_cast<std::size_t>(i)] = sums[rows[i]];
    }
  }

  static void copy_codes(std::uint8_t* to, const std::uint8_t* from, std::size_t stride) {
    if (stride == 32)
      std::memcpy(to, from, 32);
    else
      std::memcpy(to, from, stride);
  }

  PackedRows rows_;
  std::size_t size_;
  Index few_ = 0;
  std::vector<std::vector<std::uint8_t>> codes_;
  std::vector<std::vector<Sums>> gathered_, partial_;
  std::vector<std::uint8_t> used_;  // which workers have added rows
};

}  // namespace surefit
