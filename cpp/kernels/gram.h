// Gram matrices of dense data in one pass: the centred scatter of [X|Y], and X' diag(h) [X|1] beside X'G.
//
// Both are a product of packed panels (panel.h) of which only the upper triangle is formed (tile.h). Many
// rows and few columns: chunks of rows in parallel, each with its own sum, merged in order. Else: strip after
// strip, the squares of the one sum in parallel. The shape alone decides, so the number of threads never
// changes a bit.
#pragma once

#include <utility>
#include <vector>

#include "buffer.h"
#include "panel.h"
#include "parallel.h"

namespace surefit {

// What to form. centred: Z'Z of the centred, weighted Z = [X|Y]. Otherwise: X' [diag(h) X | G | h].
struct GramPlan {
  Index rows = 0;
  Index x_cols = 0;
  Dense<double> extra;             // Y or G, with `rows` rows; no columns when absent
  const double* weight = nullptr;  // null means 1 each
  bool centred = true;

  Index cols() const { return x_cols + extra.cols + (centred ? 0 : 1); }
  Index slivers() const { return round_up(cols(), sliver_width) / sliver_width; }
  Index row_slivers() const { return centred ? slivers() : round_up(x_cols, sliver_width) / sliver_width; }
  Index ldc() const { return round_up(cols(), 4); }
  bool two_sided() const { return !centred && weight != nullptr; }
};

// The sum over some rows: c holds the upper triangle in rows of plan.ldc(); mean and weight only when
// centred.
struct GramSum {
  Buffer c, shift, mean;
  double weight = 0;

