// The number at a given place in the order of many, without sorting or copying them: a sample says between
// which two numbers it lies, and only what lies there is gathered.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "parallel.h"

namespace surefit {

namespace detail {

struct Between {
  Index below = 0;
  std::vector<double> inside;
};

// How many numbers are below low, and those in [low, high]; the same for any number of threads.
inline Between between(const Run& run, const double* x, Index size, double low, double high) {
  constexpr Index piece = 1 << 16;
  const Index chunks = (size + piece - 1) / piece;
  std::vector<Between> part(static_cast<std::size_t>(chunks));
  for_chunks(run, chunks, [&](Index chunk, int) {
    constexpr Index block = 1024;
    std::array<double, block> inside;
    Between& found = part[static_cast<std::size_t>(chunk)];
    const Index end = std::min(size, (chunk + 1) * piece);
    for (Index start = chunk * piece; start < end; start += block) {
      const Index last = std::min(end, start + block);
      std::size_t count = 0;  // no branch, which would be mispredicted
      Index below = 0;
      for (Index i = start; i < last; ++i) {
        inside[count] = x[i];
        count += static_cast<std::size_t>((x[i] >= low) & (x[i] <= high));
      }
      for (Index i = start; i < last; ++i) below += x[i] < low;
      found.below += below;
      found.inside.insert(found.inside.end(), inside.data(), inside.data() + count);
    }
  });
  Between total;
  for (const Between& found : part) {
    total.below += found.below;
    total.inside.insert(total.inside.end(), found.inside.begin(), found.inside.end());
  }
  return total;
}

}  // namespace detail

// The numbers of ranks `low` and `high`, which is low or low + 1, among finite ones; 0 <= low <= high < size.
inline std::pair<double, double> select_ranks(const Run& run, const double* x, Index size, Index low,
                                              Index high) {
  constexpr Index drawn = 1 << 14;
  double least = -std::numeric_limits<double>::infinity(), most = -least;
  if (size > 4 * drawn) {
    std::vector<double> sample(static_cast<std::size_t>(drawn));
    for (Index i = 0; i < drawn; ++i)
      sample[static_cast<std::size_t>(i)] = x[(2 * i + 1) * (size / (2 * drawn))];
    // The rank of a number in a random sample of m is off by sqrt(m) / 2 at the most, on average.
    const Index middle =
        static_cast<Index>(static_cast<double>(low) / static_cast<double>(size) * static_cast<double>(drawn));
    const Index margin = 3 * static_cast<Index>(std::sqrt(static_cast<double>(drawn)));
    std::sort(sample.begin(), sample.end());
    if (middle > margin) least = sample[static_cast<std::size_t>(middle - margin)];
    if (middle + margin < drawn) most = sample[static_cast<std::size_t>(middle + margin)];
  }
  detail::Between found = detail::between(run, x, size, least, most);
  if (low < found.below || high - found.below >= static_cast<Index>(found.inside.size())) {
    found.below = 0;  // the order of the rows misled the sample
    found.inside.assign(x, x + size);
  }
  const auto place = found.inside.begin() + (low - found.below);
  std::nth_element(found.inside.begin(), place, found.inside.end());
  const double first = *place;
  return {first, high == low ? first : *std::min_element(place + 1, found.inside.end())};
}

// |y - g| of each row; returns whether all are finite.
inline bool absolute_errors(const Run& run, const double* truth, const double* guess, Index rows,
                            double* error) {
  constexpr Index piece = 1 << 15;
  std::atomic<bool> finite{true};
  for_chunks(run, (rows + piece - 1) / piece, [&](Index chunk, int) {
    const Index end = std::min(rows, (chunk + 1) * piece);
    bool bad = false;
    for (Index i = chunk * piece; i < end; ++i) {
      error[i] = std::abs(truth[i] - guess[i]);
      bad |= !(error[i] <= std::numeric_limits<double>::max());
    }
    if (bad) finite.store(false, std::memory_order_relaxed);
  });
  return finite.load();
}

}  // namespace surefit
