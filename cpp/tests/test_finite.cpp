// One number that is not finite is found wherever it stands, and the largest finite ones pass.
#include "check.h"
#include "finite.h"

using namespace surefit;

template <class T>
void check_places(Index size) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> x(static_cast<std::size_t>(size), Limits::max());
  for (std::size_t i = 0; i < x.size(); i += 2) x[i] = -Limits::denorm_min();
  for (const int threads : {1, 3}) {
    Run run;
    run.threads = threads;
    CHECK(all_finite(run, x.data(), size));
    for (const T bad : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()})
      for (const Index at : {Index{0}, size / 2, size - 1}) {
        const T kept = x[static_cast<std::size_t>(at)];
        x[static_cast<std::size_t>(at)] = bad;
        CHECK(!all_finite(run, x.data(), size));
        x[static_cast<std::size_t>(at)] = kept;
      }
  }
}

TEST(every_place) {
  for (const Index size : {1, 2, 3, 7, 65, 70000, 300001}) {
    check_places<double>(size);
    check_places<float>(size);
  }
  CHECK(all_finite<double>(Run{}, nullptr, 0));
}