  GramSum() = default;
  explicit GramSum(const GramPlan& plan)
      : c(plan.row_slivers() * sliver_width * plan.ldc()),
        shift(plan.slivers() * sliver_width),
        mean(plan.slivers() * sliver_width) {}
};

namespace gram_detail {

// Packed slivers of one strip; `left` is used only when the two sides of the product differ.
struct Panel {
  Buffer right, left;
  explicit Panel(const GramPlan& plan)
      : right(plan.slivers() * sliver_step), left(plan.two_sided() ? plan.row_slivers() * sliver_step : 0) {}
};

inline Index depth(const GramPlan& plan, const Strip& strip) {
  if (!plan.centred) return strip.rows;
  return strip.weight > 0 ? strip.rows + (strip.before > 0 ? 1 : 0) : 0;
}

inline Strip next_strip(const GramPlan& plan, Index start, Index end, double before) {
  const Index rows = std::min(strip_rows, end - start);
  if (plan.centred) return make_strip(start, rows, plan.weight, before);
  Strip strip = make_strip(start, rows, nullptr, before);
  if (plan.weight != nullptr) strip.row_weight = plan.weight + start;
  return strip;
}

// Copies the columns of sliver s, of X and of what lies beside it.
template <class Block>
void gather_sliver(const GramPlan& plan, const Block& x, const Strip& strip, Index s, double* out) {
  const Index first = s * sliver_width, last = std::min(first + sliver_width, plan.cols());
  const Index x_end = std::min(last, plan.x_cols), extra_end = std::min(last, plan.x_cols + plan.extra.cols);
  if (x_end > first) gather(x, strip.rows, first, x_end - first, out);
  const Index lane = std::max<Index>(0, plan.x_cols - first);
  if (extra_end > first + lane)
    gather(rows_from(plan.extra, strip.start), strip.rows, first + lane - plan.x_cols,
           extra_end - first - lane, out + lane);
}

template <class Block>
void pack_sliver(const GramPlan& plan, const Block& x, const Strip& strip, Index s, Panel& panel,
                 GramSum& sum) {
  const Index first = s * sliver_width, last = std::min(first + sliver_width, plan.cols());
  double* out = panel.right.data() + s * sliver_step;
  const Index x_end = std::min(last, plan.x_cols);
  gather_sliver(plan, x, strip, s, out);
  if (plan.centred) {
    if (plan.weight != nullptr)
      centre_sliver<true>(out, strip, sum.shift.data() + first, sum.mean.data() + first);
    else
      centre_sliver<false>(out, strip, sum.shift.data() + first, sum.mean.data() + first);
    return;
  }
  if (last == plan.cols() && last > first)
    for (Index i = 0; i < strip.rows; ++i)
      out[i * sliver_width + last - 1 - first] = strip.row_weight != nullptr ? strip.row_weight[i] : 1.0;
  if (!plan.two_sided() || s >= plan.row_slivers()) return;
  double* left = panel.left.data() + s * sliver_step;
  const Index weighted = x_end - first;
  for (Index i = 0; i < strip.rows; ++i, left += sliver_width, out += sliver_width) {
    std::copy_n(out, sliver_width, left);
    const double h = strip.row_weight[i];
    Index l = 0;
    for (; l + lanes <= weighted; l += lanes) store(out + l, load(out + l) * broadcast(h));
    for (; l < weighted; ++l) out[l] *= h;
  }
}

inline void add_square(const GramPlan& plan, const Panel& panel, Index rows, Index row, Index col, double* c,
                       Ahead& ahead) {
  const Packed right{panel.right.data(), sliver_step, rows};
  const Packed left{plan.two_sided() ? panel.left.data() : panel.right.data(), sliver_step, rows};
  sliver_square(left, right, row, col, plan.row_slivers(), plan.cols(), c, plan.ldc(), ahead);
}

// The corners of all squares that touch the upper triangle.
inline std::vector<std::pair<Index, Index>> squares(const GramPlan& plan) {
  std::vector<std::pair<Index, Index>> all;
  for (Index row = 0; row < plan.row_slivers(); row += square_side)
    for (Index col = row; col < plan.slivers(); col += square_side) all.emplace_back(row, col);
  return all;
}

inline constexpr Index fewest_rows = 512;  // of a chunk; where there are many rows, four times as many

// How many chunks of rows, each with a sum of its own, are worth while: their sums may take a twenty-fifth of
// the data's size, or four megabytes.
inline Index row_chunks(const GramPlan& plan) {
  const Index sum = std::max<Index>(1, plan.row_slivers() * sliver_width * plan.ldc());
  const Index budget = std::max<Index>(Index{1} << 19, plan.rows * plan.cols() / 25);
  if (plan.rows < 8 * fewest_rows) return 0;
  return std::min(std::clamp<Index>(plan.rows / (4 * fewest_rows), 8, 64), budget / sum);
}

// What a worker of by_rows has to itself.
struct Desk {
  Panel panel;
  Buffer scratch;
  explicit Desk(const GramPlan& plan) : panel(plan) {}
};

// Packs sliver s less the centre of the sum, which is kept as its shift; sums of what is left go to its mean.
template <class Block>
void pack_less_centre(const GramPlan& plan, const Block& x, const Strip& strip, Index s, Panel& panel,
                      GramSum& sum) {
  const Index first = s * sliver_width;
  double* out = panel.right.data() + s * sliver_step;
  double *centre = sum.shift.data() + first, *sums = sum.mean.data() + first;
  if constexpr (requires { gather_less_centre(x, first, strip.rows, centre, out, sums); })
    if (plan.weight == nullptr && first + sliver_width <= plan.x_cols)
      return gather_less_centre(x, first, strip.rows, centre, out, sums);
  const double* from = out;
  Index step = sliver_width;
  if constexpr (std::is_same_v<Block, RowBlock<double>>)
    if (x.col_step == 1 && first + sliver_width <= plan.x_cols) from = x.data + first, step = x.row_step;
  if (from == out) gather_sliver(plan, x, strip, s, out);
  if (plan.weight != nullptr)
    less_centre<true>(from, step, strip, centre, out, sums);
  else
    less_centre<false>(from, step, strip, centre, out, sums);
}

// From sums about a centre to those about the mean. Squares of the gap between the two cancel: no more than
// four times what is left may be lost so, or the answer is false, and the rows are to be read again.
inline bool about_mean(const GramPlan& plan, GramSum& sum) {
  const Index d = plan.cols(), ldc = plan.ldc();
  if (!(sum.weight > 0)) return true;
  for (Index j = 0; j < d; ++j) {
    const double gap = sum.mean[j] / sum.weight, lost = gap * sum.mean[j];
    if (!(lost <= 4 * (sum.c[j * ldc + j] - lost))) return false;
  }
  for (Index i = 0; i < d; ++i) {
    const double gap = sum.mean[i] / sum.weight;
    for (Index j = i; j < d; ++j) sum.c[i * ldc + j] -= gap * sum.mean[j];
  }
  for (Index j = 0; j < d; ++j) sum.mean[j] /= sum.weight;
  return true;
}

// Adds rows [start, end) to the sum, strip by strip: about the mean of the first strip, or each about its
// own.
template <bool OneCentre, class Source>
void add_rows(const GramPlan& plan, const Source& source, Index start, Index end,
              const std::vector<std::pair<Index, Index>>& corners, Desk& desk, GramSum& sum) {
  const Index steps = plan.slivers() * plan.slivers();
  for (Index at = start; at < end; at += strip_rows) {
    const Strip strip = next_strip(plan, at, end, sum.weight);
    const Index rows = depth(plan, strip);
    if (rows == 0) continue;
    const auto block = source.block(at, strip.rows, desk.scratch);
    for (Index s = 0; s < plan.slivers(); ++s) {
      if constexpr (OneCentre) {
        if (!(strip.before > 0)) {
          double* first = desk.panel.right.data() + s * sliver_step;
          gather_sliver(plan, block, strip, s, first);
          mean_of_sliver(first, strip, sum.shift.data() + s * sliver_width);
        }
        pack_less_centre(plan, block, strip, s, desk.panel, sum);
      } else {
        pack_sliver(plan, block, strip, s, desk.panel, sum);
      }
    }
    Ahead ahead = source.ahead(at + strip.rows, std::min(at + strip.rows + strip_rows, plan.rows), steps);
    for (const auto& [row, col] : corners)
      add_square(plan, desk.panel, OneCentre ? strip.rows : rows, row, col, sum.c.data(), ahead);
    sum.weight += strip.weight;
  }
}

// X is a Dense or anything else with block(start, rows, scratch) -> what gather() reads, made ready by the
// caller.
template <class Source>
std::vector<GramSum> by_rows(const Run& run, const GramPlan& plan, const Source& source, Index chunks) {
  std::vector<GramSum> sums(static_cast<std::size_t>(chunks));
  std::vector<std::unique_ptr<Desk>> desks(static_cast<std::size_t>(run.threads));
  const auto corners = squares(plan);
  for_chunks(run, chunks, [&](Index chunk, int worker) {
    auto& desk = desks[static_cast<std::size_t>(worker)];
    if (!desk) desk = std::make_unique<Desk>(plan);
    GramSum& sum = sums[static_cast<std::size_t>(chunk)] = GramSum(plan);
    const Index start = plan.rows * chunk / chunks, end = plan.rows * (chunk + 1) / chunks;
    if (plan.centred) {
      add_rows<true>(plan, source, start, end, corners, *desk, sum);
      if (about_mean(plan, sum)) return;
      sum = GramSum(plan);
    }
    add_rows<false>(plan, source, start, end, corners, *desk, sum);
  });
  return sums;
}

template <class Source>
std::vector<GramSum> by_squares(const Run& run, const GramPlan& plan, const Source& source) {
  constexpr Index group =
      4;  // strips packed before the squares are updated: fewer waits, and C stays in cache
  std::vector<GramSum> sums;
  GramSum& sum = sums.emplace_back(plan);
  const Index strips_in_all = (plan.rows + strip_rows - 1) / strip_rows;
  std::vector<Panel> panels;
  for (Index g = 0; g < std::min(group, strips_in_all); ++g) panels.emplace_back(plan);
  std::vector<Buffer> scratch(panels.size());
  const auto corners = squares(plan);
  Poll poll(run);
  for (Index at = 0; at < plan.rows;) {
    poll();
    std::vector<Strip> strips;
    for (; at < plan.rows && static_cast<Index>(strips.size()) < group; at += strip_rows) {
      strips.push_back(next_strip(plan, at, plan.rows, sum.weight));
      sum.weight += strips.back().weight;
    }
    std::vector<decltype(source.block(0, 0, scratch[0]))> blocks(strips.size());
    for_chunks(run, static_cast<Index>(strips.size()), [&](Index g, int) {
      const auto i = static_cast<std::size_t>(g);
      blocks[i] = source.block(strips[i].start, strips[i].rows, scratch[i]);
    });
    for_chunks(run, plan.slivers(), [&](Index s, int) {
      for (std::size_t g = 0; g < strips.size(); ++g)
        if (depth(plan, strips[g]) > 0) pack_sliver(plan, blocks[g], strips[g], s, panels[g], sum);
    });
    for_chunks(run, static_cast<Index>(corners.size()), [&](Index corner, int) {
      const auto [row, col] = corners[static_cast<std::size_t>(corner)];
      Ahead nothing;
      for (std::size_t g = 0; g < strips.size(); ++g)
        add_square(plan, panels[g], depth(plan, strips[g]), row, col, sum.c.data(), nothing);
    });
  }
  return sums;
}

template <class T>
struct DenseSource {
  Dense<T> x;
  RowBlock<T> block(Index start, Index, Buffer&) const { return rows_from(x, start); }
  Ahead ahead(Index start, Index end, Index steps) const { return fetch_ahead(x, start, end, steps); }
};

}  // namespace gram_detail

// The partial sums over consecutive rows, in order; their number depends on the shape alone.
template <class Source>
std::vector<GramSum> gram_sums(const Run& run, const GramPlan& plan, const Source& source) {
  const Index chunks = gram_detail::row_chunks(plan);
  if (chunks >= 8) return gram_detail::by_rows(run, plan, source, chunks);
  Run quick = run;
  if (plan.rows * plan.cols() * plan.cols() < 1'000'000)
    quick.threads = 1;  // done before another thread wakes up
  return gram_detail::by_squares(quick, plan, source);
}

inline void mirror(double* matrix, Index n) {
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < i; ++j) matrix[i * n + j] = matrix[j * n + i];
}

