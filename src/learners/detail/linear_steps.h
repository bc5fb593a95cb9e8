// Steps of linear models that know unseen rows: solved to an accuracy below which the noise of the
// rows hides every difference.
#pragma once

#include <span>

#include "bregboost/learners/linear.h"
#include "bregboost/problem/cells.h"
#include "bregboost/problem/constraint_set.h"
#include "bregboost/problem/objective.h"

namespace bregboost::detail {

// `step` under `constraints` in place of its own, which are bound to other rows; null: none.
StepOutcome SolveStep(LinearLearner& learner, const ProximalStep& step,
                      const ConstraintSet* constraints);

// The cost-sensitive form, see CrossFitLearner::StepOnCosts, solved to the end. `objective` is what
// `learner` was made for, `cells` are of its rows. Throws std::invalid_argument.
StepOutcome SolveOnCosts(LinearLearner& learner, const Objective& objective, const CellTable& cells,
                         std::span<const double> costs);

}  // namespace bregboost::detail
