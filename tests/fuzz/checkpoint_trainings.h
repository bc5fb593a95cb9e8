// Trainings whose checkpoints are fuzzed: every kind of learner that has some, on a few rows, each
// with a solver that makes it write what the others do not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bregboost/learners/boosted.h"
#include "bregboost/learners/checkpoint.h"
#include "bregboost/learners/hold_out.h"
#include "bregboost/learners/lightgbm_dataset.h"
#include "bregboost/learners/lockstep.h"
#include "bregboost/learners/xgboost_dataset.h"
#include "bregboost/pipeline/paper_fit.h"
#include "bregboost/problem/objective.h"
#include "bregboost/problem/parser.h"
#include "bregboost/problem/rate_problem.h"
#include "bregboost/solve/rate_training.h"
#include "detail/bytes.h"
#include "generated_data.h"
#include "learners/detail/journal_reader.h"
#include "learners/detail/masked_xgboost.h"

namespace bregboost::fuzz {

class CheckpointTraining {
 public:
  virtual ~CheckpointTraining() = default;
  // To the end, from the checkpoint in the directory if the options say so: then it does not depend
  // on what was run before. Throws CheckpointError.
  virtual void Run(const CheckpointOptions& options) = 0;
};

// ---- parts

inline constexpr std::size_t kRows = 40;
inline constexpr std::int64_t kRounds = 6;
inline const std::vector<std::string> kLimits = {"gap(selection_rate, by=group) <= 5%",
                                                 "fnr <= 30%"};

struct LightGbm {
  using Dataset = LightGbmDataset;
  static GbmParameters Parameters() {
    return {{"num_iterations", std::to_string(kRounds)},
            {"num_leaves", "3"},
            {"min_data_in_leaf", "2"},
            {"max_bin", "15"},
            {"num_threads", "1"}};
  }
};
struct Xgboost {
  using Dataset = XgboostDataset;
  static GbmParameters Parameters() {
    return {{"num_boost_round", std::to_string(kRounds)},
            {"max_depth", "2"},
            {"max_bin", "15"},
            {"nthread", "1"},
            {"verbosity", "0"}};
  }
};

template <class Library>
typename Library::Dataset DatasetOf(const testing::GeneratedData& data,
                                    const typename Library::Dataset* reference = nullptr) {
  return Library::Dataset::FromArray(
      FeatureArray::RowMajor(std::span<const double>(data.features), data.rows.num_rows(),
                             data.num_features),
      Library::Parameters(), reference);
}

inline std::vector<Constraint> Parsed(const std::vector<std::string>& texts) {
  std::vector<Constraint> constraints;
  for (const std::string& text : texts) constraints.push_back(ParseConstraint(text));
  return constraints;
}

// Rows in the loss and in the rates.
struct Part {
  Part(RowData its_rows, const std::vector<std::string>& limits)
      : rows(std::move(its_rows)),
        objective(rows, {}),
        problem(Parsed(limits), ParseObjective("error"), rows) {}
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  RowData rows;
  Objective objective;
  RateProblem problem;
};

// Runs `solve` on a learner with checkpoints, then uses the learner as its owner would.
template <class Base, class Learner, class Solve>
void TrainAndUse(Learner& learner, const CheckpointOptions& options, const Solve& solve) {
  const std::unique_ptr<Base> solved =
      WithCheckpoints(static_cast<Base&>(learner), options, {{"training", "fuzzed"}});
  solve(*solved);
  detail::RequireTakenUp(*solved);
  learner.Model({});
  const std::unique_ptr<ModelState> state = learner.Save();
  const std::array<ModelState*, 1> kept = {state.get()};
  detail::ByteWriter next;
  learner.EndSegment(kept, next);
  learner.Restore(*state);
}

// Either stops early by the loss and keeps the best rounds, or moves multipliers and keeps the best
// iterate or an average.
struct RateSolver {
  std::int64_t early_stopping_rounds = 0;
  IterateChoice choice = IterateChoice::kBest;

  template <class Library>
  BoostedOptions Boosting() const {
    return {.parameters = Library::Parameters(), .early_stopping_rounds = early_stopping_rounds};
  }

  template <class Learner>
  void Run(Learner& learner, RateProblem& unseen, const RateProblem& training,
           const CheckpointOptions& options) const {
    unseen.SetAllowances({});
    TrainAndUse<CrossFitLearner>(learner, options, [&](CrossFitLearner& solved) {
      const RateTrainingOptions how{.choice = choice};
      if (early_stopping_rounds > 0) {
        TrainPlain(solved, unseen, how, {});
      } else {
        TrainOnRates(solved, unseen, training, how, {});
      }
    });
  }
};

// ---- trainings

class LightGbmHoldOut final : public CheckpointTraining {
 public:
  explicit LightGbmHoldOut(RateSolver solver) : solver_(solver) {}

  void Run(const CheckpointOptions& options) override {
    solver_.Run(*learner_, unseen_.problem, training_.problem, options);
  }

 private:
  RateSolver solver_;
  testing::GeneratedData training_data_ = testing::TwoGroups(kRows, 1);
  testing::GeneratedData unseen_data_ = testing::TwoGroups(kRows, 2);
  LightGbmDataset training_set_ = DatasetOf<LightGbm>(training_data_);
  LightGbmDataset unseen_set_ = DatasetOf<LightGbm>(unseen_data_, &training_set_);
  Part training_{training_data_.rows, kLimits};
  Part unseen_{unseen_data_.rows, kLimits};
  std::unique_ptr<HoldOutLearner> learner_ = HoldOutLearner::LightGbm(
      {training_set_, training_.objective, training_.problem.rates()},
      {unseen_set_, unseen_.objective, unseen_.problem.rates()}, solver_.Boosting<LightGbm>());
};

class XgboostHoldOut final : public CheckpointTraining {
 public:
  explicit XgboostHoldOut(RateSolver solver) : solver_(solver) {}

