// Grows one tree of a forest on one thread.
//
// Nodes with many rows are split by the bins of their columns. In a small node values are told apart; from
// there on the search is exact, and works on a few kilobytes. Where nodes look at many columns, their ranks
// are sorted once, and rows are kept in the order of each; where at fewer, rows have codes that all small
// nodes got at once; where at few of very many, each node sorts the ranks that it needs. Thresholds that are
// drawn at random need neither bins nor ranks.
#pragma once

#include <functional>
#include <limits>

#include "forest_chosen.h"
#include "forest_codes.h"
#include "forest_draw_search.h"
#include "forest_order_search.h"
#include "forest_rank_search.h"
#include "forest_search.h"
#include "forest_spread.h"
#include "forest_tree.h"
#include "node_random.h"
#include "tree_grow.h"

namespace surefit {

// Half-way between two neighbours; what rounds up to the right one would take it along.
inline double between(double low, double high) {
  const double middle = low / 2.0 + high / 2.0;
  return middle >= low && middle < high ? middle : low;
}

template <class T, class Target>
class ForestGrower {
 public:
  using Given = typename Target::Given;

  ForestGrower(const Dense<T>& X, const ForestColumns& columns, const Target& target, const TreeRules& rules)
      : X_(X),
        columns_(columns),
        target_(target),
        rules_(rules),
        by_bin_(target, rules.search),
        by_value_(target, rules.search),
        in_order_(target, rules.search),
        by_rank_(target, rules.search),
        drawn_(target, rules.search),
        local_(static_cast<std::size_t>(kOrderedRows)),
        places_(local_.size()),
        chosen_(X.cols, rules.search.max_columns) {}

  // sample: of all rows of X; rows: those that count; small: they are a small node of a larger tree. poll is
  // called now and then.
  ForestTree grow(const std::vector<Given>& sample, std::vector<std::uint32_t>& rows, bool small,
                  std::uint64_t seed, const std::function<void()>& poll) {
    ForestTree tree;
    tree.importance.assign(static_cast<std::size_t>(X_.cols), 0.0);
    tree.reserve(rows.size(), target_.values());
    tree.nodes.resize(1);
    prepared_.resize(rows.size());
    spare_.resize(rows.size());
    chosen_.forget();
    total_ = 0.0;
    for (const std::uint32_t row : rows) total_ += Target::weight_of(sample[row]);
    std::vector<Waiting> small_nodes;
    stack_.assign(1, Waiting{0, static_cast<Index>(rows.size()), 0, mixed(seed), 0, -1});
    auto edges = [&](const CodeSplit& split, Index, Index) {
      const Index from = split.column * kMostBins;
      return between(columns_.highest[from + split.left], columns_.lowest[from + split.right]);
    };
    const bool draws = rules_.search.random_threshold;
    const bool ordered = !draws && columns_.rank != nullptr && !looks_at_few();
    const auto root = static_cast<Index>(rows.size());
    const Index small_rows = small && ordered ? kOrderedRows : rows_told_apart(root, ordered);
    while (!stack_.empty()) {
      const Waiting node = stack_.back();
      stack_.pop_back();
      if (node.end - node.begin <= small_rows) {
        small_nodes.push_back(node);
        continue;
      }
      poll();
      if (draws)
        visit(tree, node, field_of(X_.data, cells_of(X_), sample, rows), drawn_, threshold_drawn);
      else
        visit(tree, node, field_of(columns_.bins, columns_.order, sample, rows), by_bin_, edges);
    }
    if (columns_.ascending != nullptr) spread_.tell_apart(X_, columns_.ascending, rows, small_nodes, poll);
    for (const Waiting& node : small_nodes) {
      poll();
      grow_small(tree, node, sample, rows);
    }
    return tree;
  }

 private:
  // A node that waits for its turn, as a range of places.
  struct Waiting {
    Index begin, end, depth;
    std::uint64_t seed;
    std::int32_t at;     // among the nodes of the tree
    Index split_before;  // the column of the split above it
  };

  // Where codes are found, and the rows of nodes as places in it.
  template <class Code, class Place>
  struct Field {
    const Code* codes;
    Index step, column_step;
    const Given* sample;
    Place* places;
    Place* spare;
  };

  // From how many columns for each that is looked at it takes longer to prepare all of them for a node of
  // kCodedRows than to read those of each node below it: measured with normal numbers and two classes.
  static constexpr Index kFewOf = 16;

  // All rows, with each cell where the table has it.
  template <class Code>
  Field<Code, std::uint32_t> field_of(const Code* cells, const CellOrder& order,
                                      const std::vector<Given>& sample, std::vector<std::uint32_t>& rows) {
    return {cells, order.step, order.column_step, sample.data(), rows.data(), spare_.data()};
  }
  static CellOrder cells_of(const Dense<T>& X) { return CellOrder::of(X.rows, X.cols, X.order != Order::C); }

