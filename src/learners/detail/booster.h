// One growing ensemble inside a stock library: what LightGBM and XGBoost look like to the learner.
//
// Scores are raw (log-odds, class scores, values) and hold everything that the training knows: the
// library's starting score, the user's initial scores and every tree.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "detail/bytes.h"
#include "learners/detail/score_view.h"

namespace bregboost::detail {

// All that it takes to make the same booster again.
struct BoosterSnapshot {
  std::int64_t num_rounds = 0;
  std::int64_t num_empty_rounds = 0;
  std::string trees;  // as Booster::Serialize() wrote them; empty without rounds
  // Of the training set and of every held-out set, where the library cannot work them out from the
  // trees: LightGBM keeps no features that a tree which it has read could look at.
  std::vector<std::vector<double>> scores;

  void WriteTo(ByteWriter& out) const;
  static BoosterSnapshot ReadFrom(ByteReader& in);
};

// For snapshots and all else that is read back: std::runtime_error unless `fits`.
void RequireOfOneTraining(bool fits);

class Booster {
 public:
  virtual ~Booster() = default;

  virtual std::int64_t num_rounds() const = 0;

  // Of all rows of a data set: 0 is the training set, the others are held out.
  virtual std::size_t NumScores(std::size_t data_set) const = 0;

  // Both are valid until the next call that is not const.
  virtual ScoreView TrainScores() = 0;
  virtual ScoreView HeldOutScores(std::size_t set) = 0;

  // The training scores as they are now, kept until the next call: where a step starts from.
  virtual ScoreView HoldScores() {
    held_scores_.Assign(TrainScores());
    return held_scores_.view();
  }

  // Room for scores that are read anew anyway, to use in place of room of one's own until it is
  // given back. Boosters that have no such scores let it be.
  virtual void LendRoom(std::vector<double>& /*room*/) {}
  virtual void GiveBackRoom(std::vector<double>& /*room*/) {}

  // One round: a tree per score (times the library's parallel trees). Derivatives have the layout
  // of TrainScores(). Returns false, with the model as it was, if no tree found a split.
  virtual bool Boost(std::span<const float> gradient, std::span<const float> hessian) = 0;

  // Forgets the last rounds.
  virtual void RollBackTo(std::int64_t num_rounds) = 0;

  virtual BoosterSnapshot TakeSnapshot() = 0;
  // Throws std::runtime_error or std::invalid_argument unless the snapshot may be one of the same
  // data and parameters; those that were read from a file need that before they are loaded.
  virtual void Check(const BoosterSnapshot& snapshot) const = 0;
  // Becomes the booster that a snapshot of the same data and parameters is of. A training with
  // checkpoints is a chain of segments, each of which begins here and draws rows and features by
  // seeds of its own: what the library has drawn before cannot be told from outside.
  virtual void Load(const BoosterSnapshot& snapshot, std::int64_t segment) = 0;
  // The fewest rounds that RollBackTo() can go back to.
  virtual std::int64_t first_round() const { return 0; }

  // The constant score of each class that the training started from and the trees do not hold; to
  // be folded into the exported model. Zero where the user gave initial scores, which stay with the
  // user as in the stock libraries.
  virtual std::vector<double> StartingScores() const = 0;

  // The trees as the library writes them, for model/ to finish: LightGBM text, XGBoost JSON.
  virtual std::string Serialize() const = 0;

  // Why a round may find no split, in the library's own parameter names and values.
  virtual std::string StallHint() const = 0;

 private:
  ScoreCopy held_scores_;
};

}  // namespace bregboost::detail