// Results of the centred Gram: mean (d), scatter (d x d), and, if asked for, the part of the mean that
// rounding left out (d), without which parts far from zero could not be merged; returns the sum of weights.
struct CentredOut {
  double* mean;
  double* scatter;
  double* low = nullptr;

  // The mean of column j is shift + rest.
  void set_mean(Index j, double shift, double rest) const {
    mean[j] = shift + rest;
    if (low == nullptr) return;
    const double part = mean[j] - shift;
    low[j] = (shift - (mean[j] - part)) + (rest - part);
  }
};

template <class Source>
double centred_gram_of(const Run& run, const GramPlan& plan, const Source& source, const CentredOut& out) {
  const Index d = plan.cols();
  std::fill_n(out.mean, d, 0.0);
  std::fill_n(out.scatter, d * d, 0.0);
  Buffer shift(d), gap(d);
  double weight = 0;
  for (const GramSum& part : gram_sums(run, plan, source)) {
    if (!(part.weight > 0)) continue;
    if (!(weight > 0)) std::copy_n(part.shift.data(), d, shift.data());
    const double total = weight + part.weight, share = part.weight / total, merge = weight * share;
    for (Index j = 0; j < d; ++j) gap[j] = (part.shift[j] - shift[j]) + (part.mean[j] - out.mean[j]);
    for (Index i = 0; i < d; ++i)
      for (Index j = i; j < d; ++j)
        out.scatter[i * d + j] += part.c[i * plan.ldc() + j] + merge * gap[i] * gap[j];
    for (Index j = 0; j < d; ++j) out.mean[j] += share * gap[j];
    weight = total;
  }
  for (Index j = 0; j < d; ++j) out.set_mean(j, shift[j], out.mean[j]);
  mirror(out.scatter, d);
  return weight;
}

