// XGBoost as a Booster: custom derivatives through its C API, margins from its prediction caches.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "bregboost/learners/xgboost_dataset.h"
#include "learners/detail/booster.h"
#include "learners/detail/xgboost_api.h"
#include "learners/detail/xgboost_handle.h"
#include "learners/detail/xgboost_parameters.h"
#include "learners/detail/xgboost_start.h"
#include "model/detail/xgboost_json.h"

namespace bregboost::detail {

class XgboostBooster final : public Booster {
 public:
  // Starts from the base margins of the training set if it has some (then every held-out set has
  // too), else from the user's base_score, else from what the library estimates for `targets`.
  // Throws std::invalid_argument for a parameter that the library refuses or does not know.
  XgboostBooster(const XgboostDataset& train, std::span<const XgboostDataset> held_out,
                 XgboostSettings settings, const TargetSummary& targets);

  std::int64_t num_rounds() const override { return num_rounds_; }
  std::size_t NumScores(std::size_t data_set) const override {
    return dataset(data_set).num_rows() * settings_.num_scores;
  }
  ScoreView TrainScores() override { return held_is_current_ ? ViewOf(held_) : Read(0); }
  ScoreView HeldOutScores(std::size_t set) override { return Read(set + 1); }
  ScoreView HoldScores() override;
  bool Boost(std::span<const float> gradient, std::span<const float> hessian) override;
  void RollBackTo(std::int64_t num_rounds) override;
  BoosterSnapshot TakeSnapshot() override;
  void Check(const BoosterSnapshot& snapshot) const override;
  void Load(const BoosterSnapshot& snapshot, std::int64_t segment) override;
  // The same numbers are in the base_score of Serialize().
  std::vector<double> StartingScores() const override { return starting_scores_; }
  std::string Serialize() const override;
  std::string StallHint() const override { return settings_.stall_hint; }

  int num_threads() const { return settings_.num_threads; }

 private:
  struct CachedScores {
    std::vector<float> values;  // row-major
    bool is_fresh = false;
  };

  void CheckDatasets() const;
  std::string Config() const;
  void Create(const std::string& trees = {});
  void SliceTo(std::int64_t num_rounds);
  void RememberCategories();
  XgboostBoosterHandle Slice(std::int64_t begin, std::int64_t end) const;
  void NameFeatures();
  std::span<const char*> FeatureInfo(const char* field) const;
  const XgboostDataset& dataset(std::size_t index) const {
    return index == 0 ? train_ : held_out_[index - 1];
  }
  void Predict(std::size_t index, std::vector<float>& margins) const;
  ScoreView Read(std::size_t index);
  ScoreView ViewOf(const std::vector<float>& margins) const;
  bool LastRoundHasSplit() const;

  std::shared_ptr<const XgboostApi> api_;
  XgboostDataset train_;
  std::vector<XgboostDataset> held_out_;
  XgboostSettings settings_;
  std::size_t num_rows_;
  std::vector<double> starting_scores_;
  XgboostBoosterHandle booster_;
  // What the codes of categories stand for, which the library leaves behind where it takes rounds
  // back; null: the booster has it itself, or there is nothing to have.
  Json categories_;
  std::int64_t num_rounds_ = 0;
  std::int64_t segment_ = 0;
  std::int64_t num_empty_rounds_ = 0;  // taken back since the booster was made
  std::vector<CachedScores> scores_;   // of the training set, then of each held-out set
  std::thread::id thread_;             // that made the last round
  std::vector<float> held_;            // by HoldScores()
  bool held_is_current_ = false;
  // Of the training set after a round that may be taken back, where held_ is of an earlier one.
  std::vector<float> next_scores_;
};

}  // namespace bregboost::detail
