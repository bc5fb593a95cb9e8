#include <memory>
#include <utility>
#include <vector>

#include "bregboost/learners/boosted.h"
#include "bregboost/learners/lightgbm_dataset.h"
#include "learners/boosted_impl.h"
#include "learners/detail/lightgbm_api.h"
#include "learners/detail/lightgbm_booster.h"
#include "learners/detail/lightgbm_parameters.h"

namespace bregboost {
namespace {

detail::LightGbmSettings ReadParameters(const Objective& objective, const BoostedOptions& options) {
  const RowData& rows = objective.rows();
  return detail::ReadLightGbmParameters(options.parameters, rows.task(), rows.num_scores(),
                                        objective.options().loss);
}

}  // namespace

BoosterSettings LightGbmBoosterSettings(const LightGbmDataset& train, const Objective& objective,
                                        const BoostedOptions& options) {
  return SettingsOf("LightGBM", ReadParameters(objective, options), options, train.api()->Region());
}

std::unique_ptr<BoostedLearner> BoostedLearner::LightGbm(
    const LightGbmDataset& train, const Objective& objective, const BoostedOptions& options,
    std::span<const HeldOut<LightGbmDataset>> held_out) {
  const HeldOutParts parts(train, objective, held_out);
  detail::LightGbmSettings library = ReadParameters(objective, options);
  detail::CheckLightGbmNames(options.parameters, *train.api());
  BoosterSettings settings = SettingsOf("LightGBM", library, options, train.api()->Region());
  const std::size_t num_scores = objective.rows().num_scores();
  std::vector<double> start = library.boost_from_average ? detail::LightGbmStartingScores(objective)
                                                         : std::vector<double>(num_scores, 0.0);
  auto booster = std::make_unique<detail::LightGbmBooster>(train, parts.datasets,
                                                           std::move(library), std::move(start));
  const auto k = static_cast<double>(num_scores);
  const detail::PassOptions pass{.softmax_hessian_factor = num_scores > 1 ? k / (k - 1.0) : 2.0};
  return std::unique_ptr<BoostedLearner>(new BoostedLearner(
      std::make_unique<Impl>(objective, std::move(settings), pass, std::move(booster),
                             ModelWriter{&ExportLightGbm, &AdjustLightGbm}, parts.objectives)));
}

}  // namespace bregboost
