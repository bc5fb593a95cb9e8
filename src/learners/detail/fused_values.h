// f and g of cross-entropies from one fused pass over the rows, or two where losses and rates weigh
// the rows differently.
#pragma once

#include "bregboost/problem/objective.h"
#include "bregboost/problem/rate_constraints.h"
#include "bregboost/solve/proximal_learner.h"
#include "learners/detail/pass_cells.h"
#include "learners/detail/score_view.h"

namespace bregboost::detail {

// `plan` is that of the constraints, which use cross-entropies only; at least kFewestFusedRows.
LearnerValues FusedValues(const Objective& objective, const RateConstraints& constraints,
                          const ConstraintPlan& plan, const ScoreView& scores);

// f alone, over cells that tell labels apart.
double FusedObjective(const Objective& objective, const PassCells& cells, const ScoreView& scores);

}  // namespace bregboost::detail
