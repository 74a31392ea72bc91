// The sum of -log of the probability that was given to the true class of each row.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "parallel.h"

namespace surefit {

struct LogScore {
  double loss = 0.0;
  Index bad = -1;    // the first row with a number outside [0, 1], if any
  Index worst = -1;  // the row whose probabilities sum to the number farthest from 1
  double sum = 1.0;  // and that sum
};

// chance is rows x columns in C order; one column holds the probability of class 1, the rest is class 0's.
// Probabilities are clipped to [step, 1 - step]. weight may be null.
template <class T>
LogScore log_score(const Run& run, const T* chance, Index columns, const std::int64_t* code,
                   const double* weight, Index rows, T step) {
  constexpr Index piece = 1 << 14;
  const Index chunks = (rows + piece - 1) / piece;
  std::vector<LogScore> part(static_cast<std::size_t>(chunks));
  for_chunks(run, chunks, [&](Index chunk, int) {
    LogScore found;
    for (Index i = chunk * piece; i < std::min(rows, (chunk + 1) * piece); ++i) {
      const T* row = chance + i * columns;
      bool inside = true;
      double sum = 0.0;
      for (Index j = 0; j < columns; ++j) {
        inside = inside && row[j] >= T(0) && row[j] <= T(1);
        sum += static_cast<double>(row[j]);
      }
      if (!inside) {
        found.bad = i;
        break;
      }
      if (columns > 1 && std::abs(sum - 1.0) > std::abs(found.sum - 1.0)) {
        found.sum = sum;
        found.worst = i;
      }
      const T given = columns > 1 ? row[code[i]] : code[i] == 1 ? row[0] : T(1) - row[0];
      const T kept = std::min(std::max(given, step), T(1) - step);
      const double loss = -std::log(static_cast<double>(kept));
      found.loss += weight == nullptr ? loss : weight[i] * loss;
    }
    part[static_cast<std::size_t>(chunk)] = found;
  });
  LogScore total;
  for (const LogScore& found : part) {
    total.loss += found.loss;
    if (total.bad < 0) total.bad = found.bad;
    if (std::abs(found.sum - 1.0) > std::abs(total.sum - 1.0)) {
      total.sum = found.sum;
      total.worst = found.worst;
    }
  }
  return total;
}

}  // namespace surefit
