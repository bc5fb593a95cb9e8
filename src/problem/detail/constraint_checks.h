// What makes a well-formed text a constraint that can be trained: checks that need no data.
#pragma once

#include <cstddef>

#include "bregboost/problem/constraint.h"
#include "problem/detail/linear_form.h"

namespace bregboost::detail {

// A constraint together with the byte offsets that errors point at.
struct PlacedConstraint {
  Constraint constraint;
  LinearForm form;  // canonical, of the constraint's expression
  std::size_t expression_offset = 0;
  std::size_t relation_offset = 0;
  std::size_t bound_offset = 0;
};

// Throws Flaw with kNoRate.
void CheckHasRate(const LinearForm& form, std::size_t offset);

// Precision is a quotient, so it stands alone. Throws Flaw with kPrecisionNotLinear.
void CheckPrecisionAlone(const LinearForm& form);

// Both of the above, then the aggregate's form and direction, then the bound's range.
void CheckConstraint(const PlacedConstraint& placed);

}  // namespace bregboost::detail
