// DBSCAN over a grid: cells whose diagonal is eps, so that all rows of a cell are within eps of each other.
//
// A row is a core row when the rows within eps, itself included, weigh at least a limit. All rows of a cell
// that weighs as much are core; others count the rows of the cells around, which are boxes that can be left
// out or taken whole by their distance. Core rows of one cell are one cluster; two cells join when two of
// their core rows are within eps. Cells lie in the order of their places, so that those around are found by
// bisection, row of cells after row of cells.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "parallel.h"
#include "span.h"

namespace surefit {

namespace grid_detail {

// Sets that only ever grow together, from many threads: a root always points to a smaller one.
class Sets {
 public:
  explicit Sets(Index n) : parent_(static_cast<std::size_t>(n)) {
    for (Index i = 0; i < n; ++i) parent_[static_cast<std::size_t>(i)].store(static_cast<std::int32_t>(i));
  }
  std::int32_t root(std::int32_t i) {
    for (;;) {
      std::int32_t up = at(i).load(std::memory_order_relaxed);
      if (up == i) return i;
      const std::int32_t higher = at(up).load(std::memory_order_relaxed);
      if (higher != up) at(i).compare_exchange_weak(up, higher, std::memory_order_relaxed);
      i = higher;
    }
  }
  void join(std::int32_t a, std::int32_t b) {
    for (;;) {
      a = root(a), b = root(b);
      if (a == b) return;
      if (a < b) std::swap(a, b);
      std::int32_t expected = a;
      if (at(a).compare_exchange_strong(expected, b)) return;
    }
  }

 private:
  std::atomic<std::int32_t>& at(std::int32_t i) { return parent_[static_cast<std::size_t>(i)]; }
  std::vector<std::atomic<std::int32_t>> parent_;
};

}  // namespace grid_detail

// D columns, 1 to 3. The rows are copied in the order of their cells.
template <int D>
class GridDensity {
 public:
  GridDensity(const Run& run, const double* x, Index n, double eps, const double* weight, double least)
      : run_(run), n_(n), square_(eps * eps), least_(least) {
    // A little less than eps over the root of D, for the rounding of places and of distances.
    side_ = eps / std::sqrt(static_cast<double>(D)) * (1.0 - 1e-12);
    place_rows(x, weight);
    find_cells();
    find_rows_of_cells();
  }

  // core: whether a row is a core row. label: clusters numbered by their first core row; -1 for noise.
  // nearest: a border row joins its nearest core row rather than the cluster of least number that reaches it.
  void solve(bool nearest, std::uint8_t* core, std::int64_t* label) {
    core_.assign(at(n_), 0);
    const Index cells = static_cast<Index>(cells_.size());
    constexpr Index step = 64;
    for_chunks(run_, (cells + step - 1) / step, [&](Index chunk, int) {
      for (Index c = chunk * step; c < std::min(cells, (chunk + 1) * step); ++c) count_cell(c);
    });
    // Core rows stand first in their cells from here on.
    for_chunks(run_, (cells + step - 1) / step, [&](Index chunk, int) {
      for (Index c = chunk * step; c < std::min(cells, (chunk + 1) * step); ++c) core_first(c);
    });
    grid_detail::Sets sets(cells);
    for_chunks(run_, (cells + step - 1) / step, [&](Index chunk, int) {
      for (Index c = chunk * step; c < std::min(cells, (chunk + 1) * step); ++c) join_cell(c, sets);
    });
    number_clusters(sets, nearest, core, label);
  }

 private:
  struct Cell {
    std::int64_t place[D];
    Index first, stop, core_stop;
    double weight;
    double low[D], high[D];  // of its rows; of its core rows once they are known
  };
  struct Strip {  // cells that differ in their last place alone
    std::int64_t place[D];
    Index first, stop;
  };

  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }

