#include <memory>
#include <utility>
#include <vector>

#include "bregboost/learners/boosted.h"
#include "bregboost/learners/xgboost_dataset.h"
#include "learners/boosted_impl.h"
#include "learners/detail/xgboost_api.h"
#include "learners/detail/xgboost_booster.h"
#include "learners/detail/xgboost_parameters.h"
#include "learners/detail/xgboost_start.h"

namespace bregboost {
namespace {

detail::XgboostSettings ReadParameters(const Objective& objective, const BoostedOptions& options) {
  const RowData& rows = objective.rows();
  return detail::ReadXgboostParameters(options.parameters, rows.task(), rows.num_scores());
}

}  // namespace

BoosterSettings XgboostBoosterSettings(const XgboostDataset& train, const Objective& objective,
                                       const BoostedOptions& options) {
  return SettingsOf("XGBoost", ReadParameters(objective, options), options, train.api()->Region());
}

std::unique_ptr<BoostedLearner> BoostedLearner::Xgboost(
    const XgboostDataset& train, const Objective& objective, const BoostedOptions& options,
    std::span<const HeldOut<XgboostDataset>> held_out) {
  const HeldOutParts parts(train, objective, held_out);
  detail::XgboostSettings library = ReadParameters(objective, options);
  BoosterSettings settings = SettingsOf("XGBoost", library, options, train.api()->Region());
  auto booster = std::make_unique<detail::XgboostBooster>(
      train, parts.datasets, std::move(library), detail::SummariseTargets(objective.rows()));
  const detail::PassOptions pass{.softmax_hessian_factor = 2.0};
  return std::unique_ptr<BoostedLearner>(new BoostedLearner(
      std::make_unique<Impl>(objective, std::move(settings), pass, std::move(booster),
                             ModelWriter{&ExportXgboost, &AdjustXgboost}, parts.objectives)));
}

}  // namespace bregboost
