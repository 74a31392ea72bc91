// What is asked of a split, the node that it parts, and how it is written down.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "span.h"

namespace surefit {

struct SearchRules {
  Index min_rows_leaf = 1;
  double min_weight_leaf = 0.0;
  Index max_columns = 0;  // looked at in each node; 0 for all
  bool random_threshold = false;
};

// A node that may still be split: its range of every sorted column.
struct TreeNode {
  Index begin = 0, end = 0, depth = 0;
  double weight = 0.0, impurity = 0.0;
  double lowest = -HUGE_VAL, highest = HUGE_VAL;  // what monotone columns above allow its value
  std::uint64_t seed = 0;
  std::vector<double> sums;
  std::vector<double> positive;        // of counts, how many rows are above zero, by output
  std::vector<double> centre, totals;  // what terms are taken about, and their sums then
  Index rows() const { return end - begin; }
};

struct Split {
  double score = -HUGE_VAL;
  double bar = -HUGE_VAL;  // what a better one must exceed; mirrored splits differ by rounding alone
  Index column = -1;
  Index position = 0;  // how many of the range, missing ones apart, go left; not used for levels
  double threshold = 0.0;
  bool missing_left = false;
  std::vector<std::uint64_t> levels;  // the bits of those that go left
  bool found() const { return column >= 0; }
};

}  // namespace surefit
