// Shuffled columns change squared errors as predicting anew does.
#include "check.h"
#include "linear_shuffle.h"

using namespace surefit;
using surefit::test::near;
using surefit::test::Random;

TEST(every_column_and_shuffling) {
  Random random(1);
  for (const Index rows : {1, 2, 57})
    for (const Index columns : {1, 7, 8, 19}) {
      constexpr Index repeats = 3;
      std::vector<double> terms(static_cast<std::size_t>(rows * columns)),
          error(static_cast<std::size_t>(rows));
      for (double& value : terms) value = random.uniform();
      for (double& value : error) value = random.uniform();
      std::vector<Index> order(static_cast<std::size_t>(repeats * rows));
      for (Index& row : order)
        row = static_cast<Index>(random.bits() % static_cast<unsigned long long>(rows));
      std::vector<double> change(static_cast<std::size_t>(columns * repeats)),
          spread(static_cast<std::size_t>(columns));
      std::vector<double> again(change.size()), spread_again(spread.size());
      Run run;
      run.threads = 3;
      linear_shuffle(run, terms.data(), error.data(), order.data(), rows, columns, repeats, change.data(),
                     spread.data());
      linear_shuffle(Run{}, terms.data(), error.data(), order.data(), rows, columns, repeats, again.data(),
                     spread_again.data());
      CHECK(change == again && spread == spread_again);
      for (Index j = 0; j < columns; ++j)
        for (Index r = 0; r < repeats; ++r) {
          double wanted = 0.0;
          for (Index i = 0; i < rows; ++i) {
            const Index from = order[static_cast<std::size_t>(r * rows + i)];
            const double e = error[static_cast<std::size_t>(i)];
            const double d = terms[static_cast<std::size_t>(from * columns + j)] -
                             terms[static_cast<std::size_t>(i * columns + j)];
            wanted += ((e - d) * (e - d) - e * e) / static_cast<double>(rows);
          }
          CHECK(near(change[static_cast<std::size_t>(j * repeats + r)], wanted, 1e-13));
        }
    }
}
