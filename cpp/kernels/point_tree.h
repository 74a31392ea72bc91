// Near rows of a fixed set of points: a balanced tree of boxes or balls over leaves, or plain scanning of all
// leaves.
//
// Points lie in groups of 16, column by column, so that 16 distances are counted at once. A leaf is `bucket`
// points, a multiple of 16; a tree of b leaves has 2b - 1 nodes in preorder: the left child of a node follows
// it and holds the first half of its leaves, so that no link is stored. Distances are sums of terms a column,
// in the order of the columns, without roots; those to a box are counted in the same order, so that no
// rounding puts a box farther away than a point inside of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "near.h"
#include "parallel.h"
#include "span.h"

namespace surefit {

constexpr Index kGroup = 16;

#if defined(__AVX2__)
constexpr Index kLanes = 4;
#else
constexpr Index kLanes = 2;
#endif
typedef double Lanes __attribute__((vector_size(kLanes * sizeof(double))));

// How the differences of two rows, a column each, become a distance. `add` takes a difference into a sum;
// `root` makes a true distance of a sum and `power` a sum of a true distance.
struct SquaredNorm {
  template <class T>
  void add(T& sum, const T& x) const {
    sum += x * x;
  }
  double root(double sum) const { return std::sqrt(sum); }
  double power(double distance) const { return distance * distance; }
};
struct AbsoluteNorm {
  template <class T>
  void add(T& sum, const T& x) const {
    sum += x < 0 ? -x : x;
  }
  double root(double sum) const { return sum; }
  double power(double distance) const { return distance; }
};
struct LargestNorm {
  template <class T>
  void add(T& sum, const T& x) const {
    const T size = x < 0 ? -x : x;
    sum = sum < size ? size : sum;
  }
  double root(double sum) const { return sum; }
  double power(double distance) const { return distance; }
};
struct PowerNorm {
  double p;
  void add(double& sum, const double& x) const { sum += std::pow(std::abs(x), p); }
  void add(Lanes& sum, const Lanes& x) const {
    for (Index l = 0; l < kLanes; ++l) sum[l] += std::pow(std::abs(x[l]), p);
  }
  double root(double sum) const { return std::pow(sum, 1.0 / p); }
  double power(double distance) const { return std::pow(distance, p); }
};
// How many columns differ.
struct DifferingNorm {
  void add(double& sum, const double& x) const { sum += x != 0.0 ? 1.0 : 0.0; }
  void add(Lanes& sum, const Lanes& x) const {
    for (Index l = 0; l < kLanes; ++l) sum[l] += x[l] != 0.0 ? 1.0 : 0.0;
  }
  double root(double sum) const { return sum; }
  double power(double distance) const { return distance; }
};

enum class TreeKind : std::uint8_t { none, box, ball };

struct PointTree {
  Index rows = 0, cols = 0, bucket = kGroup;
  TreeKind kind = TreeKind::none;
  const double* points = nullptr;     // leaves x (bucket / 16) x cols x 16
  const std::int32_t* ids = nullptr;  // leaves x bucket; -1 where a leaf is not full
  const double* bounds = nullptr;     // a node: lows and highs of a box, or centre and radius of a ball

