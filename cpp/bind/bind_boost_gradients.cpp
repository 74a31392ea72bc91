// Python's door to the gradients of boosting.
#include <nanobind/stl/optional.h>

#include "bind.h"
#include "boost_gradients.h"

namespace surefit::bind {
namespace {

using Weights = std::optional<Vector<double>>;

nb::tuple as_tuple(const GradientFacts& facts) {
  return nb::make_tuple(facts.loss, facts.largest_gradient, facts.largest_curvature, facts.total_curvature);
}

nb::tuple gradients(int kind, double parameter, Vector<double> y, Vector<double> score, Weights weight,
                    OutVector<double> gradient, OutVector<double> curvature, int threads) {
  const std::size_t rows = y.shape(0);
  const bool wanted = gradient.shape(0) > 0;
  expect(score.shape(0) == rows && (!weight || weight->shape(0) == rows), "y, score and weight must agree");
  expect(!wanted || (gradient.shape(0) == rows && curvature.shape(0) == rows),
         "gradient and curvature must have one entry a row");
  GradientFacts facts;
  call(threads, [&](const Run& run) {
    facts = with_boost_loss(kind, parameter, [&](const auto& loss) {
      return boost_gradients(run, loss, y.data(), score.data(), weight ? weight->data() : nullptr,
                             static_cast<Index>(rows), wanted ? gradient.data() : nullptr, curvature.data());
    });
  });
  return as_tuple(facts);
}

nb::tuple softmax(Vector<double> y,
                  nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu> score, Weights weight,
                  OutMatrix<double> gradient, OutMatrix<double> curvature, int threads) {
  const std::size_t rows = y.shape(0), classes = score.shape(0);
  const bool wanted = gradient.shape(0) > 0;
  expect(score.shape(1) == rows && (!weight || weight->shape(0) == rows), "y, score and weight must agree");
  expect(!wanted || (gradient.shape(0) == classes && curvature.shape(0) == classes &&
                     gradient.shape(1) == rows && curvature.shape(1) == rows),
         "gradient and curvature must have the shape of score");
  for (std::size_t i = 0; i < rows; ++i)
    expect(y.data()[i] >= 0.0 && y.data()[i] < static_cast<double>(classes), "y must hold codes of classes");
  GradientFacts facts;
  call(threads, [&](const Run& run) {
    facts = boost_softmax(run, y.data(), score.data(), weight ? weight->data() : nullptr,
                          static_cast<Index>(rows), static_cast<Index>(classes),
                          wanted ? gradient.data() : nullptr, curvature.data());
  });
  return as_tuple(facts);
}

void define(nb::module_& m) {
  m.def("boost_gradients", &gradients, "kind"_a, "parameter"_a, "y"_a.noconvert(), "score"_a.noconvert(),
        "weight"_a.noconvert().none(), "gradient"_a.noconvert(), "curvature"_a.noconvert(), "threads"_a);
  m.def("boost_softmax", &softmax, "y"_a.noconvert(), "score"_a.noconvert(), "weight"_a.noconvert().none(),
        "gradient"_a.noconvert(), "curvature"_a.noconvert(), "threads"_a);
}

const Registered boost_gradients_(&define);

}  // namespace
}  // namespace surefit::bind
