// Python's door to linkages and spanning trees.
#include "bind.h"
#include "spanning_tree.h"
#include "stored_linkage.h"
#include "structured_linkage.h"
#include "ward_linkage.h"

namespace surefit::bind {
namespace {

Linkage linkage_of(int code) {
  expect(code >= 0 && code <= static_cast<int>(Linkage::Median), "there is no such linkage");
  return static_cast<Linkage>(code);
}

const double* weights_of(const Vector<double>& weight, Index n) {
  expect(weight.shape(0) == 0 || static_cast<Index>(weight.shape(0)) == n,
         "there must be a weight for each row");
  return weight.shape(0) == 0 ? nullptr : weight.data();
}

void number(std::vector<Merge>& merges, Index n, bool sorted, const OutMatrix<std::int64_t>& children,
            const OutVector<double>& height, const OutVector<std::int64_t>& size) {
  number_merges(merges, n, children.data(), height.data(), size.data(), sorted);
}

void expect_room(Index n, const OutMatrix<std::int64_t>& children, const OutVector<double>& height,
                 const OutVector<std::int64_t>& size) {
  expect(n >= 1 && static_cast<Index>(children.shape(0)) == n - 1 && children.shape(1) == 2 &&
             static_cast<Index>(height.shape(0)) == n - 1 && static_cast<Index>(size.shape(0)) == n - 1,
         "children, height and size must have one entry for each merge");
}

void of_rows(Matrix<double> X, Vector<double> weight, Vector<double> core, int code,
             OutMatrix<std::int64_t> children, OutVector<double> height, OutVector<std::int64_t> size,
             int threads) {
  const Dense<double> rows = dense(X);
  expect(rows.order == Order::C || rows.cols == 1 || rows.rows == 1, "X must be in C order");
  const double* weights = weights_of(weight, rows.rows);
  const double* cores = weights_of(core, rows.rows);
  expect_room(rows.rows, children, height, size);
  const Linkage linkage = linkage_of(code);
  call(threads, [&](const Run& run) {
    std::vector<Merge> merges = with_linkage(linkage, [&](auto type) {
      if constexpr (type() == Linkage::Single)
        return spanning_tree(run, rows, cores);
      else if constexpr (type() == Linkage::Ward)
        return ward_linkage(run, rows, weights);
      else
        return linkage_of_rows<type()>(run, rows, weights);
    });
    number(merges, rows.rows, linkage > Linkage::Ward, children, height, size);
  });
}

void of_square(OutMatrix<double> square, Vector<double> weight, int code, OutMatrix<std::int64_t> children,
               OutVector<double> height, OutVector<std::int64_t> size, int threads) {
  const Index n = static_cast<Index>(square.shape(0));
  expect(static_cast<Index>(square.shape(1)) == n, "the matrix of distances must be square");
  const double* weights = weights_of(weight, n);
  expect_room(n, children, height, size);
  const Linkage linkage = linkage_of(code);
  call(threads, [&](const Run& run) {
    std::vector<Merge> merges = linkage == Linkage::Single
                                    ? spanning_tree_of_square(run, square.data(), n)
                                    : linkage_of_square(run, linkage, square.data(), n, weights);
    number(merges, n, linkage > Linkage::Ward, children, height, size);
  });
}

// Returns how many merges there were.
Index along_edges(Matrix<double> X, Vector<double> weight, Vector<std::int64_t> from, Vector<std::int64_t> to,
                  Vector<double> apart, int code, OutMatrix<std::int64_t> children, OutVector<double> height,
                  int threads) {
  const Dense<double> rows = dense(X);
  expect(rows.order == Order::C || rows.cols == 1 || rows.rows == 1, "X must be in C order");
  const Index n = rows.rows, edges = static_cast<Index>(from.shape(0));
  const double* weights = weights_of(weight, n);
  expect(static_cast<Index>(to.shape(0)) == edges && static_cast<Index>(apart.shape(0)) == edges,
         "edges must have two ends and a length each");
  const Index most = static_cast<Index>(children.shape(0));
  expect(children.shape(1) == 2 && static_cast<Index>(height.shape(0)) == most && most < n,
         "children and height must have one entry for each merge");
  std::vector<GraphEdge> graph;
  for (Index e = 0; e < edges; ++e) {
    const Index a = from.data()[e], b = to.data()[e];
    expect(a >= 0 && a < n && b >= 0 && b < n, "an edge ends at no row");
    graph.push_back({apart.data()[e], a, b});
  }
  const Linkage linkage = linkage_of(code);
  Index count = 0;
  call(threads, [&](const Run& run) {
    const std::vector<Merge> merges =
        structured_linkage(run, linkage, rows, n, std::move(graph), weights, most);
    for (const Merge& merge : merges) {
      children.data()[2 * count] = std::min(merge.first, merge.second);
      children.data()[2 * count + 1] = std::max(merge.first, merge.second);
      height.data()[count++] = merge.height;
    }
  });
  return count;
}

void nearest(Matrix<double> X, Matrix<double> Q, OutVector<std::int64_t> index, OutVector<double> squares,
             int threads) {
  const Dense<double> rows = dense(X), asked = dense(Q);
  expect(rows.cols == asked.cols, "both must have the same columns");
  expect((rows.order == Order::C || rows.cols == 1 || rows.rows == 1) &&
             (asked.order == Order::C || asked.cols == 1 || asked.rows == 1),
         "rows must be in C order");
  expect(
      static_cast<Index>(index.shape(0)) == asked.rows && static_cast<Index>(squares.shape(0)) == asked.rows,
      "index and squares must have one entry for each row");
  call(threads, [&](const Run& run) {
    const RowPanels panels(rows.rows, rows.cols, [&](Index i) { return rows.data + i * rows.cols; });
    std::vector<Index> numbers(static_cast<std::size_t>(asked.rows));
    std::iota(numbers.begin(), numbers.end(), rows.rows);  // numbers that no packed row has
    std::vector<Nearest> found(static_cast<std::size_t>(asked.rows));
    nearest_rows(
        run, panels, [&](Index i) { return asked.data + (i - rows.rows) * asked.cols; }, numbers.data(),
        asked.rows, [](double*, Index, Index) {}, found.data());
    for (Index i = 0; i < asked.rows; ++i) {
      index.data()[i] = found[static_cast<std::size_t>(i)].index;
      squares.data()[i] = found[static_cast<std::size_t>(i)].value;
    }
  });
}

void define(nb::module_& m) {
  m.def("linkage_along_edges", &along_edges, "X"_a.noconvert(), "weight"_a.noconvert(), "start"_a.noconvert(),
        "stop"_a.noconvert(), "apart"_a.noconvert(), "linkage"_a, "children"_a.noconvert(),
        "height"_a.noconvert(), "threads"_a);
  m.def("nearest_row", &nearest, "X"_a.noconvert(), "Q"_a.noconvert(), "index"_a.noconvert(),
        "squares"_a.noconvert(), "threads"_a);
  m.def("linkage_of_rows", &of_rows, "X"_a.noconvert(), "weight"_a.noconvert(), "core"_a.noconvert(),
        "linkage"_a, "children"_a.noconvert(), "height"_a.noconvert(), "size"_a.noconvert(), "threads"_a);
  m.def("linkage_of_square", &of_square, "square"_a.noconvert(), "weight"_a.noconvert(), "linkage"_a,
        "children"_a.noconvert(), "height"_a.noconvert(), "size"_a.noconvert(), "threads"_a);
}

const Registered linkage(&define);

}  // namespace
}  // namespace surefit::bind