  Index leaves() const { return (rows + bucket - 1) / bucket; }
  Index nodes() const { return 2 * leaves() - 1; }
  Index bound_size() const { return kind == TreeKind::box ? 2 * cols : cols + 1; }
};

namespace tree_detail {

struct Piece {
  Index node, leaf, leaves;  // a node, its first leaf and how many it has
};

inline Index left_leaves(Index leaves) {
  return (leaves + 1) / 2;
}

// The column in which a sample of rows spreads most.
inline Index widest(const double* x, Index cols, const std::int32_t* order, Index count) {
  const Index step = std::max<Index>(count / 96, 1);
  Index best = 0;
  double width = -1.0;
  for (Index j = 0; j < cols; ++j) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (Index i = 0; i < count; i += step) {
      const double value = x[order[i] * cols + j];
      low = std::min(low, value);
      high = std::max(high, value);
    }
    if (high - low > width) {
      width = high - low;
      best = j;
    }
  }
  return best;
}

struct Key {
  double value;
  std::int32_t row;
};

// Puts the rows of the first half of the leaves before the others.
inline void halve(const double* x, Index cols, Index bucket, const Piece& piece, std::int32_t* order,
                  Index rows, std::vector<Key>& keys) {
  const Index first = piece.leaf * bucket, count = std::min(piece.leaves * bucket, rows - first);
  std::int32_t* mine = order + first;
  const Index column = widest(x, cols, mine, count), middle = left_leaves(piece.leaves) * bucket;
  if (static_cast<Index>(keys.size()) < count) keys.resize(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) keys[static_cast<std::size_t>(i)] = {x[mine[i] * cols + column], mine[i]};
  std::nth_element(keys.begin(), keys.begin() + middle, keys.begin() + count, [](const Key& a, const Key& b) {
    return a.value < b.value || (a.value == b.value && a.row < b.row);
  });
  for (Index i = 0; i < count; ++i) mine[i] = keys[static_cast<std::size_t>(i)].row;
}

inline Piece left_of(const Piece& piece) {
  return {piece.node + 1, piece.leaf, left_leaves(piece.leaves)};
}
inline Piece right_of(const Piece& piece) {
  const Index left = left_leaves(piece.leaves);
  return {piece.node + 2 * left, piece.leaf + left, piece.leaves - left};
}

inline void box_of_rows(const double* x, Index cols, const std::int32_t* rows, Index count, double* box) {
  for (Index j = 0; j < cols; ++j) {
    box[j] = std::numeric_limits<double>::infinity();
    box[cols + j] = -box[j];
  }
  for (Index i = 0; i < count; ++i)
    for (Index j = 0; j < cols; ++j) {
      const double value = x[rows[i] * cols + j];
      box[j] = std::min(box[j], value);
      box[cols + j] = std::max(box[cols + j], value);
    }
}

template <class Norm>
double distance(const Norm& norm, const double* a, const double* b, Index cols) {
  double sum = 0.0;
  for (Index j = 0; j < cols; ++j) norm.add(sum, a[j] - b[j]);
  return sum;
}

template <class Norm>
void ball_of_rows(const Norm& norm, const double* x, Index cols, const std::int32_t* rows, Index count,
                  double* ball) {
  std::fill(ball, ball + cols + 1, 0.0);
  for (Index i = 0; i < count; ++i)
    for (Index j = 0; j < cols; ++j) ball[j] += x[rows[i] * cols + j] / static_cast<double>(count);
  double most = 0.0;
  for (Index i = 0; i < count; ++i) most = std::max(most, distance(norm, ball, x + rows[i] * cols, cols));
  ball[cols] = norm.root(most);
}

// How far a node is at the least, as a sum.
template <class Norm>
double node_distance(const PointTree& tree, const Norm& norm, Index node, const double* q) {
  const Index cols = tree.cols;
  const double* bound = tree.bounds + node * tree.bound_size();
  if (tree.kind == TreeKind::box) {
    double sum = 0.0;
    for (Index j = 0; j < cols; ++j) {
      const double below = bound[j] - q[j], above = q[j] - bound[cols + j];
      const double out = below > above ? below : above;
      norm.add(sum, out > 0.0 ? out : 0.0);
    }
    return sum;
  }
  const double far = norm.root(distance(norm, bound, q, cols));
  // What roundings of the two distances may have added is taken off.
  const double gap = far - bound[cols] - 4e-16 * static_cast<double>(cols + 8) * (far + bound[cols]);
  return gap > 0.0 ? norm.power(gap) * (1.0 - 1e-15) : 0.0;
}

// The distances of 16 points from q.
template <class Norm>
void group_distances(const Norm& norm, const double* points, Index cols, const double* q, double* out) {
  constexpr Index parts = kGroup / kLanes;
  Lanes sum[parts] = {};
  for (Index j = 0; j < cols; ++j) {
    const Lanes at = Lanes{} + q[j];
    for (Index v = 0; v < parts; ++v) {
      Lanes x;
      std::memcpy(&x, points + j * kGroup + v * kLanes, sizeof(x));
      norm.add(sum[v], x - at);
    }
  }
  std::memcpy(out, sum, sizeof(sum));
}

template <class Norm, class Visitor>
void visit_leaf(const PointTree& tree, const Norm& norm, Index leaf, const double* q, Visitor& visitor) {
  for (Index g = 0; g < tree.bucket / kGroup; ++g) {
    const Index group = leaf * (tree.bucket / kGroup) + g;
    double sums[kGroup];
    group_distances(norm, tree.points + group * tree.cols * kGroup, tree.cols, q, sums);
    const std::int32_t* ids = tree.ids + group * kGroup;
    const double bound = visitor.bound();
    for (Index i = 0; i < kGroup; ++i)
      if (sums[i] <= bound && ids[i] >= 0) visitor.offer(sums[i], ids[i]);
  }
}

struct Waiting {
  Piece piece;
  double key;
};

template <class Norm, class Visitor>
void search(const PointTree& tree, const Norm& norm, const double* q, Visitor& visitor,
            std::vector<Waiting>& waiting) {
  waiting.clear();
  waiting.push_back({{0, 0, tree.leaves()}, node_distance(tree, norm, 0, q)});
  while (!waiting.empty()) {
    Waiting here = waiting.back();
    waiting.pop_back();
    if (here.key > visitor.bound()) continue;
    while (here.piece.leaves > 1) {
      const Piece a = left_of(here.piece), b = right_of(here.piece);
      const double to_a = node_distance(tree, norm, a.node, q), to_b = node_distance(tree, norm, b.node, q);
      const bool first = to_a <= to_b;
      if (!((first ? to_b : to_a) > visitor.bound()))
        waiting.push_back(first ? Waiting{b, to_b} : Waiting{a, to_a});
      here = first ? Waiting{a, to_a} : Waiting{b, to_b};
      if (here.key > visitor.bound()) break;
    }
    if (here.key > visitor.bound()) continue;
    visit_leaf(tree, norm, here.piece.leaf, q, visitor);
  }
}

// The leaf that a query falls into.
template <class Norm>
Index home(const PointTree& tree, const Norm& norm, const double* q) {
  Piece here{0, 0, tree.leaves()};
  while (here.leaves > 1) {
    const Piece a = left_of(here), b = right_of(here);
    here = node_distance(tree, norm, a.node, q) <= node_distance(tree, norm, b.node, q) ? a : b;
  }
  return here.leaf;
}

// Queries in the order of the leaves that they fall into, so that neighbours in time are neighbours in space.
template <class Norm>
std::vector<std::int32_t> by_leaf(const Run& run, const PointTree& tree, const Norm& norm,
                                  const Dense<double>& Q) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(Q.rows));
  if (tree.kind == TreeKind::none || Q.rows < 256) {
    std::iota(order.begin(), order.end(), 0);
    return order;
  }
  std::vector<std::int32_t> leaf(order.size());
  constexpr Index step = 256;
  for_chunks(run, (Q.rows + step - 1) / step, [&](Index chunk, int) {
    for (Index i = chunk * step; i < std::min(Q.rows, (chunk + 1) * step); ++i)
      leaf[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(home(tree, norm, Q.data + i * Q.cols));
  });
  std::vector<std::int32_t> start(static_cast<std::size_t>(tree.leaves() + 1));
  for (const std::int32_t at : leaf) ++start[static_cast<std::size_t>(at + 1)];
  std::partial_sum(start.begin(), start.end(), start.begin());
  for (std::size_t i = 0; i < leaf.size(); ++i)
    order[static_cast<std::size_t>(start[static_cast<std::size_t>(leaf[i])]++)] =
        static_cast<std::int32_t>(i);
  return order;
}

