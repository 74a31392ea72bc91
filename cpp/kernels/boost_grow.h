// Grows one tree of a boosted model, the best leaf first.
#pragma once

#include <utility>

#include "boost_rows.h"
#include "boost_split.h"
#include "node_random.h"

namespace surefit {

struct BoostRules {
  Index max_leaves = 0;  // 0 for any number
  Index max_depth = 0;   // 0 for any depth
  double column_share = 1.0;
  std::uint64_t seed = 0;
  BoostSearchRules search;
};

// Nodes in the order in which they were made; a leaf has column -1. rows of a node: [begin, end) of the order
// that growing leaves the rows in. levels: of a node split by levels, those that go left.
struct BoostTree {
  std::vector<std::int32_t> column, bin, left, right;
  std::vector<std::uint8_t> missing_left;
  std::vector<double> value, gain, curvature;
  std::vector<std::int64_t> begin, end;
  std::vector<std::uint64_t> levels;  // four words a node

  Index append(double node_value, double node_curvature, Index from, Index to) {
    column.push_back(-1);
    bin.push_back(0);
    left.push_back(-1);
    right.push_back(-1);
    missing_left.push_back(0);
    value.push_back(node_value);
    gain.push_back(0.0);
    curvature.push_back(node_curvature);
    begin.push_back(from);
    end.push_back(to);
    levels.insert(levels.end(), 4, 0);
    return static_cast<Index>(column.size()) - 1;
  }
};

class BoostGrower {
 public:
  // codes: column by column, as the bins made them. groups: which columns may be split by together, one row
  // of width bytes a group; empty for all.
  BoostGrower(const Run& run, const PackedRows& packed, const std::uint8_t* codes, Index table_rows,
              const BoostColumns& columns, const BoostRules& rules, const FixedPoint& unit, const Sums* sums,
              const std::vector<std::uint8_t>& groups, RowOrder& order)
      : run_(run),
        alone_(run),
        codes_(codes),
        table_rows_(table_rows),
        columns_(columns),
        rules_(rules),
        unit_(unit),
        sums_(sums),
        groups_(groups),
        order_(order),
        builder_(run, packed),
        search_(columns, rules.search, unit) {
    alone_.threads = 1;
  }

  // all: whether the rows are the whole table in its order.
  BoostTree grow(Index count, bool all) {
    BoostTree tree;
    Node root;
    root.end = count;
    root.seed = mixed(rules_.seed);
    root.groups.assign(groups_.size() / std::max<std::size_t>(1, size(columns_.width)), 1);
    settle(root, add_all(count, all));
    root.node.value =
        search_.value_of(root.node.gradient, root.node.curvature, root.node.lowest, root.node.highest);
    root.at = tree.append(root.node.value, root.node.curvature, 0, count);
    Index leaves = 1;
    if (!stays_leaf(root, leaves)) {
      root.histogram = fresh();
      look({&root, nullptr}, 0, 0);
    }
    push(std::move(root));
    Poll poll(run_);
    while (!waiting_.empty() && (rules_.max_leaves == 0 || leaves < rules_.max_leaves)) {
      poll();
      std::pop_heap(waiting_.begin(), waiting_.end(), worse);
      Node best = std::move(waiting_.back());
      waiting_.pop_back();
      split(tree, best, ++leaves);
    }
    return tree;
  }

 private:
  struct Node {
    Index at = 0, begin = 0, end = 0, depth = 0;
    std::uint64_t seed = 0;
    Sums total;
    NodeSums node;
    BoostSplit best;
    std::size_t histogram = kNoHistogram;
    bool grows = true;                 // or stays a leaf
    std::vector<std::uint8_t> groups;  // whether each group is still allowed
    Index rows() const { return end - begin; }
  };
  struct Sides {
    Node *small, *large;  // large: null where it stays a leaf
  };
  static constexpr std::size_t kNoHistogram = std::numeric_limits<std::size_t>::max();
  static constexpr Index kManyRows = 4096;     // from which on threads share the rows of a node
  static constexpr Index kTogether = 4;        // columns added up at once
  static constexpr std::size_t kAlone = 8192;  // additions and cuts below which one thread is done sooner
  static std::size_t size(Index n) { return static_cast<std::size_t>(n); }

  // Of gains that are equal but for rounding, the node that was made first.
  static bool worse(const Node& a, const Node& b) {
    const auto one = static_cast<float>(a.best.gain), two = static_cast<float>(b.best.gain);
    return one != two ? one < two : a.at > b.at;
  }

  void push(Node&& node) {
    if (!node.best.found()) {
      release(node);
      return;
    }
    waiting_.push_back(std::move(node));
    std::push_heap(waiting_.begin(), waiting_.end(), worse);
  }

  std::size_t fresh() {
    if (!free_.empty()) {
      const std::size_t found = free_.back();
      free_.pop_back();
      return found;
    }
    histograms_.emplace_back(builder_.size());
    return histograms_.size() - 1;
  }
  void release(Node& node) {
    if (node.histogram != kNoHistogram) free_.push_back(node.histogram);
    node.histogram = kNoHistogram;
  }