  void place_rows(const double* x, const double* weight) {
    double low[D];
    for (int k = 0; k < D; ++k) low[k] = std::numeric_limits<double>::infinity();
    for (Index i = 0; i < n_; ++i)
      for (int k = 0; k < D; ++k) low[k] = std::min(low[k], x[i * D + k]);
    struct Key {
      std::int64_t place[D];
      std::int32_t row;
    };
    std::vector<Key> keys(at(n_));
    for_chunks(run_, (n_ + 65535) / 65536, [&](Index chunk, int) {
      for (Index i = chunk * 65536; i < std::min(n_, (chunk + 1) * 65536); ++i) {
        for (int k = 0; k < D; ++k)
          keys[at(i)].place[k] = static_cast<std::int64_t>(std::floor((x[i * D + k] - low[k]) / side_));
        keys[at(i)].row = static_cast<std::int32_t>(i);
      }
    });
    sort_keys(keys);
    x_.resize(at(n_ * D));
    row_.resize(at(n_));
    if (weight != nullptr) w_.resize(at(n_));
    for (Index r = 0; r < n_; ++r) {
      const Key& key = keys[at(r)];
      if (r == 0 || !std::equal(key.place, key.place + D, keys[at(r - 1)].place)) {
        Cell cell{};
        std::copy_n(key.place, D, cell.place);
        cell.first = r;
        cells_.push_back(cell);
      }
      row_[at(r)] = key.row;
      for (int k = 0; k < D; ++k) x_[at(r * D + k)] = x[static_cast<Index>(key.row) * D + k];
      if (weight != nullptr) w_[at(r)] = weight[key.row];
    }
  }

  // By place, then by row, by counting: a stable pass for every sixteen bits of every place, the last first.
  template <class Keys>
  void sort_keys(Keys& keys) {
    std::int64_t most[D] = {};
    for (const auto& key : keys)
      for (int k = 0; k < D; ++k) most[k] = std::max(most[k], key.place[k]);
    Keys other(keys.size());
    constexpr int bits = 12;
    std::vector<Index> start(at((Index{1} << bits) + 1));
    for (int k = D - 1; k >= 0; --k)
      for (int shift = 0; shift < 63 && (most[k] >> shift) > 0; shift += bits) {
        std::fill(start.begin(), start.end(), 0);
        const auto digit = [&](const auto& key) {
          return at(static_cast<Index>((key.place[k] >> shift) & ((1 << bits) - 1)));
        };
        for (const auto& key : keys) ++start[digit(key) + 1];
        std::partial_sum(start.begin(), start.end(), start.begin());
        for (const auto& key : keys) other[at(start[digit(key)]++)] = key;
        keys.swap(other);
      }
  }

  void find_cells() {
    const Index cells = static_cast<Index>(cells_.size());
    for (Index c = 0; c < cells; ++c) {
      Cell& cell = cells_[at(c)];
      cell.stop = c + 1 < cells ? cells_[at(c + 1)].first : n_;
      cell.weight = 0;
      for (Index r = cell.first; r < cell.stop; ++r) cell.weight += w_.empty() ? 1.0 : w_[at(r)];
      bound(cell, cell.first, cell.stop);
    }
  }

  void bound(Cell& cell, Index first, Index stop) {
    for (int k = 0; k < D; ++k) {
      cell.low[k] = std::numeric_limits<double>::infinity();
      cell.high[k] = -cell.low[k];
      for (Index r = first; r < stop; ++r) {
        cell.low[k] = std::min(cell.low[k], x_[at(r * D + k)]);
        cell.high[k] = std::max(cell.high[k], x_[at(r * D + k)]);
      }
    }
  }

  void find_rows_of_cells() {
    for (Index c = 0; c < static_cast<Index>(cells_.size()); ++c) {
      if (c == 0 || !std::equal(cells_[at(c)].place, cells_[at(c)].place + D - 1, cells_[at(c - 1)].place)) {
        Strip strip{};
        std::copy_n(cells_[at(c)].place, D, strip.place);
        strip.first = c;
        strips_.push_back(strip);
      }
      strips_.back().stop = c + 1;
    }
  }

