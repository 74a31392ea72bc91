// Python's door to the trees of boosting.
#include <nanobind/stl/vector.h>

#include "bind.h"
#include "boost_grow.h"

namespace surefit::bind {
namespace {

using Codes = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::f_contig, nb::device::cpu>;
using Packed = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class E>
nb::object array_of(std::vector<E>&& values) {
  auto* kept = new std::vector<E>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<E>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, E, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

void pack(Codes codes, Vector<std::int64_t> counts, OutMatrix<std::uint8_t> packed, int threads) {
  const auto rows = static_cast<Index>(codes.shape(0)), width = static_cast<Index>(codes.shape(1));
  expect(static_cast<Index>(counts.shape(0)) == width, "counts must have one entry a column");
  expect(static_cast<Index>(packed.shape(0)) == rows &&
             static_cast<Index>(packed.shape(1)) == packed_stride(width),
         "packed must have a row for each row of codes, as wide as boost_stride says");
  call(threads, [&](const Run& run) {
    pack_rows(run, codes.data(), rows, width, counts.data(), static_cast<Index>(packed.shape(1)),
              packed.data());
  });
}

nb::tuple grow(Codes codes, Packed packed, Vector<std::int64_t> counts, Vector<std::uint8_t> is_level,
               Vector<std::uint8_t> has_missing, std::vector<std::int8_t> monotone,
               std::vector<std::uint8_t> groups, Vector<double> gradient, Vector<double> curvature,
               std::vector<double> bounds, OutVector<std::uint32_t> rows, OutVector<std::uint32_t> spare,
               OutMatrix<std::int64_t> sums, Index max_leaves, Index max_depth, Index min_rows_leaf,
               double l2, double column_share, std::uint64_t seed, int threads) {
  const auto table_rows = static_cast<Index>(codes.shape(0)), width = static_cast<Index>(codes.shape(1));
  const auto count = static_cast<Index>(rows.shape(0));
  const auto wide = static_cast<std::size_t>(width);
  expect(width > 0 && count > 0 && count <= table_rows, "there must be rows and columns");
  expect(packed.shape(0) == codes.shape(0) && static_cast<Index>(packed.shape(1)) == packed_stride(width),
         "packed must be the codes, row by row");
  expect(counts.shape(0) == wide && is_level.shape(0) == wide && has_missing.shape(0) == wide &&
             (monotone.empty() || monotone.size() == wide) && groups.size() % wide == 0,
         "what is said of columns must have one entry for each");
  expect(gradient.shape(0) == codes.shape(0) && curvature.shape(0) == codes.shape(0) &&
             sums.shape(0) == codes.shape(0) && sums.shape(1) == 2 && spare.shape(0) == rows.shape(0),
         "what is said of rows must have one entry for each");
  expect(bounds.size() == 3, "bounds must be the largest gradient and curvature and the total curvature");
  std::vector<Index> offset(wide + 1, 0);
  for (std::size_t j = 0; j < wide; ++j) {
    expect(counts.data()[j] >= 1 && counts.data()[j] <= kMostBins, "a column has 1 to 255 bins");
    offset[j + 1] = offset[j] + static_cast<Index>(counts.data()[j]) + 1;
  }
  const PackedRows table{packed.data(), static_cast<Index>(packed.shape(1)), width, offset.data()};
  const BoostColumns columns{
      width,           offset.data(),      counts.data(),
      is_level.data(), has_missing.data(), monotone.empty() ? nullptr : monotone.data()};
  const BoostRules rules{max_leaves, max_depth, column_share, seed, {min_rows_leaf, l2}};
  const FixedPoint unit = FixedPoint::of(count, bounds[0], bounds[1], bounds[2]);
  auto* pairs = reinterpret_cast<Sums*>(sums.data());
  BoostTree tree;
  call(threads, [&](const Run& run) {
    encode_rows(run, unit, gradient.data(), curvature.data(), table_rows, pairs);
    RowOrder order(rows.data(), spare.data());
    tree = BoostGrower(run, table, codes.data(), table_rows, columns, rules, unit, pairs, groups, order)
               .grow(count, count == table_rows);
  });
  return nb::make_tuple(
      array_of(std::move(tree.column)), array_of(std::move(tree.bin)), array_of(std::move(tree.left)),
      array_of(std::move(tree.right)), array_of(std::move(tree.missing_left)),
      array_of(std::move(tree.value)), array_of(std::move(tree.gain)), array_of(std::move(tree.curvature)),
      array_of(std::move(tree.begin)), array_of(std::move(tree.end)), array_of(std::move(tree.levels)));
}

void update(Vector<std::uint32_t> rows, Vector<std::int64_t> begin, Vector<std::int64_t> end,
            Vector<double> value, OutVector<double> score, int threads) {
  expect(begin.shape(0) == end.shape(0) && begin.shape(0) == value.shape(0), "leaves must agree");
  for (std::size_t k = 0; k < begin.shape(0); ++k)
    expect(begin.data()[k] >= 0 && begin.data()[k] <= end.data()[k] &&
               end.data()[k] <= static_cast<std::int64_t>(rows.shape(0)),
           "leaves must be ranges of rows");
  call(threads, [&](const Run& run) {
    for_chunks(run, static_cast<Index>(begin.shape(0)), [&](Index k, int) {
      const double step = value.data()[k];
      for (Index i = begin.data()[k]; i < end.data()[k]; ++i) score.data()[rows.data()[i]] += step;
    });
  });
}

void define(nb::module_& m) {
  m.def("boost_stride", &packed_stride, "width"_a);
  m.def("boost_pack", &pack, "codes"_a.noconvert(), "counts"_a.noconvert(), "packed"_a.noconvert(),
        "threads"_a);
  m.def("boost_grow", &grow, "codes"_a.noconvert(), "packed"_a.noconvert(), "counts"_a.noconvert(),
        "is_level"_a.noconvert(), "has_missing"_a.noconvert(), "monotone"_a, "groups"_a,
        "gradient"_a.noconvert(), "curvature"_a.noconvert(), "bounds"_a, "rows"_a.noconvert(),
        "spare"_a.noconvert(), "sums"_a.noconvert(), "max_leaves"_a, "max_depth"_a, "min_rows_leaf"_a, "l2"_a,
        "column_share"_a, "seed"_a, "threads"_a);
  m.def("boost_update", &update, "rows"_a.noconvert(), "begin"_a.noconvert(), "end"_a.noconvert(),
        "value"_a.noconvert(), "score"_a.noconvert(), "threads"_a);
}

const Registered boost_grow_(&define);

}  // namespace
}  // namespace surefit::bind
