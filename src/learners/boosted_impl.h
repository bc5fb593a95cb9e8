// The library-independent half of a boosted learner: derivatives in, rounds out, averages, states.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "bregboost/learners/boosted.h"
#include "bregboost/model/tree_model.h"
#include "detail/bytes.h"
#include "detail/thread_scope.h"
#include "learners/detail/booster.h"
#include "learners/detail/boosting_pass.h"
#include "learners/detail/round_buffers.h"
#include "learners/detail/score_view.h"
#include "learners/detail/step_measure.h"

namespace bregboost {

// What the learner itself reads of options and library parameters.
struct BoosterSettings {
  std::string library_title;
  std::int64_t num_rounds = 100;
  std::int64_t rounds_per_step = 1;
  std::int64_t early_stopping_rounds = 0;
  int num_threads = 0;  // 0: as many as there are
  double learning_rate = 0.1;
  bool samples = false;                      // rows or features are drawn anew in each round
  detail::ParallelRegion* region = nullptr;  // of the library's OpenMP runtime
};

// `library` is what was read of the library's parameters.
template <class LibrarySettings>
BoosterSettings SettingsOf(const char* title, const LibrarySettings& library,
                           const BoostedOptions& options, detail::ParallelRegion* region) {
  return {.library_title = title,
          .num_rounds = library.num_rounds.value_or(100),
          .rounds_per_step = options.rounds_per_step,
          .early_stopping_rounds =
              library.early_stopping_rounds.value_or(options.early_stopping_rounds),
          .num_threads = library.num_threads,
          .learning_rate = library.learning_rate,
          .samples = library.samples,
          .region = region};
}
BoosterSettings LightGbmBoosterSettings(const LightGbmDataset& train, const Objective& objective,
                                        const BoostedOptions& options);
BoosterSettings XgboostBoosterSettings(const XgboostDataset& train, const Objective& objective,
                                       const BoostedOptions& options);

// Held-out sets taken apart, after checks that features and labels have as many rows.
template <class Dataset>
struct HeldOutParts {
  HeldOutParts(const Dataset& train, const Objective& objective,
               std::span<const HeldOut<Dataset>> held_out) {
    Check(train, objective, "training set");
    for (const HeldOut<Dataset>& set : held_out) {
      if (set.objective != nullptr) Check(set.dataset, *set.objective, "held-out set");
      datasets.push_back(set.dataset);
      objectives.push_back(set.objective);
    }
  }

  std::vector<Dataset> datasets;
  std::vector<const Objective*> objectives;

 private:
  static void Check(const Dataset& dataset, const Objective& objective, const char* what) {
    const std::size_t rows = objective.rows().num_rows();
    if (dataset.num_rows() == rows) return;
    throw std::invalid_argument(fmt::format(
        "{}: {} rows of features; allowed: as many as labels, {}", what, dataset.num_rows(), rows));
  }
};

// Finishes models in the library's own file format.
struct ModelWriter {
  std::string (*write)(std::span<const ModelPart> parts, const ExportSpec& spec);
  std::string (*adjust)(std::string_view model, const ExportSpec& spec);
};

class BoostedLearner::Impl {
 public:
  Impl(const Objective& objective, BoosterSettings settings,
       const detail::PassOptions& pass_options, std::unique_ptr<detail::Booster> booster,
       ModelWriter writer, std::span<const Objective* const> held_out);

  static std::string MeanModel(std::span<Impl* const> learners, const ModelAdjustment& adjustment);

  const BoosterSettings& settings() const { return settings_; }
  void SetRoundsPerStep(std::int64_t rounds);
  std::int64_t num_rounds() const { return booster_->num_rounds(); }
  std::size_t num_held_out() const { return held_out_.size(); }

  std::span<const double> ClassMajorScores();
  double objective();
  LearnerValues Evaluate(const ConstraintSet& constraints);
  StepOutcome Step(const ProximalStep& step);
  StepOutcome Step(const detail::CellCosts& costs, double tau);

  // A step by hand: rounds between BeginStep() and EndStep(), on psi or on the cost-sensitive form.
  // False: no further round now, and EndStep() says why.
  void BeginStep();
  bool AddRound(const ProximalStep& step);
  bool AddRound(const detail::CellCosts& costs, double tau);
  StepOutcome EndStep();

  // Arrays to use in place of its own until the next call; null: its own. What they hold is lost.
  void UseBuffers(detail::RoundBuffers* buffers);

  void SetAnchor();
  double AnchorDistance();
  void AccumulateAverage(double weight);
  void ResetAverage();
  void UseAverage();
  void ReturnToBest();
  std::unique_ptr<ModelState> Save() const;
  void Restore(const ModelState& state);
  double StationarityResidual(const ConstraintSet& constraints, std::span<const double> multipliers,
                              double objective_weight);

  // See ProximalLearner.
  void EndSegment(std::span<ModelState* const> kept, detail::ByteWriter& out);
  std::vector<std::unique_ptr<ModelState>> TakeUp(detail::ByteReader& in);

  std::span<const double> HeldOutScores(std::size_t set);
  // use(j, k, score) for score k of training row row_of(j), j < count.
  template <class RowOf, class Use>
  void ReadScores(std::size_t count, const RowOf& row_of, const Use& use);
  LearnerValues EvaluateHeldOut(std::size_t set, const ConstraintSet& constraints);

