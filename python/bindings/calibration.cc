#include "bregboost/calibrate/calibration.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "bindings.h"
#include "bregboost/calibrate/prices.h"
#include "bregboost/report/fit_json.h"

namespace bregboost::python {

namespace nb = nanobind;

void BindCalibration(nb::module_& module) {
  module.def(
      "calibrate",
      [](const Array<double>& scores, const RowData& rows,
         const std::vector<Constraint>& constraints, const std::string& objective,
         std::optional<double> rho, std::uint64_t seed, bool all_offsets) {
        const nb::gil_scoped_release release;
        const RateProblem problem(constraints, ParseObjective(objective), rows);
        const CalibrationOptions options{.rho = rho, .seed = seed, .all_offsets = all_offsets};
        const Calibrator calibrator(View(scores), rows);
        const Calibration calibration = calibrator.Solve(problem, options);
        return ToJson(calibration, problem, FindPrices(calibrator, problem, calibration));
      },
      "Temperature and offsets that hold limits on rows with these scores, as JSON.",
      nb::arg("scores"), nb::arg("rows"), nb::arg("constraints"), nb::arg("objective"),
      nb::arg("rho"), nb::arg("seed"), nb::arg("all_offsets") = false);
}

}  // namespace bregboost::python
