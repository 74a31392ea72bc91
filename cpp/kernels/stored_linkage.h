// Linkages that need the distances between all clusters: a full square, in which clusters merge in place.
//
// Where no merge brings two other clusters closer (all but centroid and median), each round merges all pairs
// that are each other's nearest; the square is written anew whenever a quarter of it has gone. Centroid and
// median merge one pair, the closest, at a time.
#pragma once

#include <bit>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "compare.h"
#include "linkage.h"
#include "row_panels.h"

namespace surefit {

template <Linkage L>
class StoredLinkage {
 public:
  // square: m x m distances between the clusters (squares for centroid and median), used up; the diagonal
  // does not matter. names: a row of each cluster. merges: what has merged before, for the heights.
  StoredLinkage(const Run& run, double* square, Index m, std::vector<double> weight,
                std::vector<std::int64_t> names, std::vector<double> height, std::vector<Merge>& merges)
      : run_(run),
        d_(square),
        m_(m),
        step_(m),
        weight_(std::move(weight)),
        names_(std::move(names)),
        height_(std::move(height)),
        alive_(static_cast<std::size_t>(m), 1),
        nearest_(static_cast<std::size_t>(m)),
        merges_(merges) {
    for (Index i = 0; i < m_; ++i) entry(i, i) = infinite;
    left_ = m_;
  }

  void merge_all() {
    ask_all();
    if constexpr (L == Linkage::Centroid || L == Linkage::Median) {
      Poll poll(run_);
      while (left_ > 1) {
        closest_pair();
        poll();
      }
      return;
    }
    while (left_ > 1) round();
  }

 private:
  static constexpr double infinite = std::numeric_limits<double>::infinity();

  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }
  double& entry(Index i, Index j) { return d_[i * step_ + j]; }
  double far(double d) const { return L >= Linkage::Ward ? std::sqrt(std::max(d, 0.0)) : d; }

  Nearest nearest_of(const double* row, Index count) const {
    const double least = least_number(row, count);
    if (!(least < infinite)) return {};
    Index j = 0;
    for (; j + compared<double> <= count; j += compared<double>)
      if (const unsigned bits = equal_bits(row + j, least); bits != 0)
        return {least, j + std::countr_zero(bits)};
    while (row[j] != least) ++j;
    return {least, j};
  }

  void ask_all() {
    for_chunks(run_, (m_ + 63) / 64, [&](Index chunk, int) {
      for (Index i = chunk * 64; i < std::min(m_, (chunk + 1) * 64); ++i)
        if (alive_[at(i)]) nearest_[at(i)] = nearest_of(d_ + i * step_, m_);
    });
  }

  void record(Index i, Index j, double height) {
    merges_.push_back({names_[at(i)], names_[at(j)], height});
    height_[at(i)] = height;
  }

  double height_of(Index i, Index j) { return std::max({far(entry(i, j)), height_[at(i)], height_[at(j)]}); }

  // Merges j into i where they are: row and column i change, row and column j become infinite.
  void merge_in_place(Index i, Index j) {
    const double wi = weight_[at(i)], wj = weight_[at(j)], ij = entry(i, j);
    double *a = d_ + i * step_, *b = d_ + j * step_;
    for (Index c = 0; c < m_; ++c) {
      if (c == i || c == j || !alive_[at(c)]) continue;
      const double now = stretch<L>(a[c], b[c], ij, wi, wj, weight_[at(c)]);
      a[c] = now;
      entry(c, i) = now;
      entry(c, j) = infinite;
    }
    a[j] = b[i] = infinite;
    weight_[at(i)] = wi + wj;
    alive_[at(j)] = 0;
    --left_;
  }

  struct Pair {
    Index i, j;
    double apart, wi, wj;
  };

  void round() {
    std::vector<Pair> pairs;
    for (Index i = 0; i < m_; ++i) {
      const Index j = nearest_[at(i)].index;
      if (alive_[at(i)] && j > i && nearest_[at(j)].index == i) pairs.push_back({i, j, 0, 0, 0});
    }
    if (pairs.empty()) pairs.push_back(closest());
    for (Pair& pair : pairs) {
      const auto& [i, j, apart, wi, wj] = pair;
      record(i, j, std::max({far(entry(i, j)), height_[at(i)], height_[at(j)]}));
      pair = {i, j, entry(i, j), weight_[at(i)], weight_[at(j)]};
    }
    merge_pairs(pairs);
    if (m_ - left_ > m_ / 4 && left_ > 1) write_anew();
  }

  // Where distances that are equal form a ring, or are infinite, no two clusters point at each other.
  Pair closest() const {
    Index first = -1, other = -1;
    for (Index i = 0; i < m_; ++i) {
      if (!alive_[at(i)]) continue;
      if (first < 0 || nearest_[at(i)].value < nearest_[at(first)].value)
        std::swap(first, other), first = i;
      else if (other < 0)
        other = i;
    }
    if (nearest_[at(first)].index >= 0) other = nearest_[at(first)].index;
    return {std::min(first, other), std::max(first, other), 0, 0, 0};
  }

