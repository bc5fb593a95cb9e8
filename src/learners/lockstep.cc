#include "bregboost/learners/lockstep.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <thread>
#include <utility>

#include "bregboost/data/folds.h"
#include "bregboost/learners/lightgbm_dataset.h"
#include "bregboost/learners/xgboost_dataset.h"
#include "detail/option_checks.h"
#include "detail/thread_scope.h"
#include "detail/worker_pool.h"
#include "learners/boosted_impl.h"
#include "learners/detail/boosting_pass.h"
#include "learners/detail/lightgbm_parameters.h"
#include "learners/detail/no_constraints.h"
#include "learners/detail/xgboost_parameters.h"

namespace bregboost {
namespace {

std::vector<Constraint> Sources(const RateConstraints& constraints) {
  std::vector<Constraint> sources;
  for (const CompiledConstraint& constraint : constraints.compiled().constraints) {
    sources.push_back(constraint.source);
  }
  return sources;
}

// Everything one booster trains on. Objective and constraints point to the rows, so it stays put.
struct Fold {
  Fold(RowData training_rows, const Objective& objective, const RateConstraints& all_constraints,
       std::vector<std::int32_t> rows_held_out)
      : rows(std::move(training_rows)),
        training(rows, objective.options()),
        constraints(Sources(all_constraints), rows, all_constraints.surrogate(),
                    all_constraints.loss()),
        held_out(std::move(rows_held_out)) {
    rows.groups.clear();  // part of the cells by now; K copies would add up
  }
  Fold(const Fold&) = delete;
  Fold& operator=(const Fold&) = delete;

  RowData rows;
  Objective training;
  RateConstraints constraints;
  std::vector<std::int32_t> held_out;  // in rising order

  // LightGBM only: the rows held out, which its booster scores apart.
  std::unique_ptr<RowData> held_out_rows;
  std::unique_ptr<Objective> held_out_objective;

  std::unique_ptr<BoostedLearner> learner;
};

struct Split {
  std::vector<std::int32_t> fold_of_row;
  std::size_t num_folds = 0;

  std::vector<std::int32_t> Rows(std::size_t fold, bool inside) const {
    std::vector<std::int32_t> rows;
    for (std::size_t i = 0; i < fold_of_row.size(); ++i) {
      if ((fold_of_row[i] == static_cast<std::int32_t>(fold)) == inside) {
        rows.push_back(static_cast<std::int32_t>(i));
      }
    }
    return rows;
  }
};

Split MakeSplit(const RateConstraints& constraints, const LockstepOptions& options) {
  const std::vector<std::uint32_t>& cells = constraints.compiled().cells.cell_of_row;
  if (options.fold_of_row.empty()) {
    return {.fold_of_row = AssignFolds(cells, options.num_folds, options.seed),
            .num_folds = options.num_folds};
  }
  if (options.fold_of_row.size() != cells.size()) {
    throw std::invalid_argument(fmt::format("fold_of_row: {} values; allowed: one per row, {}",
                                            options.fold_of_row.size(), cells.size()));
  }
  std::vector<std::size_t> sizes(options.num_folds, 0);
  for (const std::int32_t fold : options.fold_of_row) {
    if (fold < 0 || static_cast<std::size_t>(fold) >= options.num_folds) {
      throw std::invalid_argument(
          fmt::format("fold_of_row: {}; allowed: 0 to {}", fold, options.num_folds - 1));
    }
    ++sizes[static_cast<std::size_t>(fold)];
  }
  const auto empty = std::find(sizes.begin(), sizes.end(), std::size_t{0});
  if (empty != sizes.end() || options.num_folds < 2) {
    throw std::invalid_argument(
        fmt::format("fold_of_row: no row in fold {}; allowed: 2 or more folds with rows in each",
                    empty - sizes.begin()));
  }
  return {.fold_of_row = options.fold_of_row, .num_folds = options.num_folds};
}

void CheckSameRows(const Objective& objective, const RateConstraints& constraints) {
  if (&objective.rows() == &constraints.rows()) return;
  throw std::invalid_argument(
      "constraints: bound to other rows than the objective; allowed: the same RowData");
}

std::size_t FoldsAtOnce(int num_threads, std::size_t num_folds) {
  const int cores = num_threads > 0 ? num_threads : omp_get_max_threads();
  return std::clamp<std::size_t>(static_cast<std::size_t>(cores), 1, num_folds);
}

}  // namespace

class LockstepLearner::Impl {
 public:
  // make_fold(split, k) runs on the thread that fold k keeps.
  Impl(const Objective& objective, const RateConstraints& constraints, Split split,
       BoosterSettings settings,
       const std::function<std::unique_ptr<Fold>(const Split&, std::size_t)>& make_fold)
      : objective_(objective),
        constraints_(constraints),
        split_(std::move(split)),
        settings_(std::move(settings)),
        pass_(objective, detail::PassOptions{}),
        scores_(objective.rows().num_rows() * objective.rows().num_scores()),
        folds_(split_.num_folds),
        pool_(split_.num_folds) {
    detail::RequireAtLeast<std::int64_t>("rounds_per_step", settings_.rounds_per_step, 1);
    detail::RequireAtLeast<std::int64_t>("early_stopping_rounds", settings_.early_stopping_rounds,
                                         0);
    pool_.Run(/*at_once=*/1, [&](std::size_t k) {
      folds_[k] = make_fold(split_, k);
      CheckFold(k);
      CollectScores(k);
      return false;
    });
  }

