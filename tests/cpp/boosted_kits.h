// LightGBM and XGBoost behind one face, for tests that hold for both: data sets, learners, the
// stock library's own training, and its predictions from a saved model.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bregboost/learners/boosted.h"
#include "bregboost/learners/lightgbm_dataset.h"
#include "bregboost/learners/lockstep.h"
#include "bregboost/learners/xgboost_dataset.h"
#include "bregboost/problem/parser.h"
#include "bregboost/solve/abpp.h"
#include "gbm_test_support.h"
#include "generated_data.h"
#include "xgboost_test_support.h"

namespace bregboost::testing {

using Scores = std::vector<double>;  // class-major

inline double LargestDifference(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size() || a.empty()) return std::numeric_limits<double>::infinity();
  double largest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(a[i] - b[i]));
  }
  return largest;
}

inline Scores ToClassMajor(std::span<const double> row_major, std::size_t num_scores) {
  const std::size_t n = row_major.size() / num_scores;
  Scores result(row_major.size());
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < num_scores; ++k) {
      result[k * n + i] = row_major[i * num_scores + k];
    }
  }
  return result;
}

inline std::int64_t CountOf(const std::string& text, const std::string& word) {
  std::int64_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    ++count;
  }
  return count;
}

struct LightGbmKit {
  using Api = detail::LightGbmApi;
  using Dataset = LightGbmDataset;
  static constexpr double kTolerance = 1e-12;  // of a score after a reload
  static constexpr const char* kNumTrees = "num_iterations";
  // Of a model with one tree per round.
  static std::int64_t NumRounds(const std::string& model) { return CountOf(model, "\nTree="); }

  // Small trees that both libraries grow on little data.
  static GbmParameters Parameters() {
    return {{"num_leaves", "7"}, {"min_data_in_leaf", "5"}, {"num_threads", "1"}};
  }
  // Every round a full Newton step on every value of a feature.
  static GbmParameters NewtonParameters() {
    return {{"num_leaves", "31"},    {"min_data_in_leaf", "1"}, {"min_sum_hessian_in_leaf", "1e-9"},
            {"lambda_l2", "0"},      {"learning_rate", "1"},    {"num_threads", "1"},
            {"min_data_in_bin", "1"}};
  }

  static std::unique_ptr<BoostedLearner> Learner(const Dataset& train, const Objective& objective,
                                                 const BoostedOptions& options,
                                                 std::span<const HeldOut<Dataset>> held_out = {}) {
    return BoostedLearner::LightGbm(train, objective, options, held_out);
  }
  static std::unique_ptr<LockstepLearner> Lockstep(const Dataset& data, const Objective& objective,
                                                   const RateConstraints& constraints,
                                                   const LockstepOptions& options) {
    return LockstepLearner::LightGbm(data, objective, constraints, options);
  }

  static void SetStart(Dataset& dataset, const Scores& scores) { dataset.SetInitialScores(scores); }

  // The stock library's own objective, start and loop; returns the model.
  static std::string NativeModel(const Dataset& train, const RowData& rows,
                                 const GbmParameters& parameters, int rounds) {
    const Api& api = *train.api();
    SetField(train, "label", Labels(rows));
    SetField(train, "weight", std::vector<float>(rows.weights.begin(), rows.weights.end()));
    std::string text = "verbosity=-1 ";
    switch (rows.task()) {
      case Task::kBinary:
        text += "objective=binary";
        break;
      case Task::kMulticlass:
        text += "objective=multiclass num_class=" + std::to_string(rows.num_scores());
        break;
      case Task::kRegression:
        text += "objective=regression";
        break;
    }
    for (const auto& [name, value] : parameters) text += " " + name + "=" + value;
    void* booster = nullptr;
    api.Check(api.BoosterCreate(train.handle(), text.c_str(), &booster), "native");
    for (int round = 0; round < rounds; ++round) {
      int finished = 0;
      api.Check(api.BoosterUpdateOneIter(booster, &finished), "native");
    }
    std::string model(std::size_t{1} << 22, '\0');
    std::int64_t length = 0;
    api.Check(
        api.BoosterSaveModelToString(booster, 0, -1, 0, static_cast<std::int64_t>(model.size()),
                                     &length, model.data()),
        "native");
    api.BoosterFree(booster);
    model.resize(static_cast<std::size_t>(length) - 1);
    return model;
  }

  // Raw scores, or what the model's objective makes of them.
  static Scores Predict(const std::string& model, const GeneratedData& data, bool raw = true) {
    const auto api = Api::Load();
    void* booster = nullptr;
    int rounds = 0;
    api->Check(api->BoosterLoadModelFromString(model.c_str(), &rounds, &booster), "loading");
    const std::size_t n = data.rows.num_rows();
    std::vector<double> out(n * data.rows.num_scores());
    std::int64_t length = 0;
    api->Check(api->BoosterPredictForMat(booster, data.features.data(), detail::kLgbFloat64,
                                         static_cast<std::int32_t>(n),
                                         static_cast<std::int32_t>(data.num_features), 1,
                                         raw ? 1 : 0, 0, -1, "num_threads=1", &length, out.data()),
               "predicting");
    api->BoosterFree(booster);
    return ToClassMajor(out, data.rows.num_scores());
  }

