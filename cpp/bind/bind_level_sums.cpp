// Python's door to the levels of trees that are grown batch by batch.
#include <nanobind/stl/vector.h>

#include "bind.h"
#include "boost_split.h"
#include "level_sums.h"

namespace surefit::bind {
namespace {

using Codes = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::f_contig, nb::device::cpu>;

std::vector<Index> offsets(const Vector<std::int64_t>& counts) {
  std::vector<Index> offset(counts.shape(0) + 1, 0);
  for (std::size_t j = 0; j < counts.shape(0); ++j) {
    expect(counts.data()[j] >= 1 && counts.data()[j] <= kMostBins, "a column has 1 to 255 bins");
    offset[j + 1] = offset[j] + static_cast<Index>(counts.data()[j]) + 1;
  }
  return offset;
}

void sums(Codes codes, Vector<std::int64_t> counts, Vector<std::int32_t> slot, Vector<std::int32_t> part,
          nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> terms, Index slots,
          Index parts, OutVector<std::int64_t> out, int threads) {
  const auto rows = static_cast<Index>(codes.shape(0)), width = static_cast<Index>(codes.shape(1));
  const auto depth = static_cast<Index>(terms.shape(1));
  expect(static_cast<Index>(counts.shape(0)) == width, "counts must have one entry a column");
  expect(static_cast<Index>(slot.shape(0)) == rows && static_cast<Index>(terms.shape(0)) == rows &&
             (part.shape(0) == 0 || static_cast<Index>(part.shape(0)) == rows),
         "what is said of rows must have one entry for each");
  const std::vector<Index> offset = offsets(counts);
  expect(static_cast<Index>(out.shape(0)) == slots * offset.back() * parts * depth,
         "out must have an entry for each slot, code, part and term");
  for (Index i = 0; i < rows; ++i) {
    const bool counted = slot.data()[i] >= 0;
    expect(slot.data()[i] < slots, "a slot lies beyond the last");
    expect(!counted || part.shape(0) == 0 || (part.data()[i] >= 0 && part.data()[i] < parts),
           "a part lies beyond the last");
  }
  const LevelRows table{codes.data(), rows,  width, slot.data(), part.shape(0) == 0 ? nullptr : part.data(),
                        terms.data(), parts, depth};
  call(threads, [&](const Run& run) { level_sums(run, table, counts.data(), offset.data(), out.data()); });
}

void route(Codes codes, Vector<std::int32_t> column, Vector<std::int32_t> bin, Vector<std::int32_t> left,
           Vector<std::int32_t> right, Vector<std::uint8_t> missing_left, Vector<std::uint64_t> levels,
           Vector<std::uint8_t> is_level, OutVector<std::int32_t> out, int threads) {
  const auto nodes = static_cast<std::int32_t>(column.shape(0));
  const auto width = static_cast<std::int32_t>(codes.shape(1));
  expect(nodes > 0 && bin.shape(0) == column.shape(0) && left.shape(0) == column.shape(0) &&
             right.shape(0) == column.shape(0) && missing_left.shape(0) == column.shape(0) &&
             levels.shape(0) == 4 * column.shape(0),
         "what is said of nodes must have one entry for each, levels four");
  expect(is_level.shape(0) == codes.shape(1) && out.shape(0) == codes.shape(0),
         "is_level must have one entry a column, out one a row");
  for (std::int32_t i = 0; i < nodes; ++i) {
    if (column.data()[i] < 0) continue;
    expect(column.data()[i] < width && left.data()[i] > i && right.data()[i] > i && left.data()[i] < nodes &&
               right.data()[i] < nodes,
           "children must come after their parents, and columns be there");
  }
  const LevelTree tree{column.data(),       bin.data(),    left.data(),    right.data(),
                       missing_left.data(), levels.data(), is_level.data()};
  call(threads, [&](const Run& run) {
    level_route(run, codes.data(), static_cast<Index>(codes.shape(0)), tree, out.data());
  });
}

// The best split of each node: gain, column, bin, missing_left, the two sums of its left side and four words
// of levels, in three rows of numbers a node.
void best(nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> sums,
          nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu> bounds,
          nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> chosen,
          Vector<std::int64_t> counts, Vector<std::uint8_t> is_level, Vector<std::uint8_t> has_missing,
          std::vector<std::int8_t> monotone, double gradient_unit, double curvature_unit, int row_bits,
          Index min_rows_leaf, double l2, OutVector<double> gain, OutMatrix<std::int64_t> found,
          OutMatrix<std::uint64_t> levels, int threads) {
  const std::vector<Index> offset = offsets(counts);
  const std::size_t nodes = sums.shape(0), width = counts.shape(0);
  expect(sums.shape(1) == 2 * static_cast<std::size_t>(offset.back()), "sums must have two for each code");
  expect(bounds.shape(0) == nodes && bounds.shape(1) == 3 && chosen.shape(0) == nodes &&
             chosen.shape(1) == width && gain.shape(0) == nodes && found.shape(0) == nodes &&
             found.shape(1) == 5 && levels.shape(0) == nodes && levels.shape(1) == 4,
         "what is said of nodes must have one entry for each");
  expect(is_level.shape(0) == width && has_missing.shape(0) == width &&
             (monotone.empty() || monotone.size() == width),
         "what is said of columns must have one entry for each");
  const BoostColumns columns{
      static_cast<Index>(width), offset.data(),      counts.data(),
      is_level.data(),           has_missing.data(), monotone.empty() ? nullptr : monotone.data()};
  FixedPoint unit;
  unit.gradient = gradient_unit, unit.curvature = curvature_unit, unit.row_bits = row_bits;
  const BoostSearch search(columns, BoostSearchRules{min_rows_leaf, l2}, unit);
  call(threads, [&](const Run& run) {
    for_chunks(run, static_cast<Index>(nodes), [&](Index i, int) {
      const auto* histogram =
          reinterpret_cast<const Sums*>(sums.data() + i * 2 * static_cast<Index>(offset.back()));
      Sums total;
      for (Index b = 0; b < offset[1]; ++b) total = total + histogram[b];
      NodeSums node;
      node.gradient = unit.gradient_of(total);
      node.curvature = unit.curvature_of(total);
      node.rows = unit.rows_of(total);
      node.value = bounds.data()[i * 3];
      node.lowest = bounds.data()[i * 3 + 1];
      node.highest = bounds.data()[i * 3 + 2];
      BoostSplit split;
      for (std::size_t j = 0; j < width; ++j)
        if (chosen.data()[static_cast<std::size_t>(i) * width + j] != 0)
          search.look_at(node, histogram, static_cast<Index>(j), split);
      gain.data()[i] = split.gain;
      std::int64_t* own = found.data() + i * 5;
      own[0] = split.column, own[1] = split.bin, own[2] = split.missing_left ? 1 : 0;
      own[3] = split.left.gradient, own[4] = split.left.curvature_and_rows;
      std::copy(split.levels.begin(), split.levels.end(), levels.data() + i * 4);
    });
  });
}

void define(nb::module_& m) {
  m.def("level_sums", &sums, "codes"_a.noconvert(), "counts"_a.noconvert(), "slot"_a.noconvert(),
        "part"_a.noconvert(), "terms"_a.noconvert(), "slots"_a, "parts"_a, "out"_a.noconvert(), "threads"_a);
  m.def("level_route", &route, "codes"_a.noconvert(), "column"_a.noconvert(), "bin"_a.noconvert(),
        "left"_a.noconvert(), "right"_a.noconvert(), "missing_left"_a.noconvert(), "levels"_a.noconvert(),
        "is_level"_a.noconvert(), "out"_a.noconvert(), "threads"_a);
  m.def("level_best", &best, "sums"_a.noconvert(), "bounds"_a.noconvert(), "chosen"_a.noconvert(),
        "counts"_a.noconvert(), "is_level"_a.noconvert(), "has_missing"_a.noconvert(), "monotone"_a,
        "gradient_unit"_a, "curvature_unit"_a, "row_bits"_a, "min_rows_leaf"_a, "l2"_a, "gain"_a.noconvert(),
        "found"_a.noconvert(), "levels"_a.noconvert(), "threads"_a);
}

const Registered level_sums_(&define);

}  // namespace
}  // namespace surefit::bind
