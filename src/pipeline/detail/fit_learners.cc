#include "pipeline/detail/fit_learners.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "bregboost/learners/boosted.h"
#include "bregboost/learners/hold_out.h"
#include "bregboost/learners/lightgbm_dataset.h"
#include "bregboost/learners/linear_folds.h"
#include "bregboost/learners/linear_hold_out.h"
#include "bregboost/learners/lockstep.h"
#include "bregboost/learners/xgboost_dataset.h"
#include "learners/detail/lightgbm_parameters.h"
#include "learners/detail/masked_xgboost.h"
#include "learners/detail/xgboost_parameters.h"

namespace bregboost::detail {
namespace {

// Seeds of the draws that follow one from the other: certification, hold-out, folds.
constexpr std::uint64_t kFoldSeed = 2;

template <class Features>
const Features* FeaturesOf(const std::optional<FitRows<Features>>& own) {
  return own ? &own->features : nullptr;
}

template <class Learner>
FitLearner Keep(std::unique_ptr<Learner> learner, std::size_t num_models) {
  FitLearner kept;
  kept.num_models = num_models;
  if constexpr (requires { learner->Model().coefficients; }) {
    kept.write_linear = [model = learner.get()](const ModelAdjustment& adjustment) {
      return model->Model(adjustment);
    };
  } else {
    kept.write_model = [model = learner.get()](const ModelAdjustment& adjustment) {
      return model->Model(adjustment);
    };
  }
  kept.learner = std::move(learner);
  return kept;
}

template <class Dataset, class Make>
FitLearner MakeFolds(const FitData<Dataset>& data, FitSplit& split, const BoostedOptions& boosting,
                     const FitOptions& options, const Make& make) {
  LockstepOptions folds{.boosting = boosting,
                        .num_folds = options.num_folds,
                        .seed = options.seed + kFoldSeed,
                        .fold_of_row = {},
                        .rows = {},
                        .reserved_rows = split.reserved_in_data()};
  if (!split.reserved_in_data().empty()) folds.rows = split.all().in_data;
  auto learner = make(data.training.features, split.all().objective, split.all().problem.rates(),
                      folds, FeaturesOf(data.certification));
  const std::size_t num_folds = learner->num_folds();
  return Keep(std::move(learner), num_folds);
}

// A part of the training data; the whole of it needs no copy.
LightGbmDataset Take(const LightGbmDataset& data, const Places& rows) {
  return rows.size() == data.num_rows() ? data : data.Subset(rows);
}

FeatureMatrix Take(const FeatureMatrix& features, const Places& rows) {
  return rows.size() == features.rows() ? features : features.TakeRows(rows);
}

// Rows of the user's own, or else those drawn from the training data; none if there are neither.
template <class Features>
std::optional<Features> OwnOrDrawn(const std::optional<FitRows<Features>>& own,
                                   const Features& training, const Places& drawn) {
  if (own) return own->features;
  if (drawn.empty()) return std::nullopt;
  return Take(training, drawn);
}

ScoredRows Scored(const std::optional<FitRows<XgboostDataset>>& own, const Places& drawn) {
  return {.in_data = drawn, .own = FeaturesOf(own)};
}

// One model on other rows, by the steps that the fold models took.
void Replay(const AutoResult& folds, const RateConstraints& constraints, BoostedLearner& learner) {
  const RateTrainingResult& training = folds.training;
  if (folds.path == TrainingPath::kCalibration) {
    while (learner.num_rounds() < training.rounds_kept) {
      if (!learner.Step({.measured = false}).stalled.empty()) break;
    }
    return;
  }
  for (std::int64_t k = 0; k < training.steps_kept; ++k) {
    const auto step = static_cast<std::size_t>(k);
    learner.SetRoundsPerStep(training.history[step + 1].evaluations -
                             training.history[step].evaluations);
    if (step < training.step_costs.size()) {
      learner.StepOnCosts(constraints.compiled().cells, training.step_costs[step], training.tau);
    } else {
      ProximalStep on_losses;
      on_losses.constraints = &constraints;
      on_losses.multipliers = training.step_multipliers[step];
      on_losses.tau = training.tau;
      on_losses.measured = false;
      learner.Step(on_losses);
    }
    if (training.averaged_from && k + 1 >= *training.averaged_from) learner.AccumulateAverage(1.0);
  }
  if (training.averaged_from) learner.UseAverage();
}

}  // namespace

FitLearner MakeLearner(const FitData<LightGbmDataset>& data, FitSplit& split,
                       const BoostedOptions& boosting, const FitOptions& options) {
  if (!split.holds_out()) {
    return MakeFolds(data, split, boosting, options, &LockstepLearner::LightGbm);
  }
  const LightGbmDataset& all = data.training.features;
  const LightGbmDataset training = Take(all, split.training().in_data);
  const std::optional<LightGbmDataset> unseen =
      OwnOrDrawn(data.evaluation, all, split.unseen().in_data);
  const std::optional<LightGbmDataset> reserved =
      OwnOrDrawn(data.certification, all, split.reserved_in_data());
  return Keep(HoldOutLearner::LightGbm({.dataset = training,
                                        .objective = split.training().objective,
                                        .constraints = split.training().problem.rates()},
                                       {.dataset = *unseen,
                                        .objective = split.unseen().objective,
                                        .constraints = split.unseen().problem.rates()},
                                       boosting, reserved ? &*reserved : nullptr),
              1);
}

FitLearner MakeLearner(const FitData<XgboostDataset>& data, FitSplit& split,
                       const BoostedOptions& boosting, const FitOptions& options) {
  if (!split.holds_out()) {
    return MakeFolds(data, split, boosting, options, &LockstepLearner::Xgboost);
  }
  return Keep(std::make_unique<MaskedHoldOut>(
                  data.training.features,
                  MaskedHoldOut::Part{.objective = split.training().objective,
                                      .constraints = split.training().problem.rates()},
                  split.training().in_data,
                  MaskedHoldOut::Part{.objective = split.unseen().objective,
                                      .constraints = split.unseen().problem.rates()},
                  Scored(data.evaluation, split.unseen().in_data),
                  Scored(data.certification, split.reserved_in_data()), boosting),
              1);
}

FitLearner MakeLearner(const FitData<FeatureMatrix>& data, FitSplit& split,
                       const LinearOptions& linear, const FitOptions& options) {
  const FeatureMatrix& all = data.training.features;
  const std::optional<FeatureMatrix> reserved =
      OwnOrDrawn(data.certification, all, split.reserved_in_data());
  if (!split.holds_out()) {
    const LinearFoldsOptions folds{.linear = linear,
                                   .num_folds = options.num_folds,
                                   .seed = options.seed + kFoldSeed,
                                   .steps = LinearFoldsOptions{}.steps,
                                   .reserved = reserved};
    return Keep(std::make_unique<LinearFolds>(Take(all, split.all().in_data), split.all().objective,
                                              split.all().problem.rates(), folds),
                options.num_folds);
  }
  const FeatureMatrix training = Take(all, split.training().in_data);
  const std::optional<FeatureMatrix> unseen =
      OwnOrDrawn(data.evaluation, all, split.unseen().in_data);
  return Keep(std::make_unique<LinearHoldOut>(
                  ConstrainedFeatures{.features = training,
                                      .objective = split.training().objective,
                                      .constraints = split.training().problem.rates()},
                  ConstrainedFeatures{.features = *unseen,
                                      .objective = split.unseen().objective,
                                      .constraints = split.unseen().problem.rates()},
                  LinearHoldOutOptions{.linear = linear}, reserved),
              1);
}

Refitted Refit(const FitData<LightGbmDataset>& data, FitSplit& split,
               const BoostedOptions& boosting, const AutoResult& folds) {
  const LightGbmDataset& all = data.training.features;
  const std::optional<LightGbmDataset> reserved =
      OwnOrDrawn(data.certification, all, split.reserved_in_data());
  std::vector<HeldOut<LightGbmDataset>> scored;
  // Scored only: nothing of the training may look at them.
  if (reserved) scored.push_back({.dataset = *reserved});
  auto learner = std::shared_ptr<BoostedLearner>(BoostedLearner::LightGbm(
      Take(all, split.all().in_data), split.all().objective, boosting, scored));
  Replay(folds, split.all().problem.rates(), *learner);
  Refitted refitted;
  if (reserved) {
    const std::span<const double> scores = learner->HeldOutScores(0);
    refitted.reserved_scores.assign(scores.begin(), scores.end());
  }
  refitted.write_model = [learner](const ModelAdjustment& adjustment) {
    return learner->Model(adjustment);
  };
  return refitted;
}

Refitted Refit(const FitData<XgboostDataset>& data, FitSplit& split, const BoostedOptions& boosting,
               const AutoResult& folds) {
  std::vector<XgboostDataset> apart;
  if (data.certification) apart.push_back(data.certification->features);
  auto masked = std::make_shared<MaskedXgboost>(data.training.features, split.all().problem.rates(),
                                                split.all().in_data,
                                                split.all().objective.options(), boosting, apart);
  Replay(folds, masked->constraints(), masked->learner());
  Refitted refitted;
  if (data.certification) {
    const std::span<const double> scores = masked->learner().HeldOutScores(0);
    refitted.reserved_scores.assign(scores.begin(), scores.end());
  } else {
    refitted.reserved_scores = masked->ScoresOf(split.reserved_in_data());
  }
  refitted.write_model = [masked](const ModelAdjustment& adjustment) {
    return masked->learner().Model(adjustment);
  };
  return refitted;
}

int ThreadsOf(const FitData<LightGbmDataset>& /*data*/, const BoostedOptions& boosting) {
  return LightGbmThreads(boosting.parameters);
}

int ThreadsOf(const FitData<XgboostDataset>& /*data*/, const BoostedOptions& boosting) {
  return XgboostThreads(boosting.parameters);
}

BoostedOptions WithoutEarlyStopping(const FitData<LightGbmDataset>& /*data*/,
                                    BoostedOptions boosting) {
  boosting.parameters = LightGbmWithoutEarlyStopping(boosting.parameters);
  boosting.early_stopping_rounds = 0;
  return boosting;
}

BoostedOptions WithoutEarlyStopping(const FitData<XgboostDataset>& /*data*/,
                                    BoostedOptions boosting) {
  boosting.parameters = XgboostWithoutEarlyStopping(boosting.parameters);
  boosting.early_stopping_rounds = 0;
  return boosting;
}

}  // namespace bregboost::detail