  std::span<const double> scores() const { return scores_; }
  const Split& split() const { return split_; }
  const BoosterSettings& settings() const { return settings_; }
  const Fold& fold(std::size_t k) const { return *folds_.at(k); }

  LearnerValues Evaluate(const ConstraintSet& constraints) const {
    const detail::ThreadScope threads(settings_.num_threads);
    return pass_.Evaluate(constraints, View());
  }

  StepOutcome Step(const ProximalStep& step) {
    const bool constrained = step.constraints != nullptr && step.constraints->size() > 0;
    if (constrained && step.constraints != &constraints_) {
      throw std::invalid_argument(
          "constraints: not those that the folds were made for; allowed: the set given to the "
          "learner");
    }
    const std::unique_ptr<ModelState> before = Save();
    std::vector<std::int64_t> rounds(folds_.size(), 0);
    std::vector<StepOutcome> outcomes(folds_.size());
    const auto add_round = [&](std::size_t k) {
      // Our row loops inside a fold's thread stay on it.
      const detail::ThreadScope threads(1);
      BoostedLearner::Impl& learner = *folds_[k]->learner->impl_;
      ProximalStep of_fold = step;
      of_fold.constraints = constrained ? &folds_[k]->constraints : nullptr;
      if (rounds[k] == 0) learner.BeginStep();
      const bool more = learner.AddRound(of_fold) && ++rounds[k] < settings_.rounds_per_step;
      if (more) return true;
      outcomes[k] = learner.EndStep();
      CollectScores(k);
      return false;
    };
    // XGBoost bins a plain DMatrix when a booster first trains on it; that must not happen twice at
    // once.
    const std::size_t at_once = warmed_up_ ? FoldsAtOnce(settings_.num_threads, folds_.size()) : 1;
    try {
      pool_.Run(at_once, add_round);
    } catch (...) {
      Restore(*before);
      throw;
    }
    warmed_up_ = true;
    return Gather(outcomes);
  }

  template <class Function>
  void ForEachFold(const Function& function) const {
    for (const auto& fold : folds_) function(*fold->learner);
  }

  std::unique_ptr<ModelState> Save() const {
    auto state = std::make_unique<State>();
    ForEachFold([&](BoostedLearner& learner) { state->folds.push_back(learner.Save()); });
    state->rounds_done = rounds_done_;
    state->best = best_;
    return state;
  }

  void Restore(const ModelState& saved) {
    const auto* state = dynamic_cast<const State*>(&saved);
    if (state == nullptr) throw std::logic_error("the state is another learner's");
    for (std::size_t k = 0; k < folds_.size(); ++k) {
      folds_[k]->learner->Restore(*state->folds[k]);
    }
    rounds_done_ = state->rounds_done;
    best_ = state->best;
    CollectScores();
  }

  void ReturnToBest() {
    const Best best = best_;  // Restore() goes back to what was best then
    if (best.state && best.round < rounds_done_) Restore(*best.state);
  }

  void UseAverage() {
    ForEachFold([](BoostedLearner& learner) { learner.UseAverage(); });
    best_ = {};
    best_.round = rounds_done_;
    CollectScores();
  }

  double MeanOverFolds(const std::function<double(const Fold&)>& value) const {
    double total = 0.0;
    for (const auto& fold : folds_) total += value(*fold);
    return total / static_cast<double>(folds_.size());
  }

 private:
  struct Best {  // by the out-of-fold loss
    double loss = std::numeric_limits<double>::infinity();
    std::int64_t round = 0;
    std::shared_ptr<const ModelState> state;
  };
  class State final : public ModelState {
   public:
    std::vector<std::unique_ptr<ModelState>> folds;
    std::int64_t rounds_done = 0;
    Best best;
  };

