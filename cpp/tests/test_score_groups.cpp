// Grouped scores equal what a plain map finds, for ties, signs, both zeros, any size and number of threads.
#include <map>

#include "check.h"
#include "score_groups.h"

using namespace surefit;
using surefit::test::Random;

template <class T>
void check_groups(Index rows, int levels, bool weighted) {
  Random random(static_cast<unsigned long long>(rows + levels));
  std::vector<T> score(static_cast<std::size_t>(rows));
  std::vector<std::uint8_t> positive(score.size());
  std::vector<double> weight(score.size());
  std::map<T, std::pair<double, double>> wanted;
  for (std::size_t i = 0; i < score.size(); ++i) {
    score[i] = static_cast<T>(random.uniform());
    if (levels > 0) score[i] = static_cast<T>(static_cast<int>(score[i] * static_cast<T>(levels)));
    if (score[i] == 0 && i % 2 == 0) score[i] = -score[i];
    if (i % 97 == 0) score[i] = i % 2 == 0 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest();
    positive[i] = random.uniform() > 0.5;
    weight[i] = static_cast<double>(random.bits() % 5);
    auto& sums = wanted[score[i] + T(0)];
    (positive[i] != 0 ? sums.first : sums.second) += weighted ? weight[i] : 1.0;
  }
  for (const int threads : {1, 3}) {
    Run run;
    run.threads = threads;
    std::vector<T> value(score.size());
    std::vector<double> above(score.size()), below(score.size());
    const Index found = score_groups(run, score.data(), positive.data(), weighted ? weight.data() : nullptr,
                                     rows, value.data(), above.data(), below.data());
    CHECK(found == static_cast<Index>(wanted.size()));
    std::size_t at = 0;
    bool same = true;
    for (const auto& [key, sums] : wanted) {
      same = same && value[at] == key && above[at] == sums.first && below[at] == sums.second;
      ++at;
    }
    CHECK(same);
  }
}

TEST(every_size) {
  for (const Index rows : {0, 1, 2, 127, 128, 1000, 16384, 300000})
    for (const int levels : {0, 1, 3, 900})
      for (const bool weighted : {false, true}) {
        check_groups<double>(rows, levels, weighted);
        check_groups<float>(rows, levels, weighted);
      }
}

TEST(a_value_that_comes_often) {
  const std::size_t rows = 200000;
  std::vector<double> score(rows, 0.5), value(rows), above(rows), below(rows);
  std::vector<std::uint8_t> positive(rows, 1);
  for (std::size_t i = 0; i < rows; i += 10) score[i] = static_cast<double>(i);
  const Index found = score_groups<double>(Run{}, score.data(), positive.data(), nullptr, rows, value.data(),
                                           above.data(), below.data());
  CHECK(found == 20001);
  CHECK(value[0] == 0.0 && value[1] == 0.5 && above[1] == 180000.0);
}

TEST(areas_of_a_worked_example) {
  const std::vector<double> positive{0, 1, 0, 1}, negative{1, 0, 1, 0};  // .1 .35 .4 .8
  const Areas found = score_areas(Run{}, positive.data(), negative.data(), 4);
  CHECK(found.pairs == 3.0);
  CHECK_NEAR(found.precision, 1.0 + 2.0 / 3.0, 1e-15);
}
