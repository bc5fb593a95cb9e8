// What a solver needs of constraints g_j(F) <= 0, j = 1..m. They see the model through its scores
// only, so they fit any learner. Scores are class-major: score k of row i is scores[k * n + i].
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace bregboost {

struct ConstraintValues {
  std::vector<double> surrogate;  // g_j with smooth events: what gradients see
  std::vector<double> exact;      // g_j with 0-1 events; NaN for rows of an undefined constraint
  // Largest violation with 0-1 events over the constraints as the user wrote them, in their unit;
  // infinite where a rate is undefined, so that undefined never counts as satisfied.
  double worst_exact_violation = 0.0;
  // Of every constraint as written, 0-1 events, user's unit; empty where only g is known.
  std::vector<double> measured = {};
};

class ConstraintSet {
 public:
  virtual ~ConstraintSet() = default;

  virtual std::size_t size() const = 0;

  virtual ConstraintValues Evaluate(std::span<const double> scores) const = 0;

  // Adds d<y, g>/dF to `gradient` and, unless it is empty, a non-negative diagonal bound on the
  // second derivative to `hessian`. Returns <y, g>, surrogate.
  virtual double AddLagrangian(std::span<const double> scores, std::span<const double> multipliers,
                               std::span<double> gradient, std::span<double> hessian) const = 0;

  // The derivatives alone, for learners that never ask for the value.
  virtual void AddDerivatives(std::span<const double> scores, std::span<const double> multipliers,
                              std::span<double> gradient, std::span<double> hessian) const {
    AddLagrangian(scores, multipliers, gradient, hessian);
  }

  // True if every g_j is a convex function of the scores, so that ABPP's guarantees apply.
  virtual bool convex() const { return true; }

  // L_g with ||g(F) - g(F')|| <= L_g ||F - F'||, the score norm being that of
  // RowData::metric_weight: ||F||^2 = 1/M sum_i m_i ||F_i||^2. Infinite where there is no bound.
  virtual double LipschitzBound() const { return std::numeric_limits<double>::infinity(); }

  // The smallest L known for which every g_j + L/2 ||F||^2 is convex, in the same norm; 0 if
  // convex.
  virtual double WeakConvexityBound() const { return 0.0; }

  // A convex set that bounds this one from above and touches it at `scores` (the concave part is
  // replaced by its tangent), or nullptr where the set has no difference-of-convex form.
  virtual std::unique_ptr<ConstraintSet> Majorize(std::span<const double> /*scores*/) const {
    return nullptr;
  }

  // True where UpdateBounds() ever does something.
  virtual bool has_bound_schedule() const { return false; }

  // For surrogate bounds that follow a schedule: called with 0 when a solve starts, which restores
  // the first bounds, then before each iteration with the share of iterations done, and with 1 on
  // convergence. What it needs of the scores it has worked out by `read`. Returns true if values of
  // g have changed.
  using ScoreReading = std::function<std::vector<double>(std::span<const double> scores)>;
  using ScoreReader = std::function<std::vector<double>(const ScoreReading& reading)>;
  virtual bool UpdateBounds(double /*progress*/, const ScoreReader& /*read*/) { return false; }
  bool UpdateBounds(double progress, std::span<const double> scores) {
    return UpdateBounds(progress,
                        [scores](const ScoreReading& reading) { return reading(scores); });
  }
};

}  // namespace bregboost
