// The nearest centre of every row, exactly: the first of those at the least distance in double precision.
//
// Single precision finds the candidates, six rows by sixteen centres at a time, and double precision decides
// where it may err. With bounds (Hamerly 2010), rows whose centre provably stays are skipped, and the others
// are gathered, so that what is left is still computed by tiles. With a bound for each centre (Elkan 2003),
// single distances are skipped. All three give the same labels.
#pragma once

#include <cfloat>
#include <cstdint>

#include "centre_table.h"
#include "parallel.h"

namespace surefit {

// Bounds on the distance of each row to its own centre (upper) and to all others (lower); `moved` is how far
// each centre has moved since they were computed, null when there are none yet.
struct CentreBounds {
  float* upper = nullptr;
  float* lower = nullptr;
  const double* moved = nullptr;
};

namespace nearest_detail {

inline constexpr Index chunk_rows = 2048;
inline constexpr int together = 6;
inline constexpr float up = 1 + 0x1p-20f, down = 1 - 0x1p-20f;

inline float raised(double distance) {
  return static_cast<float>(distance) * up + FLT_MIN;
}
inline float lowered(double distance) {
  return std::max(0.0f, static_cast<float>(distance) * down - FLT_MIN);
}

// Half the distance of each centre to the nearest other.
inline std::vector<float> half_gaps(const CentreTable& table) {
  std::vector<float> half(static_cast<std::size_t>(table.count()), std::numeric_limits<float>::infinity());
  for (Index a = 0; a < table.count(); ++a)
    for (Index b = 0; b < a; ++b) {
      const float gap =
          lowered(0.5 * std::sqrt(exact_square(table.centre(a), table.centre(b), table.cols())));
      for (const Index c : {a, b}) {
        float& kept = half[static_cast<std::size_t>(c)];
        kept = std::min(kept, gap);
      }
    }
  return half;
}

// The largest movement of all centres but each one.
inline std::vector<float> most_of_others(const double* moved, Index count) {
  double most = 0, next = 0;
  Index place = 0;
  for (Index c = 0; c < count; ++c)
    if (moved[c] > most)
      next = most, most = moved[c], place = c;
    else
      next = std::max(next, moved[c]);
  std::vector<float> others(static_cast<std::size_t>(count), raised(most));
  others[static_cast<std::size_t>(place)] = raised(next);
  return others;
}

template <class T>
struct Search {
  const Dense<T>& x;
  const CentreTable& table;
  CentreBounds bounds;
  std::int32_t* labels;
  std::vector<float> half, others;

  // Whether the label of a row provably stays; tightens its upper bound where that may help.
  bool stays(Index i, std::int64_t& computed) const {
    const auto a = static_cast<std::size_t>(labels[i]);
    float& upper = bounds.upper[i];
    float& lower = bounds.lower[i];
    upper = (upper + raised(bounds.moved[a])) * up;
    lower = std::max(0.0f, (lower - others[a]) * down);
    const float limit = std::max(lower, half[a]);
    if (upper < limit) return true;
    ++computed;
    upper = raised(std::sqrt(exact_square(x.data + i * x.cols, table.centre(labels[i]), x.cols)));
    return upper < limit;
  }

  // Finds the centres of `rows` rows that stand in `list`, `together` at a time.
  void scan_all(const Index* list, Index rows, float* tile) const {
    for (Index first = 0; first < rows; first += together) {
      const int some = static_cast<int>(std::min<Index>(together, rows - first));
      float square[together] = {}, best[together], second[together];
      int which[together];
      for (int r = 0; r < some; ++r) {
        float* row = tile + r * table.step();
        near_row(x.data + list[first + r] * x.cols, table.origin(), table.scale(), x.cols, row);
        Eight sum = {};
        for (Index j = 0; j < table.step(); j += 8) add_product(sum, eight(row + j), eight(row + j));
        square[r] = ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
      }
      if (some == 1)
        table.scan<1>(tile, best, second, which);
      else
        table.scan<together>(tile, best, second, which);
      for (int r = 0; r < some; ++r) settle(list[first + r], square[r], best[r], second[r], which[r]);
    }
  }

