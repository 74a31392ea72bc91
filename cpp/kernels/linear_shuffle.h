// What shuffling a column does to the squared errors of a linear model, for each column and shuffling.
#pragma once

#include <array>
#include <vector>

#include "parallel.h"

namespace surefit {

// terms: rows x columns in C order, what each column adds to each prediction; error: truth minus prediction;
// order: repeats x rows, the row that each takes the column from. A row whose column changes its prediction
// by d then has (e - d)^2 - e^2 = d (d - 2 e) more. change: columns x repeats, the mean of that over rows.
// spread: columns, the variance over rows of what a row adds over all shufflings, as itself and as the one
// that lends its value. The same bits for any number of threads.
inline void linear_shuffle(const Run& run, const double* terms, const double* error, const Index* order,
                           Index rows, Index columns, Index repeats, double* change, double* spread) {
  constexpr Index lanes = 8;
  for_chunks(run, (columns + lanes - 1) / lanes, [&](Index chunk, int) {
    const Index first = chunk * lanes, count = std::min(lanes, columns - first);
    std::vector<std::array<double, lanes>> own(static_cast<std::size_t>(rows)), both(own.size());
    for (Index i = 0; i < rows; ++i)
      for (Index k = 0; k < count; ++k)
        own[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)] = terms[i * columns + first + k];
    for (Index r = 0; r < repeats; ++r) {
      std::array<double, lanes> sum{};
      for (Index i = 0; i < rows; ++i) {
        const auto here = static_cast<std::size_t>(i), lender = static_cast<std::size_t>(order[r * rows + i]);
        const double twice = 2.0 * error[i];
        std::array<double, lanes> worse;
        for (std::size_t k = 0; k < lanes; ++k) {
          const double apart = own[lender][k] - own[here][k];
          worse[k] = apart * (apart - twice);
          sum[k] += worse[k];
        }
        for (std::size_t k = 0; k < lanes; ++k) both[here][k] += worse[k];
        for (std::size_t k = 0; k < lanes; ++k) both[lender][k] += worse[k];
      }
      for (Index k = 0; k < count; ++k)
        change[(first + k) * repeats + r] = sum[static_cast<std::size_t>(k)] / static_cast<double>(rows);
    }
    std::array<double, lanes> mean{}, square{};
    for (const auto& row : both)
      for (std::size_t k = 0; k < lanes; ++k) mean[k] += row[k];
    for (double& value : mean) value /= static_cast<double>(rows);
    for (const auto& row : both)
      for (std::size_t k = 0; k < lanes; ++k) square[k] += (row[k] - mean[k]) * (row[k] - mean[k]);
    for (Index k = 0; k < count; ++k)
      spread[first + k] = square[static_cast<std::size_t>(k)] / static_cast<double>(rows);
  });
}

}  // namespace surefit
