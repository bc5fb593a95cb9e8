// The passes over rows that every boosting round makes: values of objective and constraints at the
// current scores, then float derivatives for the library. Both do objective and constraints at
// once.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "bregboost/problem/constraint_set.h"
#include "bregboost/problem/objective.h"
#include "bregboost/solve/proximal_learner.h"
#include "learners/detail/score_view.h"

namespace bregboost::detail {

// A term weight * D(F, center), D(F, F') = 1/(2M) sum_i m_i ||F_i - F'_i||^2 with the metric
// weights of RowData. A center of no rows stands for the scores themselves: no pull, but its
// curvature.
struct Pull {
  double weight = 0.0;
  ScoreView center;  // the type and layout of the scores
};

// psi = objective_weight f + <multipliers, g> + pulls
struct Lagrangian {
  const ConstraintSet* constraints = nullptr;  // null: none
  std::span<const double> multipliers;
  double objective_weight = 1.0;
  std::span<const Pull> pulls;
};

// The cost-sensitive form: row i of cell a minimises sum_k costs[a * K + k] * (its cross-entropy
// towards class k), with costs >= 0; two classes have K = 2. psi is the mean over the rows by their
// rate weights, plus pulls.
struct CellCosts {
  const CellTable* cells = nullptr;
  std::span<const double> costs;
};

// How a library bounds the curvature of the softmax, in units of p (1 - p): K / (K - 1) in
// LightGBM, 2 in XGBoost.
struct PassOptions {
  double softmax_hessian_factor = 2.0;
};

// Three ways through the rows, chosen by what is asked for:
//   - the library's own formulas, bit for bit, where there is neither a constraint nor a pull;
//   - fused float32 vectors, for constraints whose surrogates are cross-entropies;
//   - double arithmetic for everything else; K > 2 classes have the event kernels' hessians there.
// NaN scores give NaN values and derivatives. Objects keep buffers: one call at a time.
class BoostingPass {
 public:
  // Keeps a reference to `objective`.
  BoostingPass(const Objective& objective, const PassOptions& options);
  ~BoostingPass();

  // f and g.
  LearnerValues Evaluate(const ConstraintSet& constraints, const ScoreView& scores) const;

  // D(a, b); both views are alike.
  double Distance(const ScoreView& a, const ScoreView& b) const;

  // Overwrites `gradient` and `hessian`, which have the layout of `scores`, with psi's derivatives
  // times the factor that makes the mean weight of a row 1. Returns that factor. A row's weight is
  // the sum of the absolute coefficients of its losses, pulls apart; constraints that do not show
  // theirs count by their multipliers. Without constraints and pulls the factor is the sum of the
  // row weights over `objective_weight`, which gives the library's own derivatives: doubles are
  // taken for LightGBM's scores, floats for XGBoost's. With the squared loss r^2 all factors are
  // half of that, since the libraries' loss is r^2 / 2.
  double Derive(const Lagrangian& lagrangian, const ScoreView& scores, std::span<float> gradient,
                std::span<float> hessian) const;
  double Derive(const CellCosts& costs, std::span<const Pull> pulls, const ScoreView& scores,
                std::span<float> gradient, std::span<float> hessian) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bregboost::detail
