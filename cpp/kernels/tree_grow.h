// Grows one decision tree by exact search.
//
// Large nodes share their columns among the threads; what is left of the tree below them is grown subtree by
// subtree. Both give the same tree for any number of threads.
#pragma once

#include "split_search.h"
#include "tree.h"

namespace surefit {

struct TreeRules {
  Index max_depth = std::numeric_limits<Index>::max();
  Index min_rows_split = 2;
  double min_decrease = 0.0;  // of the impurity, as a share of all rows
  double min_gain = 0.0;      // of the impurity, as a share of the node's rows
  double pure_below = 0.0;    // an impurity at which a node is pure enough to stay a leaf
  Index max_leaves = 0;       // 0 for any number; otherwise the best leaf is split first
  std::uint64_t seed = 0;
  SearchRules search;
};

template <class T, class Criterion>
class TreeGrower {
 public:
  // rows: those that count, in ascending order. levels, monotone: as SplitSearch has them.
  TreeGrower(const Run& run, const Dense<T>& X, const std::vector<std::uint32_t>& rows,
             const Criterion& criterion, const TreeRules& rules, const std::vector<Index>& levels,
             const std::vector<std::int8_t>& monotone)
      : run_(run),
        criterion_(criterion),
        rules_(rules),
        levels_(levels),
        monotone_(monotone),
        sorted_(run, X, rows),
        search_(sorted_, criterion, rules.search, levels, monotone),
        scratch_(size(std::max(run.threads, 1))),
        spare_(scratch_.size()) {}

  GrownTree grow() {
    TreeNode root;
    root.end = sorted_.rows();
    root.seed = mixed(rules_.seed);
    root.sums.assign(size(criterion_.width()), 0.0);
    const Ranked* entries = sorted_.column(0);
    for (Index i = 0; i < root.end; ++i) root.weight += criterion_.add(root.sums.data(), entries[i].row);
    if constexpr (Criterion::kMedians) {
      for (Index i = 0; i < root.end; ++i) sorted_.mark(entries[i].row, true);
      TreeNode none;
      second_sums(entries, root.end, root, none);
    }
    finish(root);
    total_weight_ = root.weight;
    return rules_.max_leaves > 0 ? best_first(std::move(root)) : depth_first(std::move(root));
  }

 private:
  using Scratch = typename SplitSearch<T, Criterion>::Scratch;
  static constexpr double kTiny = std::numeric_limits<double>::epsilon();
  static constexpr Index kSharedAbove = 4096;  // rows of a node whose columns the threads share, at the least
  static std::size_t size(Index n) { return static_cast<std::size_t>(n); }

  bool is_leaf(const TreeNode& node) const {
    return node.depth >= rules_.max_depth || node.rows() < rules_.min_rows_split ||
           node.rows() < 2 * rules_.search.min_rows_leaf ||
           node.weight < 2.0 * rules_.search.min_weight_leaf || node.impurity <= rules_.pure_below ||
           criterion_.pure(node.impurity, node.centre.data());
  }

  // Squares about the mean and deviations from the median take the rows once more.
  void second_sums(const Ranked* entries, Index count, TreeNode& left, TreeNode& right) const {
    if (criterion_.squares())
      for (Index i = 0; i < count; ++i) {
        TreeNode& side = sorted_.marked(entries[i].row) ? left : right;
        criterion_.add_squares(side.sums.data(), entries[i].row, side.weight);
        criterion_.count_positive(side.positive, entries[i].row);
      }
    if (!criterion_.medians()) return;
    std::vector<std::uint32_t> lefts, rights;
    for (Index i = 0; i < count; ++i)
      (sorted_.marked(entries[i].row) ? lefts : rights).push_back(entries[i].row);
    if (!lefts.empty()) settle_medians(criterion_, lefts, left.weight, left.sums.data());
    if (!rights.empty()) settle_medians(criterion_, rights, right.weight, right.sums.data());
  }

  Split find(const TreeNode& node, Index worker) {
    Split best;
    std::vector<Index> columns;
    search_.choose_columns(node, columns);
    for (const Index j : columns) search_.look_at(node, j, best, scratch_[size(worker)]);
    return best;
  }

  Split find_shared(const TreeNode& node) {
    std::vector<Index> columns;
    search_.choose_columns(node, columns);
    std::vector<Split> each(columns.size());
    for_chunks(run_, static_cast<Index>(columns.size()), [&](Index i, int worker) {
      search_.look_at(node, columns[size(i)], each[size(i)], scratch_[size(worker)]);
    });
    Split best;
    for (Split& split : each)
      if (split.score > best.bar) best = std::move(split);
    return best;
  }

