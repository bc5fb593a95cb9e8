#include "bregboost/pipeline/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <stdexcept>

#include "bregboost/data/folds.h"
#include "bregboost/learners/boosted.h"
#include "bregboost/learners/hold_out.h"
#include "bregboost/learners/lightgbm_dataset.h"
#include "bregboost/learners/lockstep.h"
#include "bregboost/learners/xgboost_dataset.h"
#include "bregboost/problem/constraint_error.h"
#include "certify/detail/certify_rows.h"
#include "detail/option_checks.h"
#include "detail/stop_watch.h"
#include "learners/detail/lightgbm_parameters.h"
#include "learners/detail/masked_xgboost.h"
#include "learners/detail/xgboost_parameters.h"
#include "pipeline/detail/fit_defaults.h"
#include "pipeline/detail/row_outcomes.h"

namespace bregboost {
namespace {

using Rows = std::vector<std::int32_t>;

Rows RowsWhere(std::span<const std::uint8_t> drawn, std::uint8_t wanted) {
  Rows rows;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    if (drawn[i] == wanted) rows.push_back(static_cast<std::int32_t>(i));
  }
  return rows;
}

// Rows of a table by their place in another that it was taken from.
Rows Through(const Rows& places, const Rows& chosen) {
  Rows rows;
  for (const std::int32_t row : chosen) rows.push_back(places[static_cast<std::size_t>(row)]);
  return rows;
}

// The cells that some limit's rates are made of.
std::vector<bool> ConstrainedCells(const RateProblem& problem) {
  const CompiledConstraints& compiled = problem.compiled();
  std::vector<bool> constrained(compiled.cells.cells.size(), false);
  for (std::size_t j = 0; j < problem.num_limits(); ++j) {
    using Matrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;
    for (Matrix::InnerIterator entry(compiled.matrix, static_cast<Eigen::Index>(j)); entry;
         ++entry) {
      constrained[static_cast<std::size_t>(entry.col()) / compiled.slots.size()] = true;
    }
  }
  return constrained;
}

Validation ChooseValidation(const RateProblem& problem, const FitOptions& options) {
  if (options.validation != Validation::kByCells) return options.validation;
  const std::vector<bool> constrained = ConstrainedCells(problem);
  const std::vector<Cell>& cells = problem.compiled().cells.cells;
  double smallest = static_cast<double>(problem.rows().num_rows());
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (constrained[c]) smallest = std::min(smallest, static_cast<double>(cells[c].rows));
  }
  return options.hold_out_share * smallest >= static_cast<double>(options.hold_out_rows)
             ? Validation::kHoldOut
             : Validation::kFolds;
}

}  // namespace

