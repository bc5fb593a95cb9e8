#include <memory>
#include <utility>
#include <vector>

#include "bregboost/learners/boosted.h"
#include "bregboost/learners/xgboost_dataset.h"
#include "learners/boosted_impl.h"
#include "learners/detail/xgboost_api.h"
#include "learners/detail/xgboost_booster.h"
#include "learners/detail/xgboost_handle.h"
#include "learners/detail/xgboost_parameters.h"
#include "learners/detail/xgboost_start.h"

namespace bregboost {
namespace {

detail::XgboostSettings ReadParameters(const Objective& objective, const BoostedOptions& options) {
  const RowData& rows = objective.rows();
  return detail::ReadXgboostParameters(options.parameters, rows.task(), rows.num_scores());
}

// UBJSON as the library itself writes it.
std::string ToUbjson(const std::shared_ptr<const detail::XgboostApi>& api,
                     const std::string& json) {
  void* handle = nullptr;
  api->Check(api->BoosterCreate(nullptr, 0, &handle), "creating a booster");
  const detail::XgboostBoosterHandle booster(handle, {api.get()});
  api->Check(api->BoosterLoadModelFromBuffer(handle, json.data(), json.size()),
             "loading the finished model");
  detail::XgboostApi::Unsigned length = 0;
  const char* bytes = nullptr;
  api->Check(api->BoosterSaveModelToBuffer(handle, R"({"format": "ubj"})", &length, &bytes),
             "writing the finished model");
  return {bytes, length};
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
  const auto api = train.api();
  ModelWriter writer = [api](std::span<const ModelPart> model_parts, const ExportSpec& spec) {
    return ToUbjson(api, ExportXgboost(model_parts, spec));
  };
  const detail::PassOptions pass{.softmax_hessian_factor = 2.0};
  return std::unique_ptr<BoostedLearner>(new BoostedLearner(
      std::make_unique<Impl>(objective, std::move(settings), pass, std::move(booster),
                             std::move(writer), parts.objectives)));
}

}  // namespace bregboost
