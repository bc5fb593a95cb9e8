#include <fmt/format.h>

#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bregboost/learners/boosted.h"
#include "bregboost/learners/lightgbm_dataset.h"
#include "learners/boosted_impl.h"
#include "learners/detail/lightgbm_booster.h"
#include "learners/detail/lightgbm_parameters.h"

namespace bregboost {
namespace {

void CheckRows(const LightGbmDataset& dataset, const Objective& objective, const char* what) {
  const std::size_t rows = objective.rows().num_rows();
  if (dataset.num_rows() == rows) return;
  throw std::invalid_argument(fmt::format("{}: {} rows of features; allowed: as many as labels, {}",
                                          what, dataset.num_rows(), rows));
}

}  // namespace

std::unique_ptr<BoostedLearner> BoostedLearner::LightGbm(
    const LightGbmDataset& train, const Objective& objective, const BoostedOptions& options,
    std::span<const HeldOut<LightGbmDataset>> held_out) {
  CheckRows(train, objective, "training set");
  std::vector<LightGbmDataset> held_out_sets;
  std::vector<const Objective*> held_out_objectives;
  for (const HeldOut<LightGbmDataset>& set : held_out) {
    CheckRows(set.dataset, *set.objective, "held-out set");
    held_out_sets.push_back(set.dataset);
    held_out_objectives.push_back(set.objective);
  }
  const RowData& rows = objective.rows();
  const std::size_t num_scores = rows.num_scores();
  detail::LightGbmSettings library = detail::ReadLightGbmParameters(
      options.parameters, rows.task(), num_scores, objective.options().loss.kind);
  BoosterSettings settings{.library_title = "LightGBM",
                           .num_rounds = library.num_rounds.value_or(100),
                           .rounds_per_step = options.rounds_per_step,
                           .early_stopping_rounds = library.early_stopping_rounds.value_or(
                               options.early_stopping_rounds),
                           .num_threads = library.num_threads,
                           .learning_rate = library.learning_rate,
                           .samples = library.samples};
  std::vector<double> start = library.boost_from_average ? detail::LightGbmStartingScores(objective)
                                                         : std::vector<double>(num_scores, 0.0);
  auto booster = std::make_unique<detail::LightGbmBooster>(train, held_out_sets, std::move(library),
                                                           std::move(start));
  const auto k = static_cast<double>(num_scores);
  const detail::PassOptions pass{.softmax_hessian_factor = num_scores > 1 ? k / (k - 1.0) : 2.0};
  return std::unique_ptr<BoostedLearner>(new BoostedLearner(
      std::make_unique<Impl>(objective, std::move(settings), pass, std::move(booster),
                             &ExportLightGbm, held_out_objectives)));
}

}  // namespace bregboost
