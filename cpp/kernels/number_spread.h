// How numbers vary about their mean, with what a prediction of them costs, in one pass over memory.
#pragma once

#include "error_sums.h"

namespace surefit {

// The mean is the sum of mean and low, the part that rounding left out; scatter is the sum of squares about
// it.
struct Spread {
  double weight = 0.0, mean = 0.0, low = 0.0, scatter = 0.0;
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();
};

inline Spread joined(const Spread& a, const Spread& b) {
  if (a.weight == 0.0 || b.weight == 0.0) return a.weight == 0.0 ? b : a;
  const double weight = a.weight + b.weight, share = b.weight / weight;
  const double shift = (b.mean - a.mean) + (b.low - a.low), move = a.low + shift * share;
  const double mean = a.mean + move;
  return {weight,
          mean,
          move - (mean - a.mean),
          a.scatter + b.scatter + shift * shift * (a.weight * share),
          std::min(a.least, b.least),
          std::max(a.most, b.most)};
}

// Of a block that stays in the first cache while it is gone over twice; weights must be positive. scratch has
// room for count numbers.
template <bool weighted>
Spread spread_of(const double* x, const double* weight, Index count, double* scratch) {
  Spread found;
  found.least = extreme_of(x, count, found.least);
  found.most = extreme_of<true>(x, count, found.most);
  const auto sum = [&](const auto& value) {
    LaneSum lanes;
    for (Index i = 0; i < count; ++i) scratch[i] = weighted ? weight[i] * value(i) : value(i);
    lanes.add(scratch, count);
    return lanes.total();
  };
  LaneSum whole;
  if constexpr (weighted)
    whole.add(weight, count);
  else
    whole.add(x, count);
  found.weight = weighted ? whole.total() : static_cast<double>(count);
  const double mean = (weighted ? sum([&](Index i) { return x[i]; }) : whole.total()) / found.weight;
  found.mean = mean;
  found.low = sum([&](Index i) { return x[i] - mean; }) / found.weight;
  const double squares = sum([&](Index i) { return (x[i] - mean) * (x[i] - mean); });
  found.scatter = squares - found.weight * found.low * found.low;
  return found;
}

struct Variation {
  double squares = 0.0;  // the weighted sum of squared errors
  Spread truth, errors;
};

template <bool weighted, bool with_errors>
Variation variation_of(const double* y, const double* g, const double* w, Index rows) {
  constexpr Index block = 1024;
  std::array<double, block> error, scratch;
  Variation found;
  LaneSum squares;
  for (Index start = 0; start < rows; start += block) {
    const Index count = std::min(block, rows - start);
    const double* here = weighted ? w + start : nullptr;
    for (Index i = 0; i < count; ++i) error[static_cast<std::size_t>(i)] = y[start + i] - g[start + i];
    found.truth = joined(found.truth, spread_of<weighted>(y + start, here, count, scratch.data()));
    if constexpr (with_errors)
      found.errors = joined(found.errors, spread_of<weighted>(error.data(), here, count, scratch.data()));
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
      scratch[i] = weighted ? error[i] * error[i] * here[i] : error[i] * error[i];
    squares.add(scratch.data(), count);
  }
  found.squares = squares.total();
  return found;
}

// weight may be null, and must be positive; the spread of the errors only where it is asked for. The same
// bits for any number of threads.
inline Variation variation(const Run& run, const double* truth, const double* guess, const double* weight,
                           Index rows, bool with_errors) {
  constexpr Index piece = 1 << 15;
  const Index chunks = (rows + piece - 1) / piece;
  std::vector<Variation> part(static_cast<std::size_t>(chunks));
  const auto of = with_errors ? (weight == nullptr ? variation_of<false, true> : variation_of<true, true>)
                              : (weight == nullptr ? variation_of<false, false> : variation_of<true, false>);
  for_chunks(run, chunks, [&](Index chunk, int) {
    const Index start = chunk * piece;
    part[static_cast<std::size_t>(chunk)] =
        of(truth + start, guess + start, weight == nullptr ? nullptr : weight + start,
           std::min(piece, rows - start));
  });
  Variation total;
  for (const Variation& found : part) {
    total.squares += found.squares;
    total.truth = joined(total.truth, found.truth);
    total.errors = joined(total.errors, found.errors);
  }
  return total;
}

}  // namespace surefit
