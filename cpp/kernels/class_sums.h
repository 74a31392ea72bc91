// The weighted sum of each column within each class, in one pass, and the least entry that was met.
//
// With a threshold, a cell counts as 1 where it exceeds it and as 0 elsewhere. Rows are cut into chunks with
// sums of their own, joined in order; rows of weight 0 are not looked at.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "buffer.h"
#include "csr_rows.h"
#include "parallel.h"

namespace surefit {

struct ClassOf {
  const std::int64_t* of = nullptr;  // the class of each row, in 0 .. count - 1
  Index count = 0;
  const double* weight = nullptr;     // how often each row counts; none means once
  const double* threshold = nullptr;  // none: cells are added up as they are

  Index checked(Index row) const {
    if (of[row] < 0 || of[row] >= count)
      throw std::invalid_argument("a row's class is not one of 0 to classes - 1: pass codes in that range.");
    return static_cast<Index>(of[row]);
  }
  double weight_of(Index row) const { return weight == nullptr ? 1.0 : weight[row]; }
};

namespace class_sums_detail {

inline constexpr Index chunk_cells = Index{1} << 18;

template <bool Cut>
inline double counted(double cell, double threshold) {
  return Cut ? (cell > threshold ? 1.0 : 0.0) : cell;
}

template <bool Cut, class T>
void rows_of(const Dense<T>& x, const ClassOf& classes, double threshold, Index start, Index end,
             double* sums, double& least) {
  double low = least;
  if (x.order == Order::C) {
    for (Index i = start; i < end; ++i) {
      const double w = classes.weight_of(i);
      const T* row = x.data + i * x.cols;
      double* to = sums + classes.checked(i) * x.cols;
      if (w == 0) continue;
      for (Index j = 0; j < x.cols; ++j) {
        const double cell = static_cast<double>(row[j]);
        low = cell < low ? cell : low;
        to[j] += w * counted<Cut>(cell, threshold);
      }
    }
  } else {
    for (Index i = start; i < end; ++i) classes.checked(i);
    for (Index j = 0; j < x.cols; ++j) {
      const T* column = x.data + j * x.rows;
      for (Index i = start; i < end; ++i) {
        const double w = classes.weight_of(i), cell = static_cast<double>(column[i]);
        if (w == 0) continue;
        low = cell < low ? cell : low;
        sums[static_cast<Index>(classes.of[i]) * x.cols + j] += w * counted<Cut>(cell, threshold);
      }
    }
  }
  least = low;
}

// Runs `body(start, end, sums, least)` over chunks of rows and joins what they found.
template <class Body>
void joined(const Run& run, Index rows, Index chunks, Index cells, double* sums, double* least,
            const Body& body) {
  std::vector<Buffer> parts;
  for (Index c = 0; c < chunks; ++c) parts.emplace_back(cells);
  std::vector<double> low(static_cast<std::size_t>(chunks), std::numeric_limits<double>::infinity());
  for_chunks(run, chunks, [&](Index c, int) {
    const auto at = static_cast<std::size_t>(c);
    body(rows * c / chunks, rows * (c + 1) / chunks, parts[at].data(), low[at]);
  });
  std::fill_n(sums, cells, 0.0);
  *least = std::numeric_limits<double>::infinity();
  for (Index c = 0; c < chunks; ++c) {
    const auto at = static_cast<std::size_t>(c);
    for (Index e = 0; e < cells; ++e) sums[e] += parts[at][e];
    *least = std::min(*least, low[at]);
  }
}

}  // namespace class_sums_detail

// sums: classes x cols. least: the least cell, infinite where there is none.
template <class T>
void class_sums(const Run& run, const Dense<T>& x, const ClassOf& classes, double* sums, double* least) {
  using namespace class_sums_detail;
  const Index cells = classes.count * x.cols;
  Index chunks = std::min(x.rows * x.cols / chunk_cells, x.rows / (16 * classes.count + 1));
  chunks = std::clamp<Index>(chunks, 1, 64);
  joined(run, x.rows, chunks, cells, sums, least, [&](Index start, Index end, double* to, double& low) {
    if (classes.threshold == nullptr)
      rows_of<false>(x, classes, 0.0, start, end, to, low);
    else
      rows_of<true>(x, classes, *classes.threshold, start, end, to, low);
  });
}

// The same for the stored entries of a sparse matrix, of which there are `stored`; a threshold must be 0 at
// least, so that the other cells count as 0. An entry stored twice is the sum of the two.
template <class T, class I>
void class_sums(const Run& run, const Csr<T, I>& x, Index stored, const ClassOf& classes, double* sums,
                double* least) {
  using namespace class_sums_detail;
  const Index cells = classes.count * x.cols;
  const bool cut = classes.threshold != nullptr;
  const double threshold = cut ? *classes.threshold : 0.0;
  const Index longest = longest_row(x, stored);
  const Index chunks = std::clamp<Index>(stored / (4 * cells + chunk_cells), 1, 32);
  joined(run, x.rows, chunks, cells, sums, least, [&](Index start, Index end, double* to, double& low) {
    CsrReader<T, I> reader(x, stored);
    std::vector<Index> cols(static_cast<std::size_t>(longest));
    std::vector<double> values(static_cast<std::size_t>(longest));
    for (Index i = start; i < end; ++i) {
      const double w = classes.weight_of(i);
      double* row = to + classes.checked(i) * x.cols;
      if (w == 0) continue;
      const Index entries = reader.read(i, cols.data(), values.data());
      for (Index k = 0; k < entries; ++k) {
        const auto e = static_cast<std::size_t>(k);
        low = std::min(low, values[e]);
        row[cols[e]] += w * (cut ? counted<true>(values[e], threshold) : values[e]);
      }
    }
  });
}

}  // namespace surefit
