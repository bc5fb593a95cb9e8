// What a solver needs of a model: it owns x_k, picks W, and makes the proximal step.
//
// The life of a learner in a solve:
//   1. scores(), objective() describe x_0.
//   2. Each iteration calls Step() once; it moves x_k to x_{k+1}. A step may be taken back by
//      Save() before and Restore() after it.
//   3. AccumulateAverage() after a step adds x_{k+1} to the ergodic average; UseAverage() at the
//   end
//      makes the average the model.
//   4. CBPR calls SetAnchor() when an outer iteration starts: the anchor is x_t.
// Spans are valid until the next call that changes the model. A step that throws leaves x_k as it
// was.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bregboost/problem/constraint_set.h"
#include "bregboost/solve/step_sizes.h"

namespace bregboost {

namespace detail {
class ByteReader;
class ByteWriter;
}  // namespace detail

// psi(x) = objective_weight f(x) + <multipliers, g(x)> + D_W(x, x_k) / tau
//          + anchor_weight D_W(x, anchor)
struct ProximalStep {
  const ConstraintSet* constraints = nullptr;  // null: none
  std::span<const double> multipliers;
  double objective_weight = 1.0;
  double tau = 1.0;
  double anchor_weight = 0.0;
  // psi is at least this strongly convex relative to D_W; not at all if it is not positive. None
  // stands for 1 / tau + anchor_weight, which holds wherever f and <multipliers, g> are convex.
  std::optional<double> modulus = std::nullopt;
  SubproblemAccuracy accuracy;
  // False where nobody asks how far the step went, which costs boosting a pass over the rows: then
  // distance and residual of its outcome may be NaN.
  bool measured = true;
};

struct StepOutcome {
  double distance = 0.0;         // D_W(x_{k+1}, x_k); NaN where it was not measured
  double suboptimality = 0.0;    // a bound on psi(x_{k+1}) - min psi; NaN where none is known
  double residual = 0.0;         // norm of psi's smallest subgradient there; NaN where unknown
  std::int64_t evaluations = 0;  // of psi's derivatives, or boosting rounds
  std::string stalled = {};  // why x_k could not be left (no tree finds a split); empty if it was
  std::string stopped = {};  // why the learner wants no further step (held-out loss); empty if not
};

// f and g at the learner's scores.
struct LearnerValues {
  double objective = 0.0;
  ConstraintValues constraints;
};

// Opaque to solvers.
class ModelState {
 public:
  virtual ~ModelState() = default;
};

class ProximalLearner {
 public:
  virtual ~ProximalLearner() = default;

  virtual std::span<const double> scores() const = 0;  // F(x_k), class-major
  virtual double objective() const = 0;                // f(x_k)

  // Both at once, which a learner may do in one pass over the rows.
  virtual LearnerValues Evaluate(const ConstraintSet& constraints) const {
    return {.objective = objective(), .constraints = constraints.Evaluate(scores())};
  }

  // Numbers that a solver works out from the scores. It comes by them here alone, so that a
  // training that is taken up again can give the numbers that it gave before.
  using ScoreReading = ConstraintSet::ScoreReading;
  virtual std::vector<double> Read(const ScoreReading& reading) const { return reading(scores()); }

  // g at the scores, by the constraints' own pass over the rows.
  ConstraintValues ReadValues(const ConstraintSet& constraints) const;

  // Between steps, where nothing that the solver holds comes from single scores: a moment for a
  // checkpoint.
  virtual void Pause() {}

  // x_{k+1} ~ argmin psi. Boosted trees: D_W = 1/2 ||F(x) - F(x_k)||^2 in the score norm adds
  // m_i (F_i - F_k,i) / (M tau) to row i's gradient and m_i / (M tau) to its hessian.
  virtual StepOutcome Step(const ProximalStep& step) = 0;

  // After a solve that ended because a step said `stopped`: back to the best point that the rule
  // saw. Nothing for learners that never stop.
  virtual void ReturnToBest() {}

  virtual void SetAnchor() = 0;
  virtual double AnchorDistance() const = 0;  // D_W(x_k, anchor)

  virtual void AccumulateAverage(double weight) = 0;
  virtual void ResetAverage() = 0;
  virtual void UseAverage() = 0;

  // A point to come back to; several may be kept. Restore() takes states of this learner only.
  virtual std::unique_ptr<ModelState> Save() const = 0;
  virtual void Restore(const ModelState& state) = 0;

  virtual std::int64_t rounds_per_step() const { return 1; }  // of boosting

  // A training with checkpoints is a chain of segments. At the end of one the learner writes all
  // that it takes to go on, then goes on from nothing else: a training that is taken up from those
  // bytes does what the one that wrote them does. `kept` are the states that may be restored yet.
  virtual bool has_segments() const { return false; }
  virtual void EndSegment(std::span<ModelState* const> kept, detail::ByteWriter& out);
  // Of a learner of the same data and options that was just made; returns the states that were
  // kept. Bytes that another learner wrote are std::runtime_error.
  virtual std::vector<std::unique_ptr<ModelState>> TakeUp(detail::ByteReader& in);

  // The norm, dual to W's, of the smallest element of
  //   objective_weight df + sum_j y_j dg_j + normal cone of X     at x_k.
  virtual double StationarityResidual(const ConstraintSet& constraints,
                                      std::span<const double> multipliers,
                                      double objective_weight) const = 0;

  // Lambda with ||F(x) - F(x')||^2 <= Lambda * 2 D_W(x, x') in the score norm of RowData: it
  // carries Lipschitz and smoothness bounds from scores to the model. 1 for boosted trees.
  virtual double ScoreSensitivity() const = 0;

  // The largest known mu for which f is mu-strongly convex relative to D_W; 0 if it is not.
  virtual double StrongConvexity() const = 0;
};

}  // namespace bregboost
