// LightGBM as a Booster: custom derivatives through its C API, scores read from its own caches.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bregboost/learners/lightgbm_dataset.h"
#include "bregboost/problem/objective.h"
#include "learners/detail/booster.h"
#include "learners/detail/lightgbm_parameters.h"

namespace bregboost::detail {

class LightGbmBooster final : public Booster {
 public:
  // `starting_scores`, one per score, are used where the training set has no initial scores.
  LightGbmBooster(const LightGbmDataset& train, std::span<const LightGbmDataset> held_out,
                  LightGbmSettings settings, std::vector<double> starting_scores);
  ~LightGbmBooster() override;
  LightGbmBooster(const LightGbmBooster&) = delete;
  LightGbmBooster& operator=(const LightGbmBooster&) = delete;

  std::int64_t num_rounds() const override { return num_rounds_; }
  std::size_t NumScores(std::size_t data_set) const override {
    return dataset(data_set).num_rows() * num_scores_;
  }
  ScoreView TrainScores() override;
  ScoreView HeldOutScores(std::size_t set) override;
  ScoreView HoldScores() override;
  void LendRoom(std::vector<double>& room) override;
  void GiveBackRoom(std::vector<double>& room) override;
  bool Boost(std::span<const float> gradient, std::span<const float> hessian) override;
  void RollBackTo(std::int64_t num_rounds) override;
  BoosterSnapshot TakeSnapshot() override;
  void Check(const BoosterSnapshot& snapshot) const override;
  void Load(const BoosterSnapshot& snapshot, std::int64_t segment) override;
  std::int64_t first_round() const override { return first_round_; }
  std::vector<double> StartingScores() const override { return starting_scores_; }
  std::string Serialize() const override;
  std::string StallHint() const override { return settings_.stall_hint; }

 private:
  struct CachedScores {
    std::vector<double> values;
    bool fresh = false;
  };

  // All three under LockLightGbmFields().
  void Create();
  template <class ScoresOf>
  void CreateFrom(const ScoresOf& scores_of);
  void PutBefore(const std::string& trees);
  void CreateAnew();
  void Free();
  void Forget();
  const LightGbmDataset& dataset(std::size_t index) const {
    return index == 0 ? train_ : held_out_[index - 1];
  }
  void Fetch(std::size_t data_index, std::vector<double>& scores) const;
  ScoreView Read(std::size_t data_index);
  ScoreView ViewOf(const std::vector<double>& scores) const;

  std::shared_ptr<const LightGbmApi> api_;
  LightGbmDataset train_;
  std::vector<LightGbmDataset> held_out_;
  LightGbmSettings settings_;
  std::size_t num_scores_;
  std::vector<double> starting_scores_;
  void* handle_ = nullptr;
  std::int64_t num_rounds_ = 0;
  std::int64_t segment_ = 0;
  std::int64_t first_round_ = 0;       // those before it were read
  std::int64_t num_empty_starts_ = 0;  // first rounds without a split
  std::vector<CachedScores> scores_;   // of the training set, then of each held-out set
  std::vector<double> held_;           // by HoldScores()
  bool held_is_current_ = false;
};

// What LightGBM starts from by itself: the log-odds, the log class shares, or the mean target, with
// weights and targets as the floats that LightGBM stores.
std::vector<double> LightGbmStartingScores(const Objective& objective);

}  // namespace bregboost::detail
