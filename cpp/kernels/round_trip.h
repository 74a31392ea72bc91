// Through the rows and back in one pass: U = B - A V, then A' diag(weight) U, for A = X - 1 centre' and few
// columns. That is a gradient of least squares, and with B = 0 minus a product with the Gram matrix: all that
// conjugate gradients need, at the price of reading X once.
#pragma once

#include <array>

#include "buffer.h"
#include "parallel.h"

namespace surefit {

// What stands beside X. V holds k rows of X.cols numbers, one a direction; B is (rows, k) in C order. B,
// weight and centre may be absent: zeros, ones and zeros.
struct RoundTrip {
  const double* V;
  Index k;
  const double* B = nullptr;
  const double* weight = nullptr;
  const double* centre = nullptr;
};

namespace round_trip_detail {

inline constexpr Index lanes = 8;     // sums of a dot product kept apart, so that they run side by side
inline constexpr Index together = 4;  // rows in C order that share a trip through V and the result
inline constexpr Index block =
    128;  // rows in Fortran order, whose columns stay in the cache for the way back

using Lanes = std::array<double, lanes>;

inline double added(const Lanes& a) {
  return ((a[0] + a[4]) + (a[1] + a[5])) + ((a[2] + a[6]) + (a[3] + a[7]));
}

template <class T>
double dot(const T* x, const double* centre, const double* v, Index p) {
  Lanes sums{};
  Index j = 0;
  for (; j + lanes <= p; j += lanes)
    for (Index l = 0; l < lanes; ++l)
      sums[static_cast<std::size_t>(l)] += (static_cast<double>(x[j + l]) - centre[j + l]) * v[j + l];
  double rest = 0;
  for (; j < p; ++j) rest += (static_cast<double>(x[j]) - centre[j]) * v[j];
  return added(sums) + rest;
}

// The weighted entry (row, c) of U, given that of A V.
inline double entry(const RoundTrip& trip, Index row, Index c, double product) {
  const double u = (trip.B == nullptr ? 0.0 : trip.B[row * trip.k + c]) - product;
  return trip.weight == nullptr ? u : trip.weight[row] * u;
}

template <class T>
void rows_in_c_order(const Dense<T>& X, const RoundTrip& trip, const double* centre, Index start, Index end,
                     double* cross, double* sums) {
  const Index p = X.cols;
  for (Index row = start; row < end; row += together) {
    const Index count = std::min(together, end - row);
    const T* x = X.data + row * p;
    for (Index c = 0; c < trip.k; ++c) {
      std::array<double, together> u{};
      for (Index r = 0; r < count; ++r) {
        u[static_cast<std::size_t>(r)] = entry(trip, row + r, c, dot(x + r * p, centre, trip.V + c * p, p));
        sums[c] += u[static_cast<std::size_t>(r)];
      }
      double* to = cross + c * p;
      if (count == together) {
        const T *x1 = x + p, *x2 = x + 2 * p, *x3 = x + 3 * p;
        for (Index j = 0; j < p; ++j) {
          const double m = centre[j];
          to[j] += ((static_cast<double>(x[j]) - m) * u[0] + (static_cast<double>(x1[j]) - m) * u[1]) +
                   ((static_cast<double>(x2[j]) - m) * u[2] + (static_cast<double>(x3[j]) - m) * u[3]);
        }
      } else {
        for (Index r = 0; r < count; ++r)
          for (Index j = 0; j < p; ++j)
            to[j] += (static_cast<double>(x[r * p + j]) - centre[j]) * u[static_cast<std::size_t>(r)];
      }
    }
  }
}

template <class T>
void rows_in_fortran_order(const Dense<T>& X, const RoundTrip& trip, const double* centre, Index start,
                           Index end, double* cross, double* sums) {
  std::array<double, block> u;
  for (Index row = start; row < end; row += block) {
    const Index count = std::min(block, end - row);
    for (Index c = 0; c < trip.k; ++c) {
      std::fill_n(u.begin(), count, 0.0);
      for (Index j = 0; j < X.cols; ++j) {
        const T* x = X.data + j * X.rows + row;
        const double m = centre[j], v = trip.V[c * X.cols + j];
        for (Index i = 0; i < count; ++i)
          u[static_cast<std::size_t>(i)] += (static_cast<double>(x[i]) - m) * v;
      }
      for (Index i = 0; i < count; ++i) {
        u[static_cast<std::size_t>(i)] = entry(trip, row + i, c, u[static_cast<std::size_t>(i)]);
        sums[c] += u[static_cast<std::size_t>(i)];
      }
      for (Index j = 0; j < X.cols; ++j) {
        std::array<double, block> means;
        means.fill(centre[j]);
        cross[c * X.cols + j] += dot(X.data + j * X.rows + row, means.data(), u.data(), count);
      }
    }
  }
}

}  // namespace round_trip_detail

// Writes A' diag(weight) U into cross (k rows of X.cols numbers) and the rows of diag(weight) U added up into
// sums (k).
template <class T>
void round_trip(const Run& run, const Dense<T>& X, const RoundTrip& trip, double* cross, double* sums) {
  using namespace round_trip_detail;
  const Index size = trip.k * X.cols, whole = size + trip.k;
  // Chunks by shape alone: few enough that their sums stay small, and each some milliseconds at the most.
  const Index most = std::clamp<Index>((Index{1} << 22) / std::max<Index>(whole, 1), 1, 64);
  const Index rows = std::max<Index>(block, (X.rows + most - 1) / most);
  const Index chunks = (X.rows + rows - 1) / rows;
  const Buffer zeros(trip.centre == nullptr ? X.cols : 0);
  const double* centre = trip.centre == nullptr ? zeros.data() : trip.centre;
  Buffer parts(chunks * whole);
  Run quick = run;
  if (X.rows * X.cols < 50'000) quick.threads = 1;  // done before another thread wakes up
  for_chunks(quick, chunks, [&](Index chunk, int) {
    double* to = parts.data() + chunk * whole;
    const Index start = chunk * rows, end = std::min(start + rows, X.rows);
    if (X.order == Order::C)
      rows_in_c_order(X, trip, centre, start, end, to, to + size);
    else
      rows_in_fortran_order(X, trip, centre, start, end, to, to + size);
  });
  std::fill_n(cross, size, 0.0);
  std::fill_n(sums, trip.k, 0.0);
  for (Index chunk = 0; chunk < chunks; ++chunk) {
    const double* from = parts.data() + chunk * whole;
    for (Index i = 0; i < size; ++i) cross[i] += from[i];
    for (Index c = 0; c < trip.k; ++c) sums[c] += from[size + c];
  }
}

}  // namespace surefit