  // Calls visit(other) for the cells, c left out, whose places allow a distance of eps; false stops.
  template <class Visit>
  void around(Index c, bool later_only, const Visit& visit) const {
    // eps is the root of D sides, and a little more by rounding.
    constexpr std::int64_t reach = 2;
    const Cell& cell = cells_[at(c)];
    std::int64_t offset[D > 1 ? D - 1 : 1];
    for (int k = 0; k < D - 1; ++k) offset[k] = -reach;
    for (;;) {
      std::int64_t want[D];
      for (int k = 0; k < D - 1; ++k) want[k] = cell.place[k] + offset[k];
      const auto strip =
          std::lower_bound(strips_.begin(), strips_.end(), want, [](const Strip& a, const std::int64_t* b) {
            return std::lexicographical_compare(a.place, a.place + D - 1, b, b + D - 1);
          });
      if (strip != strips_.end() && std::equal(want, want + D - 1, strip->place)) {
        const auto begin = cells_.begin() + strip->first, end = cells_.begin() + strip->stop;
        auto other = std::lower_bound(begin, end, cell.place[D - 1] - reach,
                                      [](const Cell& a, std::int64_t b) { return a.place[D - 1] < b; });
        for (; other != end && other->place[D - 1] <= cell.place[D - 1] + reach; ++other) {
          const Index o = other - cells_.begin();
          if (o == c || (later_only && o < c)) continue;
          if (!visit(o)) return;
        }
      }
      int k = D - 2;
      while (k >= 0 && offset[k] == reach) offset[k--] = -reach;
      if (k < 0) return;
      ++offset[k];
    }
  }

