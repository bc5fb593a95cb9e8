#include "bregboost/pipeline/fit.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <stdexcept>

#include "bregboost/calibrate/gathered_problem.h"
#include "bregboost/learners/lightgbm_dataset.h"
#include "bregboost/learners/xgboost_dataset.h"
#include "detail/option_checks.h"
#include "detail/thread_scope.h"
#include "learners/detail/lightgbm_api.h"
#include "learners/detail/xgboost_api.h"
#include "pipeline/detail/fit_certificate.h"
#include "pipeline/detail/fit_identity.h"
#include "pipeline/detail/fit_learners.h"
#include "pipeline/detail/fit_split.h"
#include "pipeline/detail/row_outcomes.h"

namespace bregboost {
namespace {

const RowData* RowsOf(const auto& own) { return own ? &own->rows : nullptr; }

// Of all workers.
std::size_t CountRows(const RowData& rows) {
  return static_cast<std::size_t>(rows.SumOverWorkers(static_cast<double>(rows.num_rows())));
}

template <class Dataset>
std::size_t NumRows(const Dataset& features) {
  return features.num_rows();
}
std::size_t NumRows(const FeatureMatrix& features) { return features.rows(); }

template <class Features>
void CheckFeatures(const FitRows<Features>& part, const char* whose) {
  if (NumRows(part.features) == part.rows.num_rows()) return;
  throw std::invalid_argument(
      fmt::format("features of the {} rows: {} rows; allowed: as many as labels or targets, {}",
                  whose, NumRows(part.features), part.rows.num_rows()));
}

const FitOptions& Checked(const FitOptions& options) {
  Validate(options);
  return options;
}

}  // namespace

// Everything that the learner refers to, in the order in which it is made.
class AutoFit::State {
 public:
  template <class Features>
  State(const FitData<Features>& data, const std::vector<Constraint>& constraints,
        const FitOptions& fit_options)
      : options(Checked(fit_options)),
        split(data.training.rows, RowsOf(data.evaluation), RowsOf(data.certification), constraints,
              options),
        certificate(split, data.training.rows, options) {
    CheckFeatures(data.training, "training");
    if (data.evaluation) CheckFeatures(*data.evaluation, "evaluation");
    if (data.certification) CheckFeatures(*data.certification, "certification");
    const RowData& rows = split.all().rows;
    report.constraints = constraints;
    report.objective = ToText(split.objective().expression);
    report.maximise = split.objective().maximise;
    report.classes = rows.labels.levels;
    if (rows.task() == Task::kBinary) {
      report.positive_class = report.classes[static_cast<std::size_t>(rows.positive_class)];
    }
    report.validation = split.validation();
    report.unseen.path = ChoosePath(split.all().problem, options.solver.path);
    report.training_rows = CountRows(split.training().rows);
    report.unseen_rows = CountRows(split.unseen().rows);
    report.certification_rows = CountRows(split.reserved_rows());
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void Run(const SolveHooks& hooks, const ScoreObserver& observer) {
    report.num_models = made.num_models;
    AutoOptions how = options.solver;
    how.seed = options.seed;
    how.training.deploys_mean = options.deploy == Deploy::kFoldMean;
    RateProblem& unseen = split.unseen().problem;
    SolveHooks watched = hooks;
    watched.on_iteration = [&](const IterationStats& stats) {
      if (observer) observer(made.learner->scores(), unseen);
      return !hooks.on_iteration || hooks.on_iteration(stats);
    };
    CrossFitLearner& learner = checkpointed ? *checkpointed : *made.learner;
    report.unseen = SolveAuto(learner, unseen, split.training().problem, how, watched);
    report.objective_value = report.unseen.objective;
    report.measurements = report.unseen.measurements;
    report.total_violation = report.unseen.total_violation;
    if (report.unseen.calibration) report.adjustment = report.unseen.calibration->adjustment;
    report.warnings.insert(report.warnings.end(), report.unseen.notes.begin(),
                           report.unseen.notes.end());
    for (const Measurement& measured : report.unseen.measurements) {
      if (!std::isfinite(measured.violation)) {
        report.warnings.push_back(fmt::format(
            "'{}' is undefined on unseen rows, which never counts as held", measured.text));
      }
    }
  }

  // `scores` of the reserved rows are the deployed model's.
  void Certify(std::span<const double> scores) {
    certificate.Run(*made.learner, scores, report);
    report.rates = RatesOf(SumsOf(report.adjustment));
    if (report.unseen.path != TrainingPath::kCalibration) return;
    const std::vector<double> sums =
        SumsOf({.temperature = report.adjustment.temperature, .offsets = {}});
    const RateProblem& unseen = split.unseen().problem;
    report.unlimited = {.objective = unseen.ObjectiveValue(sums),
                        .measurements = unseen.Measure(sums),
                        .rates = RatesOf(sums)};
  }

  std::vector<double> SumsOf(const ModelAdjustment& adjustment) {
    const RateProblem& unseen = split.unseen().problem;
    return unseen.rates().ExactSums(
        detail::AdjustedScores(made.learner->scores(), unseen.rows().num_rows(), adjustment));
  }

  std::vector<std::vector<RateOnRows>> RatesOf(std::span<const double> sums) const {
    const RateProblem& unseen = split.unseen().problem;
    return FindRateIntervals(unseen.compiled(), unseen.num_constraints(), unseen.rows(), sums);
  }

  FitOptions options;
  detail::FitSplit split;
  detail::FitCertificate certificate;
  detail::FitLearner made;
  std::unique_ptr<CrossFitLearner> checkpointed;  // `made`, if it has checkpoints
  FitReport report;
  // For what is asked later: the threads that the fit ran on.
  int num_threads = 0;
  detail::ParallelRegion* region = nullptr;
};

namespace {

void CheckCheckpoints(const CheckpointOptions& checkpoint, const RowData& rows) {
  if (checkpoint.directory.empty() || rows.workers == nullptr) return;
  throw std::invalid_argument("checkpoint_dir: set; allowed on a cluster: none");
}

template <class Dataset>
std::unique_ptr<AutoFit::State> FitBoosted(const FitData<Dataset>& data,
                                           const std::vector<Constraint>& constraints,
                                           BoostedOptions boosting, const FitOptions& options,
                                           const SolveHooks& hooks, const ScoreObserver& observer) {
  CheckCheckpoints(options.checkpoint, data.training.rows);
  const int num_threads = detail::ThreadsOf(data, boosting);
  detail::ParallelRegion* region = data.training.features.api()->Region();
  const detail::ThreadScope threads(num_threads, region);
  auto state = std::make_unique<AutoFit::State>(data, constraints, options);
  state->num_threads = num_threads;
  state->region = region;
  if (state->report.unseen.path == TrainingPath::kConstrained) {
    // Limits raise the loss on purpose; iterates are chosen by their merit.
    boosting = detail::WithoutEarlyStopping(data, std::move(boosting));
  }
  state->made = detail::MakeLearner(data, state->split, boosting, options);
  if (!options.checkpoint.directory.empty()) {
    state->checkpointed =
        WithCheckpoints(*state->made.learner, options.checkpoint,
                        detail::IdentityOf({.training = data.training.rows,
                                            .evaluation = RowsOf(data.evaluation),
                                            .certification = RowsOf(data.certification),
                                            .constraints = constraints,
                                            .library = detail::LibraryOf(data.training.features),
                                            .boosting = boosting,
                                            .checkpoint = options.checkpoint,
                                            .settings = detail::SettingsText(options)}));
  }
  state->Run(hooks, observer);
  if (state->split.holds_out() || options.deploy == Deploy::kFoldMean) {
    state->Certify(state->made.learner->ReservedScores());
    return state;
  }
  state->report.deploy = Deploy::kRefit;
  state->report.num_models = 1;
  // The folds have settled the number of rounds.
  boosting = detail::WithoutEarlyStopping(data, std::move(boosting));
  if (state->report.unseen.path == TrainingPath::kCalibration) boosting.rounds_per_step = 1;
  detail::Refitted refitted = detail::Refit(data, state->split, boosting, state->report.unseen);
  state->made.write_model = std::move(refitted.write_model);
  state->Certify(refitted.reserved_scores);
  return state;
}

}  // namespace

std::string_view Name(Validation validation) {
  switch (validation) {
    case Validation::kByCells:
      return "by_cells";
    case Validation::kFolds:
      return "folds";
    case Validation::kHoldOut:
      return "hold_out";
    case Validation::kOwnRows:
      return "own_rows";
  }
  return "";
}

std::string_view Name(Deploy deploy) {
  switch (deploy) {
    case Deploy::kFoldMean:
      return "fold_mean";
    case Deploy::kRefit:
      return "refit";
  }
  return "";
}

void Validate(const FitOptions& options) {
  const auto require = [](const char* field, double value, bool allowed, const char* what) {
    if (allowed) return;
    throw std::invalid_argument(fmt::format("{}: {}; allowed: {}", field, value, what));
  };
  require("hold_out_share", options.hold_out_share,
          options.hold_out_share > 0.0 && options.hold_out_share < 1.0, "above 0 and below 1");
  require("certify", options.certify, options.certify >= 0.0 && options.certify < 1.0,
          "at least 0 and below 1");
  detail::RequireAtLeast<std::size_t>("num_folds", options.num_folds, 2);
  Validate(options.certification);
  Validate(options.checkpoint);
  Validate(options.loss);
}

AutoFit::AutoFit(std::unique_ptr<State> state) : state_(std::move(state)) {}
AutoFit::~AutoFit() = default;
AutoFit::AutoFit(AutoFit&&) noexcept = default;
AutoFit& AutoFit::operator=(AutoFit&&) noexcept = default;

AutoFit AutoFit::LightGbm(const FitData<LightGbmDataset>& data,
                          const std::vector<Constraint>& constraints,
                          const BoostedOptions& boosting, const FitOptions& options,
                          const SolveHooks& hooks, const ScoreObserver& observer) {
  return AutoFit(FitBoosted(data, constraints, boosting, options, hooks, observer));
}

AutoFit AutoFit::Xgboost(const FitData<XgboostDataset>& data,
                         const std::vector<Constraint>& constraints, const BoostedOptions& boosting,
                         const FitOptions& options, const SolveHooks& hooks,
                         const ScoreObserver& observer) {
  return AutoFit(FitBoosted(data, constraints, boosting, options, hooks, observer));
}

AutoFit AutoFit::Linear(const FitData<FeatureMatrix>& data,
                        const std::vector<Constraint>& constraints, const LinearOptions& linear,
                        const FitOptions& options, const SolveHooks& hooks,
                        const ScoreObserver& observer) {
  if (options.deploy == Deploy::kRefit) {
    throw std::invalid_argument(
        "deploy: refit; allowed for linear models, whose mean is no larger than one of them: "
        "fold_mean");
  }
  detail::RefuseCheckpoints(options.checkpoint);
  auto state = std::make_unique<State>(data, constraints, options);
  state->made = detail::MakeLearner(data, state->split, linear, options);
  state->Run(hooks, observer);
  state->Certify(state->made.learner->ReservedScores());
  return AutoFit(std::move(state));
}

const FitReport& AutoFit::report() const { return state_->report; }

std::string AutoFit::Model() const { return Model(state_->report.adjustment); }

std::string AutoFit::Model(const ModelAdjustment& adjustment) const {
  if (!state_->made.write_model) {
    throw std::invalid_argument("model: of a linear fit; allowed: its coefficients");
  }
  const detail::ThreadScope threads(state_->num_threads, state_->region);
  return state_->made.write_model(adjustment);
}

LinearModel AutoFit::Coefficients() const { return Coefficients(state_->report.adjustment); }

LinearModel AutoFit::Coefficients(const ModelAdjustment& adjustment) const {
  if (!state_->made.write_linear) {
    throw std::invalid_argument("coefficients: of a boosted fit; allowed: its model");
  }
  return state_->made.write_linear(adjustment);
}

std::span<const double> AutoFit::UnseenScores() const { return state_->made.learner->scores(); }
const RowData& AutoFit::unseen_rows() const { return state_->split.unseen().rows; }

Calibration AutoFit::Recalibrate(const std::vector<Constraint>& constraints,
                                 std::optional<double> rho) const {
  const detail::ThreadScope threads(state_->num_threads, state_->region);
  const RateProblem problem(constraints, state_->split.objective(), unseen_rows(),
                            state_->split.loss());
  const GatheredProblem gathered(UnseenScores(), problem);
  return Calibrate(gathered.scores(), gathered.problem(),
                   {.rho = rho, .seed = state_->options.seed});
}

Reachability AutoFit::Diagnose() const {
  const detail::ThreadScope threads(state_->num_threads, state_->region);
  const RateProblem problem(state_->split.constraints(), state_->split.objective(), unseen_rows(),
                            state_->split.loss());
  const GatheredProblem gathered(UnseenScores(), problem);
  const Calibrator calibrator(gathered.scores(), gathered.rows());
  return FindReachability(calibrator, gathered.problem(), {.seed = state_->options.seed});
}

}  // namespace bregboost
