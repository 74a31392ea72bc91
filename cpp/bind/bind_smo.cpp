// Python's door to the dual of kernel machines, and to weighted sums of kernel values.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include "bind.h"
#include "smo.h"

namespace surefit::bind {
namespace {

// Rows as Python hands them over: a matrix, or the three parts of a CSR matrix.
struct Rows {
  std::optional<Matrix<double>> dense;
  std::optional<Vector<double>> data;
  std::optional<Vector<std::int64_t>> indices, indptr;
  Index cols;

  PointData read(bool gram) const {
    PointData found;
    found.cols = cols;
    if (dense) {
      const Dense<double> x = bind::dense(*dense);
      expect(x.order == Order::C, "rows must be in C order");
      expect(x.cols == cols, "the matrix must have the given number of columns");
      found.rows = x.rows;
      (gram ? found.gram : found.dense) = x.data;
      expect(!gram || x.rows == x.cols, "a Gram matrix must be square");
      return found;
    }
    expect(data && indices && indptr && !gram, "give a matrix, or data, indices and indptr");
    expect(data->shape(0) == indices->shape(0) && indptr->shape(0) >= 1,
           "data and indices must be equally long");
    found.rows = static_cast<Index>(indptr->shape(0)) - 1;
    found.data = data->data(), found.indices = indices->data(), found.indptr = indptr->data();
    found.stored = static_cast<Index>(data->shape(0));
    return found;
  }
};

Rows rows_of(const nb::tuple& given) {
  Rows rows;
  if (nb::len(given) == 2) {
    rows.dense = nb::cast<Matrix<double>>(given[0], false);
    rows.cols = nb::cast<Index>(given[1]);
  } else {
    expect(nb::len(given) == 4, "rows are (matrix, columns) or (data, indices, indptr, columns)");
    rows.data = nb::cast<Vector<double>>(given[0], false);
    rows.indices = nb::cast<Vector<std::int64_t>>(given[1], false);
    rows.indptr = nb::cast<Vector<std::int64_t>>(given[2], false);
    rows.cols = nb::cast<Index>(given[3]);
  }
  return rows;
}

KernelSpec kernel_of(const nb::tuple& given) {
  expect(nb::len(given) == 4, "a kernel is (kind, gamma, coef0, degree)");
  KernelSpec kernel;
  const int kind = nb::cast<int>(given[0]);
  expect(kind >= 0 && kind <= 4, "kind must lie between 0 and 4");
  kernel.kind = static_cast<KernelKind>(kind == 4 ? 0 : kind);
  kernel.gamma = nb::cast<double>(given[1]), kernel.coef0 = nb::cast<double>(given[2]);
  kernel.degree = nb::cast<double>(given[3]);
  return kernel;
}

bool is_gram(const nb::tuple& kernel) {
  return nb::cast<int>(kernel[0]) == 4;
}

using Column = std::optional<Vector<std::int64_t>>;
using Flags = std::optional<Vector<std::uint8_t>>;

nb::tuple solve(nb::tuple kernel, nb::tuple rows, Column row, Vector<double> plus, Vector<double> minus,
                Vector<double> low, Vector<double> high, Flags group, OutVector<double> beta,
                OutVector<double> gradient, double tolerance, Index most_steps, Index cache_bytes,
                bool shrinking, bool single, Index working_set, int threads) {
  const Rows given = rows_of(rows);
  const KernelSpec spec = kernel_of(kernel);
  const PointData data = given.read(is_gram(kernel));
  SmoProblem problem;
  problem.variables = static_cast<Index>(beta.shape(0));
  const auto fits = [&](const auto& a) { return static_cast<Index>(a.shape(0)) == problem.variables; };
  expect(fits(plus) && fits(minus) && fits(low) && fits(high),
         "plus, minus, low and high must be as long as beta");
  expect((!row || fits(*row)) && (!group || fits(*group)), "row and group must be as long as beta");
  expect(static_cast<Index>(gradient.shape(0)) == data.rows, "gradient must have one entry a row");
  expect(row.has_value() || problem.variables == data.rows, "there must be one variable a row");
  if (row) {
    for (Index v = 0; v < problem.variables; ++v)
      expect(row->data()[v] >= 0 && row->data()[v] < data.rows, "row holds a number that is no row");
    problem.row = row->data();
  }
  problem.plus = plus.data(), problem.minus = minus.data(), problem.low = low.data(),
  problem.high = high.data();
  problem.group = group ? group->data() : nullptr;
  problem.tolerance = tolerance, problem.most_steps = most_steps, problem.cache_bytes = cache_bytes;
  problem.shrinking = shrinking, problem.single = single;
  problem.working_set = std::max<Index>(2, working_set);
  SmoResult result;
  call(threads, [&](const Run& run) {
    const Points points(spec, data, single);
    result = smo(run, points, problem, beta.data(), gradient.data());
  });
  return nb::make_tuple(result.steps, result.sets, result.computed_rows, result.cache_bytes, result.violation,
                        result.ended);
}

void sums(nb::tuple kernel, nb::tuple rows, nb::tuple queries,
          nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu> coef, OutMatrix<double> out,
          int threads) {
  const Rows given = rows_of(rows), asked = rows_of(queries);
  const KernelSpec spec = kernel_of(kernel);
  expect(!is_gram(kernel), "the kernel values of a Gram matrix need no kernel");
  const PointData data = given.read(false), other = asked.read(false);
  expect((data.dense == nullptr) == (other.dense == nullptr) && data.cols == other.cols,
         "rows and queries must be of one kind and width");
  const Index k = static_cast<Index>(coef.shape(0));
  expect(static_cast<Index>(coef.shape(1)) == data.rows, "coef must have one column a row");
  expect(static_cast<Index>(out.shape(0)) == other.rows && static_cast<Index>(out.shape(1)) == k,
         "out must be queries x coefficients");
  call(threads, [&](const Run& run) {
    const Points points(spec, data, false), to(spec, other, false);
    std::vector<Index> from(static_cast<std::size_t>(data.rows));
    std::iota(from.begin(), from.end(), Index{0});
    kernel_sums(run, points, from.data(), data.rows, coef.data(), k, to, out.data());
  });
}

void define(nb::module_& m) {
  m.def("smo", &solve, "kernel"_a, "rows"_a, "row"_a.noconvert().none(), "plus"_a.noconvert(),
        "minus"_a.noconvert(), "low"_a.noconvert(), "high"_a.noconvert(), "group"_a.noconvert().none(),
        "beta"_a.noconvert(), "gradient"_a.noconvert(), "tolerance"_a, "most_steps"_a, "cache_bytes"_a,
        "shrinking"_a, "single"_a, "working_set"_a, "threads"_a);
  m.def("kernel_sums", &sums, "kernel"_a, "rows"_a, "queries"_a, "coef"_a.noconvert(), "out"_a.noconvert(),
        "threads"_a);
}

const Registered smo_registered(&define);

}  // namespace
}  // namespace surefit::bind
