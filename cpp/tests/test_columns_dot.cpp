// Products with columns and the facts of columns against plain loops in long double: dense in both orders and
// compressed, with and without weights and centres, any number of threads.
#include "check.h"
#include "column_facts.h"
#include "columns_dot.h"

using namespace surefit;

namespace {

using Doubles = std::vector<double>;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

struct Data {
  Index n, p;
  Doubles rows, columns, data, v, centre, weight;
  std::vector<int> indices, indptr;

  Data(Index n_, Index p_, double density, double offset) : n(n_), p(p_) {
    test::Random random(static_cast<unsigned long long>(n * 131 + p));
    rows.assign(at(n * p), 0.0);
    columns = rows;
    indptr.push_back(0);
    for (Index j = 0; j < p; ++j) {
      for (Index i = 0; i < n; ++i) {
        if (random.uniform() > 2 * density - 1) continue;
        const double x = random.uniform() + offset;
        rows[at(i * p + j)] = columns[at(j * n + i)] = x;
        data.push_back(x);
        indices.push_back(static_cast<int>(i));
      }
      indptr.push_back(static_cast<int>(data.size()));
    }
    for (Index i = 0; i < n; ++i) v.push_back(random.uniform());
    for (Index i = 0; i < n; ++i) weight.push_back(random.uniform() + 1.5);
    for (Index j = 0; j < p; ++j) centre.push_back(random.uniform() + offset);
  }
  Dense<double> c() const { return {rows.data(), n, p, Order::C}; }
  FortranColumns<double> fortran() const { return {columns.data(), n, p}; }
  CscColumns<double, int> csc() const { return {data.data(), indices.data(), indptr.data(), n, p}; }
};

void near_all(const Doubles& found, const std::vector<long double>& right, double tolerance) {
  for (std::size_t k = 0; k < right.size(); ++k)
    CHECK(std::fabs(found[k] - static_cast<double>(right[k])) <= tolerance);
}

// Runs it with some numbers of threads; all must give the bits of one.
template <class Work>
Doubles same_bits(Index size, const Work& work) {
  Doubles one;
  for (const int threads : {1, 2, 4}) {
    Run run;
    run.threads = threads;
    Doubles out(at(size), 0.0);
    work(run, out.data());
    if (threads == 1)
      one = out;
    else
      CHECK(out == one);
  }
  return one;
}

void check_products(Index n, Index p, double density, bool centred) {
  const Data d(n, p, density, 1.0);
  const double* centre = centred ? d.centre.data() : nullptr;
  std::vector<std::int64_t> chosen;
  for (Index j = p - 1; j >= 0; j -= 2) chosen.push_back(j);
  const Which some{chosen.data(), static_cast<Index>(chosen.size())}, all{nullptr, p};
  auto entry = [&](Index i, Index j) {
    return static_cast<long double>(d.c()(i, j)) - (centred ? d.centre[at(j)] : 0.0);
  };
  std::vector<long double> dots(at(p), 0.0L), picked, sums(at(n), 0.0L);
  for (Index j = 0; j < p; ++j)
    for (Index i = 0; i < n; ++i) dots[at(j)] += entry(i, j) * d.v[at(i)];
  const Doubles w(chosen.size(), 0.5);
  for (const std::int64_t j : chosen) {
    picked.push_back(dots[at(j)]);
    for (Index i = 0; i < n; ++i) sums[at(i)] += 0.5L * entry(i, j);
  }
  const double close = 1e-13 * static_cast<double>(n + p + 1);
  const double* v = d.v.data();
  near_all(same_bits(p, [&](const Run& r, double* o) { columns_dot(r, d.c(), centre, v, o); }), dots, close);
  near_all(same_bits(p, [&](const Run& r, double* o) { columns_dot(r, d.fortran(), all, centre, v, o); }),
           dots, close);
  near_all(same_bits(p, [&](const Run& r, double* o) { columns_dot(r, d.csc(), all, centre, v, o); }), dots,
           close);
  near_all(same_bits(some.count,
                     [&](const Run& r, double* o) { columns_dot(r, d.fortran(), some, centre, v, o); }),
           picked, close);
  near_all(
      same_bits(some.count, [&](const Run& r, double* o) { columns_dot(r, d.csc(), some, centre, v, o); }),
      picked, close);
  // The transpose of a CSC matrix is CSR.
  const Csr<double, int> csr{d.data.data(), d.indices.data(), d.indptr.data(), p, n};
  const Doubles ones(at(p), 1.0);
  std::vector<long double> across(at(n), 0.0L);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < p; ++j) across[at(i)] += d.c()(i, j);
  near_all(same_bits(n, [&](const Run& r, double* o) { columns_dot(r, csr, nullptr, ones.data(), o); }),
           across, close);
  near_all(same_bits(n, [&](const Run& r, double* o) { columns_times(r, d.c(), some, centre, w.data(), o); }),
           sums, close);
  near_all(same_bits(
               n, [&](const Run& r, double* o) { columns_times(r, d.fortran(), some, centre, w.data(), o); }),
           sums, close);
  near_all(
      same_bits(n, [&](const Run& r, double* o) { columns_times(r, d.csc(), some, centre, w.data(), o); }),
      sums, close);
}

