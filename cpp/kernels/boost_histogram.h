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
    return {std::llrint(g * gradient), (std::llrint(h * curvature) << row_bits) + 1};
  }
  double gradient_of(const Sums& s) const { return static_cast<double>(s.gradient) / gradient; }
  double curvature_of(const Sums& s) const {
    return static_cast<double>(s.curvature_and_rows >> row_bits) / curvature;
  }
  Index rows_of(const Sums& s) const {
    return static_cast<Index>(s.curvature_and_rows & ((std::int64_t{1} << row_bits) - 1));
  }

 private:
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

// Adds rows up; scratch of its own for each worker.
class HistogramBuilder {
 public:
  HistogramBuilder(const Run& run, const PackedRows& rows)
      : run_(run), rows_(rows), size_(static_cast<std::size_t>(rows.offset[rows.width])) {
    const auto workers = static_cast<std::size_t>(std::max(run.threads, 1));
    codes_.resize(workers);
    gathered_.resize(workers);
    partial_.resize(workers);
  }

  std::size_t size() const { return size_; }

  // sums: of each row of the table. rows: those to add, ascending; null for the first `count`.
  void build(const Sums* sums, const std::uint32_t* rows, Index count, std::vector<Sums>& histogram) {
    histogram.assign(size_, Sums{});
    if (run_.threads <= 1 || count < kSharedAbove) {
      add(sums, rows, 0, count, histogram.data(), 0);
      return;
    }
    const Index chunk = kBlock * 8, chunks = (count + chunk - 1) / chunk;
    for (auto& partial : partial_) partial.clear();
    for_chunks(run_, chunks, [&](Index k, int worker) {
      Sums* to = histogram.data();
      if (worker > 0) {
        auto& own = partial_[static_cast<std::size_t>(worker)];
        if (own.empty()) own.assign(size_, Sums{});
        to = own.data();
      }
      add(sums, rows, k * chunk, std::min(count, (k + 1) * chunk), to, worker);
    });
    for (const auto& partial : partial_)
      for (std::size_t i = 0; i < partial.size(); ++i) histogram[i] = histogram[i] + partial[i];
  }

 private:
  static constexpr Index kBlock = 512;
  static constexpr Index kSharedAbove = 4096;
  static constexpr Index kAhead = 16;

  void add(const Sums* sums, const std::uint32_t* rows, Index begin, Index end, Sums* histogram, int worker) {
    for (Index at = begin; at < end; at += kBlock) {
      const Index count = std::min(kBlock, end - at);
      if (rows == nullptr)
        histogram_detail::add_rows(rows_.codes + at * rows_.stride, rows_.stride, sums + at, count,
                                   rows_.width, rows_.offset, histogram);
      else
        add_gathered(sums, rows + at, count, histogram, static_cast<std::size_t>(worker));
    }
  }

  // Rows that lie apart are brought together once for all columns.
  void add_gathered(const Sums* sums, const std::uint32_t* rows, Index count, Sums* histogram,
                    std::size_t worker) {
    auto& codes = codes_[worker];
    auto& gathered = gathered_[worker];
    const auto stride = static_cast<std::size_t>(rows_.stride);
    codes.resize(static_cast<std::size_t>(kBlock) * stride);
    gathered.resize(static_cast<std::size_t>(kBlock));
    for (Index i = 0; i < count; ++i) {
      if (i + kAhead < count) {
        __builtin_prefetch(rows_.codes + rows[i + kAhead] * stride);
        __builtin_prefetch(sums + rows[i + kAhead]);
      }
      copy_codes(codes.data() + static_cast<std::size_t>(i) * stride, rows_.codes + rows[i] * stride, stride);
      gathered[static_cast<std::size_t>(i)] = sums[rows[i]];
    }
    histogram_detail::add_rows(codes.data(), rows_.stride, gathered.data(), count, rows_.width, rows_.offset,
                               histogram);
  }

  static void copy_codes(std::uint8_t* to, const std::uint8_t* from, std::size_t stride) {
    if (stride == 32)
      std::memcpy(to, from, 32);
    else
      std::memcpy(to, from, stride);
  }

  const Run& run_;
  PackedRows rows_;
  std::size_t size_;
  std::vector<std::vector<std::uint8_t>> codes_;
  std::vector<std::vector<Sums>> gathered_, partial_;
};

}  // namespace surefit
