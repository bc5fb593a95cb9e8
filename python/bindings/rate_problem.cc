#include "bregboost/problem/rate_problem.h"

#include <nanobind/stl/string.h>

#include <string>

#include "bindings.h"

namespace bregboost::python {

namespace nb = nanobind;

void BindRateProblem(nb::module_& module) {
  module.def(
      "maximises", [](const std::string& objective) { return ParseObjective(objective).maximise; },
      nb::arg("objective"), "Whether more of the rate that is optimised is better.");
}

}  // namespace bregboost::python