 private:
  static void SetField(const Dataset& dataset, const char* field,
                       const std::vector<float>& values) {
    dataset.api()->Check(
        dataset.api()->DatasetSetField(dataset.handle(), field, values.data(),
                                       static_cast<int>(values.size()), detail::kLgbFloat32),
        field);
  }
};

struct XgboostKit {
  using Api = detail::XgboostApi;
  using Dataset = XgboostDataset;
  static constexpr double kTolerance = 4e-6;
  static constexpr const char* kNumTrees = "num_boost_round";
  static std::int64_t NumRounds(const std::string& model) {
    return CountOf(model, "split_conditions");
  }

  static GbmParameters Parameters() {
    return {{"max_depth", "3"}, {"min_child_weight", "1"}, {"nthread", "1"}};
  }
  static GbmParameters NewtonParameters() {
    return {{"max_depth", "6"},
            {"min_child_weight", "0"},
            {"reg_lambda", "0"},
            {"eta", "1"},
            {"nthread", "1"}};
  }

  static std::unique_ptr<BoostedLearner> Learner(const Dataset& train, const Objective& objective,
                                                 const BoostedOptions& options,
                                                 std::span<const HeldOut<Dataset>> held_out = {}) {
    return BoostedLearner::Xgboost(train, objective, options, held_out);
  }
  static std::unique_ptr<LockstepLearner> Lockstep(const Dataset& data, const Objective& objective,
                                                   const RateConstraints& constraints,
                                                   const LockstepOptions& options) {
    return LockstepLearner::Xgboost(data, objective, constraints, options);
  }

  static void SetStart(Dataset& dataset, const Scores& scores) { dataset.SetBaseMargin(scores); }

  static std::string NativeModel(const Dataset& train, const RowData& rows,
                                 const GbmParameters& parameters, int rounds) {
    const Api& api = *train.api();
    SetInfo(train, "label", Labels(rows));
    if (!rows.weights.empty()) {
      SetInfo(train, "weight", std::vector<float>(rows.weights.begin(), rows.weights.end()));
    }
    void* matrix = train.handle();
    void* booster = nullptr;
    api.Check(api.BoosterCreate(&matrix, 1, &booster), "native");
    const detail::XgboostBoosterHandle owner(booster, {&api});
    for (const auto& [name, value] :
         detail::ReadXgboostParameters(parameters, rows.task(), rows.num_scores()).parameters) {
      api.Check(api.BoosterSetParam(booster, name.c_str(), value.c_str()), "native");
    }
    for (int round = 0; round < rounds; ++round) {
      api.Check(api.BoosterUpdateOneIter(booster, round, matrix), "native");
    }
    Api::Unsigned length = 0;
    const char* bytes = nullptr;
    api.Check(api.BoosterSaveModelToBuffer(booster, R"({"format": "ubj"})", &length, &bytes),
              "native");
    return {bytes, length};
  }

  static Scores Predict(const std::string& model, const GeneratedData& data, bool raw = true) {
    const XgboostDataset features =
        XgboostDataset::FromArray(Features(data), {{"nthread", "1"}, {"tree_method", "exact"}});
    const Api& api = *features.api();
    void* booster = nullptr;
    api.Check(api.BoosterCreate(nullptr, 0, &booster), "loading");
    const detail::XgboostBoosterHandle owner(booster, {&api});
    api.Check(api.BoosterLoadModelFromBuffer(booster, model.data(), model.size()), "loading");
    const std::string config =
        std::string(R"({"training": false, "iteration_begin": 0, "iteration_end": 0, )") +
        R"("strict_shape": false, "type": )" + (raw ? "1}" : "0}");
    const Api::Unsigned* shape = nullptr;
    Api::Unsigned dimensions = 0;
    const float* values = nullptr;
    api.Check(api.BoosterPredictFromDMatrix(booster, features.handle(), config.c_str(), &shape,
                                            &dimensions, &values),
              "predicting");
    const std::size_t num_scores = data.rows.num_scores();
    return ToClassMajor(std::vector<double>(values, values + data.rows.num_rows() * num_scores),
                        num_scores);
  }
};

template <class Kit>
typename Kit::Dataset MakeDataset(const GeneratedData& data, const GbmParameters& parameters,
                                  const typename Kit::Dataset* reference = nullptr) {
  return Kit::Dataset::FromArray(Features(data), parameters, reference);
}

inline std::vector<Constraint> Parse(const std::vector<std::string>& texts) {
  std::vector<Constraint> constraints;
  for (const std::string& text : texts) constraints.push_back(ParseConstraint(text));
  return constraints;
}

// So many iterations, whatever the residual says.
inline AbppOptions Iterations(std::int64_t iterations) {
  AbppOptions options;
  options.termination.max_iterations = iterations;
  options.termination.stationarity_tolerance = 0.0;
  return options;
}

}  // namespace bregboost::testing