// Results of the sandwich: gram (p x p), cross (p x k), sums (p).
struct SandwichOut {
  double* gram;
  double* cross;
  double* sums;
};

template <class Source>
void sandwich_of(const Run& run, const GramPlan& plan, const Source& source, const SandwichOut& out) {
  const Index p = plan.x_cols, k = plan.extra.cols;
  std::fill_n(out.gram, p * p, 0.0);
  std::fill_n(out.cross, p * k, 0.0);
  std::fill_n(out.sums, p, 0.0);
  for (const GramSum& part : gram_sums(run, plan, source))
    for (Index i = 0; i < p; ++i) {
      const double* row = part.c.data() + i * plan.ldc();
      for (Index j = i; j < p; ++j) out.gram[i * p + j] += row[j];
      for (Index j = 0; j < k; ++j) out.cross[i * k + j] += row[p + j];
      out.sums[i] += row[p + k];
    }
  mirror(out.gram, p);
}

// Scatter of the centred [X|Y] with row weights (frequencies; a row of weight 0 is not looked at).
template <class T>
double centred_gram(const Run& run, const Dense<T>& x, const Dense<double>& y, const double* weight,
                    const CentredOut& out) {
  const GramPlan plan{x.rows, x.cols, y, weight, true};
  return centred_gram_of(run, plan, gram_detail::DenseSource<T>{x}, out);
}

// X' diag(h) X, X'G and X'h; h may have either sign.
template <class T>
void sandwich(const Run& run, const Dense<T>& x, const Dense<double>& g, const double* weight,
              const SandwichOut& out) {
  const GramPlan plan{x.rows, x.cols, g, weight, false};
  sandwich_of(run, plan, gram_detail::DenseSource<T>{x}, out);
}

}  // namespace surefit
