// Python's door to trees over points, and to searches in them.
#include <nanobind/stl/string.h>

#include <string>

#include "bind_near.h"
#include "point_tree.h"

namespace surefit::bind {
namespace {

TreeKind kind_of(const std::string& kind) {
  if (kind == "box") return TreeKind::box;
  expect(kind == "ball" || kind == "none", "kind must be box, ball or none");
  return kind == "ball" ? TreeKind::ball : TreeKind::none;
}

template <class Use>
void with_norm(const std::string& norm, double p, const Use& use) {
  if (norm == "squared")
    use(SquaredNorm{});
  else if (norm == "absolute")
    use(AbsoluteNorm{});
  else if (norm == "largest")
    use(LargestNorm{});
  else if (norm == "differing")
    use(DifferingNorm{});
  else {
    expect(norm == "power" && p > 0, "norm must be squared, absolute, largest, differing or power, p > 0");
    use(PowerNorm{p});
  }
}

PointTree shape_of(Index rows, Index cols, Index bucket, const std::string& kind) {
  expect(rows > 0 && rows < (Index{1} << 31), "there must be 1 to 2^31 - 1 points");
  expect(bucket > 0 && bucket % kGroup == 0, "bucket must be a multiple of 16");
  PointTree tree;
  tree.rows = rows;
  tree.cols = cols;
  tree.bucket = bucket;
  tree.kind = kind_of(kind);
  return tree;
}

void expect_sizes(const PointTree& tree, std::size_t points, std::size_t ids, std::size_t bounds) {
  const Index slots = tree.leaves() * tree.bucket;
  expect(static_cast<Index>(points) == slots * tree.cols && static_cast<Index>(ids) == slots,
         "points and ids must have room for all leaves");
  expect(tree.kind == TreeKind::none || static_cast<Index>(bounds) == tree.nodes() * tree.bound_size(),
         "bounds must have room for all nodes");
}

void grow(Matrix<double> X, const std::string& norm, double p, Index bucket, const std::string& kind,
          OutVector<double> points, OutVector<std::int32_t> ids, OutVector<double> bounds, int threads) {
  const Dense<double> rows = dense(X);
  expect(rows.order == Order::C, "X must be in C order");
  const PointTree tree = shape_of(rows.rows, rows.cols, bucket, kind);
  expect_sizes(tree, points.shape(0), ids.shape(0), bounds.shape(0));
  with_norm(norm, p, [&](const auto& known) {
    call(threads, [&](const Run& run) {
      grow_point_tree(run, known, rows, tree, points.data(), ids.data(), bounds.data());
    });
  });
}

PointTree tree_of(Index rows, Index bucket, const std::string& kind, const Vector<double>& points,
                  const Vector<std::int32_t>& ids, const Vector<double>& bounds, const Dense<double>& Q,
                  bool own) {
  expect(Q.order == Order::C && Q.rows < (Index{1} << 31), "Q must be in C order, of less than 2^31 rows");
  expect(!own || Q.rows == rows, "with own, the queries must be the points");
  PointTree tree = shape_of(rows, Q.cols, bucket, kind);
  expect_sizes(tree, points.shape(0), ids.shape(0), bounds.shape(0));
  tree.points = points.data();
  tree.ids = ids.data();
  tree.bounds = bounds.data();
  return tree;
}

void nearest(Index rows, const std::string& norm, double p, Index bucket, const std::string& kind,
             Vector<double> points, Vector<std::int32_t> ids, Vector<double> bounds, Matrix<double> Q,
             bool own, OutMatrix<std::int64_t> index, OutMatrix<double> value, int threads) {
  const Dense<double> queries = dense(Q);
  const PointTree tree = tree_of(rows, bucket, kind, points, ids, bounds, queries, own);
  const Index k = static_cast<Index>(index.shape(1));
  expect(k >= 1 && k <= rows, "k must lie between 1 and the number of points");
  expect(static_cast<Index>(index.shape(0)) == queries.rows &&
             static_cast<Index>(value.shape(0)) == queries.rows && static_cast<Index>(value.shape(1)) == k,
         "index and value must have one row for each query, and k columns");
  with_norm(norm, p, [&](const auto& known) {
    call(threads, [&](const Run& run) {
      tree_nearest(run, tree, known, queries, k, own, index.data(), value.data());
    });
  });
}

nb::tuple within(Index rows, const std::string& norm, double p, Index bucket, const std::string& kind,
                 Vector<double> points, Vector<std::int32_t> ids, Vector<double> bounds, Matrix<double> Q,
                 Vector<double> radius, bool own, bool by_distance, int threads) {
  const Dense<double> queries = dense(Q);
  const PointTree tree = tree_of(rows, bucket, kind, points, ids, bounds, queries, own);
  expect(static_cast<Index>(radius.shape(0)) == queries.rows, "radius must have one entry for each query");
  NearLists lists;
  with_norm(norm, p, [&](const auto& known) {
    call(threads, [&](const Run& run) {
      lists = tree_within(run, tree, known, queries, radius.data(), own, by_distance);
    });
  });
  return arrays_of(lists, threads);
}

void define(nb::module_& m) {
  m.def("grow_point_tree", &grow, "X"_a.noconvert(), "norm"_a, "p"_a, "bucket"_a, "kind"_a,
        "points"_a.noconvert(), "ids"_a.noconvert(), "bounds"_a.noconvert(), "threads"_a);
  m.def("tree_nearest", &nearest, "rows"_a, "norm"_a, "p"_a, "bucket"_a, "kind"_a, "points"_a.noconvert(),
        "ids"_a.noconvert(), "bounds"_a.noconvert(), "Q"_a.noconvert(), "own"_a, "index"_a.noconvert(),
        "value"_a.noconvert(), "threads"_a);
  m.def("tree_within", &within, "rows"_a, "norm"_a, "p"_a, "bucket"_a, "kind"_a, "points"_a.noconvert(),
        "ids"_a.noconvert(), "bounds"_a.noconvert(), "Q"_a.noconvert(), "radius"_a.noconvert(), "own"_a,
        "by_distance"_a, "threads"_a);
}

const Registered tree(&define);

}  // namespace
}  // namespace surefit::bind