 private:
  // Data set 0 is the training set, the others are held out.
  struct Scored {
    std::vector<double> shift;    // what an average moved the scores by; empty: nothing
    std::vector<double> shifted;  // scores plus shift
    std::int64_t shifted_at = -1;
    std::vector<double> class_major;  // converted
    std::int64_t converted_at = -1;
    std::vector<double> average;
  };
  struct Best {  // by the held-out loss
    double loss = std::numeric_limits<double>::infinity();
    std::int64_t round = 0;
    // Of that round, once a segment has ended since.
    std::shared_ptr<const detail::BoosterSnapshot> snapshot = nullptr;
  };
  struct State final : ModelState {
    std::vector<double> round_weights;
    std::vector<std::int64_t> round_ids;
    std::vector<std::vector<double>> shifts;  // by data set
    Best best;
    std::shared_ptr<const detail::BoosterSnapshot> snapshot;  // as that of Best
  };
  struct Iterate {  // one of those averaged
    std::size_t rounds = 0;
    std::int64_t last_round = 0;
    double weight = 0.0;
  };
  struct Segment {  // what EndSegment() writes
    std::int64_t number = 0;
    detail::BoosterSnapshot now;
    std::vector<double> round_weights;
    std::vector<std::int64_t> round_ids;
    std::int64_t last_round_id = 0;
    double average_weight = 0.0;
    std::vector<std::vector<double>> shifts, averages;  // by data set
    std::vector<Iterate> iterates;
    Best best;
    std::vector<double> anchor_constants, anchor;
    std::vector<std::unique_ptr<ModelState>> states;
  };

  detail::ScoreView LibraryScores(std::size_t set);
  detail::ScoreView Scores(std::size_t set);
  detail::ScoreView HoldScores();
  std::span<const double> ClassMajor(std::size_t set);
  void CheckHeldOut(std::size_t set) const;

  template <class Add>
  StepOutcome RunRounds(const Add& add_round);
  detail::Pull ProximalPull(double tau) const;
  const detail::ScoreView& Anchor();
  detail::RoundBuffers& Buffers();
  bool BoostDerived();
  bool Grow();
  std::string GrowOrSayWhy();
  std::string CheckHeldOutLoss();
  void RollBackTo(std::int64_t rounds);
  // `snapshot` is of that round, or null where the booster itself can go back to it.
  void GoBackTo(std::int64_t rounds,
                const std::shared_ptr<const detail::BoosterSnapshot>& snapshot);

  static void Write(const Best& best, detail::ByteWriter& out);
  static Best ReadBest(detail::ByteReader& in);
  static void Write(const State& state, detail::ByteWriter& out);
  std::unique_ptr<State> ReadState(detail::ByteReader& in) const;
  void WriteAnchor(detail::ByteWriter& out);
  Segment ReadSegment(detail::ByteReader& in) const;
  void CheckRowNumbers(const std::vector<double>& numbers, std::size_t set) const;
  void CheckBest(const Best& best, std::size_t num_rounds) const;
  void Check(const State& state, std::span<const std::int64_t> round_ids) const;
  void Check(const Segment& segment) const;
  void BeginSegment(const detail::BoosterSnapshot& snapshot);

  const Objective& objective_;
  BoosterSettings settings_;
  std::unique_ptr<detail::Booster> booster_;
  ModelWriter writer_;
  detail::BoostingPass pass_;
  detail::ScoreMetric metric_;
  std::vector<std::unique_ptr<detail::BoostingPass>> held_out_;  // null: scores only

  std::unique_ptr<detail::RoundBuffers> own_buffers_;
  detail::RoundBuffers* lent_buffers_ = nullptr;
  double scale_ = 1.0;            // of the derivatives, see BoostingPass::Derive
  detail::ScoreCopy held_;        // where a step began, after an average
  StepOutcome step_;              // the one under way, or the last
  detail::ScoreView step_start_;  // of the last step
  std::int64_t step_round_ = 0;   // rounds when it began
  std::int64_t step_end_ = -1;    // the version that it led to
  bool step_measured_ = true;
  detail::ScoreCopy anchor_;
  std::vector<double> anchor_constants_;  // by class: `anchor_` can be made of them; else empty

  std::int64_t version_ = 0;  // counts changes of the model
  std::vector<Scored> scored_;
  double objective_value_ = 0.0;
  std::int64_t objective_at_ = -1;

  std::vector<double> round_weights_;  // what averages made of each round
  std::vector<std::int64_t>
      round_ids_;  // unique, so that a state can tell its rounds from later ones
  std::int64_t last_round_id_ = 0;
  double average_weight_ = 0.0;
  std::vector<Iterate> iterates_;

  Best best_;
  std::int64_t segment_ = 0;
};

template <class RowOf, class Use>
void BoostedLearner::Impl::ReadScores(std::size_t count, const RowOf& row_of, const Use& use) {
  const detail::ScoreView from = Scores(0);
  const bool class_major = from.layout == detail::ScoreLayout::kClassMajor;
  const std::size_t row_stride = class_major ? 1 : from.num_scores;
  const std::size_t class_stride = class_major ? from.num_rows : 1;
  std::visit(
      [&](const auto* values) {
        for (std::size_t k = 0; k < from.num_scores; ++k) {
          for (std::size_t j = 0; j < count; ++j) {
            const auto row = static_cast<std::size_t>(row_of(j));
            use(j, k, static_cast<double>(values[row * row_stride + k * class_stride]));
          }
        }
      },
      from.data);
}

}  // namespace bregboost