constexpr Index kQueries = 32;  // of a chunk

// Calls begin(visitor, query) and end(visitor, query, chunk) around the search for each query.
template <class Norm, class Make, class Begin, class End>
void for_queries(const Run& run, const PointTree& tree, const Norm& norm, const Dense<double>& Q,
                 const Make& make, const Begin& begin, const End& end) {
  const std::vector<std::int32_t> order = by_leaf(run, tree, norm, Q);
  using Visitor = decltype(make());
  const auto workers = static_cast<std::size_t>(std::max(run.threads, 1));
  const Index together = tree.kind == TreeKind::none ? kQueries : 1;
  std::vector<std::vector<Visitor>> visitors(workers);
  for (auto& own : visitors)
    for (Index i = 0; i < together; ++i) own.push_back(make());
  std::vector<std::vector<Waiting>> stacks(workers);
  for_chunks(run, (Q.rows + kQueries - 1) / kQueries, [&](Index chunk, int worker) {
    auto& own = visitors[static_cast<std::size_t>(worker)];
    const Index first = chunk * kQueries, count = std::min(kQueries, Q.rows - first);
    const auto query = [&](Index i) {
      return static_cast<Index>(order[static_cast<std::size_t>(first + i)]);
    };
    if (tree.kind != TreeKind::none) {
      for (Index i = 0; i < count; ++i) {
        begin(own[0], query(i));
        search(tree, norm, Q.data + query(i) * Q.cols, own[0], stacks[static_cast<std::size_t>(worker)]);
        end(own[0], query(i), chunk);
      }
      return;
    }
    // All queries of the chunk pass over a block of points while it lies in the cache.
    const Index block = std::max<Index>(1, (Index{1} << 14) / std::max<Index>(tree.bucket * tree.cols, 1));
    for (Index i = 0; i < count; ++i) begin(own[static_cast<std::size_t>(i)], query(i));
    for (Index leaf = 0; leaf < tree.leaves(); leaf += block)
      for (Index i = 0; i < count; ++i)
        for (Index at = leaf; at < std::min(leaf + block, tree.leaves()); ++at)
          visit_leaf(tree, norm, at, Q.data + query(i) * Q.cols, own[static_cast<std::size_t>(i)]);
    for (Index i = 0; i < count; ++i) end(own[static_cast<std::size_t>(i)], query(i), chunk);
  });
}

}  // namespace tree_detail