  void settle(Node& node, const Sums& total) const {
    node.total = total;
    node.node.gradient = unit_.gradient_of(total);
    node.node.curvature = unit_.curvature_of(total);
    node.node.rows = unit_.rows_of(total);
  }

  bool stays_leaf(const Node& node, Index leaves) const {
    return (rules_.max_leaves > 0 && leaves >= rules_.max_leaves) ||
           (rules_.max_depth > 0 && node.depth >= rules_.max_depth) ||
           node.rows() < 2 * rules_.search.min_rows_leaf || node.rows() < 2 ||
           node.node.curvature < rules_.search.min_curvature;
  }

  // Marks the columns that a node looks at; none where it stays a leaf.
  void choose_columns(const Node* node, std::vector<std::uint8_t>& marks) const {
    marks.assign(size(columns_.width), 0);
    if (node == nullptr || !node->grows) return;
    std::vector<std::size_t> allowed;
    for (std::size_t j = 0; j < marks.size(); ++j) {
      bool is = groups_.empty();
      for (std::size_t g = 0; g < node->groups.size() && !is; ++g)
        is = node->groups[g] != 0 && groups_[g * marks.size() + j] != 0;
      if (is) allowed.push_back(j);
    }
    auto wanted = static_cast<Index>(allowed.size());
    if (rules_.column_share < 1.0 && wanted > 0) {
      wanted = std::max<Index>(
          1, static_cast<Index>(std::ceil(rules_.column_share * static_cast<double>(wanted))));
      NodeRandom random(node->seed);
      for (Index i = 0; i < wanted; ++i)
        std::swap(allowed[size(i)], allowed[size(i + random.below(static_cast<Index>(allowed.size()) - i))]);
    }
    for (Index i = 0; i < wanted; ++i) marks[allowed[size(i)]] = 1;
  }

  // Adds the rows of the root, and returns their sums.
  Sums add_all(Index count, bool all) {
    builder_.begin();
    for_chunks(run_, RowOrder::chunks(count), [&](Index k, int worker) {
      const Index from = k * RowOrder::kChunk, own = std::min(RowOrder::kChunk, count - from);
      builder_.add(sums_, all ? nullptr : order_.at(from), from, own, worker);
    });
    first_.resize(size(columns_.offset[1]));
    builder_.collect(0, 1, first_.data());
    Sums total;
    for (const Sums& bin : first_) total = total + bin;
    return total;
  }

  // Column by column: puts the sums of the smaller side together, takes them from those of the parent, which
  // leaves the larger side's, and finds the best split of the sides that are to be split. Meanwhile chunks of
  // rows are put in place.
  void look(const Sides& sides, Index chunks, Index lefts) {
    Sums* small = histograms_[sides.small->histogram].data();
    Sums* large = sides.large == nullptr ? nullptr : histograms_[sides.large->histogram].data();
    choose_columns(sides.small, chosen_[0]);
    choose_columns(sides.large, chosen_[1]);
    for (auto& found : found_) found.assign(size(columns_.width), BoostSplit{});
    const Index groups = (columns_.width + kTogether - 1) / kTogether;
    const std::size_t work = builder_.size() + size(sides.small->rows() * columns_.width);
    for_chunks(work < kAlone ? alone_ : run_, groups + chunks, [&](Index k, int) {
      if (k >= groups) return order_.place_chunk(k - groups, lefts);
      const Index from = k * kTogether, to = std::min(columns_.width, from + kTogether);
      builder_.collect(from, to, small);
      for (Index j = from; j < to; ++j) {
        const Index begin = columns_.offset[j], end = columns_.offset[j + 1];
        if (large != nullptr)
          for (Index b = begin; b < end; ++b) large[b] = large[b] - small[b];
        if (chosen_[0][size(j)] != 0)
          found_[0][size(j)] = search_.best_of(sides.small->node, small + begin, j);
        if (chosen_[1][size(j)] != 0)
          found_[1][size(j)] = search_.best_of(sides.large->node, large + begin, j);
      }
    });
    for (std::size_t j = 0; j < size(columns_.width); ++j) {
      BoostSearch::keep_better(sides.small->node, found_[0][j], sides.small->best);
      if (sides.large != nullptr)
        BoostSearch::keep_better(sides.large->node, found_[1][j], sides.large->best);
    }
  }

  std::array<std::uint8_t, 256> goes_left(const BoostSplit& split) const {
    std::array<std::uint8_t, 256> goes{};
    for (std::size_t code = 0; code < 255; ++code)
      goes[code] = columns_.is_level[split.column] != 0
                       ? static_cast<std::uint8_t>((split.levels[code / 64] >> (code % 64)) & 1)
                       : static_cast<std::uint8_t>(static_cast<Index>(code) <= split.bin);
    goes[kMissingBin] = split.missing_left ? 1 : 0;
    return goes;
  }

