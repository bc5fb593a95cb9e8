// XGBoost as its own users run it, and its derivatives, to compare the booster with.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "bregboost/data/feature_array.h"
#include "bregboost/data/row_data.h"
#include "bregboost/learners/xgboost_dataset.h"
#include "generated_data.h"
#include "learners/detail/array_interface.h"
#include "learners/detail/score_view.h"
#include "learners/detail/xgboost_api.h"
#include "learners/detail/xgboost_booster.h"
#include "learners/detail/xgboost_handle.h"
#include "learners/detail/xgboost_parameters.h"
#include "learners/detail/xgboost_start.h"

namespace bregboost::testing {

inline FeatureArray Features(const GeneratedData& data) {
  return FeatureArray::RowMajor(std::span<const double>(data.features), data.rows.num_rows(),
                                data.num_features);
}

inline std::vector<float> Labels(const RowData& rows) {
  std::vector<float> labels(rows.targets.begin(), rows.targets.end());
  for (const std::int32_t code : rows.labels.codes) labels.push_back(static_cast<float>(code));
  return labels;
}

inline std::vector<float> Copy(const detail::ScoreView& scores) {
  const float* values = std::get<const float*>(scores.data);
  return {values, values + scores.size()};
}

inline double LargestDifference(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size() || a.empty()) return std::numeric_limits<double>::infinity();
  double largest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  return largest;
}

inline void SetInfo(const XgboostDataset& dataset, const char* field,
                    const std::vector<float>& values) {
  const detail::XgboostApi& api = *dataset.api();
  api.Check(
      api.DMatrixSetInfoFromInterface(dataset.handle(), field,
                                      detail::ArrayInterface(values.data(), values.size()).c_str()),
      field);
}

inline std::unique_ptr<detail::XgboostBooster> MakeBooster(
    const XgboostDataset& train, const RowData& rows, const GbmParameters& parameters,
    std::span<const XgboostDataset> held_out = {}) {
  return std::make_unique<detail::XgboostBooster>(
      train, held_out, detail::ReadXgboostParameters(parameters, rows.task(), rows.num_scores()),
      detail::SummariseTargets(rows));
}

// What XGBoost trains by itself, by its own objective.
class NativeXgboost {
 public:
  NativeXgboost(const XgboostDataset& train, const RowData& rows, const GbmParameters& parameters)
      : train_(train), api_(*train.api()) {
    SetInfo(train, "label", Labels(rows));
    if (!rows.weights.empty()) {
      SetInfo(train, "weight", std::vector<float>(rows.weights.begin(), rows.weights.end()));
    }
    void* matrix = train.handle();
    void* booster = nullptr;
    api_.Check(api_.BoosterCreate(&matrix, 1, &booster), "native");
    booster_ = detail::XgboostBoosterHandle(booster, {&api_});
    for (const auto& [name, value] :
         detail::ReadXgboostParameters(parameters, rows.task(), rows.num_scores()).parameters) {
      api_.Check(api_.BoosterSetParam(booster, name.c_str(), value.c_str()), "native");
    }
  }

  void Train(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      api_.Check(api_.BoosterUpdateOneIter(booster_.get(), round, train_.handle()), "native");
    }
  }

  // Of the first `rounds` rounds; 0: all.
  std::vector<float> Margins(const XgboostDataset& dataset, int rounds = 0) const {
    return Predict(api_, booster_.get(), dataset, rounds);
  }

  // By a model without memory of the training, as a user loads it.
  static std::vector<float> MarginsOfModel(const std::string& model,
                                           const XgboostDataset& dataset) {
    const detail::XgboostApi& api = *dataset.api();
    void* booster = nullptr;
    api.Check(api.BoosterCreate(nullptr, 0, &booster), "loading");
    const detail::XgboostBoosterHandle owner(booster, {&api});
    api.Check(api.BoosterLoadModelFromBuffer(booster, model.data(), model.size()), "loading");
    return Predict(api, booster, dataset, 0);
  }

 private:
  static std::vector<float> Predict(const detail::XgboostApi& api, void* booster,
                                    const XgboostDataset& dataset, int rounds) {
    const std::string config =
        R"({"type":1,"training":false,"iteration_begin":0,"iteration_end":)" +
        std::to_string(rounds) + R"(,"strict_shape":false})";
    const detail::XgboostApi::Unsigned* shape = nullptr;
    detail::XgboostApi::Unsigned dimensions = 0;
    const float* values = nullptr;
    api.Check(api.BoosterPredictFromDMatrix(booster, dataset.handle(), config.c_str(), &shape,
                                            &dimensions, &values),
              "predicting");
    std::size_t size = 1;
    for (std::size_t i = 0; i < dimensions; ++i) size *= shape[i];
    return {values, values + size};
  }

  XgboostDataset train_;
  const detail::XgboostApi& api_;
  detail::XgboostBoosterHandle booster_;
};

struct Derivatives {
  std::vector<float> gradient;
  std::vector<float> hessian;
};

// XGBoost's own derivatives, in its float arithmetic.
inline Derivatives XgboostDerivatives(const detail::ScoreView& scores, const RowData& rows) {
  const float* margin = std::get<const float*>(scores.data);
  const std::size_t num_scores = scores.num_scores;
  const std::vector<float> labels = Labels(rows);
  Derivatives result{std::vector<float>(scores.size()), std::vector<float>(scores.size())};
  std::vector<float> p(num_scores);
  constexpr float kLeast = 1e-16F;
  for (std::size_t i = 0; i < scores.num_rows; ++i) {
    const float* row = margin + i * num_scores;
    const auto weight = static_cast<float>(rows.weight(i));
    if (num_scores == 1) {
      const bool regression = rows.task() == Task::kRegression;
      p[0] = regression ? row[0] : 1.0F / (std::exp(-row[0]) + 1.0F + kLeast);
      result.gradient[i] = (p[0] - labels[i]) * weight;
      result.hessian[i] = (regression ? 1.0F : std::max(p[0] * (1.0F - p[0]), kLeast)) * weight;
      continue;
    }
    const float largest = *std::max_element(row, row + num_scores);
    double sum = 0.0;
    for (std::size_t k = 0; k < num_scores; ++k) {
      p[k] = std::exp(row[k] - largest);
      sum += static_cast<double>(p[k]);
    }
    for (std::size_t k = 0; k < num_scores; ++k) {
      const float share = p[k] / static_cast<float>(sum);
      const bool is_label = labels[i] == static_cast<float>(k);
      result.gradient[i * num_scores + k] = (is_label ? share - 1.0F : share) * weight;
      result.hessian[i * num_scores + k] = std::max(2.0F * share * (1.0F - share) * weight, kLeast);
    }
  }
  return result;
}

// Rounds of the booster on those derivatives; returns how many found a split.
inline int TrainBooster(detail::XgboostBooster& booster, const RowData& rows, int rounds) {
  int grown = 0;
  for (int round = 0; round < rounds; ++round) {
    const Derivatives derivatives = XgboostDerivatives(booster.TrainScores(), rows);
    if (booster.Boost(derivatives.gradient, derivatives.hessian)) ++grown;
  }
  return grown;
}

}  // namespace bregboost::testing
