#include "bregboost/certify/certificate.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "bindings.h"
#include "bregboost/report/fit_json.h"

namespace bregboost::python {

namespace nb = nanobind;

void BindCertificate(nb::module_& module) {
  nb::class_<CertificationLog>(module, "CertificationLog", "Which rows have been used to certify.")
      .def(nb::init<>())
      .def("to_json", &CertificationLog::ToJson)
      .def_static("from_json",
                  [](const std::string& text) { return CertificationLog::FromJson(text); });
  module.def(
      "certify",
      [](const std::optional<Array<std::int32_t>>& classes,
         const std::optional<Array<double>>& losses, const RowData& rows,
         const std::vector<Constraint>& constraints, double delta, bool joint,
         bool rows_are_separate, std::optional<double> max_weight,
         std::optional<std::pair<double, double>> loss_range, std::uint64_t seed,
         CertificationLog* log, const std::optional<Array<double>>& row_digests) {
        CertifyOptions options{.delta = delta,
                               .joint = joint,
                               .rows_are_separate = rows_are_separate,
                               .max_weight = max_weight,
                               .loss_range = std::nullopt,
                               .expected_groups = {},
                               .seed = seed,
                               .log = log,
                               .row_digests = Copy(row_digests)};
        if (loss_range) options.loss_range = {loss_range->first, loss_range->second};
        const nb::gil_scoped_release release;
        return ToJson(Certify({.classes = Copy(classes), .losses = Copy(losses)}, rows, constraints,
                              options));
      },
      "What rows that no model has seen say about limits, as JSON.", nb::arg("classes").none(),
      nb::arg("losses").none(), nb::arg("rows"), nb::arg("constraints"), nb::kw_only(),
      nb::arg("delta") = 0.1, nb::arg("joint") = true, nb::arg("rows_are_separate") = true,
      nb::arg("max_weight").none() = nb::none(), nb::arg("loss_range").none() = nb::none(),
      nb::arg("seed") = 0, nb::arg("log").none() = nb::none(),
      nb::arg("row_digests").none() = nb::none());
}

}  // namespace bregboost::python
