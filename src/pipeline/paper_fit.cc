#include "bregboost/pipeline/paper_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "bregboost/learners/boosted.h"
#include "bregboost/learners/lightgbm_dataset.h"
#include "bregboost/learners/xgboost_dataset.h"
#include "bregboost/problem/objective.h"
#include "bregboost/problem/rate_constraints.h"
#include "detail/option_checks.h"
#include "detail/stop_watch.h"
#include "detail/thread_scope.h"
#include "learners/detail/journal_reader.h"
#include "learners/detail/lightgbm_api.h"
#include "learners/detail/xgboost_api.h"
#include "pipeline/detail/fit_defaults.h"
#include "pipeline/detail/fit_identity.h"
#include "pipeline/detail/fit_learners.h"

namespace bregboost {
namespace {

void CheckNoAverage(const PaperOptions& options) {
  if (!options.use_average) return;
  throw std::invalid_argument("use_average: true; allowed with the solver cbpr: false");
}

}  // namespace

std::string_view Name(PaperSolver solver) {
  switch (solver) {
    case PaperSolver::kAbpp:
      return "abpp";
    case PaperSolver::kCbpr:
      return "cbpr";
  }
  return "";
}

AbppOptions AbppOfSteps(const PaperOptions& options, std::int64_t steps) {
  AbppOptions abpp;
  abpp.primal_step = options.primal_step;
  abpp.dual_step = options.dual_step;
  abpp.use_average = options.use_average;
  abpp.termination.max_iterations = steps;
  abpp.termination.stationarity_tolerance = 0.0;
  return abpp;
}

CbprOptions CbprOfSteps(const PaperOptions& options, std::int64_t steps) {
  CheckNoAverage(options);
  detail::RequireAtLeast<std::int64_t>("inner_steps", options.inner_steps, 1);
  CbprOptions cbpr;
  cbpr.form = options.form;
  cbpr.max_outer_iterations = std::max<std::int64_t>(1, steps / options.inner_steps);
  cbpr.subproblem = AbppOfSteps(options, options.inner_steps);
  cbpr.feasibility.max_outer_iterations = cbpr.max_outer_iterations;
  cbpr.feasibility.subproblem.termination.max_iterations = steps;
  return cbpr;
}

// Everything that the learner refers to, in the order in which it is made.
class PaperFit::State {
 public:
  State(const RowData& training, const RowData* evaluation,
        const std::vector<Constraint>& constraint_list, const PaperOptions& paper)
      : options(paper),
        rows(training),
        loss({.loss = detail::LossOf(paper.loss, training.task())}),
        objective(rows, loss),
        constraints(constraint_list, rows, paper.surrogate, loss.loss) {
    report.solver = options.solver;
    report.training_rows = rows.num_rows();
    if (evaluation == nullptr) return;
    evaluation_rows = RecodeLike(*evaluation, rows);
    evaluation_objective.emplace(evaluation_rows, loss);
    report.evaluation_rows = evaluation_rows.num_rows();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void Solve(const AbppOptions& abpp, const std::optional<CbprOptions>& cbpr,
             const SolveHooks& hooks) {
    detail::StopWatch clock;
    SolveHooks watched = hooks;
    watched.on_iteration = [&](const IterationStats& stats) {
      report.history.push_back(stats);
      return !hooks.on_iteration || hooks.on_iteration(stats);
    };
    ProximalLearner& solved = checkpointed ? *checkpointed : *learner;
    if (cbpr) {
      CbprResult result = SolveCbpr(solved, constraints, *cbpr, watched);
      report.reason = result.reason;
      report.detail = std::move(result.detail);
      report.multipliers = std::move(result.multipliers);
    } else {
      AbppResult result = SolveAbpp(solved, constraints, abpp, watched);
      report.reason = result.reason;
      report.detail = std::move(result.detail);
      report.multipliers = std::move(result.multipliers);
    }
    detail::RequireTakenUp(solved);
    report.seconds = clock.Lap();
    report.loss = learner->objective();
    report.measurements = constraints.Measure(learner->scores());
    report.rates = FindRateIntervals(constraints.compiled(), report.measurements.size(), rows,
                                     constraints.ExactSums(learner->scores()));
    for (const Measurement& constraint : report.measurements) {
      report.total_violation += constraint.violation;
    }
  }

  PaperOptions options;
  const RowData& rows;
  RowData evaluation_rows;
  ObjectiveOptions loss;
  Objective objective;
  std::optional<Objective> evaluation_objective;
  RateConstraints constraints;
  std::unique_ptr<ProximalLearner> learner;
  std::unique_ptr<ProximalLearner> checkpointed;  // the learner, if it has checkpoints
  const BoostedLearner* boosted = nullptr;        // the learner, if it is one
  const LinearLearner* linear = nullptr;
  PaperReport report;
};

namespace {

template <class Dataset, class Make>
std::unique_ptr<PaperFit::State> Boost(const FitData<Dataset>& data,
                                       const std::vector<Constraint>& constraints,
                                       const BoostedOptions& boosting, const PaperOptions& options,
                                       const SolveHooks& hooks, const Make& make) {
  const detail::ThreadScope threads(detail::ThreadsOf(data, boosting),
                                    data.training.features.api()->Region());
  auto state = std::make_unique<PaperFit::State>(
      data.training.rows, data.evaluation ? &data.evaluation->rows : nullptr, constraints, options);
  std::vector<HeldOut<Dataset>> held_out;
  if (data.evaluation) {
    held_out.push_back(
        {.dataset = data.evaluation->features, .objective = &*state->evaluation_objective});
  }
  std::unique_ptr<BoostedLearner> learner =
      make(data.training.features, state->objective, boosting, held_out);
  const std::int64_t steps =
      (learner->requested_rounds() + boosting.rounds_per_step - 1) / boosting.rounds_per_step;
  state->boosted = learner.get();
  state->learner = std::move(learner);
  Validate(options.checkpoint);
  if (!options.checkpoint.directory.empty()) {
    state->checkpointed = WithCheckpoints(
        *state->learner, options.checkpoint,
        detail::IdentityOf({.training = data.training.rows,
                            .evaluation = data.evaluation ? &data.evaluation->rows : nullptr,
                            .constraints = constraints,
                            .library = detail::LibraryOf(data.training.features),
                            .boosting = boosting,
                            .checkpoint = options.checkpoint,
                            .settings = detail::SettingsText(options)}));
  }
  std::optional<CbprOptions> cbpr;
  if (options.solver == PaperSolver::kCbpr) cbpr = CbprOfSteps(options, steps);
  state->Solve(AbppOfSteps(options, steps), cbpr, hooks);
  return state;
}

}  // namespace

PaperFit::PaperFit(std::unique_ptr<State> state) : state_(std::move(state)) {}
PaperFit::~PaperFit() = default;
PaperFit::PaperFit(PaperFit&&) noexcept = default;
PaperFit& PaperFit::operator=(PaperFit&&) noexcept = default;

PaperFit PaperFit::LightGbm(const FitData<LightGbmDataset>& data,
                            const std::vector<Constraint>& constraints,
                            const BoostedOptions& boosting, const PaperOptions& options,
                            const SolveHooks& hooks) {
  return PaperFit(Boost(data, constraints, boosting, options, hooks, &BoostedLearner::LightGbm));
}

PaperFit PaperFit::Xgboost(const FitData<XgboostDataset>& data,
                           const std::vector<Constraint>& constraints,
                           const BoostedOptions& boosting, const PaperOptions& options,
                           const SolveHooks& hooks) {
  return PaperFit(Boost(data, constraints, boosting, options, hooks, &BoostedLearner::Xgboost));
}

PaperFit PaperFit::Linear(const FitData<FeatureMatrix>& data,
                          const std::vector<Constraint>& constraints, const LinearOptions& linear,
                          const PaperOptions& options, const SolveHooks& hooks) {
  detail::RefuseCheckpoints(options.checkpoint);
  auto state =
      std::make_unique<State>(data.training.rows, /*evaluation=*/nullptr, constraints, options);
  auto learner = std::make_unique<LinearLearner>(data.training.features, state->objective, linear);
  state->linear = learner.get();
  state->learner = std::move(learner);
  AbppOptions abpp;
  abpp.primal_step = options.primal_step;
  abpp.dual_step = options.dual_step;
  abpp.use_average = options.use_average;
  std::optional<CbprOptions> cbpr;
  if (options.solver == PaperSolver::kCbpr) {
    CheckNoAverage(options);
    cbpr.emplace();
    cbpr->form = options.form;
    cbpr->subproblem = abpp;
  }
  state->Solve(abpp, cbpr, hooks);
  return PaperFit(std::move(state));
}

const PaperReport& PaperFit::report() const { return state_->report; }
std::span<const double> PaperFit::TrainingScores() const { return state_->learner->scores(); }

std::string PaperFit::Model(const ModelAdjustment& adjustment) const {
  if (state_->boosted == nullptr) {
    throw std::invalid_argument("model: of a linear fit; allowed: its coefficients");
  }
  return state_->boosted->Model(adjustment);
}

LinearModel PaperFit::Coefficients(const ModelAdjustment& adjustment) const {
  if (state_->linear == nullptr) {
    throw std::invalid_argument("coefficients: of a boosted fit; allowed: its model");
  }
  return Adjusted(
      {.coefficients = state_->linear->coefficients(), .intercept = state_->linear->intercept()},
      adjustment);
}

}  // namespace bregboost
