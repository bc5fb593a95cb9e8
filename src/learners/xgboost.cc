#include <fmt/format.h>

#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bregboost/learners/boosted.h"
#include "bregboost/learners/xgboost_dataset.h"
#include "learners/boosted_impl.h"
#include "learners/detail/xgboost_booster.h"
#include "learners/detail/xgboost_handle.h"
#include "learners/detail/xgboost_parameters.h"
#include "learners/detail/xgboost_start.h"

namespace bregboost {
namespace {

void CheckRows(const XgboostDataset& dataset, const Objective& objective, const char* what) {
  const std::size_t rows = objective.rows().num_rows();
  if (dataset.num_rows() == rows) return;
  throw std::invalid_argument(fmt::format("{}: {} rows of features; allowed: as many as labels, {}",
                                          what, dataset.num_rows(), rows));
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

std::unique_ptr<BoostedLearner> BoostedLearner::Xgboost(
    const XgboostDataset& train, const Objective& objective, const BoostedOptions& options,
    std::span<const HeldOut<XgboostDataset>> held_out) {
  CheckRows(train, objective, "training set");
  std::vector<XgboostDataset> held_out_sets;
  std::vector<const Objective*> held_out_objectives;
  for (const HeldOut<XgboostDataset>& set : held_out) {
    CheckRows(set.dataset, *set.objective, "held-out set");
    held_out_sets.push_back(set.dataset);
    held_out_objectives.push_back(set.objective);
  }
  const RowData& rows = objective.rows();
  detail::XgboostSettings library =
      detail::ReadXgboostParameters(options.parameters, rows.task(), rows.num_scores());
  BoosterSettings settings{.library_title = "XGBoost",
                           .num_rounds = library.num_rounds.value_or(100),
                           .rounds_per_step = options.rounds_per_step,
                           .early_stopping_rounds = library.early_stopping_rounds.value_or(
                               options.early_stopping_rounds),
                           .num_threads = library.num_threads,
                           .learning_rate = library.learning_rate,
                           .samples = library.samples};
  auto booster = std::make_unique<detail::XgboostBooster>(train, held_out_sets, std::move(library),
                                                          detail::SummariseTargets(rows));
  const auto api = train.api();
  ModelWriter writer = [api](std::span<const ModelPart> parts, const ExportSpec& spec) {
    return ToUbjson(api, ExportXgboost(parts, spec));
  };
  const detail::PassOptions pass{.softmax_hessian_factor = 2.0};
  return std::unique_ptr<BoostedLearner>(new BoostedLearner(
      std::make_unique<Impl>(objective, std::move(settings), pass, std::move(booster),
                             std::move(writer), held_out_objectives)));
}

}  // namespace bregboost
