// Near rows by Euclidean distance, by comparing all pairs: float32 products pick candidates, float64 decides.
//
// A matrix product of rows rounded to float32 gives |x|^2 - 2 x'q within a bound on its error; only rows that
// may still come in are counted again from their float64 entries, column after column. The answer is that of
// float64 alone, ties by row number included.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "compare.h"
#include "near.h"
#include "parallel.h"
#include "span.h"

namespace surefit {

namespace near_detail {

constexpr Index kRowBlock = 512, kQueryBlock = 64;

// A matrix in C order, less a centre and times a scale, in float32, with |x|^2 as one more column, or 1 after
// -2 q for queries; and the length of each row.
struct Panel {
  std::vector<float> rows;
  std::vector<double> length;
};

inline void fill_panel(const Dense<double>& X, Index first, Index count, const double* centre, double scale,
                       bool queries, float* out, double* length) {
  const Index d = X.cols;
  for (Index i = 0; i < count; ++i) {
    const double* x = X.data + (first + i) * d;
    float* to = out + i * (d + 1);
    double sum = 0.0;
    for (Index j = 0; j < d; ++j) {
      const float value = static_cast<float>((x[j] - centre[j]) * scale);
      to[j] = queries ? -2.0f * value : value;
      sum += static_cast<double>(value) * static_cast<double>(value);
    }
    to[d] = queries ? 1.0f : static_cast<float>(sum);
    length[i] = std::sqrt(sum);
  }
}

inline double squared_distance(const double* a, const double* b, Index d) {
  double sum = 0.0;
  for (Index j = 0; j < d; ++j) {
    const double x = a[j] - b[j];
    sum += x * x;
  }
  return sum;
}

// Offers every row of a block that may lie within the visitor's bound.
template <class Visitor>
void offer_block(const Dense<double>& X, Index first, Index count, const double* q, const float* found,
                 double shift, double slack, double squared_scale, Visitor& visitor) {
  // found + shift is the scaled squared distance, up to slack.
  const auto threshold = [&] {
    const double limit = visitor.bound() * squared_scale * (1 + 1e-6) - shift + slack;
    return std::nextafter(static_cast<float>(limit), std::numeric_limits<float>::infinity());
  };
  float limit = threshold();
  const auto offer = [&](Index i) {
    visitor.offer(squared_distance(X.data + (first + i) * X.cols, q, X.cols), first + i);
    limit = threshold();
  };
  Index i = 0;
  for (; i + compared<float> <= count; i += compared<float>)
    for (unsigned bits = below_bits(found + i, limit); bits != 0; bits &= bits - 1) {
      const Index at = i + std::countr_zero(bits);
      if (!(found[at] > limit)) offer(at);
    }
  for (; i < count; ++i)
    if (!(found[i] > limit)) offer(i);
}

// Calls begin(visitor, query) and end(visitor, query, chunk) around all rows for each query.
template <class Make, class Begin, class End>
void for_queries(const Run& run, const Dense<double>& X, const double* centre, double scale,
                 const Dense<double>& Q, const Make& make, const Begin& begin, const End& end) {
  using Visitor = decltype(make());
  const Index n = X.rows, d = X.cols, width = d + 1, blocks = (n + kRowBlock - 1) / kRowBlock;
  Panel panel{std::vector<float>(static_cast<std::size_t>(n * width)),
              std::vector<double>(static_cast<std::size_t>(n))};
  std::vector<double> longest(static_cast<std::size_t>(blocks));
  for_chunks(run, blocks, [&](Index block, int) {
    const Index first = block * kRowBlock, count = std::min(kRowBlock, n - first);
    double* length = panel.length.data() + first;
    fill_panel(X, first, count, centre, scale, false, panel.rows.data() + first * width, length);
    longest[static_cast<std::size_t>(block)] = *std::max_element(length, length + count);
  });
  struct Room {
    std::vector<Visitor> visitors;
    std::vector<float> queries, products;
    std::vector<double> length;
  };
  std::vector<Room> rooms(static_cast<std::size_t>(std::max(run.threads, 1)));
  for_chunks(run, (Q.rows + kQueryBlock - 1) / kQueryBlock, [&](Index chunk, int worker) {
    Room& room = rooms[static_cast<std::size_t>(worker)];
    if (room.visitors.empty()) {
      for (Index i = 0; i < kQueryBlock; ++i) room.visitors.push_back(make());
      room.queries.resize(static_cast<std::size_t>(kQueryBlock * width));
      room.products.resize(static_cast<std::size_t>(kQueryBlock * kRowBlock));
      room.length.resize(static_cast<std::size_t>(kQueryBlock));
    }
    const Index first = chunk * kQueryBlock, count = std::min(kQueryBlock, Q.rows - first);
    fill_panel(Q, first, count, centre, scale, true, room.queries.data(), room.length.data());
    for (Index i = 0; i < count; ++i) begin(room.visitors[static_cast<std::size_t>(i)], first + i);
    Poll poll(run);
    for (Index block = 0; block < blocks; ++block) {
      if (worker == 0) poll();
      const Index from = block * kRowBlock;
      int m = static_cast<int>(std::min(kRowBlock, n - from)), queries = static_cast<int>(count);
      int inner = static_cast<int>(width), lead = static_cast<int>(kRowBlock);
      char turn[] = "T", keep[] = "N";
      float one = 1.0f, zero = 0.0f;
      run.blas.sgemm(turn, keep, &m, &queries, &inner, &one, panel.rows.data() + from * width, &inner,
                     room.queries.data(), &inner, &zero, room.products.data(), &lead);
      for (Index i = 0; i < count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        // Rounding the entries, the products and their sums errs by less than this, with room to spare.
        const double reach = room.length[at] + longest[static_cast<std::size_t>(block)];
        const double slack = static_cast<double>(width + 8) * 0x1.0p-23 * reach * reach + 1e-30;
        offer_block(X, from, m, Q.data + (first + i) * d, room.products.data() + i * kRowBlock,
                    room.length[at] * room.length[at], slack, scale * scale, room.visitors[at]);
      }
    }
    for (Index i = 0; i < count; ++i) end(room.visitors[static_cast<std::size_t>(i)], first + i, chunk);
  });
}

}  // namespace near_detail

// The k nearest rows of X of each row of Q, k at most the rows of X; with `own`, Q is X and no row is its own
// neighbour. Values are squared distances. Entries less the centre, times the scale, should be about 1.
inline void rows_nearest(const Run& run, const Dense<double>& X, const double* centre, double scale,
                         const Dense<double>& Q, Index k, bool own, std::int64_t* index, double* value) {
  near_detail::for_queries(
      run, X, centre, scale, Q, [&] { return Nearest(k); },
      [&](Nearest& visitor, Index query) { visitor.start(own ? query : -1); },
      [&](Nearest& visitor, Index query, Index) { visitor.write(index + query * k, value + query * k); });
}

// All rows of X whose squared distance from query i is at most radius[i].
inline NearLists rows_within(const Run& run, const Dense<double>& X, const double* centre, double scale,
                             const Dense<double>& Q, const double* radius, bool own, bool by_distance) {
  NearLists lists;
  lists.places.resize(static_cast<std::size_t>(Q.rows));
  lists.chunks.resize(
      static_cast<std::size_t>((Q.rows + near_detail::kQueryBlock - 1) / near_detail::kQueryBlock));
  near_detail::for_queries(
      run, X, centre, scale, Q, [] { return Within(); },
      [&](Within& visitor, Index query) {
        visitor.found.clear();
        visitor.start(radius[query], own ? query : -1);
      },
      [&](Within& visitor, Index query, Index chunk) {
        std::vector<Near>& all = lists.chunks[static_cast<std::size_t>(chunk)];
        put_in_order(visitor.found.data(), visitor.found.data() + visitor.found.size(), by_distance);
        lists.places[static_cast<std::size_t>(query)] = {chunk, static_cast<Index>(all.size()),
                                                         static_cast<Index>(visitor.found.size())};
        all.insert(all.end(), visitor.found.begin(), visitor.found.end());
      });
  return lists;
}

}  // namespace surefit
