#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "check.h"
#include "topk.h"

using namespace surefit;

namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

template <class T>
struct Result {
  std::vector<std::int64_t> index;
  std::vector<T> value;
};

template <class T>
Result<T> ours(const Dense<T>& A, Index k, bool largest, int threads = 1) {
  Run run;
  run.threads = threads;
  Result<T> result{std::vector<std::int64_t>(at(A.rows * k)), std::vector<T>(at(A.rows * k))};
  if (k == 0) {
    result = {std::vector<std::int64_t>(at(A.rows)), std::vector<T>(at(A.rows))};
    row_argmin(run, A, result.index.data(), result.value.data());
  } else {
    top_k(run, A, k, largest, result.index.data(), result.value.data());
  }
  return result;
}

// The first k columns of a row by a stable sort with NaN last.
template <class T>
std::vector<std::int64_t> sorted(const Dense<T>& A, Index row, Index k, bool largest) {
  std::vector<std::int64_t> columns(at(A.cols));
  std::iota(columns.begin(), columns.end(), 0);
  std::stable_sort(columns.begin(), columns.end(), [&](std::int64_t a, std::int64_t b) {
    const T x = A(row, a), y = A(row, b);
    if (std::isnan(x) || std::isnan(y)) return !std::isnan(x) && std::isnan(y);
    return largest ? x > y : x < y;
  });
  columns.resize(at(k));
  return columns;
}

template <class T>
void check_matrix(const Dense<T>& A, Index k, bool largest) {
  const Result<T> result = ours(A, k, largest);
  const Index width = std::max<Index>(k, 1);
  for (Index i = 0; i < A.rows; ++i) {
    const std::vector<std::int64_t> expected = sorted(A, i, width, largest);
    for (Index j = 0; j < width; ++j) {
      const std::int64_t column = result.index[at(i * width + j)];
      CHECK(column == expected[at(j)]);
      const T value = result.value[at(i * width + j)], stored = A(i, column);
      CHECK(value == stored || (std::isnan(value) && std::isnan(stored)));
    }
  }
  for (const int threads : {2, 4}) CHECK(ours(A, k, largest, threads).index == result.index);
}

// Few distinct values, so that ties abound, with NaN, infinities and signed zeros among them.
template <class T>
std::vector<T> awkward(Index count, unsigned long long seed, bool numbers_only) {
  const T values[] = {T(0), T(-0.0), T(1), T(-1), T(2), T(infinite), T(-infinite), T(missing)};
  test::Random random(seed);
  std::vector<T> numbers(at(count));
  for (T& x : numbers) x = numbers_only ? static_cast<T>(random.uniform()) : values[random.bits() % 8];
  return numbers;
}

template <class T>
void check_all() {
  const std::vector<Index> widths =
      test::fast() ? std::vector<Index>{1, 7, 40} : std::vector<Index>{1, 3, 4, 9, 40, 133, 300};
  for (const Index cols : widths)
    for (const bool numbers_only : {false, true}) {
      const Index rows = 2 * 16384 / cols / 40 + 11;
      const std::vector<T> a = awkward<T>(rows * cols, static_cast<unsigned long long>(cols), numbers_only);
      for (const Order order : {Order::C, Order::Fortran})
        for (const Index k : {Index{0}, Index{1}, Index{5}, Index{36}, Index{100}, cols})
          if (k <= cols)
            for (const bool largest : {false, true})
              if (k > 0 || !largest) check_matrix(Dense<T>{a.data(), rows, cols, order}, k, largest);
    }
}

}  // namespace

TEST(doubles_agree_with_a_stable_sort) {
  check_all<double>();
}
TEST(floats_agree_with_a_stable_sort) {
  check_all<float>();
}

TEST(rows_without_numbers) {
  const std::vector<double> a{missing, missing, missing, missing, infinite, missing};
  const Result<double> first = ours(Dense<double>{a.data(), 2, 3, Order::C}, 0, false);
  CHECK(first.index == (std::vector<std::int64_t>{0, 1}));
  CHECK(std::isnan(first.value[0]) && first.value[1] == infinite);
}

TEST(no_rows) {
  CHECK(ours(Dense<double>{nullptr, 0, 3, Order::C}, 2, false).index.empty());
}

TEST(falling_rows_are_the_worst_case_and_right) {
  const Index cols = 5000;
  std::vector<double> a(at(cols));
  for (Index j = 0; j < cols; ++j) a[at(j)] = static_cast<double>(-j);
  for (const Index k : {10, 100}) check_matrix(Dense<double>{a.data(), 1, cols, Order::C}, k, false);
}