  bool goes_left(const Split& split, Index i, Index known, const Ranked& entry) const {
    if (i >= known) return split.missing_left;
    if (split.levels.empty()) return i < split.position;
    const auto level = static_cast<std::uint64_t>(sorted_.value(entry, split.column));
    return ((split.levels[level / 64] >> (level % 64)) & 1) != 0;
  }

  struct Children {
    TreeNode left, right;
    bool saw_missing;
  };

  // Marks who goes left, and adds both sides up afresh, so that no rounding of differences grows downwards.
  Children children(const TreeNode& node, const Split& split) {
    TreeNode left, right;
    left.depth = right.depth = node.depth + 1;
    left.seed = mixed(node.seed ^ 0x5851F42D4C957F2Du);
    right.seed = mixed(node.seed ^ 0x14057B7EF767814Fu);
    left.sums.assign(size(criterion_.width()), 0.0);
    right.sums.assign(size(criterion_.width()), 0.0);
    const Ranked* entries = sorted_.column(split.column) + node.begin;
    const Index known = sorted_.present(split.column, node.begin, node.end);
    Index count = 0;
    for (Index i = 0; i < node.rows(); ++i) {
      const bool goes = goes_left(split, i, known, entries[i]);
      sorted_.mark(entries[i].row, goes);
      TreeNode& side = goes ? left : right;
      side.weight += criterion_.add(side.sums.data(), entries[i].row);
      count += goes;
    }
    left.begin = node.begin;
    left.end = right.begin = node.begin + count;
    right.end = node.end;
    if constexpr (Criterion::kMedians) second_sums(entries, node.rows(), left, right);
    finish(left);
    finish(right);
    left.lowest = right.lowest = node.lowest;
    left.highest = right.highest = node.highest;
    const int sign = monotone_.empty() ? 0 : monotone_[size(split.column)];
    if (sign != 0) {
      const double middle = (criterion_.monotone_value(left.sums.data(), left.weight) +
                             criterion_.monotone_value(right.sums.data(), right.weight)) /
                            2.0;
      (sign > 0 ? left.highest : left.lowest) = middle;
      (sign > 0 ? right.lowest : right.highest) = middle;
    }
    return {std::move(left), std::move(right), known < node.rows()};
  }

  void finish(TreeNode& node) const {
    node.impurity = criterion_.impurity(node.sums.data(), node.weight);
    criterion_.centre(node.sums.data(), node.weight, node.centre, node.totals);
    std::copy_backward(node.positive.begin(), node.positive.end(), node.totals.end());
  }

  double decrease(const TreeNode& node, const Children& below) const {
    return (node.weight * node.impurity - below.left.weight * below.left.impurity -
            below.right.weight * below.right.impurity) /
           total_weight_;
  }

  bool enough(const TreeNode& node, double gain) const {
    return gain + kTiny >= rules_.min_decrease &&
           gain * total_weight_ / node.weight + kTiny >= rules_.min_gain;
  }

  // Missing values that no row of the node had follow the larger side.
  void record(GrownTree& tree, Index at, const Split& split, const Children& below) const {
    const bool missing_left = below.saw_missing ? split.missing_left : below.left.rows() > below.right.rows();
    tree.split(at, split.column, split.threshold, missing_left, split.levels);
  }

  struct Waiting {
    TreeNode node;
    Index parent = -1;
    bool is_left = false;
  };

  GrownTree empty_tree() const {
    GrownTree tree;
    tree.width = criterion_.width();
    tree.words = search_.words();
    return tree;
  }

  static Index append(GrownTree& tree, const Waiting& here) {
    const Index at =
        tree.append(here.node.impurity, here.node.weight, here.node.rows(), here.node.sums.data());
    tree.attach(here.parent, here.is_left, at);
    return at;
  }

  // Splits a node that stands at `at` and puts its children on the stack; false for one that stays a leaf.
  template <class Find, class Part>
  void split(GrownTree& tree, Index at, const TreeNode& node, std::vector<Waiting>& stack, const Find& find,
             const Part& part) {
    const Split best = find(node);
    if (!best.found()) return;
    Children below = children(node, best);
    if (!enough(node, decrease(node, below))) return;
    if (!is_leaf(below.left) || !is_leaf(below.right)) part(node);
    record(tree, at, best, below);
    stack.push_back({std::move(below.right), at, false});
    stack.push_back({std::move(below.left), at, true});
  }

