// What options mean for a target where the user left them alone.
#pragma once

#include "bregboost/pipeline/fit.h"
#include "bregboost/problem/parser.h"
#include "bregboost/problem/rate_problem.h"

namespace bregboost::detail {

inline RateObjective ObjectiveOf(const FitOptions& options, Task task) {
  if (!options.objective.empty()) return ParseObjective(options.objective);
  if (task == Task::kRegression) return {.expression = ParseExpression("loss")};
  return {.expression = ParseExpression("accuracy"), .maximise = true};
}

inline LossOptions LossOf(const LossOptions& loss, Task task) {
  if (task == Task::kRegression && loss.kind == LossKind::kCrossEntropy) {
    return {.kind = LossKind::kSquared};
  }
  return loss;
}

}  // namespace bregboost::detail