// Everything that the learner refers to, in the order in which it is made.
class AutoFit::State {
 public:
  State(const RowData& all_rows, const std::vector<Constraint>& all_constraints,
        const FitOptions& fit_options)
      : options(fit_options),
        constraints(all_constraints),
        objective(detail::ObjectiveOf(fit_options, all_rows.task())),
        loss(detail::LossOf(fit_options, all_rows.task())) {
    Validate(options);
    const RateProblem whole(constraints, objective, all_rows, loss);
    const std::vector<std::uint32_t>& strata = whole.compiled().cells.cell_of_row;
    const std::vector<std::uint8_t> drawn = DrawShare(strata, options.certify, options.seed);
    reserved_in_data = RowsWhere(drawn, 1);
    in_data = RowsWhere(drawn, 0);
    reserved_rows = TakeRows(all_rows, reserved_in_data);
    rows = TakeRows(all_rows, in_data);
    problem = std::make_unique<RateProblem>(constraints, objective, rows, loss);
    report.validation = ChooseValidation(*problem, options);
    report.unseen.path = ChoosePath(*problem, options.solver.path);
    CheckSubsets();
    PrepareCertificate(all_rows, whole);
    report.certification_rows = reserved_in_data.size();
    if (report.validation == Validation::kHoldOut) SplitHoldOut();
    for (const auto& part : {&rows, &training_rows, &unseen_rows}) {
      objectives.push_back(part->num_rows() == 0 ? nullptr
                                                 : std::make_unique<Objective>(
                                                       *part, ObjectiveOptions{.loss = loss}));
    }
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  bool holds_out() const { return report.validation == Validation::kHoldOut; }
  RateProblem& unseen() { return holds_out() ? *unseen_problem : *problem; }
  RateProblem& training() { return holds_out() ? *training_problem : *problem; }
  const Objective& all_objective() const { return *objectives[0]; }
  const Objective& training_objective() const { return *objectives[1]; }
  const Objective& unseen_objective() const { return *objectives[2]; }

  void Run(const SolveHooks& hooks, const ScoreObserver& observer) {
    report.unseen_rows = unseen().rows().num_rows();
    report.training_rows = training().rows().num_rows();
    AutoOptions how = options.solver;
    how.seed = options.seed;
    SolveHooks watched = hooks;
    watched.on_iteration = [&](const IterationStats& stats) {
      if (observer) observer(learner->scores(), unseen());
      return !hooks.on_iteration || hooks.on_iteration(stats);
    };
    report.unseen = SolveAuto(*learner, unseen(), training(), how, watched);
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

  // After the deployed model is known: `scores` are its scores of the reserved rows.
  void Certify(std::span<const double> scores) {
    if (constraints.empty()) return;
    detail::StopWatch clock;
    try {
      FindVerdicts(scores);
    } catch (const std::invalid_argument& error) {
      // Such as a loss out of its range: the model is there all the same.
      FindEstimates();
      report.warnings.push_back(fmt::format("nothing is certified: {}", error.what()));
    }
    report.certification_seconds = clock.Lap();
    report.warnings.insert(report.warnings.end(), report.certificate.warnings.begin(),
                           report.certificate.warnings.end());
  }

  FitOptions options;
  std::vector<Constraint> constraints;
  RateObjective objective;
  LossOptions loss;
  Rows in_data, reserved_in_data;         // rows of the data set
  Rows training_in_rows, unseen_in_rows;  // hold-out: rows of `rows`
  RowData rows, reserved_rows, training_rows, unseen_rows;
  std::unique_ptr<RateProblem> problem, training_problem, unseen_problem;
  std::vector<std::unique_ptr<Objective>> objectives;
  std::vector<LightGbmDataset> subsets;   // hold-out: training, unseen, reserved
  std::optional<FeatureMatrix> features;  // linear
  std::unique_ptr<CrossFitLearner> learner;
  std::function<std::string(const ModelAdjustment&)> write_model;
  std::function<LinearModel(const ModelAdjustment&)> write_linear;
  FitReport report;

 private:
  void FindVerdicts(std::span<const double> scores) {
    if (reserved_in_data.empty()) return FindEstimates();
    report.path = {
        {.caution = 0.0, .adjustment = report.adjustment, .objective = report.unseen.objective}};
    if (report.unseen.calibration) {
      const Calibrator calibrator(learner->scores(), unseen().rows());
      report.path = MakeCautiousPath(calibrator, unseen(), *report.unseen.calibration,
                                     {.rho = options.solver.rho, .seed = options.seed});
    }
    report.path = WithoutHopelessStart(std::move(report.path), options.certification.delta,
                                       RehearsalOnUnseenRows());
    report.tested = CertifyPath(
        report.path.size(),
        [&](std::size_t point) {
          return detail::OutcomesOf(scores, reserved_rows, report.path[point].adjustment, loss);
        },
        reserved_rows, constraints, options.certification);
    if (report.tested->deployed) {
      report.adjustment = report.path[*report.tested->deployed].adjustment;
      report.certificate = report.tested->certificate;
    } else {
      // The estimated decision is deployed; its own verdicts say what it lacks.
      CertifyOptions again = options.certification;
      again.log = nullptr;  // the same look at the rows
      report.certificate =
          bregboost::Certify(detail::OutcomesOf(scores, reserved_rows, report.adjustment, loss),
                             reserved_rows, constraints, again);
      for (const std::string& warning : report.tested->warnings) {
        report.certificate.warnings.push_back(warning);
      }
      Withdraw(report.certificate);
    }
  }

  void SplitHoldOut() {
    const std::vector<std::uint8_t> drawn =
        DrawShare(problem->compiled().cells.cell_of_row, options.hold_out_share, options.seed + 1);
    unseen_in_rows = RowsWhere(drawn, 1);
    training_in_rows = RowsWhere(drawn, 0);
    unseen_rows = TakeRows(rows, unseen_in_rows);
    training_rows = TakeRows(rows, training_in_rows);
    unseen_problem = std::make_unique<RateProblem>(constraints, objective, unseen_rows, loss);
    training_problem = std::make_unique<RateProblem>(constraints, objective, training_rows, loss);
  }

  void FindEstimates() {
    CertifyOptions estimate = options.certification;
    estimate.rows_are_separate = false;
    estimate.expected_groups.clear();
    estimate.row_digests.clear();
    report.certificate = bregboost::Certify(
        detail::OutcomesOf(learner->scores(), unseen().rows(), report.adjustment, loss),
        unseen().rows(), constraints, estimate);
    report.certificate.warnings.clear();  // they are about claims
  }

  // As many unseen rows as are set aside, drawn alike: what a point of the path would show there.
  std::function<bool(const CautiousDecision&, double)> RehearsalOnUnseenRows() {
    const RowData& all = unseen().rows();
    const double share = std::min(
        0.999, static_cast<double>(reserved_in_data.size()) / static_cast<double>(all.num_rows()));
    const Rows drawn =
        RowsWhere(DrawShare(unseen().compiled().cells.cell_of_row, share, options.seed + 3), 1);
    std::vector<double> scores;
    for (std::size_t k = 0; k < all.num_scores(); ++k) {
      for (const std::int32_t row : drawn) {
        scores.push_back(learner->scores()[k * all.num_rows() + static_cast<std::size_t>(row)]);
      }
    }
    return [this, scores = std::move(scores), stand_in = TakeRows(all, drawn)](
               const CautiousDecision& point, double delta) {
      CertifyOptions rehearsal = options.certification;
      rehearsal.delta = delta;
      rehearsal.log = nullptr;
      rehearsal.row_digests.clear();
      return detail::RowsPass(detail::OutcomesOf(scores, stand_in, point.adjustment, loss),
                              stand_in, constraints, rehearsal);
    };
  }

  // Folds train on the rest of the rows: a rate over a single row would be over none in one of
  // them.
  void CheckSubsets() const {
    if (report.validation != Validation::kFolds) return;
    const std::size_t slots = problem->compiled().slots.size();
    for (std::size_t c = 0; c < constraints.size(); ++c) {
      for (const MeasuredRate& rate : problem->compiled().constraints[c].rates) {
        std::size_t count = 0;
        const SparseRow& row = rate.denominator.entries.empty() ? rate.value : rate.denominator;
        for (const auto& [column, coefficient] : row.entries) {
          count += problem->compiled().cells.cells[column / slots].rows;
        }
        if (count != 1) continue;
        throw ConstraintError(ConstraintErrorCode::kEmptySubset,
                              fmt::format("one row to train on{}{}; allowed with folds: 2 or more",
                                          rate.group.empty() ? "" : " in ", rate.group),
                              ToText(constraints[c]));
      }
    }
  }

  // Everything about the certificate that can be wrong without a model is found before there is
  // one.
  void PrepareCertificate(const RowData& all_rows, const RateProblem& whole) {
    if (reserved_in_data.empty() || constraints.empty()) return;
    CertifyOptions& how = options.certification;
    if (!how.joint || !how.rows_are_separate) {
      throw std::invalid_argument(
          "certification: joint or rows_are_separate is false; allowed in a fit: true");
    }
    for (std::size_t c = 0; c < constraints.size(); ++c) {
      how.expected_groups.push_back(whole.compiled().constraints[c].rates.size());
    }
    // One number per row of the data, of which the certificate's rows are taken; by default the
    // row's place.
    std::vector<double> digests;
    const bool given = how.row_digests.size() == all_rows.num_rows();
    if (!how.row_digests.empty() && !given) {
      throw std::invalid_argument(
          fmt::format("certification.row_digests: {} values; allowed: none or one per row, {}",
                      how.row_digests.size(), all_rows.num_rows()));
    }
    for (const std::int32_t row : reserved_in_data) {
      const auto place = static_cast<std::size_t>(row);
      digests.push_back(given ? how.row_digests[place] : static_cast<double>(row));
    }
    how.row_digests = std::move(digests);
    Predictions nothing;
    if (all_rows.task() != Task::kRegression) nothing.classes.assign(reserved_rows.num_rows(), 0);
    nothing.losses.assign(reserved_rows.num_rows(), how.loss_range ? how.loss_range->low : 0.0);
    detail::CertifyRows(nothing, reserved_rows, constraints, how);  // throws, or is forgotten
  }

  // The path's first point did not pass, so nothing behind it may be called certified.
  static void Withdraw(Certificate& certificate) {
    certificate.all_certified = false;
    for (ConstraintVerdict& verdict : certificate.constraints) {
      if (verdict.verdict == Verdict::kCertified) verdict.verdict = Verdict::kNotCertified;
    }
    certificate.warnings.push_back(
        "the most cautious decision did not pass, so no other was tested: the estimated one is "
        "deployed, uncertified");
  }
};

namespace {

struct LightGbmParts {
  using Dataset = LightGbmDataset;
  static constexpr auto kLockstep = &LockstepLearner::LightGbm;
  static BoostedOptions WithoutEarlyStopping(BoostedOptions boosting) {
    boosting.parameters = detail::LightGbmWithoutEarlyStopping(boosting.parameters);
    boosting.early_stopping_rounds = 0;
    return boosting;
  }
};

struct XgboostParts {
  using Dataset = XgboostDataset;
  static constexpr auto kLockstep = &LockstepLearner::Xgboost;
  static BoostedOptions WithoutEarlyStopping(BoostedOptions boosting) {
    boosting.parameters = detail::XgboostWithoutEarlyStopping(boosting.parameters);
    boosting.early_stopping_rounds = 0;
    return boosting;
  }
};

template <class Parts>
void MakeFolds(AutoFit::State& state, const typename Parts::Dataset& data,
               const BoostedOptions& boosting) {
  LockstepOptions options{.boosting = boosting,
                          .num_folds = state.options.num_folds,
                          .seed = state.options.seed + 2,
                          .fold_of_row = {},
                          .rows = {},
                          .reserved_rows = state.reserved_in_data};
  if (!state.reserved_in_data.empty()) options.rows = state.in_data;
  auto lockstep = Parts::kLockstep(data, state.all_objective(), state.problem->rates(), options);
  state.report.num_models = lockstep->num_folds();
  state.write_model = [learner = lockstep.get()](const ModelAdjustment& adjustment) {
    return learner->Model(adjustment);
  };
  state.learner = std::move(lockstep);
}

template <class Learner>
void Keep(AutoFit::State& state, std::unique_ptr<Learner> learner) {
  state.report.num_models = 1;
  state.write_model = [model = learner.get()](const ModelAdjustment& adjustment) {
    return model->Model(adjustment);
  };
  state.learner = std::move(learner);
}

void MakeHoldOut(AutoFit::State& state, const LightGbmDataset& data,
                 const BoostedOptions& boosting) {
  const bool reserves = !state.reserved_in_data.empty();
  state.subsets.push_back(data.Subset(Through(state.in_data, state.training_in_rows)));
  state.subsets.push_back(data.Subset(Through(state.in_data, state.unseen_in_rows)));
  if (reserves) state.subsets.push_back(data.Subset(state.reserved_in_data));
  Keep(state, HoldOutLearner::LightGbm({.dataset = state.subsets[0],
                                        .objective = state.training_objective(),
                                        .constraints = state.training_problem->rates()},
                                       {.dataset = state.subsets[1],
                                        .objective = state.unseen_objective(),
                                        .constraints = state.unseen_problem->rates()},
                                       boosting, reserves ? &state.subsets[2] : nullptr));
}

void MakeHoldOut(AutoFit::State& state, const XgboostDataset& data,
                 const BoostedOptions& boosting) {
  Keep(state,
       std::make_unique<detail::MaskedHoldOut>(
           data,
           detail::MaskedHoldOut::Part{.objective = state.training_objective(),
                                       .constraints = state.training_problem->rates(),
                                       .in_data = Through(state.in_data, state.training_in_rows)},
           detail::MaskedHoldOut::Part{.objective = state.unseen_objective(),
                                       .constraints = state.unseen_problem->rates(),
                                       .in_data = Through(state.in_data, state.unseen_in_rows)},
           state.reserved_in_data, boosting));
}

// One model on other rows, by the steps that the fold models took.
void Replay(const RateTrainingResult& training, TrainingPath path, double tau,
            const RateConstraints& constraints, BoostedLearner& learner) {
  const auto after_step = [&](std::int64_t step) {
    if (training.averaged_from && step >= *training.averaged_from) learner.AccumulateAverage(1.0);
  };
  if (path == TrainingPath::kCalibration) {
    while (learner.num_rounds() < training.rounds_kept) {
      if (!learner.Step(ProximalStep{}).stalled.empty()) break;
    }
    return;
  }
  for (std::int64_t k = 0; k < training.steps_kept; ++k) {
    const auto step = static_cast<std::size_t>(k);
    if (step < training.step_costs.size()) {
      learner.StepOnCosts(constraints.compiled().cells, training.step_costs[step], tau);
    } else {
      ProximalStep on_losses;
      on_losses.constraints = &constraints;
      on_losses.multipliers = training.step_multipliers[step];
      on_losses.tau = tau;
      learner.Step(on_losses);
    }
    after_step(k + 1);
  }
  if (training.averaged_from) learner.UseAverage();
}

// The scores of the reserved rows.
std::vector<double> Refit(AutoFit::State& state, const LightGbmDataset& data,
                          const BoostedOptions& boosting) {
  const LightGbmDataset rows = state.reserved_in_data.empty() ? data : data.Subset(state.in_data);
  std::vector<HeldOut<LightGbmDataset>> reserved;
  // Scored only: nothing of the training may look at them.
  if (!state.reserved_in_data.empty()) {
    reserved.push_back({.dataset = data.Subset(state.reserved_in_data), .objective = nullptr});
  }
  auto learner = std::shared_ptr<BoostedLearner>(
      BoostedLearner::LightGbm(rows, state.all_objective(), boosting, reserved));
  Replay(state.report.unseen.training, state.report.unseen.path, state.options.solver.training.tau,
         state.problem->rates(), *learner);
  state.write_model = [learner](const ModelAdjustment& adjustment) {
    return learner->Model(adjustment);
  };
  if (reserved.empty()) return {};
  const std::span<const double> scores = learner->HeldOutScores(0);
  return {scores.begin(), scores.end()};
}

std::vector<double> Refit(AutoFit::State& state, const XgboostDataset& data,
                          const BoostedOptions& boosting) {
  auto masked = std::make_shared<detail::MaskedXgboost>(data, state.problem->rates(), state.in_data,
                                                        state.all_objective().options(), boosting);
  Replay(state.report.unseen.training, state.report.unseen.path, state.options.solver.training.tau,
         masked->constraints(), masked->learner());
  state.write_model = [masked](const ModelAdjustment& adjustment) {
    return masked->learner().Model(adjustment);
  };
  return masked->ScoresOf(state.reserved_in_data);
}

template <class Parts>
std::unique_ptr<AutoFit::State> FitBoosted(const typename Parts::Dataset& data, const RowData& rows,
                                           const std::vector<Constraint>& constraints,
                                           BoostedOptions boosting, const FitOptions& options,
                                           const SolveHooks& hooks, const ScoreObserver& observer) {
  auto state = std::make_unique<AutoFit::State>(rows, constraints, options);
  if (state->report.unseen.path == TrainingPath::kConstrained) {
    // Limits raise the loss on purpose; iterates are chosen by their merit.
    boosting = Parts::WithoutEarlyStopping(boosting);
  }
  if (state->holds_out()) {
    MakeHoldOut(*state, data, boosting);
  } else {
    MakeFolds<Parts>(*state, data, boosting);
  }
  state->Run(hooks, observer);
  if (state->holds_out() || options.deploy == Deploy::kFoldMean) {
    state->Certify(state->learner->ReservedScores());
    return state;
  }
  state->report.deploy = Deploy::kRefit;
  state->report.num_models = 1;
  // The folds have settled the number of rounds.
  boosting = Parts::WithoutEarlyStopping(boosting);
  if (state->report.unseen.path == TrainingPath::kCalibration) boosting.rounds_per_step = 1;
  state->Certify(Refit(*state, data, boosting));
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
  Validate(options.loss);
}

AutoFit::AutoFit(std::unique_ptr<State> state) : state_(std::move(state)) {}
AutoFit::~AutoFit() = default;
AutoFit::AutoFit(AutoFit&&) noexcept = default;
AutoFit& AutoFit::operator=(AutoFit&&) noexcept = default;

AutoFit AutoFit::LightGbm(const LightGbmDataset& data, const RowData& rows,
                          const std::vector<Constraint>& constraints,
                          const BoostedOptions& boosting, const FitOptions& options,
                          const SolveHooks& hooks, const ScoreObserver& observer) {
  return AutoFit(
      FitBoosted<LightGbmParts>(data, rows, constraints, boosting, options, hooks, observer));
}

AutoFit AutoFit::Xgboost(const XgboostDataset& data, const RowData& rows,
                         const std::vector<Constraint>& constraints, const BoostedOptions& boosting,
                         const FitOptions& options, const SolveHooks& hooks,
                         const ScoreObserver& observer) {
  return AutoFit(
      FitBoosted<XgboostParts>(data, rows, constraints, boosting, options, hooks, observer));
}

AutoFit AutoFit::Linear(const FeatureMatrix& features, const RowData& rows,
                        const std::vector<Constraint>& constraints, const LinearOptions& linear,
                        const FitOptions& options, const SolveHooks& hooks,
                        const ScoreObserver& observer) {
  if (options.validation == Validation::kHoldOut || options.deploy == Deploy::kRefit) {
    throw std::invalid_argument(
        "validation, deploy: hold_out or refit; allowed for linear models, whose folds cost little "
        "and whose mean is no larger than one of them: folds, fold_mean");
  }
  FitOptions by_folds = options;
  by_folds.validation = Validation::kFolds;
  auto state = std::make_unique<State>(rows, constraints, by_folds);
  LinearFoldsOptions folds{.linear = linear,
                           .num_folds = options.num_folds,
                           .seed = options.seed + 2,
                           .steps = LinearFoldsOptions{}.steps,
                           .reserved = std::nullopt};
  const bool reserves = !state->reserved_in_data.empty();
  state->features.emplace(reserves ? features.TakeRows(state->in_data) : features);
  if (reserves) folds.reserved.emplace(features.TakeRows(state->reserved_in_data));
  auto learner = std::make_unique<LinearFolds>(*state->features, state->all_objective(),
                                               state->problem->rates(), folds);
  state->report.num_models = options.num_folds;
  state->write_linear = [model = learner.get()](const ModelAdjustment& adjustment) {
    return model->Model(adjustment);
  };
  state->learner = std::move(learner);
  state->Run(hooks, observer);
  state->Certify(state->learner->ReservedScores());
  return AutoFit(std::move(state));
}

const FitReport& AutoFit::report() const { return state_->report; }

std::string AutoFit::Model() const { return Model(state_->report.adjustment); }

std::string AutoFit::Model(const ModelAdjustment& adjustment) const {
  if (!state_->write_model) throw std::logic_error("a linear fit has coefficients, not a file");
  return state_->write_model(adjustment);
}

LinearModel AutoFit::Coefficients() const { return Coefficients(state_->report.adjustment); }

LinearModel AutoFit::Coefficients(const ModelAdjustment& adjustment) const {
  if (!state_->write_linear) throw std::logic_error("a boosted fit has a file, not coefficients");
  return state_->write_linear(adjustment);
}

std::span<const double> AutoFit::UnseenScores() const { return state_->learner->scores(); }
const RowData& AutoFit::unseen_rows() const { return state_->unseen().rows(); }

Calibration AutoFit::Recalibrate(const std::vector<Constraint>& constraints, double rho) const {
  const RateProblem problem(constraints, state_->objective, unseen_rows(), state_->loss);
  return Calibrate(UnseenScores(), problem, {.rho = rho, .seed = state_->options.seed});
}

Reachability AutoFit::Diagnose() const {
  const RateProblem problem(state_->constraints, state_->objective, unseen_rows(), state_->loss);
  const Calibrator calibrator(UnseenScores(), unseen_rows());
  return FindReachability(calibrator, problem, {.seed = state_->options.seed});
}

}  // namespace bregboost
