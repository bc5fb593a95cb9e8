// solver = "abpp" and "cbpr": the paper as written. Limits are on surrogate rates of the training
// rows, one model is trained on all of them, and nothing is calibrated or certified. For research
// and comparison; pipeline/fit.h is the one whose limits hold on unseen rows.
//
// Without constraints it is the stock library's own training.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bregboost/learners/boosted_options.h"
#include "bregboost/learners/linear.h"
#include "bregboost/learners/linear_model.h"
#include "bregboost/model/model_adjustment.h"
#include "bregboost/pipeline/fit.h"
#include "bregboost/problem/constraint.h"
#include "bregboost/problem/surrogate.h"
#include "bregboost/solve/cbpr.h"

namespace bregboost {

enum class PaperSolver { kAbpp, kCbpr };
std::string_view Name(PaperSolver solver);

struct PaperOptions {
  PaperSolver solver = PaperSolver::kAbpp;
  SurrogateOptions surrogate = {};
  LossOptions loss = {};  // a numeric target takes the square by default
  std::optional<double> primal_step, dual_step;
  bool use_average = false;  // return the average of the iterates; kAbpp only
  CbprForm form = CbprForm::kProximal;
  std::int64_t inner_steps = 20;  // kCbpr, boosting: steps of one sub-problem; >= 1
  // Of boosted learners; CBPR has them between sub-problems.
  CheckpointOptions checkpoint = {};
};

// What the solvers are asked for when `steps` of boosting are to be made: every round is used, as
// in the stock libraries, since trees always find some gradient to follow. CBPR's search for a
// feasible point takes rounds of its own.
AbppOptions AbppOfSteps(const PaperOptions& options, std::int64_t steps);
CbprOptions CbprOfSteps(const PaperOptions& options, std::int64_t steps);

struct PaperReport {
  PaperSolver solver = PaperSolver::kAbpp;
  TerminationReason reason = TerminationReason::kIterationLimit;
  std::string detail;
  double loss = 0.0;                           // the objective f, on the training rows
  std::vector<double> multipliers;             // one per limit
  std::vector<Measurement> measurements;       // of the training rows, 0-1 events
  std::vector<std::vector<RateOnRows>> rates;  // of `measurements`
  double total_violation = 0.0;
  std::vector<IterationStats> history;
  std::size_t training_rows = 0, evaluation_rows = 0;
  double seconds = 0.0;
};

class PaperFit {
 public:
  // `data.evaluation` rows are for early stopping alone; there are no certification rows. Throws
  // what the parts throw.
  static PaperFit LightGbm(const FitData<LightGbmDataset>& data,
                           const std::vector<Constraint>& constraints,
                           const BoostedOptions& boosting, const PaperOptions& options,
                           const SolveHooks& hooks = {});
  static PaperFit Xgboost(const FitData<XgboostDataset>& data,
                          const std::vector<Constraint>& constraints,
                          const BoostedOptions& boosting, const PaperOptions& options,
                          const SolveHooks& hooks = {});
  static PaperFit Linear(const FitData<FeatureMatrix>& data,
                         const std::vector<Constraint>& constraints, const LinearOptions& linear,
                         const PaperOptions& options, const SolveHooks& hooks = {});
  ~PaperFit();
  PaperFit(PaperFit&&) noexcept;
  PaperFit& operator=(PaperFit&&) noexcept;

  const PaperReport& report() const;
  // As in AutoFit.
  std::string Model(const ModelAdjustment& adjustment = {}) const;
  LinearModel Coefficients(const ModelAdjustment& adjustment = {}) const;
  std::span<const double> TrainingScores() const;

  class State;

 private:
  explicit PaperFit(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace bregboost
