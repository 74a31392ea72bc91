// Repulsion of points that attract by Student's t kernel, from a quadtree or octree (Barnes and Hut), and the
// attraction along weighted edges: the two halves of the gradient of t-SNE.
//
// The tree is built by one thread, in the order of the points; sums over points run in fixed chunks.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "buffer.h"
#include "parallel.h"

namespace surefit {

template <int D>
class ForceTree {
 public:
  static constexpr int fan = 1 << D;
  static constexpr int deepest = 40;

  ForceTree(const double* at, const double* mass, Index points) : at_(at), mass_(mass) {
    std::array<double, D> low{}, high{};
    for (int d = 0; d < D; ++d) low[d] = high[d] = points > 0 ? at[d] : 0.0;
    for (Index i = 0; i < points; ++i)
      for (int d = 0; d < D; ++d) {
        low[d] = std::min(low[d], at[i * D + d]);
        high[d] = std::max(high[d], at[i * D + d]);
      }
    Node root;
    for (int d = 0; d < D; ++d) {
      root.middle[d] = 0.5 * (low[d] + high[d]);
      root.side = std::max(root.side, high[d] - low[d]);
    }
    nodes_.reserve(static_cast<std::size_t>(2 * points + 1));
    nodes_.push_back(root);
    for (Index i = 0; i < points; ++i) insert(i);
    for (Node& node : nodes_)
      for (int d = 0; d < D; ++d) node.centre[d] /= node.mass > 0 ? node.mass : 1.0;
  }

  // Adds the force on a point at y to `force`, and returns the sum of the kernel over all points.
  double repel(const double* y, double angle, double* force) const {
    double sum = 0;
    const double limit = angle * angle;
    std::array<std::int32_t, fan * deepest + 8> stack;
    int depth = 0;
    stack[0] = 0;
    while (depth >= 0) {
      const Node& node = nodes_[static_cast<std::size_t>(stack[static_cast<std::size_t>(depth--)])];
      double apart[D], square = 0;
      for (int d = 0; d < D; ++d) {
        apart[d] = y[d] - node.centre[d];
        square += apart[d] * apart[d];
      }
      if (node.leaf || node.side * node.side < limit * square) {
        const double kernel = 1 / (1 + square), pull = node.mass * kernel;
        sum += pull;
        for (int d = 0; d < D; ++d) force[d] += pull * kernel * apart[d];
        continue;
      }
      for (int c = 0; c < fan; ++c)
        if (node.child[c] != 0) stack[static_cast<std::size_t>(++depth)] = node.child[c];
    }
    return sum;
  }

 private:
  struct Node {
    double middle[D] = {}, centre[D] = {};  // of the cell; of its points, a weighted sum until the end
    double side = 0, mass = 0;
    Index point = -1;  // the first of a leaf
    std::int32_t child[fan] = {};
    bool leaf = true;
  };

  void add(Node& node, Index i) const {
    node.mass += mass_[i];
    for (int d = 0; d < D; ++d) node.centre[d] += mass_[i] * at_[i * D + d];
  }

  int side_of(const Node& node, Index i) const {
    int which = 0;
    for (int d = 0; d < D; ++d)
      if (at_[i * D + d] > node.middle[d]) which += 1 << d;
    return which;
  }

  // The child of a node on one side, made if it is not there.
  std::size_t child_of(std::size_t at, int which) {
    if (nodes_[at].child[which] == 0) {
      Node fresh;
      fresh.side = 0.5 * nodes_[at].side;
      for (int d = 0; d < D; ++d)
        fresh.middle[d] = nodes_[at].middle[d] + ((which >> d & 1) ? 0.5 : -0.5) * fresh.side;
      nodes_[at].child[which] = static_cast<std::int32_t>(nodes_.size());
      nodes_.push_back(fresh);
    }
    return static_cast<std::size_t>(nodes_[at].child[which]);
  }

  bool same(Index a, Index b) const {
    for (int d = 0; d < D; ++d)
      if (at_[a * D + d] != at_[b * D + d]) return false;
    return true;
  }

  void insert(Index i) {
    std::size_t at = 0;
    for (int depth = 0;; ++depth) {
      Node& node = nodes_[at];
      if (node.leaf && (node.point < 0 || depth + 1 >= deepest || same(node.point, i))) {
        if (node.point < 0) node.point = i;
        add(node, i);
        return;
      }
      if (node.leaf) {  // its points, which all stand together, go one level down
        const Node kept = node;
        const std::size_t below = child_of(at, side_of(kept, kept.point));
        Node& lower = nodes_[below];
        lower.point = kept.point;
        lower.mass = kept.mass;
        for (int d = 0; d < D; ++d) lower.centre[d] = kept.centre[d];
        nodes_[at].leaf = false;
      }
      add(nodes_[at], i);
      at = child_of(at, side_of(nodes_[at], i));
    }
  }

  const double* at_;
  const double* mass_;
  std::vector<Node> nodes_;
};

// Forces on all points: repulsion (points x D, mass-weighted sums), attraction along the edges of a CSR graph
// (points x D). Returns the sum of mass_i mass_j kernel over pairs of different points.
template <int D>
double t_forces(const Run& run, const double* at, const double* mass, Index points,
                const std::int64_t* starts, const std::int64_t* ends, const double* weight, double angle,
                double* repulsion, double* attraction) {
  const ForceTree<D> tree(at, mass, points);
  constexpr Index together = 128;
  const Index chunks = (points + together - 1) / together;
  Buffer sums(std::max<Index>(chunks, 1));
  for_chunks(run, chunks, [&](Index chunk, int) {
    double sum = 0;
    for (Index i = chunk * together; i < std::min(points, (chunk + 1) * together); ++i) {
      double force[D] = {}, pull[D] = {};
      const double kernel = tree.repel(at + i * D, angle, force);
      sum += mass[i] * (kernel - mass[i]);  // less its own
      for (std::int64_t e = starts[i]; e < starts[i + 1]; ++e) {
        const double* other = at + ends[e] * D;
        double square = 0;
        for (int d = 0; d < D; ++d) square += (at[i * D + d] - other[d]) * (at[i * D + d] - other[d]);
        const double w = weight[e] / (1 + square);
        for (int d = 0; d < D; ++d) pull[d] += w * (at[i * D + d] - other[d]);
      }
      for (int d = 0; d < D; ++d) {
        repulsion[i * D + d] = mass[i] * force[d];
        attraction[i * D + d] = pull[d];
      }
    }
    sums[chunk] = sum;
  });
  double total = 0;
  for (Index chunk = 0; chunk < chunks; ++chunk) total += sums[chunk];
  return total;
}

}  // namespace surefit
