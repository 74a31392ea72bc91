// What coordinate descent must know of each column beforehand: its mean, its scatter, and its product with
// the target; each column is read from memory once.
#pragma once

#include "columns_dot.h"

namespace surefit {

// weight is null for ones; total is the sum of weights; target is centred when the columns are to be.
struct FactsInput {
  const double* weight = nullptr;
  double total = 0;
  const double* target = nullptr;
  bool centred = true;
};

// One entry a column: mean (0 when not centred), sum_i s_i (x_i - mean)^2, sum_i s_i (x_i - mean) target_i.
struct FactsOut {
  double* mean;
  double* scatter;
  double* cross;
};

namespace facts_detail {

// sum_i (x_i - pivot)
template <class T>
double total_from(const T* x, double pivot, Index n) {
  Four a{}, b{}, c{}, d{}, x0, x1, x2, x3;
  const Four m = {pivot, pivot, pivot, pivot};
  Index i = 0;
  for (; i + 16 <= n; i += 16) {
    load_four(x + i, x0);
    load_four(x + i + 4, x1);
    load_four(x + i + 8, x2);
    load_four(x + i + 12, x3);
    a += x0 - m;
    b += x1 - m;
    c += x2 - m;
    d += x3 - m;
  }
  double rest = 0;
  for (; i < n; ++i) rest += static_cast<double>(x[i]) - pivot;
  return added((a + b) + (c + d)) + rest;
}

struct Products {
  double scatter, cross;
};

// sum_i s_i (x_i - centre)^2 and sum_i (x_i - centre) scaled_i; weight is null for ones.
template <class T>
Products products(const T* x, double centre, const double* weight, const double* scaled, Index n) {
  Four a{}, b{}, c{}, d{}, x0, x1;
  const Four m = {centre, centre, centre, centre};
  Index i = 0;
  for (; i + 8 <= n; i += 8) {
    load_four(x + i, x0);
    load_four(x + i + 4, x1);
    x0 -= m;
    x1 -= m;
    c += x0 * four(scaled + i);
    d += x1 * four(scaled + i + 4);
    if (weight == nullptr) {
      a += x0 * x0;
      b += x1 * x1;
    } else {
      a += x0 * x0 * four(weight + i);
      b += x1 * x1 * four(weight + i + 4);
    }
  }
  Products rest{0, 0};
  for (; i < n; ++i) {
    const double e = static_cast<double>(x[i]) - centre;
    rest.scatter += (weight == nullptr ? 1.0 : weight[i]) * e * e;
    rest.cross += e * scaled[i];
  }
  return {added(a + b) + rest.scatter, added(c + d) + rest.cross};
}

template <class T, class I>
void sparse_facts(const CscColumns<T, I>& x, Index j, const FactsInput& in, const double* scaled,
                  const FactsOut& out) {
  constexpr Index lanes = 4;  // sums kept apart, so that they run side by side
  double sum[lanes] = {}, square[lanes] = {}, cross[lanes] = {}, weight[lanes] = {};
  const Index first = x.first(j), end = x.end(j);
  auto take = [&](Index k, Index l) {
    const double value = static_cast<double>(x.data[k]);
    const double s = in.weight == nullptr ? 1.0 : in.weight[x.indices[k]];
    sum[l] += s * value;
    square[l] += s * value * value;
    weight[l] += s;
    cross[l] += value * scaled[x.indices[k]];
  };
  Index k = first;
  for (; k + lanes <= end; k += lanes)
    for (Index l = 0; l < lanes; ++l) take(k + l, l);
  for (; k < end; ++k) take(k, 0);
  auto of = [](const double* a) { return (a[0] + a[2]) + (a[1] + a[3]); };
  const double mean = in.centred && in.total > 0 ? of(sum) / in.total : 0.0;
  out.mean[j] = mean;
  out.cross[j] = of(cross);
  out.scatter[j] = of(square) - in.total * mean * mean;
  if (mean == 0 || 2 * of(weight) <= in.total) return;  // half the sum of squares is left at the least
  double scatter = std::max(0.0, in.total - of(weight)) * mean * mean;
  for (k = first; k < end; ++k) {
    const double d = static_cast<double>(x.data[k]) - mean;
    scatter += (in.weight == nullptr ? 1.0 : in.weight[x.indices[k]]) * d * d;
  }
  out.scatter[j] = scatter;
}

}  // namespace facts_detail

// scaled is the target with each entry times its row's weight.
template <class T>
void column_facts(const Run& run, const FortranColumns<T>& x, const FactsInput& in, const double* scaled,
                  const FactsOut& out) {
  using namespace columns_detail;
  const Index step = std::max<Index>(1, chunk_work / std::max<Index>(1, x.rows));
  for_chunks(for_work(run, x.cols * x.rows), (x.cols + step - 1) / step, [&](Index chunk, int) {
    for (Index j = chunk * step; j < std::min(x.cols, (chunk + 1) * step); ++j) {
      const T* column = x.column(j);
      double mean = 0;
      if (in.centred && x.rows > 0 && in.total > 0) {
        const double pivot = static_cast<double>(column[0]);
        mean = pivot + (in.weight == nullptr ? facts_detail::total_from(column, pivot, x.rows)
                                             : centred_dot(column, pivot, in.weight, x.rows)) /
                           in.total;
      }
      out.mean[j] = mean;
      const auto found = facts_detail::products(column, mean, in.weight, scaled, x.rows);
      out.scatter[j] = found.scatter;
      out.cross[j] = found.cross;
    }
  });
}

// Every index is checked; false when the matrix is not sound, and then nothing else has been read.
template <class T, class I>
bool column_facts(const Run& run, const CscColumns<T, I>& x, Index stored, const FactsInput& in,
                  const double* scaled, const FactsOut& out) {
  using namespace columns_detail;
  const Index step = std::max<Index>(1, chunk_work / (1 + stored / std::max<Index>(1, x.cols)));
  const Index chunks = (x.cols + step - 1) / step;
  std::vector<char> sound(static_cast<std::size_t>(chunks), 1);
  for_chunks(for_work(run, stored), chunks, [&](Index chunk, int) {
    const Index begin = chunk * step, end = std::min(x.cols, begin + step);
    if (!csc_is_sound(x, stored, begin, end)) {
      sound[static_cast<std::size_t>(chunk)] = 0;
      return;
    }
    for (Index j = begin; j < end; ++j) facts_detail::sparse_facts(x, j, in, scaled, out);
  });
  return std::find(sound.begin(), sound.end(), 0) == sound.end();
}

}  // namespace surefit
