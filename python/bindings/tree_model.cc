#include "bregboost/model/tree_model.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "fit_support.h"

namespace bregboost::python {
namespace {

namespace nb = nanobind;

ExportSpec SpecOf(const std::string& objective, std::size_t num_scores, double temperature,
                  const std::vector<double>& offsets) {
  return {.objective = Choose(
              "objective", objective,
              {ModelObjective::kBinary, ModelObjective::kMulticlass, ModelObjective::kRegression}),
          .num_scores = num_scores,
          .inverse_temperature = 1.0 / temperature,
          .offsets = offsets};
}

using Adjust = std::string (*)(std::string_view model, const ExportSpec& spec);

void Bind(nb::module_& module, const char* name, Adjust adjust) {
  module.def(
      name,
      [adjust](const nb::bytes& model, const std::string& objective, std::size_t num_scores,
               double temperature, const std::vector<double>& offsets) {
        return ToBytes(adjust({model.c_str(), model.size()},
                              SpecOf(objective, num_scores, temperature, offsets)));
      },
      "The model whose scores are F / temperature + offset.", nb::arg("model"),
      nb::arg("objective"), nb::arg("num_scores"), nb::arg("temperature"), nb::arg("offsets"));
}

}  // namespace

void BindTreeModel(nb::module_& module) {
  Bind(module, "adjust_lightgbm", &AdjustLightGbm);
  Bind(module, "adjust_xgboost", &AdjustXgboost);
}

}  // namespace bregboost::python
