// Block coordinate descent against the conditions of its minimum, and against one target's closed form.
#include "check.h"
#include "task_cd.h"

using namespace surefit;

namespace {

void ends_at_the_minimum(Index m, Index outputs, double l1, double l2) {
  test::Random random(static_cast<unsigned long long>(100 * m + outputs));
  std::vector<double> A(static_cast<std::size_t>(2 * m * m)), G(static_cast<std::size_t>(m * m), 0.0);
  for (double& a : A) a = random.uniform();
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < m; ++j)
      for (Index r = 0; r < 2 * m; ++r)
        G[static_cast<std::size_t>(i * m + j)] +=
            A[static_cast<std::size_t>(r * m + i)] * A[static_cast<std::size_t>(r * m + j)];
  std::vector<double> C(static_cast<std::size_t>(m * outputs)), W(C.size(), 0.0), gradient(C.size());
  for (double& c : C) c = 3 * random.uniform();
  const std::vector<double> first(static_cast<std::size_t>(m), l1), second(static_cast<std::size_t>(m), l2);
  const TaskQuadratic q{m, outputs, G.data(), m, C.data(), first.data(), second.data()};
  const double outside = 100.0 * static_cast<double>(m * outputs);  // any that the fit cannot use up
  const TaskEnd end = task_cd(Run{}, q, W.data(), gradient.data(), outside, 0.0, 100000);
  CHECK(end.sweeps < 100000);
  CHECK(end.gap < 1e-12);
  std::vector<double> early(C.size(), 0.0);
  const TaskEnd sooner = task_cd(Run{}, q, early.data(), gradient.data(), outside, 1e-3, 100000);
  CHECK(sooner.gap <= 1e-3 && sooner.sweeps <= end.sweeps);
  task_cd(Run{}, q, W.data(), gradient.data(), outside, 1e300, 0);  // the gradient at W once more
  for (Index j = 0; j < m; ++j) {
    const double* w = W.data() + j * outputs;
    const double* g = gradient.data() + j * outputs;
    const double length = task_detail::norm(w, outputs);
    if (length == 0) {
      CHECK(task_detail::norm(g, outputs) <= l1 * (1 + 1e-9));
      continue;
    }
    for (Index k = 0; k < outputs; ++k) CHECK(std::fabs(g[k] + (l1 / length + l2) * w[k]) < 1e-9);
  }
}

}  // namespace

TEST(ends_at_the_minimum) {
  ends_at_the_minimum(1, 1, 0.5, 0.0);
  ends_at_the_minimum(6, 3, 0.7, 0.0);
  ends_at_the_minimum(6, 1, 0.3, 0.4);
  ends_at_the_minimum(20, 4, 1.5, 0.1);
  ends_at_the_minimum(5, 2, 100.0, 0.0);
}
