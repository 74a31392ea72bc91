// Grows one tree of a boosted model, the best leaf first.
#pragma once

#include <utility>

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

// Rows in node order, parted in place; each part keeps its order.
class RowOrder {
 public:
  RowOrder(const Run& run, std::uint32_t* rows, std::uint32_t* spare)
      : run_(run), rows_(rows), spare_(spare) {}

  const std::uint32_t* at(Index i) const { return rows_ + i; }

  // codes: of the column split by; goes_left: by code. Returns how many went left.
  Index part(Index begin, Index end, const std::uint8_t* codes,
             const std::array<std::uint8_t, 256>& goes_left) {
    const Index chunks = (end - begin + kChunk - 1) / kChunk;
    lefts_.assign(static_cast<std::size_t>(chunks) + 1, 0);
    for_chunks(few(chunks), chunks, [&](Index k, int) {
      const Index from = begin + k * kChunk, to = std::min(end, from + kChunk);
      std::array<std::uint32_t, kChunk> away;
      std::uint32_t *left = spare_ + from, *right = away.data();
      for (Index i = from; i < to; ++i) {
        const std::uint32_t row = rows_[i];
        const std::uint8_t goes = goes_left[codes[row]];
        *left = *right = row;  // both, since a branch would be guessed wrong
        left += goes;
        right += 1 - goes;
      }
      lefts_[static_cast<std::size_t>(k) + 1] = left - (spare_ + from);
      std::copy(away.data(), right, left);
    });
    for (std::size_t k = 1; k < lefts_.size(); ++k) lefts_[k] += lefts_[k - 1];
    const Index all = lefts_.back();
    for_chunks(few(chunks), chunks, [&](Index k, int) {
      const Index from = begin + k * kChunk, to = std::min(end, from + kChunk);
      const Index before = lefts_[static_cast<std::size_t>(k)];
      const Index own = lefts_[static_cast<std::size_t>(k) + 1] - before;
      std::copy(spare_ + from, spare_ + from + own, rows_ + begin + before);
      std::copy(spare_ + from + own, spare_ + to, rows_ + begin + all + (from - begin - before));
    });
    return all;
  }

 private:
  static constexpr Index kChunk = 4096;
  Run few(Index chunks) const {
    Run run = run_;
    if (chunks < 4) run.threads = 1;
    return run;
  }

  const Run& run_;
  std::uint32_t *rows_, *spare_;
  std::vector<Index> lefts_;
};

class BoostGrower {
 public:
  // codes: column by column, as the bins made them. groups: which columns may be split by together, one row
  // of width bytes a group; empty for all.
  BoostGrower(const Run& run, const PackedRows& packed, const std::uint8_t* codes, Index table_rows,
              const BoostColumns& columns, const BoostRules& rules, const FixedPoint& unit, const Sums* sums,
              const std::vector<std::uint8_t>& groups, RowOrder& order)
      : run_(run),
        codes_(codes),
        table_rows_(table_rows),
        columns_(columns),
        rules_(rules),
        unit_(unit),
        sums_(sums),
        groups_(groups),
        order_(order),
        builder_(run, packed),
        search_(columns, rules.search, unit) {}

  // all: whether the rows are the whole table in its order.
  BoostTree grow(Index count, bool all) {
    BoostTree tree;
    Node root;
    root.end = count;
    root.seed = mixed(rules_.seed);
    root.groups.assign(groups_.size() / std::max<std::size_t>(1, size(columns_.width)), 1);
    root.histogram = fresh();
    builder_.build(sums_, all ? nullptr : order_.at(0), count, histograms_[root.histogram]);
    Sums total;
    const Sums* first = histograms_[root.histogram].data();
    for (Index b = 0; b < columns_.offset[1]; ++b) total = total + first[b];
    settle(root, total);
    root.node.value =
        search_.value_of(root.node.gradient, root.node.curvature, root.node.lowest, root.node.highest);
    root.at = tree.append(root.node.value, root.node.curvature, 0, count);
    Index leaves = 1;
    if (!stays_leaf(root, leaves)) find(root);
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
    std::vector<std::uint8_t> groups;  // whether each group is still allowed
    Index rows() const { return end - begin; }
  };
  static constexpr std::size_t kNoHistogram = std::numeric_limits<std::size_t>::max();
  static constexpr Index kSharedColumns = 64;  // columns from which on a search is worth two threads
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
    histograms_.emplace_back();
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

  void choose_columns(const Node& node, std::vector<Index>& chosen) const {
    chosen.clear();
    for (Index j = 0; j < columns_.width; ++j) {
      bool allowed = groups_.empty();
      for (std::size_t g = 0; g < node.groups.size() && !allowed; ++g)
        allowed = node.groups[g] != 0 && groups_[g * size(columns_.width) + size(j)] != 0;
      if (allowed) chosen.push_back(j);
    }
    if (rules_.column_share >= 1.0 || chosen.empty()) return;
    const auto wanted = std::max<Index>(
        1, static_cast<Index>(std::ceil(rules_.column_share * static_cast<double>(chosen.size()))));
    NodeRandom random(node.seed);
    for (Index i = 0; i < wanted; ++i)
      std::swap(chosen[size(i)], chosen[size(i + random.below(static_cast<Index>(chosen.size()) - i))]);
    chosen.resize(size(wanted));
    std::sort(chosen.begin(), chosen.end());
  }

  void find(Node& node) {
    std::vector<Index> chosen;
    choose_columns(node, chosen);
    const Sums* histogram = histograms_[node.histogram].data();
    if (run_.threads <= 1 || static_cast<Index>(chosen.size()) < kSharedColumns) {
      for (const Index j : chosen) search_.look_at(node.node, histogram, j, node.best);
      return;
    }
    std::vector<BoostSplit> each(chosen.size());
    for_chunks(run_, static_cast<Index>(chosen.size()),
               [&](Index i, int) { search_.look_at(node.node, histogram, chosen[size(i)], each[size(i)]); });
    for (const BoostSplit& split : each)
      if (split.gain > node.best.gain) node.best = split;
  }

  std::array<std::uint8_t, 256> sides(const BoostSplit& split) const {
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
    const Index lefts = order_.part(parent.begin, parent.end, codes_ + column * table_rows_, sides(best));
    Node left = child(parent, best.left, true), right = child(parent, parent.total - best.left, false);
    left.begin = parent.begin;
    left.end = right.begin = parent.begin + lefts;
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
    count_up(parent, left, right, leaves);
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

  // The smaller side is added up, and the other is what is left of the parent.
  void count_up(Node& parent, Node& left, Node& right, Index leaves) {
    const bool left_ends = stays_leaf(left, leaves), right_ends = stays_leaf(right, leaves);
    Node &small = left.rows() <= right.rows() ? left : right, &large = &small == &left ? right : left;
    const bool small_ends = &small == &left ? left_ends : right_ends;
    const bool large_ends = &small == &left ? right_ends : left_ends;
    if (!small_ends || !large_ends) {
      small.histogram = fresh();
      builder_.build(sums_, order_.at(small.begin), small.rows(), histograms_[small.histogram]);
    }
    if (!large_ends) {
      large.histogram = std::exchange(parent.histogram, kNoHistogram);
      auto& rest = histograms_[large.histogram];
      const auto& taken = histograms_[small.histogram];
      for (std::size_t i = 0; i < rest.size(); ++i) rest[i] = rest[i] - taken[i];
      find(large);
    }
    if (!small_ends) find(small);
    release(parent);
    push(std::move(left));
    push(std::move(right));
  }

  const Run& run_;
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
};

}  // namespace surefit
