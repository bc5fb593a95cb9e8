// Gradient boosting by a stock library, LightGBM or XGBoost, as a ProximalLearner. W is the score
// matrix of the trees, so D_W(x, x') = 1/(2M) sum_i m_i ||F_i - F'_i||^2.
//
// There is one growing booster. A step adds `rounds_per_step` rounds to it, each a Newton step of
// the library's own tree growing on psi's derivatives; nothing is rebuilt. Without constraints and
// anchor there is no proximal term, and the rounds are the stock library's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bregboost/learners/boosted_options.h"
#include "bregboost/model/model_adjustment.h"
#include "bregboost/problem/cells.h"
#include "bregboost/problem/objective.h"
#include "bregboost/solve/proximal_learner.h"

namespace bregboost {

class LightGbmDataset;
class XgboostDataset;

// Rows that are scored in every round and never trained on.
template <class Dataset>
struct HeldOut {
  Dataset dataset;
  const Objective* objective = nullptr;  // of its rows; outlives the learner; null: scores only
};

class BoostedLearner final : public ProximalLearner {
 public:
  // `train` and the rows of `objective` are the same rows in the same order. Both outlive the
  // learner. Throws LibraryError, or std::invalid_argument for a parameter that cannot be honoured.
  static std::unique_ptr<BoostedLearner> LightGbm(
      const LightGbmDataset& train, const Objective& objective, const BoostedOptions& options,
      std::span<const HeldOut<LightGbmDataset>> held_out = {});
  static std::unique_ptr<BoostedLearner> Xgboost(
      const XgboostDataset& train, const Objective& objective, const BoostedOptions& options,
      std::span<const HeldOut<XgboostDataset>> held_out = {});

  ~BoostedLearner() override;

  std::span<const double> scores() const override;
  double objective() const override;
  LearnerValues Evaluate(const ConstraintSet& constraints) const override;

  // A round that finds no split leaves the model as it is and says so in StepOutcome::stalled (with
  // bagging or feature sampling after ten such draws). The residual is a proxy: what the last
  // tree's leaf values say about the gradient that they answered.
  StepOutcome Step(const ProximalStep& step) override;

  // The cost-sensitive form of a step: row i of cell a minimises the sum over classes k of
  // costs[a * K + k] times its cross-entropy towards k, plus D_W(x, x_k) / tau. Costs are at least
  // 0; two classes have K = 2. `cells` are those of constraints bound to the training rows. How far
  // it went is not measured.
  StepOutcome StepOnCosts(const CellTable& cells, std::span<const double> costs, double tau);

  void SetAnchor() override;
  double AnchorDistance() const override;
  void AccumulateAverage(double weight) override;
  void ResetAverage() override;
  void UseAverage() override;
  void ReturnToBest() override;
  std::unique_ptr<ModelState> Save() const override;
  // Goes back only: rounds that were taken back are gone.
  void Restore(const ModelState& state) override;

  // The gradient averaged over the leaves of the last step's trees, which is a lower bound: other
  // trees may tell rows apart that these do not. Before the first step, the whole gradient.
  double StationarityResidual(const ConstraintSet& constraints, std::span<const double> multipliers,
                              double objective_weight) const override;
  double ScoreSensitivity() const override { return 1.0; }
  double StrongConvexity() const override { return 0.0; }

  bool has_segments() const override { return true; }
  void EndSegment(std::span<ModelState* const> kept, detail::ByteWriter& out) override;
  std::vector<std::unique_ptr<ModelState>> TakeUp(detail::ByteReader& in) override;

  std::int64_t num_rounds() const;
  // The number of rounds that the parameters ask for (100 if they do not say).
  std::int64_t requested_rounds() const;
  bool stops_early() const;  // where held-out loss has not fallen for some rounds
  std::int64_t rounds_per_step() const override;
  void SetRoundsPerStep(std::int64_t rounds);  // of the steps to come; >= 1

  std::size_t num_held_out() const;
  std::span<const double> HeldOutScores(std::size_t set) const;  // class-major
  // `constraints` are bound to the held-out rows, which have an objective.
  LearnerValues EvaluateHeldOut(std::size_t set, const ConstraintSet& constraints) const;

  // The model as a file of the stock library: text for LightGBM, UBJSON for XGBoost.
  std::string Model(const ModelAdjustment& adjustment = {}) const;
  // The mean of several learners' scores as one model of one library, with the trees of all.
  static std::string MeanModel(std::span<const BoostedLearner* const> learners,
                               const ModelAdjustment& adjustment = {});

 private:
  class Impl;
  friend class LockstepLearner;  // which takes steps of several learners round by round
  explicit BoostedLearner(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace bregboost
