#include "learners/detail/xgboost_start.h"

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string_view>

#include "learners/detail/array_interface.h"
#include "learners/detail/xgboost_handle.h"

namespace bregboost::detail {
namespace {

constexpr const char* kWhat = "estimating the starting score";

XgboostMatrixHandle OneRowPerClass(const XgboostApi& api, const std::vector<float>& labels,
                                   const std::vector<float>& weights) {
  const std::vector<float> feature(labels.size(), 0.0F);
  void* handle = nullptr;
  api.Check(
      api.DMatrixCreateFromDense(ArrayInterface(feature.data(), feature.size(), 1, 1, 1).c_str(),
                                 R"({"missing":NaN,"nthread":1})", &handle),
      kWhat);
  XgboostMatrixHandle matrix(handle, {&api});
  const auto set = [&](const char* field, const std::vector<float>& values) {
    api.Check(api.DMatrixSetInfoFromInterface(handle, field,
                                              ArrayInterface(values.data(), values.size()).c_str()),
              kWhat);
  };
  set("label", labels);
  set("weight", weights);
  return matrix;
}

}  // namespace

TargetSummary SummariseTargets(const RowData& rows) {
  TargetSummary summary;
  if (rows.task() != Task::kRegression) {
    summary.class_weights.resize(rows.labels.levels.size());
    for (std::size_t i = 0; i < rows.num_rows(); ++i) {
      summary.class_weights[static_cast<std::size_t>(rows.labels.codes[i])] += rows.weight(i);
    }
    rows.SumOverWorkers(summary.class_weights);
    return summary;
  }
  std::array sums = {0.0, 0.0};  // of targets, of weights
  for (std::size_t i = 0; i < rows.num_rows(); ++i) {
    sums[0] += rows.weight(i) * rows.targets[i];
    sums[1] += rows.weight(i);
  }
  rows.SumOverWorkers(sums);
  summary.mean = sums[0] / sums[1];
  return summary;
}

std::string EstimateBaseScore(const XgboostApi& api, const XgboostSettings& settings,
                              const TargetSummary& targets) {
  std::vector<float> labels = {static_cast<float>(targets.mean)};
  std::vector<float> weights = {1.0F};
  if (!targets.class_weights.empty()) {
    labels.clear();
    weights.clear();
    for (std::size_t k = 0; k < targets.class_weights.size(); ++k) {
      labels.push_back(static_cast<float>(k));
      weights.push_back(static_cast<float>(targets.class_weights[k]));
    }
  }
  const XgboostMatrixHandle matrix = OneRowPerClass(api, labels, weights);
  void* handle = matrix.get();
  void* created = nullptr;
  api.Check(api.BoosterCreate(&handle, 1, &created), kWhat);
  const XgboostBoosterHandle booster(created, {&api});
  api.Check(api.BoosterSetParam(created, "objective", settings.objective.c_str()), kWhat);
  api.Check(api.BoosterSetParam(created, "nthread", "1"), kWhat);
  if (settings.num_scores > 1) {
    api.Check(
        api.BoosterSetParam(created, "num_class", std::to_string(settings.num_scores).c_str()),
        kWhat);
  }
  api.Check(api.BoosterUpdateOneIter(created, 0, handle), kWhat);

  XgboostApi::Unsigned length = 0;
  const char* text = nullptr;
  api.Check(api.BoosterSaveJsonConfig(created, &length, &text), kWhat);
  const std::string_view config(text, length);
  constexpr std::string_view kKey = R"("base_score":")";
  const std::size_t key = config.find(kKey);
  if (key == std::string_view::npos) {
    throw std::runtime_error("XGBoost, estimating the starting score: no base_score in its config");
  }
  const std::size_t begin = key + kKey.size();
  return std::string(config.substr(begin, config.find('"', begin) - begin));
}

}  // namespace bregboost::detail