  void Run(const CheckpointOptions& options) override {
    solver_.Run(learner_, unseen_.problem, training_.problem, options);
  }

 private:
  static std::vector<std::int32_t> EveryOther(std::int32_t first) {
    std::vector<std::int32_t> rows;
    for (std::int32_t i = first; i < 2 * static_cast<std::int32_t>(kRows); i += 2) {
      rows.push_back(i);
    }
    return rows;
  }

  RateSolver solver_;
  testing::GeneratedData data_ = testing::TwoGroups(2 * kRows, 3);
  XgboostDataset set_ = DatasetOf<Xgboost>(data_);
  Part training_{TakeRows(data_.rows, EveryOther(0)), kLimits};
  Part unseen_{TakeRows(data_.rows, EveryOther(1)), kLimits};
  detail::MaskedHoldOut learner_{set_,
                                 {training_.objective, training_.problem.rates()},
                                 EveryOther(0),
                                 {unseen_.objective, unseen_.problem.rates()},
                                 {.in_data = EveryOther(1)},
                                 {},
                                 solver_.Boosting<Xgboost>()};
};

template <class Library>
class Folds final : public CheckpointTraining {
 public:
  // `make` is LockstepLearner's for the library.
  template <class Make>
  Folds(RateSolver solver, testing::GeneratedData data, const std::vector<std::string>& limits,
        const Make& make)
      : solver_(solver),
        data_(std::move(data)),
        set_(DatasetOf<Library>(data_)),
        part_(data_.rows, limits),
        learner_(make(set_, part_.objective, part_.problem.rates(),
                      {.boosting = solver.Boosting<Library>(), .num_folds = 2}, nullptr)) {}

  void Run(const CheckpointOptions& options) override {
    solver_.Run(*learner_, part_.problem, part_.problem, options);
  }

 private:
  RateSolver solver_;
  testing::GeneratedData data_;
  typename Library::Dataset set_;
  Part part_;
  std::unique_ptr<LockstepLearner> learner_;
};

// The paper's solvers.
template <class Library>
class Paper final : public CheckpointTraining {
 public:
  // `make` is BoostedLearner's for the library.
  template <class Make>
  Paper(PaperOptions paper, const std::vector<std::string>& limits, const Make& make)
      : paper_(std::move(paper)),
        constraints_(Parsed(limits), data_.rows, paper_.surrogate, LossOptions{}),
        learner_(make(set_, objective_, {.parameters = Library::Parameters()}, {})) {}

  void Run(const CheckpointOptions& options) override {
    TrainAndUse<ProximalLearner>(*learner_, options, [&](ProximalLearner& solved) {
      if (paper_.solver == PaperSolver::kCbpr) {
        SolveCbpr(solved, constraints_, CbprOfSteps(paper_, kRounds), {});
      } else {
        SolveAbpp(solved, constraints_, AbppOfSteps(paper_, kRounds), {});
      }
    });
  }

 private:
  PaperOptions paper_;
  testing::GeneratedData data_ = testing::TwoGroups(kRows, 4);
  typename Library::Dataset set_ = DatasetOf<Library>(data_);
  Objective objective_{data_.rows, {}};
  RateConstraints constraints_;
  std::unique_ptr<BoostedLearner> learner_;
};

// ---- all of them

inline constexpr std::array kTrainingNames = {"lightgbm_best_iterate",
                                              "lightgbm_early_stopping",
                                              "xgboost_early_stopping",
                                              "lightgbm_average_of_folds",
                                              "xgboost_folds",
                                              "lightgbm_abpp_average",
                                              "xgboost_cbpr"};

// By its place in kTrainingNames.
inline std::unique_ptr<CheckpointTraining> MakeCheckpointTraining(std::size_t place) {
  const RateSolver early_stopping{.early_stopping_rounds = 3};
  switch (place) {
    case 0:
      return std::make_unique<LightGbmHoldOut>(RateSolver{});
    case 1:
      return std::make_unique<LightGbmHoldOut>(early_stopping);
    case 2:
      return std::make_unique<XgboostHoldOut>(early_stopping);
    case 3:
      return std::make_unique<Folds<LightGbm>>(RateSolver{.choice = IterateChoice::kTailAverage},
                                               testing::TwoGroups(kRows, 5), kLimits,
                                               &LockstepLearner::LightGbm);
    case 4:
      return std::make_unique<Folds<Xgboost>>(early_stopping, testing::ThreeClasses(kRows, 6),
                                              std::vector<std::string>{"error(class=1) <= 20%"},
                                              &LockstepLearner::Xgboost);
    case 5:
      return std::make_unique<Paper<LightGbm>>(
          PaperOptions{.surrogate = {.bound_rule = SurrogateBoundRule::kUniformThenCurrent},
                       .use_average = true},
          std::vector<std::string>{"fnr <= 10%"}, &BoostedLearner::LightGbm);
    default:
      return std::make_unique<Paper<Xgboost>>(
          PaperOptions{
              .solver = PaperSolver::kCbpr, .form = CbprForm::kLinearized, .inner_steps = 2},
          std::vector<std::string>{"gap(error, by=group) <= 5%"}, &BoostedLearner::Xgboost);
  }
}

}  // namespace bregboost::fuzz
