// Small problems with known answers, and a learner that solves their steps exactly.
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "bregboost/problem/constraint_set.h"
#include "bregboost/solve/proximal_learner.h"

namespace bregboost::testing {

using Eigen::MatrixXd;
using Eigen::VectorXd;

inline VectorXd AsVector(std::span<const double> values) {
  return Eigen::Map<const VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

// g_j(x) = a_j' x + q_j / 2 ||x||^2 - b_j; q_j < 0 makes it concave.
class QuadraticConstraints final : public ConstraintSet {
 public:
  QuadraticConstraints(MatrixXd a, const VectorXd& b)
      : QuadraticConstraints(std::move(a), VectorXd::Zero(b.size()), b) {}
  QuadraticConstraints(MatrixXd a, VectorXd q, VectorXd b)
      : a_(std::move(a)), q_(std::move(q)), b_(std::move(b)) {}

  std::size_t size() const override { return static_cast<std::size_t>(b_.size()); }

  ConstraintValues Evaluate(std::span<const double> scores) const override {
    const VectorXd x = AsVector(scores);
    const VectorXd g = a_ * x + 0.5 * x.squaredNorm() * q_ - b_;
    const std::vector<double> values(g.data(), g.data() + g.size());
    return {
        .surrogate = values, .exact = values, .worst_exact_violation = std::max(0.0, g.maxCoeff())};
  }

  double AddLagrangian(std::span<const double> scores, std::span<const double> multipliers,
                       std::span<double> gradient, std::span<double> hessian) const override {
    const VectorXd x = AsVector(scores);
    const VectorXd y = AsVector(multipliers);
    Eigen::Map<VectorXd>(gradient.data(), x.size()) += a_.transpose() * y + y.dot(q_) * x;
    for (double& h : hessian) h += y.dot(q_);
    return y.dot(a_ * x + 0.5 * x.squaredNorm() * q_ - b_);
  }

  bool convex() const override { return q_.minCoeff() >= 0.0; }
  double LipschitzBound() const override {
    if (!q_.isZero()) return std::numeric_limits<double>::infinity();
    return a_.operatorNorm();
  }
  double WeakConvexityBound() const override { return std::max(0.0, -q_.minCoeff()); }

 private:
  MatrixXd a_;
  VectorXd q_, b_;
};

// f(x) = 1/2 x' Q x - c' x with D_W = 1/2 ||x - x'||^2; its scores are x itself. A step solves the
// linear system of the quadratic sub-problem, so it is exact.
class QuadraticLearner final : public ProximalLearner {
 public:
  QuadraticLearner(MatrixXd q, const VectorXd& c)
      : QuadraticLearner(std::move(q), c, VectorXd::Zero(c.size())) {}
  QuadraticLearner(MatrixXd q, VectorXd c, VectorXd start)
      : q_(std::move(q)), c_(std::move(c)), x_(std::move(start)), anchor_(x_) {
    ResetAverage();
  }

  std::span<const double> scores() const override {
    return {x_.data(), static_cast<std::size_t>(x_.size())};
  }
  double objective() const override { return ObjectiveAt(x_); }
  double ObjectiveAt(const VectorXd& x) const { return 0.5 * x.dot(q_ * x) - c_.dot(x); }

  StepOutcome Step(const ProximalStep& step) override {
    VectorXd gradient =
        step.objective_weight * (q_ * x_ - c_) + step.anchor_weight * (x_ - anchor_);
    VectorXd hessian = VectorXd::Zero(x_.size());
    step.constraints->AddLagrangian(scores(), step.multipliers,
                                    {gradient.data(), static_cast<std::size_t>(gradient.size())},
                                    {hessian.data(), static_cast<std::size_t>(hessian.size())});
    MatrixXd system = step.objective_weight * q_;
    system.diagonal() += hessian;
    system.diagonal().array() += 1.0 / step.tau + step.anchor_weight;
    const VectorXd move = -system.ldlt().solve(gradient);
    x_ += move;
    return {.distance = 0.5 * move.squaredNorm(), .evaluations = 1};
  }

  void SetAnchor() override { anchor_ = x_; }
  double AnchorDistance() const override { return 0.5 * (x_ - anchor_).squaredNorm(); }

  void AccumulateAverage(double weight) override {
    average_weight_ += weight;
    average_ += weight / average_weight_ * (x_ - average_);
  }
  void ResetAverage() override {
    average_ = VectorXd::Zero(x_.size());
    average_weight_ = 0.0;
  }
  void UseAverage() override { x_ = average_; }

  std::unique_ptr<ModelState> Save() const override { return std::make_unique<State>(x_); }
  void Restore(const ModelState& state) override { x_ = dynamic_cast<const State&>(state).x; }

  double StationarityResidual(const ConstraintSet& constraints, std::span<const double> multipliers,
                              double objective_weight) const override {
    VectorXd gradient = objective_weight * (q_ * x_ - c_);
    constraints.AddLagrangian(scores(), multipliers,
                              {gradient.data(), static_cast<std::size_t>(gradient.size())}, {});
    return gradient.norm();
  }
  double ScoreSensitivity() const override { return 1.0; }
  double StrongConvexity() const override {
    return std::max(0.0, q_.selfadjointView<Eigen::Lower>().eigenvalues().minCoeff());
  }

  const VectorXd& x() const { return x_; }

 private:
  struct State final : ModelState {
    explicit State(VectorXd point) : x(std::move(point)) {}
    VectorXd x;
  };
  MatrixXd q_;
  VectorXd c_, x_, anchor_, average_;
  double average_weight_ = 0.0;
};

struct ToyProblem {
  std::string name;
  MatrixXd q;
  VectorXd c;
  MatrixXd a;
  VectorXd quadratic;
  VectorXd b;
  VectorXd x;  // the solution
  VectorXd y;  // its multipliers; NaN where they are not unique

  QuadraticLearner Learner() const { return {q, c}; }
  QuadraticConstraints Constraints() const { return {a, quadratic, b}; }
};

inline VectorXd Vec(std::initializer_list<double> values) {
  return Eigen::Map<const VectorXd>(values.begin(), static_cast<Eigen::Index>(values.size()));
}

// min 1/2 ||x - (3, 4)||^2  s.t.  x_1 + 2 x_2 <= 1. The plane is 10 / sqrt(5) away:
// y = (11 - 1) / 5 = 2, x = (3, 4) - 2 (1, 2) = (1, 0).
inline ToyProblem ActivePlane() {
  return {.name = "active",
          .q = MatrixXd::Identity(2, 2),
          .c = Vec({3, 4}),
          .a = (MatrixXd(1, 2) << 1, 2).finished(),
          .quadratic = Vec({0}),
          .b = Vec({1}),
          .x = Vec({1, 0}),
          .y = Vec({2})};
}

// The same with x_1 + 2 x_2 <= 20: the unconstrained minimum (3, 4) is feasible.
inline ToyProblem InactivePlane() {
  ToyProblem toy = ActivePlane();
  toy.name = "inactive";
  toy.b = Vec({20});
  toy.x = Vec({3, 4});
  toy.y = Vec({0});
  return toy;
}

// min 1/2 ||x - (3, 5, 1)||^2  s.t.  x_1 <= 1, x_2 <= 2, x_3 <= 10: x = (1, 2, 1), y = (2, 3, 0).
inline ToyProblem SeveralActive() {
  return {.name = "several_active",
          .q = MatrixXd::Identity(3, 3),
          .c = Vec({3, 5, 1}),
          .a = MatrixXd::Identity(3, 3),
          .quadratic = VectorXd::Zero(3),
          .b = Vec({1, 2, 10}),
          .x = Vec({1, 2, 1}),
          .y = Vec({2, 3, 0})};
}

// x_1 + 2 x_2 <= 11 passes through the unconstrained minimum (3, 4): active, with multiplier 0.
inline ToyProblem WeaklyActive() {
  ToyProblem toy = ActivePlane();
  toy.name = "weakly_active";
  toy.b = Vec({11});
  toy.x = Vec({3, 4});
  toy.y = Vec({0});
  return toy;
}

// The active plane twice: any y >= 0 with y_1 + y_2 = 2 is a multiplier.
inline ToyProblem RepeatedPlane() {
  ToyProblem toy = ActivePlane();
  toy.name = "degenerate";
  toy.a = (MatrixXd(2, 2) << 1, 2, 1, 2).finished();
  toy.quadratic = VectorXd::Zero(2);
  toy.b = Vec({1, 1});
  toy.y = Vec({std::nan(""), std::nan("")});
  return toy;
}

// min -x_1 - x_2  s.t.  1/2 ||x||^2 <= 1/2: f is not strongly convex. x = (1, 1) / sqrt(2),
// y = sqrt(2).
inline ToyProblem LinearOnBall() {
  return {.name = "linear_on_ball",
          .q = MatrixXd::Zero(2, 2),
          .c = Vec({1, 1}),
          .a = MatrixXd::Zero(1, 2),
          .quadratic = Vec({1}),
          .b = Vec({0.5}),
          .x = Vec({0.5 * std::numbers::sqrt2, 0.5 * std::numbers::sqrt2}),
          .y = Vec({std::numbers::sqrt2})};
}

}  // namespace bregboost::testing