// Fills the arrays of a tree over the rows of X, which has at least one row and fewer than 2^31.
template <class Norm>
void grow_point_tree(const Run& run, const Norm& norm, const Dense<double>& X, PointTree shape,
                     double* points, std::int32_t* ids, double* bounds) {
  using namespace tree_detail;
  const Index n = X.rows, d = X.cols, bucket = shape.bucket, leaves = shape.leaves();
  std::vector<std::int32_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  const auto workers = static_cast<std::size_t>(std::max(run.threads, 1));
  if (shape.kind != TreeKind::none) {
    std::vector<std::vector<Key>> rooms(workers);
    std::vector<Piece> level{{0, 0, leaves}};
    while (!level.empty() && level.size() < 64) {
      for_chunks(run, static_cast<Index>(level.size()), [&](Index c, int worker) {
        const Piece& piece = level[static_cast<std::size_t>(c)];
        if (piece.leaves > 1)
          halve(X.data, d, bucket, piece, order.data(), n, rooms[static_cast<std::size_t>(worker)]);
      });
      std::vector<Piece> next;
      for (const Piece& piece : level)
        if (piece.leaves > 1) {
          next.push_back(left_of(piece));
          next.push_back(right_of(piece));
        }
      level = std::move(next);
    }
    // Below, the rows of a part are copied side by side, and its tree grows there.
    std::vector<std::vector<double>> sides(workers);
    std::vector<std::vector<std::int32_t>> places(workers), names(workers);
    for_chunks(run, static_cast<Index>(level.size()), [&](Index c, int worker) {
      const auto w = static_cast<std::size_t>(worker);
      const Piece top = level[static_cast<std::size_t>(c)];
      const Index first = top.leaf * bucket, count = std::min(top.leaves * bucket, n - first);
      sides[w].resize(static_cast<std::size_t>(count * d));
      places[w].resize(static_cast<std::size_t>(count));
      names[w].assign(order.begin() + first, order.begin() + first + count);
      std::iota(places[w].begin(), places[w].end(), 0);
      for (Index i = 0; i < count; ++i)
        std::copy_n(X.data + names[w][static_cast<std::size_t>(i)] * d, d, sides[w].data() + i * d);
      std::vector<Piece> todo{{0, 0, top.leaves}};
      while (!todo.empty()) {
        const Piece piece = todo.back();
        todo.pop_back();
        if (piece.leaves == 1) continue;
        halve(sides[w].data(), d, bucket, piece, places[w].data(), count, rooms[w]);
        todo.push_back(left_of(piece));
        todo.push_back(right_of(piece));
      }
      for (Index i = 0; i < count; ++i)
        order[static_cast<std::size_t>(first + i)] =
            names[w][static_cast<std::size_t>(places[w][static_cast<std::size_t>(i)])];
    });
  }
  for_chunks(run, leaves, [&](Index leaf, int) {
    for (Index g = 0; g < bucket / kGroup; ++g) {
      const Index group = leaf * (bucket / kGroup) + g;
      double* here = points + group * d * kGroup;
      for (Index i = 0; i < kGroup; ++i) {
        const Index at = group * kGroup + i;
        const bool there = at < n;
        const Index row = there ? order[static_cast<std::size_t>(at)] : 0;
        ids[at] = there ? static_cast<std::int32_t>(row) : -1;
        for (Index j = 0; j < d; ++j) here[j * kGroup + i] = there ? X.data[row * d + j] : 0.0;
      }
    }
  });
  if (shape.kind == TreeKind::none) return;
  std::vector<Piece> pieces{{0, 0, leaves}};
  pieces.reserve(static_cast<std::size_t>(shape.nodes()));
  for (std::size_t i = 0; i < pieces.size(); ++i)
    if (const Piece piece = pieces[i]; piece.leaves > 1) {
      pieces.push_back(left_of(piece));
      pieces.push_back(right_of(piece));
    }
  const Index size = shape.bound_size();
  const auto rows_of = [&](const Piece& piece, auto&& visit) {
    const Index first = piece.leaf * bucket;
    visit(order.data() + first, std::min(piece.leaves * bucket, n - first));
  };
  if (shape.kind == TreeKind::ball) {
    for_chunks(run, static_cast<Index>(pieces.size()), [&](Index c, int) {
      const Piece& piece = pieces[static_cast<std::size_t>(c)];
      rows_of(piece, [&](const std::int32_t* rows, Index count) {
        ball_of_rows(norm, X.data, d, rows, count, bounds + piece.node * size);
      });
    });
    return;
  }
  constexpr Index step = 64;
  for_chunks(run, (static_cast<Index>(pieces.size()) + step - 1) / step, [&](Index c, int) {
    for (Index i = c * step; i < std::min(static_cast<Index>(pieces.size()), (c + 1) * step); ++i)
      if (const Piece& piece = pieces[static_cast<std::size_t>(i)]; piece.leaves == 1)
        rows_of(piece, [&](const std::int32_t* rows, Index count) {
          box_of_rows(X.data, d, rows, count, bounds + piece.node * size);
        });
  });
  for (std::size_t i = pieces.size(); i-- > 0;)
    if (const Piece& piece = pieces[i]; piece.leaves > 1) {
      double* box = bounds + piece.node * size;
      const double* a = bounds + left_of(piece).node * size;
      const double* b = bounds + right_of(piece).node * size;
      for (Index j = 0; j < d; ++j) {
        box[j] = std::min(a[j], b[j]);
        box[d + j] = std::max(a[d + j], b[d + j]);
      }
    }
}