  static constexpr double kTiny = std::numeric_limits<double>::epsilon();

  bool is_leaf(const Waiting& node, const ForestSums& sums) const {
    const Index rows = node.end - node.begin;
    return node.depth >= rules_.max_depth || rows < rules_.min_rows_split ||
           rows < 2 * rules_.search.min_rows_leaf || sums.weight < 2.0 * rules_.search.min_weight_leaf ||
           sums.impurity <= rules_.pure_below || target_.pure(sums);
  }

  void leaf(ForestTree& tree, const Waiting& node, const ForestSums& sums) const {
    tree.make_leaf(node.at);
    const std::size_t from = tree.values.size();
    tree.values.resize(from + static_cast<std::size_t>(target_.values()));
    target_.write(sums, tree.values.data() + from);
    tree.weight.push_back(sums.weight);
    tree.impurity.push_back(sums.impurity);
    tree.rows.push_back(node.end - node.begin);
  }

  template <class Field, class Search>
  Index choose_columns(const Waiting& node, const Field& field, const Search&) {
    return chosen_.choose(node.seed, node.begin, node.end, Search::kExact && looks_at_few(), [&](Index j) {
      return Search::varies(field.codes + j * field.column_step, field.step, field.places + node.begin,
                            node.end - node.begin);
    });
  }

  // Makes a leaf of the node, or parts it and puts its children on the stack. threshold: of a split, given a
  // place on either side of it.
  template <class Field, class Search, class Threshold>
  void visit(ForestTree& tree, const Waiting& node, const Field& field, Search& search,
             const Threshold& threshold) {
    auto* places = field.places + node.begin;
    const Index count = node.end - node.begin;
    target_.prepare(field.sample, places, count, prepared_.data(), sums_);
    const double cost = sums_.weight * sums_.impurity;
    if (node.split_before >= 0) tree.importance[static_cast<std::size_t>(node.split_before)] -= cost;
    if (is_leaf(node, sums_)) return leaf(tree, node, sums_);
    CodeSplit best;
    search.at_node(node.seed, node.begin);
    const Index columns = choose_columns(node, field, search);
    search.look_at(field.codes, field.step, field.column_step, chosen_.data(), columns, places, count,
                   prepared_.data(), sums_, best);
    if (best.column < 0) return leaf(tree, node, sums_);
    const auto* column = field.codes + best.column * field.column_step;
    auto *kept = places, *away = field.spare;
    bool saw_missing = false;
    Index low = 0, high = 0;
    for (Index i = 0; i < count; ++i) {
      const auto place = places[i];
      const auto code = column[static_cast<Index>(place) * field.step];
      const bool missing = Search::is_missing(code);
      const bool goes = missing ? best.missing_left : Search::goes_left(code, best);
      saw_missing |= missing;
      if (Search::is_at(code, best.left)) low = static_cast<Index>(place);
      if (Search::is_at(code, best.right)) high = static_cast<Index>(place);
      if constexpr (Search::kKeepsOrder) search.send(place, goes);
      *kept = *away = place;  // both, since a branch would be guessed wrong half of the time
      kept += goes;
      away += !goes;
    }
    const Index left = kept - places;
    std::copy(field.spare, away, kept);
    if ((rules_.min_decrease > 0.0 || rules_.min_gain > 0.0) && !enough(field, node, left, cost))
      return leaf(tree, node, sums_);
    if constexpr (Search::kKeepsOrder)
      if (std::max(left, count - left) >= rules_.min_rows_split) search.part(count);
    tree.importance[static_cast<std::size_t>(best.column)] += cost;
    const double where =
        best.right < 0 ? std::numeric_limits<double>::infinity() : threshold(best, low, high);
    const bool missing_left = saw_missing ? best.missing_left : left > count - left;
    const std::int32_t pair = tree.append_pair();
    tree.nodes[static_cast<std::size_t>(node.at)] = {
        where, static_cast<std::int32_t>(best.column) | (missing_left ? kMissingLeft : 0), pair};
    stack_.push_back({node.begin + left, node.end, node.depth + 1, mixed(node.seed ^ 0x14057B7EF767814Fu),
                      pair + 1, best.column});
    stack_.push_back({node.begin, node.begin + left, node.depth + 1, mixed(node.seed ^ 0x5851F42D4C957F2Du),
                      pair, best.column});
  }

