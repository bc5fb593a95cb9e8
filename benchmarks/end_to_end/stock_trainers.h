// The stock libraries training by themselves: what the learners are measured against.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "bregboost/data/feature_array.h"
#include "bregboost/learners/boosted.h"
#include "bregboost/learners/lightgbm_dataset.h"
#include "bregboost/learners/lockstep.h"
#include "bregboost/learners/xgboost_dataset.h"
#include "learners/detail/array_interface.h"
#include "learners/detail/lightgbm_api.h"
#include "learners/detail/xgboost_api.h"
#include "synthetic_data.h"

namespace bregboost::benchmarks {

inline FeatureArray Features(const SyntheticData& data) {
  return FeatureArray::RowMajor(data.features, data.rows.num_rows(), kFeatures);
}

inline std::vector<float> LabelsOf(const RowData& rows) {
  return {rows.labels.codes.begin(), rows.labels.codes.end()};
}

// 31 leaves, the library's own defaults otherwise.
struct LightGbmLibrary {
  using Dataset = LightGbmDataset;
  static constexpr const char* kName = "LightGBM";

  static GbmParameters Parameters(int threads) {
    return {{"num_leaves", "31"}, {"num_threads", std::to_string(threads)}};
  }
  static std::unique_ptr<BoostedLearner> Learner(const Dataset& train, const Objective& objective,
                                                 const BoostedOptions& options,
                                                 std::span<const HeldOut<Dataset>> held_out) {
    return BoostedLearner::LightGbm(train, objective, options, held_out);
  }
  static std::unique_ptr<LockstepLearner> Lockstep(const Dataset& data, const Objective& objective,
                                                   const RateConstraints& constraints,
                                                   const LockstepOptions& options) {
    return LockstepLearner::LightGbm(data, objective, constraints, options);
  }

  class Stock {
   public:
    Stock(const Dataset& train, const RowData& rows, int threads) : api_(train.api()) {
      const std::vector<float> labels = LabelsOf(rows);
      api_->Check(api_->DatasetSetField(train.handle(), "label", labels.data(),
                                        static_cast<int>(labels.size()), detail::kLgbFloat32),
                  "labels");
      std::string text =
          fmt::format("verbosity=-1 objective={} num_class={}",
                      rows.num_scores() == 1 ? "binary" : "multiclass", rows.num_scores());
      for (const auto& [name, value] : Parameters(threads)) {
        text += fmt::format(" {}={}", name, value);
      }
      api_->Check(api_->BoosterCreate(train.handle(), text.c_str(), &booster_), "stock booster");
    }
    ~Stock() { api_->BoosterFree(booster_); }
    Stock(const Stock&) = delete;
    Stock& operator=(const Stock&) = delete;

    void Round() {
      int finished = 0;
      api_->Check(api_->BoosterUpdateOneIter(booster_, &finished), "stock round");
    }

   private:
    std::shared_ptr<const detail::LightGbmApi> api_;
    void* booster_ = nullptr;
  };
};

struct XgboostLibrary {
  using Dataset = XgboostDataset;
  static constexpr const char* kName = "XGBoost";

  static GbmParameters Parameters(int threads) {
    return {{"tree_method", "hist"},
            {"grow_policy", "lossguide"},
            {"max_leaves", "31"},
            {"max_depth", "0"},
            {"nthread", std::to_string(threads)}};
  }
  static std::unique_ptr<BoostedLearner> Learner(const Dataset& train, const Objective& objective,
                                                 const BoostedOptions& options,
                                                 std::span<const HeldOut<Dataset>> held_out) {
    return BoostedLearner::Xgboost(train, objective, options, held_out);
  }
  static std::unique_ptr<LockstepLearner> Lockstep(const Dataset& data, const Objective& objective,
                                                   const RateConstraints& constraints,
                                                   const LockstepOptions& options) {
    return LockstepLearner::Xgboost(data, objective, constraints, options);
  }

  class Stock {
   public:
    Stock(const Dataset& train, const RowData& rows, int threads)
        : api_(train.api()), train_(train.handle()) {
      const std::vector<float> labels = LabelsOf(rows);
      api_->Check(
          api_->DMatrixSetInfoFromInterface(
              train_, "label", detail::ArrayInterface(labels.data(), labels.size()).c_str()),
          "labels");
      api_->Check(api_->BoosterCreate(&train_, 1, &booster_), "stock booster");
      GbmParameters parameters = Parameters(threads);
      parameters["objective"] = rows.num_scores() == 1 ? "binary:logistic" : "multi:softprob";
      if (rows.num_scores() > 1) parameters["num_class"] = std::to_string(rows.num_scores());
      for (const auto& [name, value] : parameters) {
        api_->Check(api_->BoosterSetParam(booster_, name.c_str(), value.c_str()), "parameter");
      }
    }
    ~Stock() { api_->BoosterFree(booster_); }
    Stock(const Stock&) = delete;
    Stock& operator=(const Stock&) = delete;

    void Round() {
      api_->Check(api_->BoosterUpdateOneIter(booster_, round_++, train_), "stock round");
    }

   private:
    std::shared_ptr<const detail::XgboostApi> api_;
    void* train_;
    void* booster_ = nullptr;
    int round_ = 0;
  };
};

}  // namespace bregboost::benchmarks