  double apart(const double* a, const double* b) const {
    double sum = 0;
    for (int k = 0; k < D; ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
  }
  double to_box(const double* q, const Cell& cell) const {
    double sum = 0;
    for (int k = 0; k < D; ++k) {
      const double out = std::max({cell.low[k] - q[k], q[k] - cell.high[k], 0.0});
      sum += out * out;
    }
    return sum;
  }
  double between_boxes(const Cell& a, const Cell& b) const {
    double sum = 0;
    for (int k = 0; k < D; ++k) {
      const double out = std::max({a.low[k] - b.high[k], b.low[k] - a.high[k], 0.0});
      sum += out * out;
    }
    return sum;
  }
  double farthest_in_box(const double* q, const Cell& cell) const {
    double sum = 0;
    for (int k = 0; k < D; ++k) {
      const double out = std::max(q[k] - cell.low[k], cell.high[k] - q[k]);
      sum += out * out;
    }
    return sum;
  }

  // Counts until the limit is reached.
  void count_cell(Index c) {
    const Cell& cell = cells_[at(c)];
    if (cell.weight >= least_) {
      std::fill(core_.begin() + cell.first, core_.begin() + cell.stop, std::uint8_t{1});
      return;
    }
    Index near[125];
    Index count = 0;
    around(c, false, [&](Index o) {
      if (between_boxes(cell, cells_[at(o)]) <= square_) near[count++] = o;
      return true;
    });
    for (Index r = cell.first; r < cell.stop; ++r) {
      const double* q = x_.data() + r * D;
      double sum = cell.weight;
      for (Index e = 0; e < count && sum < least_; ++e) {
        const Cell& other = cells_[at(near[e])];
        if (to_box(q, other) > square_) continue;
        if (farthest_in_box(q, other) <= square_) {
          sum += other.weight;
          continue;
        }
        if (w_.empty()) {
          Index inside = 0;
          for (Index s = other.first; s < other.stop; ++s) inside += apart(q, x_.data() + s * D) <= square_;
          sum += static_cast<double>(inside);
        } else {
          for (Index s = other.first; s < other.stop; ++s)
            if (apart(q, x_.data() + s * D) <= square_) sum += w_[at(s)];
        }
      }
      core_[at(r)] = sum >= least_;
    }
  }

  void core_first(Index c) {
    Cell& cell = cells_[at(c)];
    cell.core_stop = cell.first;
    for (Index r = cell.first; r < cell.stop; ++r) {
      if (!core_[at(r)]) continue;
      const Index to = cell.core_stop++;
      if (to == r) continue;
      for (int k = 0; k < D; ++k) std::swap(x_[at(r * D + k)], x_[at(to * D + k)]);
      std::swap(row_[at(r)], row_[at(to)]);
      if (!w_.empty()) std::swap(w_[at(r)], w_[at(to)]);
      std::swap(core_[at(r)], core_[at(to)]);
    }
    bound(cell, cell.first, cell.core_stop);
  }

  void join_cell(Index c, grid_detail::Sets& sets) const {
    const Cell& cell = cells_[at(c)];
    if (cell.core_stop == cell.first) return;
    around(c, true, [&](Index o) {
      const Cell& other = cells_[at(o)];
      if (other.core_stop == other.first || between_boxes(cell, other) > square_) return true;
      if (sets.root(static_cast<std::int32_t>(c)) == sets.root(static_cast<std::int32_t>(o))) return true;
      if (touch(cell, other)) sets.join(static_cast<std::int32_t>(c), static_cast<std::int32_t>(o));
      return true;
    });
  }

  bool touch(const Cell& a, const Cell& b) const {
    for (Index r = a.first; r < a.core_stop; ++r) {
      const double* q = x_.data() + r * D;
      if (to_box(q, b) > square_) continue;
      for (Index s = b.first; s < b.core_stop; ++s)
        if (apart(q, x_.data() + s * D) <= square_) return true;
    }
    return false;
  }

  void number_clusters(grid_detail::Sets& sets, bool nearest, std::uint8_t* core, std::int64_t* label) {
    const Index cells = static_cast<Index>(cells_.size());
    std::vector<std::int32_t> first(at(cells),
                                    std::numeric_limits<std::int32_t>::max());  // core row of a set
    for (Index c = 0; c < cells; ++c) {
      const Cell& cell = cells_[at(c)];
      if (cell.core_stop == cell.first) continue;
      std::int32_t& least = first[at(sets.root(static_cast<std::int32_t>(c)))];
      for (Index r = cell.first; r < cell.core_stop; ++r) least = std::min(least, row_[at(r)]);
    }
    std::vector<std::int64_t> number(at(cells), -1);
    std::vector<Index> roots;
    for (Index c = 0; c < cells; ++c)
      if (first[at(c)] != std::numeric_limits<std::int32_t>::max()) roots.push_back(c);
    std::sort(roots.begin(), roots.end(), [&](Index a, Index b) { return first[at(a)] < first[at(b)]; });
    for (std::size_t k = 0; k < roots.size(); ++k) number[at(roots[k])] = static_cast<std::int64_t>(k);
    constexpr Index step = 64;
    for_chunks(run_, (cells + step - 1) / step, [&](Index chunk, int) {
      for (Index c = chunk * step; c < std::min(cells, (chunk + 1) * step); ++c) {
        const Cell& cell = cells_[at(c)];
        const std::int64_t own = cell.core_stop > cell.first
                                     ? number[at(sets.root(static_cast<std::int32_t>(c)))]
                                     : std::int64_t{-1};
        for (Index r = cell.first; r < cell.stop; ++r) {
          const Index row = row_[at(r)];
          core[row] = r < cell.core_stop;
          label[row] = r < cell.core_stop ? own : border(c, r, nearest, sets, number);
        }
      }
    });
  }

  std::int64_t border(Index c, Index r, bool nearest, grid_detail::Sets& sets,
                      const std::vector<std::int64_t>& number) const {
    const double* q = x_.data() + r * D;
    std::int64_t best = -1;
    double least = std::numeric_limits<double>::infinity();
    const double* by = q;
    const auto look = [&](Index o) {
      const Cell& other = cells_[at(o)];
      if (other.core_stop == other.first || to_box(q, other) > square_) return true;
      const std::int64_t label = number[at(sets.root(static_cast<std::int32_t>(o)))];
      if (!nearest && best >= 0 && label >= best) return true;
      for (Index s = other.first; s < other.core_stop; ++s) {
        const double d = apart(q, x_.data() + s * D);
        if (d > square_) continue;
        if (!nearest) {
          best = label;
          return true;
        }
        const double* here = x_.data() + s * D;
        if (d < least || (d == least && std::lexicographical_compare(here, here + D, by, by + D)))
          least = d, best = label, by = here;
      }
      return true;
    };
    look(c);
    around(c, false, look);
    return best;
  }

  const Run& run_;
  Index n_;
  double square_, side_ = 1, least_;
  std::vector<double> x_, w_;
  std::vector<std::int32_t> row_;
  std::vector<std::uint8_t> core_;
  std::vector<Cell> cells_;
  std::vector<Strip> strips_;
};

}  // namespace surefit
