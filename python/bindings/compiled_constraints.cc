#include "bregboost/problem/compiled_constraints.h"

#include <nanobind/stl/vector.h>

#include <cstddef>
#include <vector>

#include "bindings.h"
#include "bregboost/data/row_data.h"

namespace bregboost::python {

namespace nb = nanobind;

void BindCompiledConstraints(nb::module_& module) {
  module.def(
      "limit_counts",
      [](const std::vector<Constraint>& constraints, const RowData& rows) {
        const nb::gil_scoped_release release;
        std::vector<std::size_t> counts;
        for (const CompiledConstraint& constraint :
             Compile(constraints, rows, EmptySubsetPolicy::kUndefined).constraints) {
          counts.push_back(constraint.num_rows);
        }
        return counts;
      },
      nb::arg("constraints"), nb::arg("rows"),
      "How many limits each constraint is made of, each with a multiplier: one per rate, or one "
      "per pair of groups.");
}

}  // namespace bregboost::python