  void settle(Index i, float square, float best, float second, int which) const {
    const float doubt = table.doubt(square);
    const bool sure = second - best > 2 * doubt && table.count() > 1;
    double first = 0, after = 0;
    if (sure) {
      labels[i] = which;
      if (bounds.upper == nullptr) return;
      first = std::max(0.0, static_cast<double>(square) + 2.0 * (static_cast<double>(best) + doubt));
      after = std::max(0.0, static_cast<double>(square) + 2.0 * (static_cast<double>(second) - doubt));
      // The squared length itself is rounded.
      first = std::sqrt(first + doubt) / table.scale();
      after = std::sqrt(std::max(0.0, after - doubt)) / table.scale();
    } else {
      labels[i] = table.decide(x.data + i * x.cols, first, after);
      first = std::sqrt(first), after = std::sqrt(after);
    }
    if (bounds.upper != nullptr) bounds.upper[i] = raised(first), bounds.lower[i] = lowered(after);
  }
};

}  // namespace nearest_detail

// Writes the nearest centre of each row; with bounds, `labels` hold those of the last call. Returns how many
// distances were computed.
template <class T>
std::int64_t nearest_centre(const Run& run, const Dense<T>& x, const double* centres, Index count,
                            const CentreBounds& bounds, std::int32_t* labels) {
  using namespace nearest_detail;
  const CentreTable table(centres, count, x.cols);
  Search<T> search{x, table, bounds, labels, {}, {}};
  const bool skips = bounds.upper != nullptr && bounds.moved != nullptr;
  if (skips) search.half = half_gaps(table), search.others = most_of_others(bounds.moved, count);
  Run quick = run;
  if (x.rows * count * x.cols < 200'000) quick.threads = 1;  // done before another thread wakes up
  std::vector<FloatBuffer> tiles;
  std::vector<std::vector<Index>> lists(static_cast<std::size_t>(quick.threads));
  for (auto& list : lists) {
    tiles.emplace_back(together * table.step());
    list.resize(static_cast<std::size_t>(chunk_rows));
  }
  const Index chunks = (x.rows + chunk_rows - 1) / chunk_rows;
  std::vector<std::int64_t> computed(static_cast<std::size_t>(chunks), 0);
  for_chunks(quick, chunks, [&](Index chunk, int worker) {
    Index* list = lists[static_cast<std::size_t>(worker)].data();
    std::int64_t& done = computed[static_cast<std::size_t>(chunk)];
    Index rows = 0;
    const Index end = std::min((chunk + 1) * chunk_rows, x.rows);
    for (Index i = chunk * chunk_rows; i < end; ++i)
      if (!skips || !search.stays(i, done)) list[rows++] = i;
    search.scan_all(list, rows, tiles[static_cast<std::size_t>(worker)].data());
    done += rows * count;
  });
  std::int64_t total = 0;
  for (const std::int64_t done : computed) total += done;
  return total;
}

// The same with a lower bound for each row and centre, `lower` (rows x count).
template <class T>
std::int64_t nearest_by_each_bound(const Run& run, const Dense<T>& x, const double* centres, Index count,
                                   const CentreBounds& bounds, std::int32_t* labels) {
  using namespace nearest_detail;
  const Index cols = x.cols;
  std::vector<float> gaps(static_cast<std::size_t>(count * count));
  std::vector<float> nearest(static_cast<std::size_t>(count), std::numeric_limits<float>::infinity());
  for (Index a = 0; a < count; ++a)
    for (Index b = 0; b < a; ++b) {
      const float gap = lowered(0.5 * std::sqrt(exact_square(centres + a * cols, centres + b * cols, cols)));
      gaps[static_cast<std::size_t>(a * count + b)] = gaps[static_cast<std::size_t>(b * count + a)] = gap;
      for (const Index c : {a, b})
        nearest[static_cast<std::size_t>(c)] = std::min(nearest[static_cast<std::size_t>(c)], gap);
    }
  const Index chunks = (x.rows + chunk_rows - 1) / chunk_rows;
  std::vector<std::int64_t> computed(static_cast<std::size_t>(chunks), 0);
  for_chunks(run, chunks, [&](Index chunk, int) {
    std::int64_t& done = computed[static_cast<std::size_t>(chunk)];
    const Index end = std::min((chunk + 1) * chunk_rows, x.rows);
    for (Index i = chunk * chunk_rows; i < end; ++i) {
      const T* row = x.data + i * cols;
      float* lower = bounds.lower + i * count;
      if (bounds.moved == nullptr) {
        double least = std::numeric_limits<double>::infinity();
        for (Index c = 0; c < count; ++c) {
          const double square = exact_square(row, centres + c * cols, cols);
          if (square < least) least = square, labels[i] = static_cast<std::int32_t>(c);
          lower[c] = lowered(std::sqrt(square));
        }
        bounds.upper[i] = raised(std::sqrt(least));
        done += count;
        continue;
      }
      for (Index c = 0; c < count; ++c)
        lower[c] = std::max(0.0f, (lower[c] - raised(bounds.moved[c])) * down);
      Index own = labels[i];
      float upper = (bounds.upper[i] + raised(bounds.moved[own])) * up;
      double square = -1;  // the exact one, once it is known
      if (upper >= nearest[static_cast<std::size_t>(own)])
        for (Index c = 0; c < count; ++c) {
          const auto skipped = [&] {
            return upper < lower[c] || upper < gaps[static_cast<std::size_t>(own * count + c)];
          };
          if (c == own || skipped()) continue;
          if (square < 0) {
            square = exact_square(row, centres + own * cols, cols);
            upper = raised(std::sqrt(square));
            lower[own] = lowered(std::sqrt(square));
            ++done;
            if (skipped()) continue;
          }
          const double other = exact_square(row, centres + c * cols, cols);
          lower[c] = lowered(std::sqrt(other));
          ++done;
          if (other < square || (other == square && c < own))
            square = other, upper = raised(std::sqrt(other)), own = c;
        }
      labels[i] = static_cast<std::int32_t>(own);
      bounds.upper[i] = upper;
    }
  });
  std::int64_t total = 0;
  for (const std::int64_t done : computed) total += done;
  return total;
}

}  // namespace surefit