  detail::ScoreView View() const {
    return {.data = scores_.data(),
            .num_rows = objective_.rows().num_rows(),
            .num_scores = objective_.rows().num_scores(),
            .layout = detail::ScoreLayout::kClassMajor};
  }

  // A group that a fold's training rows lack would leave it with other constraints than the rest.
  void CheckFold(std::size_t k) const {
    if (folds_[k]->constraints.size() == constraints_.size()) return;
    throw std::invalid_argument(fmt::format(
        "folds: the rows outside fold {} lack a group that the constraints compare; allowed: folds "
        "that leave every group in each training set (use fewer folds, or drop the group)",
        k));
  }

  void CollectScores() {
    for (std::size_t k = 0; k < folds_.size(); ++k) CollectScores(k);
  }

  // LightGBM's fold booster scores the rows held out as a set of their own, XGBoost's all rows.
  void CollectScores(std::size_t k) {
    const Fold& fold = *folds_[k];
    if (fold.held_out_rows == nullptr) {
      fold.learner->impl_->CopyScores(fold.held_out, scores_);
      return;
    }
    const std::span<const double> from = fold.learner->HeldOutScores(0);
    const std::size_t n = objective_.rows().num_rows();
    const std::size_t held_out = fold.held_out.size();
    for (std::size_t c = 0; c < objective_.rows().num_scores(); ++c) {
      for (std::size_t j = 0; j < held_out; ++j) {
        scores_[c * n + static_cast<std::size_t>(fold.held_out[j])] = from[c * held_out + j];
      }
    }
  }

  // The step of the tuple: stalled only if every fold is.
  StepOutcome Gather(const std::vector<StepOutcome>& outcomes) {
    StepOutcome all{.suboptimality = std::numeric_limits<double>::quiet_NaN()};
    std::string stalled;
    const auto folds = static_cast<double>(folds_.size());
    for (std::size_t k = 0; k < folds_.size(); ++k) {
      const StepOutcome& one = outcomes[k];
      all.distance += one.distance / folds;
      if (one.evaluations > 0) all.residual += one.residual * one.residual / folds;
      all.evaluations += one.evaluations;
      if (!one.stalled.empty()) stalled = fmt::format("fold {}: {}", k, one.stalled);
    }
    all.residual = std::sqrt(all.residual);
    if (all.evaluations == 0) {
      all.stalled = fmt::format("no fold's booster found a split; {}", stalled);
      return all;
    }
    all.stopped = CheckLoss();
    return all;
  }

  std::string CheckLoss() {
    if (settings_.early_stopping_rounds == 0) return {};
    rounds_done_ += settings_.rounds_per_step;
    const double loss = Evaluate(detail::NoConstraints()).objective;
    if (loss < best_.loss) best_ = {.loss = loss, .round = rounds_done_, .state = Save()};
    if (rounds_done_ - best_.round < settings_.early_stopping_rounds) return {};
    return fmt::format(
        "the out-of-fold loss was lowest, {:.6g}, after round {} and has not fallen in the {} "
        "rounds since",
        best_.loss, best_.round, rounds_done_ - best_.round);
  }

  const Objective& objective_;
  const RateConstraints& constraints_;
  Split split_;
  BoosterSettings settings_;
  detail::BoostingPass pass_;
  std::vector<double> scores_;  // out of fold, class-major
  std::vector<std::unique_ptr<Fold>> folds_;
  detail::WorkerPool pool_;
  bool warmed_up_ = false;