  template <class Field>
  bool enough(const Field& field, const Waiting& node, Index left, double cost) {
    auto* places = field.places + node.begin;
    const Index count = node.end - node.begin;
    ForestSums one;
    double gain = cost;
    target_.prepare(field.sample, places, left, prepared_.data(), one);
    gain -= one.weight * one.impurity;
    target_.prepare(field.sample, places + left, count - left, prepared_.data(), one);
    gain -= one.weight * one.impurity;
    return gain / total_ + kTiny >= rules_.min_decrease && gain / sums_.weight + kTiny >= rules_.min_gain;
  }

  template <class Field, class Search, class Threshold>
  void visit_all(ForestTree& tree, const Field& field, Search& search, const Threshold& threshold) {
    while (!stack_.empty()) {
      const Waiting node = stack_.back();
      stack_.pop_back();
      visit(tree, node, field, search, threshold);
    }
  }

  static double threshold_drawn(const CodeSplit& split, Index, Index) { return split.threshold; }

  void grow_small(ForestTree& tree, Waiting root, const std::vector<Given>& sample,
                  std::vector<std::uint32_t>& rows) {
    if (columns_.ascending == nullptr && looks_at_few()) return grow_in_place(tree, root, sample, rows);
    const Index from = root.begin, count = root.end - root.begin;
    for (Index i = 0; i < count; ++i) {
      local_[static_cast<std::size_t>(i)] = sample[rows[static_cast<std::size_t>(from + i)]];
      places_[static_cast<std::size_t>(i)] = static_cast<std::uint16_t>(i);
    }
    std::array<std::uint16_t, static_cast<std::size_t>(kOrderedRows)> spare;
    auto middle = [&](const CodeSplit& split, Index low, Index high) {
      const auto left = static_cast<Index>(rows[static_cast<std::size_t>(from + low)]);
      const auto right = static_cast<Index>(rows[static_cast<std::size_t>(from + high)]);
      return between(static_cast<double>(X_(left, split.column)),
                     static_cast<double>(X_(right, split.column)));
    };
    root.begin = 0, root.end = count;
    stack_.assign(1, root);
    auto field = [&](const auto* codes, Index column_step) {
      return Field<std::remove_cvref_t<decltype(*codes)>, std::uint16_t>{
          codes, 1, column_step, local_.data(), places_.data(), spare.data()};
    };
    if (columns_.ascending != nullptr)
      return visit_all(tree, field(spread_.codes() + from, spread_.step()), by_value_, middle);
    if (!rules_.search.random_threshold) {
      codes_.tell_apart(columns_, X_.cols, rows.data() + from, count);
      in_order_.start(codes_.order(), X_.cols, count);
      return visit_all(tree, field(codes_.codes(), count), in_order_, middle);
    }
    cells_.resize(static_cast<std::size_t>(count * X_.cols));
    for (Index i = 0; i < count; ++i) {
      const auto row = static_cast<Index>(rows[static_cast<std::size_t>(from + i)]);
      for (Index j = 0; j < X_.cols; ++j) cells_[static_cast<std::size_t>(j * count + i)] = X_(row, j);
    }
    visit_all(tree, field(cells_.data(), count), drawn_, threshold_drawn);
  }

  // Where so few columns are looked at that no node prepares those of its children.
  void grow_in_place(ForestTree& tree, const Waiting& root, const std::vector<Given>& sample,
                     std::vector<std::uint32_t>& rows) {
    stack_.assign(1, root);
    if (rules_.search.random_threshold)
      return visit_all(tree, field_of(X_.data, cells_of(X_), sample, rows), drawn_, threshold_drawn);
    auto middle = [&](const CodeSplit& split, Index low, Index high) {
      return between(static_cast<double>(X_(low, split.column)), static_cast<double>(X_(high, split.column)));
    };
    visit_all(tree, field_of(columns_.rank, columns_.order, sample, rows), by_rank_, middle);
  }

  bool looks_at_few() const {
    const Index most = rules_.search.max_columns;
    return most > 0 && X_.cols >= kFewOf * most;
  }

  const Dense<T>& X_;
  const ForestColumns& columns_;
  const Target& target_;
  const TreeRules& rules_;
  CodeSearch<Target, std::uint8_t, Index{kMissingBin}> by_bin_;
  CodeSearch<Target, std::uint16_t, kCodedRows> by_value_;
  OrderSearch<Target> in_order_;
  RankSearch<Target> by_rank_;
  DrawSearch<Target, T> drawn_;
  std::vector<T> cells_;
  std::vector<Given> local_;
  NodeCodes codes_;
  SpreadCodes spread_;
  std::vector<std::uint16_t> places_;
  ChosenColumns chosen_;
  std::vector<std::uint32_t> spare_;
  std::vector<typename Target::Row> prepared_;
  std::vector<Waiting> stack_;
  ForestSums sums_;
  double total_ = 0.0;
};

}  // namespace surefit