void check_facts(Index n, Index p, bool weighted, bool centred) {
  const Data d(n, p, 0.4, 3.0);
  long double total = 0, middle = 0;
  auto s = [&](Index i) { return weighted ? static_cast<long double>(d.weight[at(i)]) : 1.0L; };
  for (Index i = 0; i < n; ++i) {
    total += s(i);
    middle += s(i) * d.v[at(i)];
  }
  Doubles target(d.v), scaled;
  for (Index i = 0; i < n; ++i) {
    if (centred) target[at(i)] -= static_cast<double>(middle / total);
    scaled.push_back(static_cast<double>(s(i)) * target[at(i)]);
  }
  std::vector<long double> right(at(3 * p), 0.0L);
  for (Index j = 0; j < p; ++j) {
    long double mean = 0;
    for (Index i = 0; i < n; ++i) mean += s(i) * d.c()(i, j);
    mean = centred ? mean / total : 0;
    right[at(j)] = mean;
    for (Index i = 0; i < n; ++i) {
      const long double x = d.c()(i, j) - mean;
      right[at(p + j)] += s(i) * x * x;
      right[at(2 * p + j)] += s(i) * x * target[at(i)];
    }
  }
  const FactsInput in{weighted ? d.weight.data() : nullptr, static_cast<double>(total), target.data(),
                      centred};
  const double close = 1e-12 * static_cast<double>(n + 1);
  auto out = [&](double* o) { return FactsOut{o, o + p, o + 2 * p}; };
  near_all(same_bits(3 * p, [&](const Run& r,
                                double* o) { column_facts(r, d.fortran(), in, scaled.data(), out(o)); }),
           right, close);
  near_all(same_bits(3 * p,
                     [&](const Run& r, double* o) {
                       CHECK(column_facts(r, d.csc(), static_cast<Index>(d.data.size()), in, scaled.data(),
                                          out(o)));
                     }),
           right, close);
}

}  // namespace

TEST(products) {
  for (const Index n : {1, 3, 16, 129, 1500})
    for (const Index p : {1, 4, 33})
      for (const bool centred : {false, true}) check_products(n, p, n % 2 == 0 ? 1.0 : 0.2, centred);
  check_products(40, 2000, 0.1, true);
  if (!test::fast()) check_products(5000, 700, 0.3, true);
}

TEST(facts) {
  for (const Index n : {1, 7, 8, 300})
    for (const Index p : {1, 5, 40})
      for (const bool weighted : {false, true})
        for (const bool centred : {false, true}) check_facts(n, p, weighted, centred);
}

TEST(broken_columns_are_seen) {
  const Doubles values{1, 2};
  const std::vector<int> falling{1, 0}, outside{0, 9}, two{0, 2};
  CHECK(!csc_is_sound(CscColumns<double, int>{values.data(), falling.data(), two.data(), 3, 1}, 2, 0, 1));
  CHECK(!csc_is_sound(CscColumns<double, int>{values.data(), outside.data(), two.data(), 3, 1}, 2, 0, 1));
  CHECK(!csc_is_sound(CscColumns<double, int>{values.data(), two.data(), two.data(), 3, 1}, 1, 0, 1));
  CHECK(csc_is_sound(CscColumns<double, int>{values.data(), two.data(), two.data(), 3, 1}, 2, 0, 1));
}

TEST(a_constant_column_has_no_scatter) {
  const Doubles x(1000, 0.1), zero(1000, 0.0);
  double facts[3];
  column_facts(Run{}, FortranColumns<double>{x.data(), 1000, 1}, {nullptr, 1000.0, zero.data(), true},
               zero.data(), {facts, facts + 1, facts + 2});
  CHECK(facts[0] == 0.1);
  CHECK(facts[1] == 0.0);
}
