#include "bregboost/learners/lockstep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

#include "bregboost/learners/lightgbm_dataset.h"
#include "bregboost/learners/xgboost_dataset.h"
#include "learners/detail/lightgbm_parameters.h"
#include "learners/detail/no_constraints.h"
#include "learners/detail/xgboost_parameters.h"
#include "learners/lockstep_impl.h"

namespace bregboost {
namespace {

using detail::FoldRows;

// The set that LightGBM's boosters score apart: the rows inside the fold.
constexpr std::size_t kFoldSet = 0;

void CheckSameRows(const Objective& objective, const RateConstraints& constraints) {
  if (&objective.rows() == &constraints.rows()) return;
  throw std::invalid_argument(
      "constraints: bound to other rows than the objective; allowed: the same RowData");
}

void CheckReservedOnce(const LockstepOptions& options, bool as_data_set) {
  if (!as_data_set || options.reserved_rows.empty()) return;
  throw std::invalid_argument(
      "reserved_rows: given beside a data set of reserved rows; allowed: one of them");
}

}  // namespace

LockstepLearner::LockstepLearner(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LockstepLearner::~LockstepLearner() = default;

std::unique_ptr<LockstepLearner> LockstepLearner::LightGbm(const LightGbmDataset& data,
                                                           const Objective& objective,
                                                           const RateConstraints& constraints,
                                                           const LockstepOptions& options,
                                                           const LightGbmDataset* reserved) {
  CheckSameRows(objective, constraints);
  CheckReservedOnce(options, reserved != nullptr);
  const RowData& rows = objective.rows();
  BoostedOptions of_fold = options.boosting;
  of_fold.parameters = detail::LightGbmFoldParameters(options.boosting.parameters);
  of_fold.early_stopping_rounds = 0;
  FoldRows fold_rows(constraints.compiled().cells, options, data.num_rows());
  std::optional<LightGbmDataset> apart;
  if (reserved != nullptr) apart = *reserved;
  if (!options.reserved_rows.empty()) apart = data.Subset(options.reserved_rows);
  const auto make_fold = [&](const FoldRows& split, std::size_t k) {
    const std::vector<std::int32_t> training = split.Training(k);
    auto fold = std::make_unique<TrainingFold>(TakeRows(rows, training), objective, constraints,
                                               split.HeldOut(k));
    fold->set = kFoldSet;
    std::vector<std::int32_t> places;
    std::vector<HeldOut<LightGbmDataset>> scored = {
        {.dataset = data.Subset(split.InData(fold->held_out, places))}};
    if (apart) scored.push_back({.dataset = *apart});
    fold->learner = BoostedLearner::LightGbm(data.Subset(split.InData(training, places)),
                                             fold->training, of_fold, scored);
    return fold;
  };
  return std::unique_ptr<LockstepLearner>(new LockstepLearner(std::make_unique<Impl>(
      objective, constraints, std::move(fold_rows),
      ReservedRows{.rows = apart ? apart->num_rows() : 0, .set = kFoldSet + 1},
      LightGbmBoosterSettings(data, objective, options.boosting), make_fold)));
}

std::unique_ptr<LockstepLearner> LockstepLearner::Xgboost(const XgboostDataset& data,
                                                          const Objective& objective,
                                                          const RateConstraints& constraints,
                                                          const LockstepOptions& options,
                                                          const XgboostDataset* reserved) {
  CheckSameRows(objective, constraints);
  CheckReservedOnce(options, reserved != nullptr);
  const RowData& rows = objective.rows();
  BoostedOptions of_fold = options.boosting;
  of_fold.parameters = detail::XgboostFoldParameters(options.boosting.parameters);
  of_fold.early_stopping_rounds = 0;
  FoldRows fold_rows(constraints.compiled().cells, options, data.num_rows());
  const auto make_fold = [&](const FoldRows& split, std::size_t k) {
    auto fold = std::make_unique<TrainingFold>(split.Masked(rows, k), objective, constraints,
                                               split.HeldOut(k));
    std::vector<HeldOut<XgboostDataset>> apart;
    if (reserved != nullptr) apart.push_back({.dataset = *reserved});
    fold->learner = BoostedLearner::Xgboost(data, fold->training, of_fold, apart);
    return fold;
  };
  ReservedRows scored{.rows = options.reserved_rows.size(), .set = std::nullopt};
  if (reserved != nullptr) scored = {.rows = reserved->num_rows(), .set = 0};
  return std::unique_ptr<LockstepLearner>(new LockstepLearner(std::make_unique<Impl>(
      objective, constraints, std::move(fold_rows), scored,
      XgboostBoosterSettings(data, objective, options.boosting), make_fold)));
}

std::span<const double> LockstepLearner::scores() const { return impl_->scores(); }
double LockstepLearner::objective() const {
  return impl_->Evaluate(detail::NoConstraints()).objective;
}
LearnerValues LockstepLearner::Evaluate(const ConstraintSet& constraints) const {
  return impl_->Evaluate(constraints);
}
StepOutcome LockstepLearner::Step(const ProximalStep& step) { return impl_->Step(step); }

const RateConstraints& LockstepLearner::unseen() const { return impl_->constraints(); }
const RateConstraints& LockstepLearner::training() const { return impl_->constraints(); }
StepOutcome LockstepLearner::StepOnCosts(std::span<const double> costs, double tau) {
  return impl_->StepOnCosts(costs, tau);
}
std::span<const double> LockstepLearner::ReservedScores() const { return impl_->ReservedScores(); }
std::vector<double> LockstepLearner::TrainedScores(std::size_t m) const {
  return impl_->TrainedScores(m);
}
bool LockstepLearner::stops_early() const { return impl_->settings().early_stopping_rounds > 0; }
std::int64_t LockstepLearner::requested_rounds() const { return impl_->settings().num_rounds; }
std::int64_t LockstepLearner::rounds_per_step() const { return impl_->settings().rounds_per_step; }
void LockstepLearner::SetRoundsPerStep(std::int64_t rounds) { impl_->SetRoundsPerStep(rounds); }

void LockstepLearner::SetAnchor() { impl_->SetAnchor(); }
double LockstepLearner::AnchorDistance() const {
  return impl_->MeanOverFolds(
      [](const TrainingFold& fold) { return fold.learner->AnchorDistance(); });
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
void LockstepLearner::EndSegment(std::span<ModelState* const> kept, detail::ByteWriter& out) {
  impl_->EndSegment(kept, out);
}
std::vector<std::unique_ptr<ModelState>> LockstepLearner::TakeUp(detail::ByteReader& in) {
  return impl_->TakeUp(in);
}

double LockstepLearner::StationarityResidual(const ConstraintSet& constraints,
                                             std::span<const double> multipliers,
                                             double objective_weight) const {
  const bool constrained = constraints.size() > 0;
  const detail::NoConstraints none;
  return std::sqrt(impl_->MeanOverFolds([&](const TrainingFold& fold) {
    const ConstraintSet& of_fold =
        constrained ? static_cast<const ConstraintSet&>(fold.constraints) : none;
    const double residual =
        fold.learner->StationarityResidual(of_fold, multipliers, objective_weight);
    return residual * residual;
  }));
}

std::size_t LockstepLearner::num_folds() const { return impl_->rows().num_folds(); }
std::span<const std::int32_t> LockstepLearner::fold_of_row() const {
  return impl_->rows().fold_of_row();
}
const BoostedLearner& LockstepLearner::fold(std::size_t k) const {
  if (k >= num_folds()) {
    throw std::invalid_argument(fmt::format("fold: {}; allowed: below {}", k, num_folds()));
  }
  return *impl_->fold(k).learner;
}

std::int64_t LockstepLearner::rounds_done() const {
  std::int64_t most = 0;
  for (std::size_t k = 0; k < num_folds(); ++k) most = std::max(most, fold(k).num_rounds());
  return most;
}

std::string LockstepLearner::Model(const ModelAdjustment& adjustment) const {
  std::vector<const BoostedLearner*> learners;
  for (std::size_t k = 0; k < num_folds(); ++k) learners.push_back(&fold(k));
  return BoostedLearner::MeanModel(learners, adjustment);
}

}  // namespace bregboost