// The k nearest points of each query, k at most the number of points; with `own`, query i is point i, which
// is not its own neighbour. Keys are sums, without roots.
template <class Norm>
void tree_nearest(const Run& run, const PointTree& tree, const Norm& norm, const Dense<double>& Q, Index k,
                  bool own, std::int64_t* index, double* value) {
  tree_detail::for_queries(
      run, tree, norm, Q, [&] { return Nearest(k); },
      [&](Nearest& visitor, Index query) { visitor.start(own ? query : -1); },
      [&](Nearest& visitor, Index query, Index) { visitor.write(index + query * k, value + query * k); });
}

// All points whose sums from query i are at most radius[i].
template <class Norm>
NearLists tree_within(const Run& run, const PointTree& tree, const Norm& norm, const Dense<double>& Q,
                      const double* radius, bool own, bool by_distance) {
  NearLists lists;
  lists.places.resize(static_cast<std::size_t>(Q.rows));
  lists.chunks.resize(static_cast<std::size_t>((Q.rows + tree_detail::kQueries - 1) / tree_detail::kQueries));
  tree_detail::for_queries(
      run, tree, norm, Q, [] { return Within(); },
      [&](Within& visitor, Index query) {
        visitor.found.clear();
        visitor.start(radius[query], own ? query : -1);
      },
      [&](Within& visitor, Index query, Index chunk) {
        std::vector<Near>& all = lists.chunks[static_cast<std::size_t>(chunk)];
        put_in_order(visitor.found.data(), visitor.found.data() + visitor.found.size(), by_distance);
        lists.places[static_cast<std::size_t>(query)] = {chunk, static_cast<Index>(all.size()),
                                                         static_cast<Index>(visitor.found.size())};
        all.insert(all.end(), visitor.found.begin(), visitor.found.end());
      });
  return lists;
}

}  // namespace surefit
