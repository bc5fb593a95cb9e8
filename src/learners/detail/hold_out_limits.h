// What hold-outs of every kind of model check of their limits: training rows and unseen rows have
// the same ones, each bound to its own rows.
#pragma once

#include "bregboost/problem/constraint_set.h"
#include "bregboost/problem/objective.h"
#include "bregboost/problem/rate_constraints.h"

namespace bregboost::detail {

// Throws std::invalid_argument; `name` tells the set.
void CheckSameRows(const Objective& objective, const RateConstraints& constraints,
                   const char* name);

// Multipliers belong to rows of g, so both sets must have the same ones. Throws
// std::invalid_argument.
void CheckAlike(const RateConstraints& training, const RateConstraints& unseen);

// The limits on the training rows that `constraints`, one of both sets, stand for; null: none.
// Throws std::invalid_argument for any others.
const ConstraintSet* OnTrainingRows(const ConstraintSet* constraints,
                                    const RateConstraints& training, const RateConstraints& unseen);

// Scores of unseen rows cannot answer for the training rows: throws std::invalid_argument.
void CheckNotOfTraining(const ConstraintSet& constraints, const RateConstraints& training,
                        const RateConstraints& unseen);

}  // namespace bregboost::detail
