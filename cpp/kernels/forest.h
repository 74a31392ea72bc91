// Grows the trees of a forest, one a thread; a tree depends on its seed alone.
#pragma once

#include <deque>

#include "forest_draw.h"
#include "forest_grow.h"
#include "forest_tree.h"
#include "tree_grow.h"

namespace surefit {

// How the sample of each tree comes about. draws: how many rows are drawn with replacement, in proportion to
// weights whose running sums are `cumulative`; 0 takes every row once, with its weight. balanced: classes
// count alike in each sample.
struct ForestSample {
  Index draws = 0;
  const double* cumulative = nullptr;
  const double* weight = nullptr;
  bool balanced = false;
};

template <class Y>
struct ForestTarget {
  const Y* y;  // rows by outputs
  Index outputs;
  Impurity impurity;
  std::vector<Index> start;  // of the classes of each output; the last is how many there are
};

// The weight of each row in the sample of a tree.
template <class Y>
class SampleWeights {
 public:
  SampleWeights(const ForestSample& sample, const ForestTarget<Y>& target, Index rows)
      : sample_(sample), target_(target), rows_(rows) {}

  void draw(std::uint64_t seed) {
    if (sample_.draws > 0) {
      counts_.assign(static_cast<std::size_t>(rows_), 0);
      draw_rows(seed, sample_.draws, sample_.cumulative, rows_, counts_.data());
    }
    if (sample_.balanced) balance();
  }

  double operator()(Index i) const {
    double weight = drawn(i);
    for (Index o = 0; sample_.balanced && o < target_.outputs; ++o) weight *= factor_[class_of(i, o)];
    return weight;
  }

 private:
  double drawn(Index i) const {
    if (sample_.draws > 0) return static_cast<double>(counts_[static_cast<std::size_t>(i)]);
    return sample_.weight == nullptr ? 1.0 : sample_.weight[i];
  }

  std::size_t class_of(Index i, Index o) const {
    return static_cast<std::size_t>(target_.start[static_cast<std::size_t>(o)]) +
           static_cast<std::size_t>(target_.y[i * target_.outputs + o]);
  }

  void balance() {
    std::vector<double> sums(static_cast<std::size_t>(target_.start.back()), 0.0);
    double total = 0.0;
    for (Index i = 0; i < rows_; ++i) {
      const double weight = drawn(i);
      for (Index o = 0; o < target_.outputs; ++o) sums[class_of(i, o)] += weight;
      total += weight;
    }
    factor_.assign(sums.size(), 0.0);
    for (Index o = 0; o < target_.outputs; ++o) {
      const auto from = static_cast<std::size_t>(target_.start[static_cast<std::size_t>(o)]);
      const auto to = static_cast<std::size_t>(target_.start[static_cast<std::size_t>(o) + 1]);
      double present = 0.0;
      for (std::size_t k = from; k < to; ++k) present += sums[k] > 0.0;
      for (std::size_t k = from; k < to; ++k)
        if (sums[k] > 0.0) factor_[k] = total / (present * sums[k]);
    }
  }

  const ForestSample& sample_;
  const ForestTarget<Y>& target_;
  Index rows_;
  std::vector<std::uint32_t> counts_;
  std::vector<double> factor_;
};

// A tree as a forest keeps it.
inline ForestTree packed(const GrownTree& grown, Index columns, Index outputs, bool numbers,
                         bool keep_inner) {
  ForestTree tree;
  tree.importance.assign(static_cast<std::size_t>(columns), 0.0);
  tree.level_bits = grown.left_levels;
  tree.nodes.resize(1);
  std::vector<std::pair<Index, Index>> stack{{0, 0}};  // where a node stands in both
  while (!stack.empty()) {
    const auto [from, to] = stack.back();
    stack.pop_back();
    const auto i = static_cast<std::size_t>(from);
    if (keep_inner) {
      tree.inner.resize(tree.nodes.size() * static_cast<std::size_t>(1 + outputs));
      double* own = tree.inner.data() + to * (1 + outputs);
      own[0] = grown.impurity[i];
      for (Index k = 0; k < outputs; ++k)
        own[1 + k] = grown.sums[static_cast<std::size_t>(from * grown.width + k)] / grown.weight[i];
    }
    if (grown.feature[i] < 0) {
      tree.make_leaf(to);
      const double* sums = grown.sums.data() + from * grown.width;
      for (Index k = 0; k < (numbers ? outputs : grown.width); ++k)
        tree.values.push_back(numbers ? sums[k] / grown.weight[i] : sums[k]);
      tree.weight.push_back(grown.weight[i]);
      tree.impurity.push_back(grown.impurity[i]);
      tree.rows.push_back(grown.rows[i]);
      continue;
    }
    const auto l = static_cast<std::size_t>(grown.left[i]), r = static_cast<std::size_t>(grown.right[i]);
    tree.importance[static_cast<std::size_t>(grown.feature[i])] +=
        std::max(0.0, grown.weight[i] * grown.impurity[i] - grown.weight[l] * grown.impurity[l] -
                          grown.weight[r] * grown.impurity[r]);
    const std::int32_t pair = tree.append_pair();
    tree.nodes[static_cast<std::size_t>(to)] = {
        grown.threshold[i], grown.feature[i] | (grown.missing_left[i] != 0 ? kMissingLeft : 0), pair};
    stack.push_back({grown.right[i], pair + 1});
    stack.push_back({grown.left[i], pair});
  }
  return tree;
}

template <class T, class Y>
class Forest {
 public:
  // columns: null where there are none to search by. quick: whether rules and target are those that the
  // forest's own grower knows; otherwise each tree is grown as one by itself. small: X is a small node of a
  // larger tree, in which every value is looked at.
  Forest(const Run& run, const Dense<T>& X, bool quick, bool small, const ForestColumns& columns,
         const ForestTarget<Y>& target, const ForestSample& sample, const TreeRules& rules,
         const std::vector<Index>& levels, const std::vector<std::int8_t>& monotone)
      : run_(run),
        X_(X),
        quick_(quick),
        small_(small),
        columns_(columns),
        target_(target),
        sample_(sample),
        rules_(rules),
        levels_(levels),
        monotone_(monotone) {}