  // First the rows of all pairs, each by itself; then, row by row, the columns of all pairs.
  void merge_pairs(const std::vector<Pair>& pairs) {
    const Index count = static_cast<Index>(pairs.size());
    for_chunks(run_, count, [&](Index p, int) {
      const auto& [i, j, apart, wi, wj] = pairs[at(p)];
      double* a = d_ + i * step_;
      const double *b = d_ + j * step_, *w = weight_.data();
      const double share = wi / (wi + wj), rest = wj / (wi + wj);
      if constexpr (L == Linkage::Average)
        for (Index c = 0; c < m_; ++c) a[c] = share * a[c] + rest * b[c];
      else
        for (Index c = 0; c < m_; ++c) a[c] = stretch<L>(a[c], b[c], apart, wi, wj, w[c]);
    });
    std::vector<char> changed(at(m_), 0);
    for (const Pair& pair : pairs) {
      weight_[at(pair.i)] = pair.wi + pair.wj;
      alive_[at(pair.j)] = 0;
      changed[at(pair.i)] = changed[at(pair.j)] = 1;
    }
    left_ -= count;
    for_chunks(run_, (m_ + 15) / 16, [&](Index chunk, int) {
      for (Index c = chunk * 16; c < std::min(m_, (chunk + 1) * 16); ++c) {
        if (!alive_[at(c)]) continue;
        double* row = d_ + c * step_;
        if (count * 32 > m_)  // most cache lines of the row are wanted, in an order that no machine guesses
          for (Index k = 0; k < m_; k += 8) __builtin_prefetch(row + k, 1);
        for (const auto& [i, j, apart, wi, wj] : pairs) {
          row[i] = stretch<L>(row[i], row[j], apart, wi, wj, weight_[at(c)]);
          row[j] = infinite;
        }
        row[c] = infinite;
        const Index to = nearest_[at(c)].index;
        if (changed[at(c)] || to < 0 || changed[at(to)]) nearest_[at(c)] = nearest_of(row, m_);
      }
    });
  }

  // Leaves out what has gone, row by row over the square's own beginning.
  void write_anew() {
    std::vector<Index> kept, place(at(m_), -1);
    for (Index i = 0; i < m_; ++i)
      if (alive_[at(i)]) place[at(i)] = static_cast<Index>(kept.size()), kept.push_back(i);
    const Index now = static_cast<Index>(kept.size());
    for (Index a = 0; a < now; ++a) {
      const Index i = kept[at(a)];
      const double* row = d_ + i * step_;
      double* out = d_ + a * now;
      for (Index b = 0; b < now; ++b) out[b] = row[kept[at(b)]];
      weight_[at(a)] = weight_[at(i)];
      names_[at(a)] = names_[at(i)];
      height_[at(a)] = height_[at(i)];
      const Nearest& nearest = nearest_[at(i)];
      nearest_[at(a)] = {nearest.value, nearest.index < 0 ? -1 : place[at(nearest.index)]};
    }
    alive_.assign(at(now), 1);
    m_ = step_ = left_ = now;
  }

  // Merges the closest two; others may have come closer to what they became.
  void closest_pair() {
    Index i = -1;
    for (Index c = 0; c < m_; ++c)
      if (alive_[at(c)] && (i < 0 || nearest_[at(c)].value < nearest_[at(i)].value)) i = c;
    Index j = nearest_[at(i)].index;
    if (j < 0)
      for (j = 0; j == i || !alive_[at(j)];) ++j;
    if (j < i) std::swap(i, j);
    record(i, j, far(entry(i, j)));
    merge_in_place(i, j);
    for (Index c = 0; c < m_; ++c) {
      if (!alive_[at(c)]) continue;
      Nearest& nearest = nearest_[at(c)];
      if (c == i || nearest.index == i || nearest.index == j)
        nearest = nearest_of(d_ + c * step_, m_);
      else if (const double d = entry(c, i); d < nearest.value || (d == nearest.value && i < nearest.index))
        nearest = {d, i};
    }
  }

  const Run& run_;
  double* d_;
  Index m_, step_, left_ = 0;
  std::vector<double> weight_;
  std::vector<std::int64_t> names_;
  std::vector<double> height_;
  std::vector<char> alive_;
  std::vector<Nearest> nearest_;
  std::vector<Merge>& merges_;
};

// From a square of distances, which is used up.
inline std::vector<Merge> linkage_of_square(const Run& run, Linkage linkage, double* square, Index n,
                                            const double* weight) {
  std::vector<Merge> merges;
  if (n < 2) return merges;
  std::vector<double> weights(static_cast<std::size_t>(n), 1.0);
  if (weight != nullptr) std::copy_n(weight, n, weights.begin());
  std::vector<std::int64_t> names(static_cast<std::size_t>(n));
  std::iota(names.begin(), names.end(), 0);
  std::vector<double> height(static_cast<std::size_t>(n), 0.0);
  with_linkage(linkage, [&](auto type) {
    StoredLinkage<type()>(run, square, n, weights, names, height, merges).merge_all();
  });
  return merges;
}

