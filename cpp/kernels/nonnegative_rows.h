// Rows of nonnegative least squares that share their columns: for each row w, min 1/2 w A w' - b w', w >= 0,
// by cyclic coordinate descent. Rows know nothing of each other, so threads change no bit.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "buffer.h"
#include "parallel.h"

namespace surefit {

// `sweeps` over the coordinates of each row in the order given, or until a sweep violates the conditions of
// optimality by no more than `tolerance` times the first. Returns the sum over rows of what the first sweep
// met as violation.
inline double nonnegative_rows(const Run& run, Index rows, Index count, const double* square,
                               const double* cross, const std::int64_t* order, Index sweeps, double tolerance,
                               double* w) {
  constexpr Index together = 256;
  const Index chunks = (rows + together - 1) / together;
  Buffer violations(std::max<Index>(chunks, 1));
  Run quick = run;
  if (rows * count * count * sweeps < 100'000) quick.threads = 1;  // done before another thread wakes up
  for_chunks(quick, chunks, [&](Index chunk, int) {
    double sum = 0;
    for (Index i = chunk * together; i < std::min(rows, (chunk + 1) * together); ++i) {
      double* x = w + i * count;
      const double* b = cross + i * count;
      double first = 0;
      for (Index sweep = 0; sweep < sweeps; ++sweep) {
        double violation = 0;
        for (Index s = 0; s < count; ++s) {
          const Index t = order[s];
          const double* row = square + t * count;
          double gradient = 0;
          for (Index r = 0; r < count; ++r) gradient += row[r] * x[r];
          gradient -= b[t];
          violation += std::abs(x[t] == 0 ? std::min(0.0, gradient) : gradient);
          if (row[t] != 0) x[t] = std::max(x[t] - gradient / row[t], 0.0);
        }
        if (sweep == 0) first = violation;
        if (violation <= tolerance * first) break;
      }
      sum += first;
    }
    violations[chunk] = sum;
  });
  double total = 0;
  for (Index chunk = 0; chunk < chunks; ++chunk) total += violations[chunk];
  return total;
}

}  // namespace surefit