  void split(BoostTree& tree, Node& parent, Index leaves) {
    const BoostSplit& best = parent.best;
    const Index column = best.column;
    Node left = child(parent, best.left, true), right = child(parent, parent.total - best.left, false);
    left.begin = parent.begin;
    left.end = right.begin = parent.begin + left.node.rows;
    right.end = parent.end;
    bound(parent, left, right);
    left.at = tree.append(left.node.value, left.node.curvature, left.begin, left.end);
    right.at = tree.append(right.node.value, right.node.curvature, right.begin, right.end);
    const std::size_t at = size(parent.at);
    tree.column[at] = static_cast<std::int32_t>(column);
    tree.bin[at] = static_cast<std::int32_t>(best.bin);
    // Where no row was missing, later ones follow the larger side.
    tree.missing_left[at] =
        columns_.has_missing[column] != 0 ? best.missing_left : left.rows() > right.rows();
    tree.left[at] = static_cast<std::int32_t>(left.at);
    tree.right[at] = static_cast<std::int32_t>(right.at);
    tree.gain[at] = best.gain;
    std::copy(best.levels.begin(), best.levels.end(), tree.levels.begin() + parent.at * 4);
    left.grows = !stays_leaf(left, leaves);
    right.grows = !stays_leaf(right, leaves);
    part(parent, left, right);
    push(std::move(left));
    push(std::move(right));
  }

  Node child(const Node& parent, const Sums& total, bool is_left) const {
    Node node;
    node.depth = parent.depth + 1;
    node.seed = mixed(parent.seed ^ (is_left ? 0x5851F42D4C957F2Du : 0x14057B7EF767814Fu));
    node.groups = parent.groups;
    for (std::size_t g = 0; g < node.groups.size(); ++g)
      node.groups[g] &= groups_[g * size(columns_.width) + size(parent.best.column)];
    settle(node, total);
    node.node.lowest = parent.node.lowest;
    node.node.highest = parent.node.highest;
    node.node.value =
        search_.value_of(node.node.gradient, node.node.curvature, node.node.lowest, node.node.highest);
    return node;
  }

  void bound(const Node& parent, Node& left, Node& right) const {
    const int sign = columns_.monotone == nullptr ? 0 : columns_.monotone[parent.best.column];
    if (sign == 0) return;
    const double middle = (left.node.value + right.node.value) / 2.0;
    (sign > 0 ? left.node.highest : left.node.lowest) = middle;
    (sign > 0 ? right.node.lowest : right.node.highest) = middle;
  }

  // Parts the rows, and adds the smaller side up.
  void part(Node& parent, Node& left, Node& right) {
    const bool small_left = left.rows() <= right.rows(), wanted = left.grows || right.grows;
    Node &small = small_left ? left : right, &large = small_left ? right : left;
    const bool many = parent.rows() >= kManyRows;
    const Run& run = many ? run_ : alone_;
    const Index chunks = RowOrder::chunks(parent.rows());
    const auto goes = goes_left(parent.best);
    const std::uint8_t* codes = codes_ + parent.best.column * table_rows_;
    order_.begin_parting(parent.begin, parent.end);
    builder_.begin();
    for_chunks(run, chunks, [&](Index k, int worker) {
      const RowOrder::Parts parts = order_.part_chunk(k, codes, goes);
      if (!many || !wanted) return;
      if (small_left)
        builder_.add(sums_, parts.left, 0, parts.lefts, worker);
      else
        builder_.add(sums_, parts.right, 0, parts.rights, worker);
    });
    const Index lefts = order_.count_lefts();
    if (!many || !wanted) for_chunks(run, chunks, [&](Index k, int) { order_.place_chunk(k, lefts); });
    if (wanted) {
      if (!many) builder_.keep_few(sums_, order_.at(small.begin), small.rows());
      small.histogram = fresh();
      if (large.grows) large.histogram = std::exchange(parent.histogram, kNoHistogram);
      look({&small, large.grows ? &large : nullptr}, many ? chunks : 0, lefts);
    }
    release(parent);
  }

  const Run& run_;
  Run alone_;
  const std::uint8_t* codes_;
  Index table_rows_;
  BoostColumns columns_;
  BoostRules rules_;
  FixedPoint unit_;
  const Sums* sums_;
  const std::vector<std::uint8_t>& groups_;
  RowOrder& order_;
  HistogramBuilder builder_;
  BoostSearch search_;
  std::vector<std::vector<Sums>> histograms_;
  std::vector<std::size_t> free_;
  std::vector<Node> waiting_;
  std::vector<Sums> first_;  // the sums of the first column, of all rows
  // Of the smaller side and of the larger: the columns looked at, and the best split by each.
  std::array<std::vector<std::uint8_t>, 2> chosen_;
  std::array<std::vector<BoostSplit>, 2> found_;
};

}  // namespace surefit
