// CBPR: min f(x) s.t. phi_j(x) <= 0 where phi_j is a difference of convex functions, such as a gap
// between the losses of two groups. Solves a convex problem around x_t with ABPP, moves there, and
// repeats (Lin & Deng, Algorithm 2).
//
// Paper -> code: phi_j the constraint set's g_j | L proximal_weight | rho the set's
// WeakConvexityBound() times the learner's ScoreSensitivity() | x^t the anchor |
// (eps_3, eps_4) subproblem accuracy | y_0 = 1 / (1 + sum y), so y_0 + sum y_j = 1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bregboost/solve/abpp.h"
#include "bregboost/solve/feasibility.h"

namespace bregboost {

enum class CbprForm {
  kProximal,    // the paper's: f and phi_j gain L D_W(x, x_t), which makes phi_j convex
  kLinearized,  // the concave part of phi_j becomes its tangent at x_t; f gains L D_W(x, x_t)
};
std::string_view Name(CbprForm form);

struct CbprOptions {
  CbprForm form = CbprForm::kProximal;
  // L > 0. Default: kProximal max(2 rho, 1), twice what makes every phi_j convex; kLinearized 0.01.
  std::optional<double> proximal_weight;
  double fritz_john_tolerance = 1e-4;       // > 0
  std::int64_t max_outer_iterations = 500;  // >= 0
  // Its tolerances are replaced by the paper's (eps_3, eps_4) for the tolerance above, and the last
  // iterate is always the one used. max_seconds holds for the whole solve.
  AbppOptions subproblem;
  FeasibilityOptions feasibility;
};
void Validate(const CbprOptions& options, std::size_t num_constraints);

// How far (x, y) is from the Fritz John conditions, with y_0 + sum y_j = 1.
struct FritzJohnResidual {
  double stationarity = 0.0;          // || y_0 df + sum y_j dphi_j + normal cone ||
  double complementarity = 0.0;       // max_j |y_j phi_j|
  double violation = 0.0;             // max_j max(0, phi_j)
  double objective_multiplier = 0.0;  // y_0; a KKT point has y_0 > 0

  double worst() const;
};

struct CbprResult {
  std::vector<double> multipliers;  // y_j for an objective multiplier of 1
  FritzJohnResidual fritz_john;
  FeasibilityResult feasibility;
  double proximal_weight = 0.0;         // the L used
  std::vector<IterationStats> history;  // one row per outer iteration, row 0 the feasible start
  TerminationReason reason = TerminationReason::kIterationLimit;
  std::string detail;  // as in AbppResult
};

// kInfeasible leaves the learner at the point of least violation; result.feasibility has its
// values.
CbprResult SolveCbpr(ProximalLearner& learner, ConstraintSet& constraints,
                     const CbprOptions& options, const SolveHooks& hooks = {});

FritzJohnResidual MeasureFritzJohn(const ProximalLearner& learner, const ConstraintSet& constraints,
                                   std::span<const double> multipliers);

}  // namespace bregboost