  std::int64_t rounds_done_ = 0;
  Best best_;
};

LockstepLearner::LockstepLearner(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LockstepLearner::~LockstepLearner() = default;

std::unique_ptr<LockstepLearner> LockstepLearner::LightGbm(const LightGbmDataset& data,
                                                           const Objective& objective,
                                                           const RateConstraints& constraints,
                                                           const LockstepOptions& options) {
  CheckSameRows(objective, constraints);
  const RowData& rows = objective.rows();
  BoostedOptions of_fold = options.boosting;
  of_fold.parameters = detail::LightGbmFoldParameters(options.boosting.parameters);
  of_fold.early_stopping_rounds = 0;
  const auto make_fold = [&](const Split& split, std::size_t k) {
    const std::vector<std::int32_t> training = split.Rows(k, /*inside=*/false);
    auto fold = std::make_unique<Fold>(TakeRows(rows, training), objective, constraints,
                                       split.Rows(k, /*inside=*/true));
    fold->held_out_rows = std::make_unique<RowData>(TakeRows(rows, fold->held_out));
    fold->held_out_rows->groups.clear();
    fold->held_out_objective =
        std::make_unique<Objective>(*fold->held_out_rows, objective.options());
    const HeldOut<LightGbmDataset> scored{.dataset = data.Subset(fold->held_out),
                                          .objective = fold->held_out_objective.get()};
    fold->learner =
        BoostedLearner::LightGbm(data.Subset(training), fold->training, of_fold, {&scored, 1});
    return fold;
  };
  return std::unique_ptr<LockstepLearner>(new LockstepLearner(
      std::make_unique<Impl>(objective, constraints, MakeSplit(constraints, options),
                             LightGbmBoosterSettings(objective, options.boosting), make_fold)));
}

std::unique_ptr<LockstepLearner> LockstepLearner::Xgboost(const XgboostDataset& data,
                                                          const Objective& objective,
                                                          const RateConstraints& constraints,
                                                          const LockstepOptions& options) {
  CheckSameRows(objective, constraints);
  const RowData& rows = objective.rows();
  BoostedOptions of_fold = options.boosting;
  of_fold.parameters = detail::XgboostFoldParameters(options.boosting.parameters);
  of_fold.early_stopping_rounds = 0;
  const auto make_fold = [&](const Split& split, std::size_t k) {
    std::vector<std::int32_t> held_out = split.Rows(k, /*inside=*/true);
    std::vector<std::uint8_t> keep(rows.num_rows(), 1);
    for (const std::int32_t row : held_out) keep[static_cast<std::size_t>(row)] = 0;
    auto fold =
        std::make_unique<Fold>(MaskRows(rows, keep), objective, constraints, std::move(held_out));
    fold->learner = BoostedLearner::Xgboost(data, fold->training, of_fold);
    return fold;
  };
  return std::unique_ptr<LockstepLearner>(new LockstepLearner(
      std::make_unique<Impl>(objective, constraints, MakeSplit(constraints, options),
                             XgboostBoosterSettings(objective, options.boosting), make_fold)));
}

std::span<const double> LockstepLearner::scores() const { return impl_->scores(); }
double LockstepLearner::objective() const {
  return impl_->Evaluate(detail::NoConstraints()).objective;
}
LearnerValues LockstepLearner::Evaluate(const ConstraintSet& constraints) const {
  return impl_->Evaluate(constraints);
}
StepOutcome LockstepLearner::Step(const ProximalStep& step) { return impl_->Step(step); }

void LockstepLearner::SetAnchor() {
  impl_->ForEachFold([](BoostedLearner& learner) { learner.SetAnchor(); });
}
double LockstepLearner::AnchorDistance() const {
  return impl_->MeanOverFolds([](const Fold& fold) { return fold.learner->AnchorDistance(); });
}
void LockstepLearner::AccumulateAverage(double weight) {
  impl_->ForEachFold([weight](BoostedLearner& learner) { learner.AccumulateAverage(weight); });
}
void LockstepLearner::ResetAverage() {
  impl_->ForEachFold([](BoostedLearner& learner) { learner.ResetAverage(); });
}
void LockstepLearner::UseAverage() { impl_->UseAverage(); }
void LockstepLearner::ReturnToBest() { impl_->ReturnToBest(); }
std::unique_ptr<ModelState> LockstepLearner::Save() const { return impl_->Save(); }
void LockstepLearner::Restore(const ModelState& state) { impl_->Restore(state); }

double LockstepLearner::StationarityResidual(const ConstraintSet& constraints,
                                             std::span<const double> multipliers,
                                             double objective_weight) const {
  const bool constrained = constraints.size() > 0;
  const detail::NoConstraints none;
  return std::sqrt(impl_->MeanOverFolds([&](const Fold& fold) {
    const ConstraintSet& of_fold =
        constrained ? static_cast<const ConstraintSet&>(fold.constraints) : none;
    const double residual =
        fold.learner->StationarityResidual(of_fold, multipliers, objective_weight);
    return residual * residual;
  }));
}

std::size_t LockstepLearner::num_folds() const { return impl_->split().num_folds; }
std::span<const std::int32_t> LockstepLearner::fold_of_row() const {
  return impl_->split().fold_of_row;
}
const BoostedLearner& LockstepLearner::fold(std::size_t k) const {
  if (k >= num_folds()) {
    throw std::invalid_argument(fmt::format("fold: {}; allowed: below {}", k, num_folds()));
  }
  return *impl_->fold(k).learner;
}
std::int64_t LockstepLearner::requested_rounds() const { return impl_->settings().num_rounds; }

std::string LockstepLearner::Model(const ModelAdjustment& adjustment) const {
  std::vector<const BoostedLearner*> learners;
  for (std::size_t k = 0; k < num_folds(); ++k) learners.push_back(&fold(k));
  return BoostedLearner::MeanModel(learners, adjustment);
}

}  // namespace bregboost