namespace stored_detail {

// Memory that is not touched before it is written, in large pages where there are such.
class Pages {
 public:
  explicit Pages(Index count) {
    constexpr std::size_t page = std::size_t{1} << 21;
    const std::size_t bytes = (static_cast<std::size_t>(count) * sizeof(double) + page - 1) / page * page;
    data_.reset(static_cast<double*>(std::aligned_alloc(page, bytes)));
    if (!data_) throw std::bad_alloc();
#if defined(__linux__)
    madvise(data_.get(), bytes, MADV_HUGEPAGE);
#endif
  }
  double* data() { return data_.get(); }

 private:
  struct Free {
    void operator()(double* data) const { std::free(data); }
  };
  std::unique_ptr<double, Free> data_;
};

}  // namespace stored_detail

// From rows and their Euclidean distances. The first round of merges is found without storing any, so that
// the square is that of what is left.
template <Linkage L>
std::vector<Merge> linkage_of_rows(const Run& run, const Dense<double>& X, const double* weight) {
  const Index n = X.rows, depth = X.cols;
  std::vector<Merge> merges;
  if (n < 2) return merges;
  const auto at = [](Index i) { return static_cast<std::size_t>(i); };
  constexpr bool squares = L >= Linkage::Ward;
  std::vector<Index> partner(at(n), -1), order;
  if (!squares) {
    const auto row = [&](Index i) { return X.data + i * depth; };
    std::vector<Index> all(at(n));
    std::iota(all.begin(), all.end(), 0);
    std::vector<Nearest> nearest(at(n));
    nearest_rows(
        run, RowPanels(n, depth, row), row, all.data(), n, [](double*, Index, Index) {}, nearest.data());
    for (Index i = 0; i < n; ++i) {
      const Index j = nearest[at(i)].index;
      if (j <= i || nearest[at(j)].index != i) continue;
      partner[at(i)] = j;
      partner[at(j)] = -2;
      merges.push_back({i, j, std::sqrt(nearest[at(i)].value)});
    }
  }
  // Rows in the order of the clusters: pairs stand together.
  std::vector<Index> first;
  std::vector<std::int64_t> names;
  std::vector<double> weights, height, of_row;
  for (Index i = 0; i < n; ++i) {
    if (partner[at(i)] == -2) continue;
    first.push_back(static_cast<Index>(order.size()));
    names.push_back(i);
    order.push_back(i);
    double total = weight == nullptr ? 1.0 : weight[i];
    of_row.push_back(total);
    double high = 0.0;
    if (const Index j = partner[at(i)]; j >= 0) {
      order.push_back(j);
      of_row.push_back(weight == nullptr ? 1.0 : weight[j]);
      total += of_row.back();
    }
    weights.push_back(total);
    height.push_back(high);
  }
  std::size_t t = 0;
  for (std::size_t a = 0; a < names.size(); ++a)
    if (partner[static_cast<std::size_t>(names[a])] >= 0) height[a] = merges[t++].height;
  const Index m = static_cast<Index>(first.size());
  first.push_back(n);
  const RowPanels panels(n, depth, [&](Index r) { return X.data + order[at(r)] * depth; });
  stored_detail::Pages square(m * m);
  std::vector<Buffer> lines(at(std::max(run.threads, 1)));
  for_chunks(run, m, [&](Index a, int worker) {
    Buffer& line = lines[at(worker)];
    if (line.empty()) line = Buffer(round_up(n, RowPanels::width));
    const Index count = first[at(a) + 1] - first[at(a)];
    double* joined = line.data();
    alignas(64) double eight[2 * RowPanels::width];
    const double* rows[2] = {X.data + order[at(first[at(a)])] * depth,
                             X.data + order[at(first[at(a)] + count - 1)] * depth};
    const double wi = of_row[at(first[at(a)])], wj = of_row[at(first[at(a)] + count - 1)];
    for (Index p = 0; p < panels.panels(); ++p) {
      squares_to_panel<2>(rows, panels.panel(p), depth, eight);
      double* out = joined + p * RowPanels::width;
      if (squares) {
        std::copy_n(eight, RowPanels::width, out);
        continue;
      }
      for (Index v = 0; v < 2 * RowPanels::width; v += lanes) store(eight + v, root(load(eight + v)));
      for (Index l = 0; l < RowPanels::width; ++l)
        out[l] = count == 1 ? eight[l] : stretch<L>(eight[l], eight[l + 8], 0.0, wi, wj, 1.0);
    }
    double* out = square.data() + a * m;
    for (Index b = 0; b < m; ++b) {
      const Index k = first[at(b)];
      out[b] = first[at(b) + 1] - k == 1
                   ? joined[k]
                   : stretch<L>(joined[k], joined[k + 1], 0.0, of_row[at(k)], of_row[at(k) + 1], 1.0);
    }
  });
  StoredLinkage<L>(run, square.data(), m, weights, names, height, merges).merge_all();
  return merges;
}

}  // namespace surefit
