// Columns as codes of one byte: how many edges lie below a value, or the level that it stands for.
#pragma once

#include <array>
#include <cmath>
#include <limits>

#include "parallel.h"
#include "span.h"

namespace surefit {

constexpr std::uint8_t kMissingBin = 255;
constexpr Index kMostBins = 255;

// Edges of all columns one after the other, ascending within each; column j's are
// [start[j], start[j + 1]). levels: of each column, 0 for numbers.
struct BinEdges {
  const double* edges;
  const std::int64_t* start;
  const std::int64_t* levels;
};

// The edges of one column, filled up so that every search takes eight steps and none is a guess.
class EdgeSearch {
 public:
  void load(const double* edges, Index count) {
    padded_.fill(std::numeric_limits<double>::infinity());
    std::copy(edges, edges + count, padded_.begin());
  }
  std::uint8_t operator()(double value) const {
    unsigned below = 0;
    for (unsigned step = 128; step > 0; step /= 2)  // by arithmetic: a branch would be guessed wrong
      below += step & (0u - static_cast<unsigned>(padded_[below + step - 1] < value));
    return std::isnan(value) ? kMissingBin : static_cast<std::uint8_t>(below);
  }

 private:
  std::array<double, 256> padded_;
};

inline std::uint8_t level_code(double value, std::int64_t levels) {
  return value >= 0.0 && value < static_cast<double>(levels) ? static_cast<std::uint8_t>(value) : kMissingBin;
}

// codes: Fortran order. Missing values and unknown levels get kMissingBin.
template <class T>
void bin_columns(const Run& run, const Dense<T>& X, const BinEdges& bins, std::uint8_t* codes) {
  constexpr Index kRows = 2048;  // so that the lines of a C-order block stay near while its columns go by
  for_chunks(run, (X.rows + kRows - 1) / kRows, [&](Index block, int) {
    const Index begin = block * kRows, end = std::min(X.rows, begin + kRows);
    EdgeSearch search;
    for (Index j = 0; j < X.cols; ++j) {
      std::uint8_t* out = codes + j * X.rows;
      if (bins.levels[j] > 0) {
        for (Index i = begin; i < end; ++i) out[i] = level_code(static_cast<double>(X(i, j)), bins.levels[j]);
        continue;
      }
      search.load(bins.edges + bins.start[j], static_cast<Index>(bins.start[j + 1] - bins.start[j]));
      const T* first = X.order == Order::C ? X.data + begin * X.cols + j : X.data + j * X.rows + begin;
      const Index step = X.order == Order::C ? X.cols : 1;
      for (Index i = begin; i < end; ++i) out[i] = search(static_cast<double>(first[(i - begin) * step]));
    }
  });
}

}  // namespace surefit