  std::vector<ForestTree> grow(const std::uint64_t* seeds, Index trees) {
    if (!quick_) return grow_sorted(seeds, trees);
    if constexpr (std::is_same_v<Y, double>) {
      return grow_coded(seeds, trees, PairTarget<true>{});
    } else {
      const bool whole = !sample_.balanced && (sample_.draws > 0 || sample_.weight == nullptr);
      const Index most = std::max(sample_.draws, X_.rows);
      if (target_.start.back() == 2 && target_.impurity == Impurity::gini) {
        if (whole && most < Index{0x7FFFFFFF}) return grow_coded(seeds, trees, CountTarget{});
        return grow_coded(seeds, trees, PairTarget<false>{});
      }
      ClassSums sums{target_.impurity, nullptr, nullptr, 1, target_.start, {}};
      if (whole) sums.tabulate(most);
      return grow_coded(seeds, trees, ClassTarget(sums));
    }
  }

 private:
  // The trees, by the threads of the run; grow_one(t, worker) grows one.
  template <class GrowOne>
  std::vector<ForestTree> grow_each(Index trees, const GrowOne& grow_one) {
    std::vector<ForestTree> found(static_cast<std::size_t>(trees));
    for_chunks(run_, trees, [&](Index t, int worker) {
      ForestTree& tree = found[static_cast<std::size_t>(t)];
      tree = grow_one(t, worker);
      tree.trim();
    });
    return found;
  }

  template <class Target>
  std::vector<ForestTree> grow_coded(const std::uint64_t* seeds, Index trees, const Target& target) {
    struct Worker {
      Target target;
      ForestGrower<T, Target> grower;
      SampleWeights<Y> weights;
      std::vector<typename Target::Given> sample;
      std::vector<std::uint32_t> rows;
      Worker(const Forest& forest, const Target& given)
          : target(given),
            grower(forest.X_, forest.columns_, target, forest.rules_),
            weights(forest.sample_, forest.target_, forest.X_.rows),
            sample(static_cast<std::size_t>(forest.X_.rows)) {}
    };
    std::deque<Worker> workers;
    for (int w = 0; w < std::max(run_.threads, 1); ++w) workers.emplace_back(*this, target);
    return grow_each(trees, [&](Index t, int worker) {
      Worker& own = workers[static_cast<std::size_t>(worker)];
      Poll poll(run_);
      own.weights.draw(seeds[t]);
      own.rows.clear();
      for (Index i = 0; i < X_.rows; ++i) {
        const double weight = own.weights(i);
        own.sample[static_cast<std::size_t>(i)] = Target::given(weight, static_cast<double>(target_.y[i]));
        if (weight > 0.0) own.rows.push_back(static_cast<std::uint32_t>(i));
      }
      return own.grower.grow(own.sample, own.rows, small_, seeds[t], [&] {
        if (worker == 0) poll();
      });
    });
  }

  std::vector<ForestTree> grow_sorted(const std::uint64_t* seeds, Index trees) {
    return grow_each(trees, [&](Index t, int worker) {
      SampleWeights<Y> weights(sample_, target_, X_.rows);
      weights.draw(seeds[t]);
      std::vector<double> weight(static_cast<std::size_t>(X_.rows));
      std::vector<std::uint32_t> rows;
      for (Index i = 0; i < X_.rows; ++i) {
        weight[static_cast<std::size_t>(i)] = weights(i);
        if (weights(i) > 0.0) rows.push_back(static_cast<std::uint32_t>(i));
      }
      Run alone = run_;
      alone.threads = 1;
      if (worker != 0) alone.cancel = nullptr;  // only the calling thread may ask
      TreeRules rules = rules_;
      rules.seed = seeds[t];
      GrownTree grown;
      if constexpr (std::is_same_v<Y, double>) {
        const NumberSums sums{target_.impurity, target_.y, weight.data(), target_.outputs};
        grown = TreeGrower<T, NumberSums>(alone, X_, rows, sums, rules, levels_, monotone_).grow();
      } else {
        ClassSums sums{target_.impurity, target_.y, weight.data(), target_.outputs, target_.start, {}};
        sums.tabulate(X_.rows);
        grown = TreeGrower<T, ClassSums>(alone, X_, rows, sums, rules, levels_, monotone_).grow();
      }
      return packed(grown, X_.cols, target_.outputs, std::is_same_v<Y, double>,
                    target_.impurity == Impurity::absolute);
    });
  }

  const Run& run_;
  const Dense<T>& X_;
  bool quick_, small_;
  const ForestColumns& columns_;
  const ForestTarget<Y>& target_;
  const ForestSample& sample_;
  const TreeRules& rules_;
  const std::vector<Index>& levels_;
  const std::vector<std::int8_t>& monotone_;
};

}  // namespace surefit
