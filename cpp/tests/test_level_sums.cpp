#include "check.h"
#include "level_sums.h"

using namespace surefit;

namespace {

struct Table {
  Index rows = 5000, width = 4;
  std::vector<std::uint8_t> codes;
  std::vector<std::int64_t> counts{10, 20, 255, 1};
  std::vector<Index> offset{0, 11, 32, 288, 290};
  std::vector<std::int32_t> slot, part;
  std::vector<std::int64_t> terms;

  Table() {
    test::Random random(1);
    codes.resize(static_cast<std::size_t>(rows * width));
    for (Index j = 0; j < width; ++j)
      for (Index i = 0; i < rows; ++i) {
        const auto count = static_cast<std::uint64_t>(counts[static_cast<std::size_t>(j)]);
        const auto code = static_cast<std::uint8_t>(random.bits() % count);
        codes[static_cast<std::size_t>(j * rows + i)] = random.bits() % 9 == 0 ? kMissingBin : code;
      }
    for (Index i = 0; i < rows; ++i) {
      slot.push_back(static_cast<std::int32_t>(random.bits() % 4) - 1);
      part.push_back(static_cast<std::int32_t>(random.bits() % 2));
      terms.push_back(static_cast<std::int64_t>(random.bits() % 1000) - 500);
      terms.push_back(1);
    }
  }
  LevelRows view(Index from, Index to, std::vector<std::uint8_t>& own) const {
    own.clear();
    for (Index j = 0; j < width; ++j)
      own.insert(own.end(), codes.begin() + j * rows + from, codes.begin() + j * rows + to);
    return {own.data(), to - from, width, slot.data() + from, part.data() + from, terms.data() + 2 * from,
            2,          2};
  }
};

}  // namespace

TEST(batches_and_threads_change_no_bit) {
  const Table table;
  std::vector<std::uint8_t> own;
  Run run;
  const std::size_t size = 3 * 290 * 2 * 2;
  std::vector<std::int64_t> whole(size, 0), parts(size, 0);
  level_sums(run, table.view(0, table.rows, own), table.counts.data(), table.offset.data(), whole.data());
  run.threads = 3;
  for (const auto& [from, to] : {std::pair<Index, Index>{0, 1}, {1, 1}, {1, 3000}, {3000, 5000}})
    level_sums(run, table.view(from, to, own), table.counts.data(), table.offset.data(), parts.data());
  CHECK(whole == parts);
  Index rows = 0, counted = 0;
  for (const auto slot : table.slot) counted += slot >= 0;
  for (std::size_t i = 0; i < size; ++i)  // the first column of each slot counts each row once
    if (i % (290 * 4) < 11 * 4 && i % 2 == 1) rows += whole[i];
  CHECK(rows == counted);
}

TEST(rows_go_by_bins_levels_and_missing_values) {
  // The root splits the first column at code 1; its right child splits levels {0, 70} of the second off.
  const std::vector<std::int32_t> column{0, -1, 1, -1, -1}, bin{1, 0, 0, 0, 0}, left{1, -1, 3, -1, -1},
      right{2, -1, 4, -1, -1};
  const std::vector<std::uint8_t> missing_left{1, 0, 0, 0, 0}, is_level{0, 1};
  std::vector<std::uint64_t> levels(20, 0);
  levels[8] = 1, levels[9] = std::uint64_t{1} << 6;
  const LevelTree tree{column.data(),       bin.data(),    left.data(),    right.data(),
                       missing_left.data(), levels.data(), is_level.data()};
  const std::vector<std::uint8_t> codes{1, kMissingBin, 2,  9, 3,          2, /* second column */ 0,
                                        0, 0,           70, 6, kMissingBin};
  std::vector<std::int32_t> leaf(6);
  Run run;
  run.threads = 2;
  level_route(run, codes.data(), 6, tree, leaf.data());
  CHECK((leaf == std::vector<std::int32_t>{1, 1, 3, 3, 4, 4}));
}
