// Linear models: multinomial and binary logistic regression, linear regression. W = I, so
// D_W(x, x') = 1/2 ||x - x'||^2 over coefficients and intercepts.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bregboost/data/feature_matrix.h"
#include "bregboost/problem/objective.h"
#include "bregboost/solve/proximal_learner.h"

namespace bregboost {

struct LinearOptions {
  double l2 = 0.0;  // f gains l2 / 2 ||coefficients||^2; the intercept is not penalised. >= 0
  bool fit_intercept = true;
  // The set X: bounds on each feature's coefficients, for every class. Empty: none.
  std::vector<double> coefficient_lower = {};
  std::vector<double> coefficient_upper = {};
  // L-BFGS: pairs kept, and the most iterations of one run; both at least 1.
  int memory = 10;
  int max_iterations = 2000;

  bool operator==(const LinearOptions&) const = default;
};

class LinearLearner final : public ProximalLearner {
 public:
  // Keeps a reference to `objective` and the view. Starts at zero, projected onto the box.
  LinearLearner(const FeatureMatrix& features, const Objective& objective,
                const LinearOptions& options);

  LinearLearner(const FeatureMatrix&, const Objective&&, const LinearOptions&) = delete;

  std::span<const double> scores() const override { return scores_; }
  double objective() const override;
  // L-BFGS (L-BFGS-B in a box) from x_k. psi is s-strongly convex, s = ProximalStep::modulus, so
  // its smallest subgradient v shows psi(x) - min psi <= ||v||^2 / (2 s); the step stops when that
  // is within the accuracy asked for, or where double precision ends, and reports it.
  StepOutcome Step(const ProximalStep& step) override;

  void SetAnchor() override { anchor_ = x_; }
  double AnchorDistance() const override { return 0.5 * (x_ - anchor_).squaredNorm(); }

  void AccumulateAverage(double weight) override;
  void ResetAverage() override;
  void UseAverage() override;
  std::unique_ptr<ModelState> Save() const override;
  void Restore(const ModelState& state) override;

  double StationarityResidual(const ConstraintSet& constraints, std::span<const double> multipliers,
                              double objective_weight) const override;
  double ScoreSensitivity() const override { return score_sensitivity_; }
  double StrongConvexity() const override { return strong_convexity_; }

  // One column per score: 1 for binary and regression, K for K classes.
  Eigen::MatrixXd coefficients() const;
  Eigen::VectorXd intercept() const;
  // Replaces x_k, e.g. for a warm start; coefficients outside the box are moved into it.
  void SetModel(const Eigen::Ref<const Eigen::MatrixXd>& coefficients,
                const Eigen::Ref<const Eigen::VectorXd>& intercept);

 private:
  class Subproblem;

  void MoveTo(const Eigen::VectorXd& x);
  void ScoresOf(const Eigen::VectorXd& x, std::span<double> scores) const;
  double Penalty(const Eigen::VectorXd& x) const;
  // Adds the chain rule of a score gradient, and the penalty's gradient.
  void AddModelGradient(std::span<const double> score_gradient, const Eigen::VectorXd& x,
                        double objective_weight, Eigen::VectorXd& gradient) const;
  Eigen::VectorXd SmallestSubgradient(const Eigen::VectorXd& x,
                                      const Eigen::VectorXd& gradient) const;
  bool has_box() const { return lower_.size() > 0; }

  FeatureMatrix features_;
  const Objective* objective_;
  LinearOptions options_;
  std::size_t num_scores_;
  Eigen::VectorXd lower_, upper_;  // of x; empty without a box
  Eigen::VectorXd x_;              // coefficients column by column, then intercepts
  std::vector<double> scores_;     // of x_
  Eigen::VectorXd anchor_, average_;
  double average_weight_ = 0.0;
  double score_sensitivity_ = 0.0;
  double strong_convexity_ = 0.0;
};

}  // namespace bregboost
