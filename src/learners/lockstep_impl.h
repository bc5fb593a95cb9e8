// What a LockstepLearner is made of: lockstep.cc makes folds of each library, lockstep_impl.cc
// trains them, lockstep_segments.cc writes and reads its states.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bregboost/learners/lockstep.h"
#include "bregboost/problem/objective.h"
#include "bregboost/problem/rate_constraints.h"
#include "detail/bytes.h"
#include "detail/thread_scope.h"
#include "detail/worker_pool.h"
#include "learners/boosted_impl.h"
#include "learners/detail/boosting_pass.h"
#include "learners/detail/fold_rows.h"
#include "learners/detail/round_buffers.h"

namespace bregboost {

// Rows set aside for certification are a set that every booster scores apart, or rows of XGBoost's
// data set.
struct ReservedRows {
  std::size_t rows = 0;
  std::optional<std::size_t> set;  // the number of that set
};

// Everything one booster trains on. Objective and constraints point to the rows, so it stays put.
struct TrainingFold {
  TrainingFold(RowData training_rows, const Objective& objective,
               const RateConstraints& all_constraints, std::vector<std::int32_t> rows_held_out);
  TrainingFold(const TrainingFold&) = delete;
  TrainingFold& operator=(const TrainingFold&) = delete;

  // The costs of its own cells.
  std::vector<double> Costs(std::span<const double> of_all_cells) const;

  RowData rows;
  Objective training;
  RateConstraints constraints;
  std::vector<std::size_t> cell_places;  // of its cells among those of all folds
  std::vector<std::int32_t> held_out;    // of the objective's rows, in rising order

  // The set of its booster that `held_out` rows are; none: they are in the data that it trains on.
  std::optional<std::size_t> set;

  std::unique_ptr<BoostedLearner> learner;
};

class LockstepLearner::Impl {
 public:
  // Runs on the thread that fold k keeps.
  using MakeFold =
      std::function<std::unique_ptr<TrainingFold>(const detail::FoldRows&, std::size_t k)>;
  Impl(const Objective& objective, const RateConstraints& constraints, detail::FoldRows rows,
       ReservedRows reserved, BoosterSettings settings, const MakeFold& make_fold);

  std::span<const double> scores() const { return scores_; }
  const RateConstraints& constraints() const { return constraints_; }
  const detail::FoldRows& rows() const { return rows_; }
  const BoosterSettings& settings() const { return settings_; }
  const TrainingFold& fold(std::size_t k) const { return *folds_.at(k); }
  void SetRoundsPerStep(std::int64_t rounds);

  LearnerValues Evaluate(const ConstraintSet& constraints) const;
  std::span<const double> ReservedScores();
  std::vector<double> TrainedScores(std::size_t m);
  double MeanOverFolds(const std::function<double(const TrainingFold&)>& value);

  StepOutcome Step(const ProximalStep& step);
  StepOutcome StepOnCosts(std::span<const double> costs, double tau);
  void SetAnchor();
  void ReturnToBest();
  void UseAverage();
  template <class Function>
  void ForEachFold(const Function& function) const {
    for (const auto& fold : folds_) function(*fold->learner);
  }

  std::unique_ptr<ModelState> Save() const { return SaveState(); }
  void Restore(const ModelState& saved);
  void EndSegment(std::span<ModelState* const> kept, detail::ByteWriter& out);
  std::vector<std::unique_ptr<ModelState>> TakeUp(detail::ByteReader& in);

 private:
  class BufferLease;
  struct State;
  struct Best {  // by the out-of-fold loss
    double loss = std::numeric_limits<double>::infinity();
    std::int64_t round = 0;
    std::shared_ptr<State> state;
  };
  struct State final : ModelState {
    std::vector<std::unique_ptr<ModelState>> folds;
    std::int64_t rounds_done = 0;
    Best best;
  };
  std::unique_ptr<State> SaveState() const;

  std::size_t FoldsAtOnce() const;
  // change(fold) of all folds' models, each on its thread, where our row loops stay.
  template <class Change>
  void ChangeFolds(const Change& change) {
    pool_.Run(FoldsAtOnce(), [&](std::size_t k) {
      const detail::ThreadScope threads(1);
      change(k);
      CollectScores(k);
      return false;
    });
    reserved_is_current_ = false;
  }
  template <class AddRound>
  StepOutcome TakeStep(const AddRound& add_round);
  StepOutcome Gather(const std::vector<StepOutcome>& outcomes);
  std::string CheckLoss();

  void CheckFold(std::size_t k) const;
  detail::ScoreView View() const;
  void CollectScores(std::size_t k);
  std::vector<std::int32_t> PlacesIn(const TrainingFold& fold,
                                     std::span<const std::int32_t> rows) const;
  template <class RowOf, class Use>
  void ReadScores(const TrainingFold& fold, std::optional<std::size_t> set, std::size_t count,
                  const RowOf& row_of, const Use& use) const;

  const Objective& objective_;
  const RateConstraints& constraints_;
  detail::FoldRows rows_;
  ReservedRows reserved_;
  BoosterSettings settings_;
  detail::BoostingPass pass_;
  std::vector<double> scores_;           // out of fold, class-major
  std::vector<double> reserved_scores_;  // the mean over the folds, class-major
  bool reserved_is_current_ = false;
  std::vector<std::unique_ptr<TrainingFold>> folds_;
  detail::WorkerPool pool_;
  detail::RoundBufferPool buffers_;
  bool warmed_up_ = false;

  std::int64_t rounds_done_ = 0;
  Best best_;
};

}  // namespace bregboost