  void part_shared(const TreeNode& node) {
    for_chunks(run_, sorted_.columns(),
               [&](Index j, int worker) { sorted_.part(j, node.begin, node.end, spare_[size(worker)]); });
  }

  // Grows everything below a node on one thread.
  GrownTree subtree(TreeNode root, int worker) {
    Poll poll(run_);
    GrownTree tree = empty_tree();
    std::vector<Waiting> stack;
    stack.push_back({std::move(root)});
    while (!stack.empty()) {
      if (worker == 0) poll();
      const Waiting here = std::move(stack.back());
      stack.pop_back();
      const Index at = append(tree, here);
      if (is_leaf(here.node)) continue;
      split(
          tree, at, here.node, stack, [&](const TreeNode& node) { return find(node, worker); },
          [&](const TreeNode& node) {
            for (Index j = 0; j < sorted_.columns(); ++j)
              sorted_.part(j, node.begin, node.end, spare_[size(worker)]);
          });
    }
    return tree;
  }

  GrownTree depth_first(TreeNode root) {
    const Index small = std::max(kSharedAbove, sorted_.rows() / 32);
    GrownTree top = empty_tree();
    std::vector<Waiting> stack;
    std::vector<TreeNode> left_over;
    std::vector<Index> task_of;  // of each node above: which subtree hangs there, or -1
    stack.push_back({std::move(root)});
    while (!stack.empty()) {
      Waiting here = std::move(stack.back());
      stack.pop_back();
      const Index at = append(top, here);
      task_of.push_back(-1);
      if (is_leaf(here.node)) continue;
      if (here.node.rows() > small) {
        split(
            top, at, here.node, stack, [&](const TreeNode& node) { return find_shared(node); },
            [&](const TreeNode& node) { part_shared(node); });
        continue;
      }
      task_of.back() = static_cast<Index>(left_over.size());
      left_over.push_back(std::move(here.node));
    }
    std::vector<GrownTree> below(left_over.size());
    for_chunks(run_, static_cast<Index>(left_over.size()),
               [&](Index i, int worker) { below[size(i)] = subtree(std::move(left_over[size(i)]), worker); });
    return in_order(top, levels_, [&](Index at) {
      const Index task = task_of[size(at)];
      return task < 0 ? nullptr : &below[size(task)];
    });
  }

  // The best leaf is split first, until there are max_leaves of them.
  GrownTree best_first(TreeNode root) {
    struct Candidate {
      double gain;
      Index at;
      TreeNode node;
      Split split;
    };
    // Of equal gains, the node that was made first.
    auto worse = [](const Candidate& a, const Candidate& b) {
      return a.gain != b.gain ? a.gain < b.gain : a.at > b.at;
    };
    GrownTree tree = empty_tree();
    std::vector<Candidate> heap;
    auto consider = [&](Waiting here) {
      const Index at = append(tree, here);
      if (is_leaf(here.node)) return;
      Split best = here.node.rows() > kSharedAbove ? find_shared(here.node) : find(here.node, 0);
      if (!best.found()) return;
      const double gain = decrease(here.node, children(here.node, best));
      if (!enough(here.node, gain)) return;
      heap.push_back({gain, at, std::move(here.node), std::move(best)});
      std::push_heap(heap.begin(), heap.end(), worse);
    };
    Poll poll(run_);
    consider({std::move(root)});
    for (Index leaves = 1; leaves < rules_.max_leaves && !heap.empty(); ++leaves) {
      poll();
      std::pop_heap(heap.begin(), heap.end(), worse);
      const Candidate best = std::move(heap.back());
      heap.pop_back();
      Children below = children(best.node, best.split);
      part_shared(best.node);
      record(tree, best.at, best.split, below);
      consider({std::move(below.left), best.at, true});
      consider({std::move(below.right), best.at, false});
    }
    return in_order(tree, levels_, [](Index) -> const GrownTree* { return nullptr; });
  }

  const Run& run_;
  const Criterion& criterion_;
  const TreeRules& rules_;
  const std::vector<Index>& levels_;
  const std::vector<std::int8_t>& monotone_;
  SortedColumns<T> sorted_;
  SplitSearch<T, Criterion> search_;
  std::vector<Scratch> scratch_;
  std::vector<std::vector<Ranked>> spare_;
  double total_weight_ = 0.0;
};

}  // namespace surefit
