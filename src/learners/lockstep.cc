#include "bregboost/learners/lockstep.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "bregboost/learners/lightgbm_dataset.h"
#include "bregboost/learners/xgboost_dataset.h"
#include "detail/bytes.h"
#include "detail/option_checks.h"
#include "detail/thread_scope.h"
#include "detail/unused_memory.h"
#include "detail/worker_pool.h"
#include "learners/boosted_impl.h"
#include "learners/detail/boosting_pass.h"
#include "learners/detail/fold_rows.h"
#include "learners/detail/lightgbm_parameters.h"
#include "learners/detail/no_constraints.h"
#include "learners/detail/round_buffers.h"
#include "learners/detail/xgboost_parameters.h"

namespace bregboost {
namespace {

using detail::FoldRows;

// The set that LightGBM's boosters score apart: the rows inside the fold.
constexpr std::size_t kFoldSet = 0;

// Rows set aside for certification are a set that every booster scores apart, or rows of XGBoost's
// data set.
struct Reserved {
  std::size_t rows = 0;
  std::optional<std::size_t> set;  // the number of that set
};

// Where each cell of `some` is among `all`, whose rows include those of `some`.
std::vector<std::size_t> PlacesAmong(const CellTable& all, const CellTable& some) {
  std::vector<std::size_t> places;
  std::size_t place = 0;  // both are in the order of their tuples
  for (const Cell& cell : some.cells) {
    const auto is_cell = [&cell](const Cell& other) {
      return other.label == cell.label && other.baseline == cell.baseline &&
             other.groups == cell.groups;
    };
    while (!is_cell(all.cells.at(place))) ++place;
    places.push_back(place);
  }
  return places;
}

// Everything one booster trains on. Objective and constraints point to the rows, so it stays put.
struct Fold {
  Fold(RowData training_rows, const Objective& objective, const RateConstraints& all_constraints,
       std::vector<std::int32_t> rows_held_out)
      : rows(std::move(training_rows)),
        training(rows, objective.options()),
        constraints(all_constraints.sources(), rows, all_constraints.surrogate(),
                    all_constraints.loss()),
        cell_places(PlacesAmong(all_constraints.compiled().cells, constraints.compiled().cells)),
        held_out(std::move(rows_held_out)) {
    rows.groups.clear();  // part of the cells by now; K copies would add up
  }
  Fold(const Fold&) = delete;
  Fold& operator=(const Fold&) = delete;

  // The costs of its own cells.
  std::vector<double> Costs(std::span<const double> of_all_cells) const {
    const std::size_t num_classes = rows.labels.levels.size();
    std::vector<double> costs;
    for (const std::size_t place : cell_places) {
      const auto first = of_all_cells.subspan(place * num_classes, num_classes);
      costs.insert(costs.end(), first.begin(), first.end());
    }
    return costs;
  }

  RowData rows;
  Objective training;
  RateConstraints constraints;
  std::vector<std::size_t> cell_places;  // of its cells among those of all folds
  std::vector<std::int32_t> held_out;    // of the objective's rows, in rising order

  // The set of its booster that `held_out` rows are; none: they are in the data that it trains on.
  std::optional<std::size_t> set;

  std::unique_ptr<BoostedLearner> learner;
};

void CheckSameRows(const Objective& objective, const RateConstraints& constraints) {
  if (&objective.rows() == &constraints.rows()) return;
  throw std::invalid_argument(
      "constraints: bound to other rows than the objective; allowed: the same RowData");
}

void CheckReservedOnce(const LockstepOptions& options, bool as_data_set) {
  if (!as_data_set || options.reserved_rows.empty()) return;
  throw std::invalid_argument(
      "reserved_rows: given beside a data set of reserved rows; allowed: one of them");
}

}  // namespace

class LockstepLearner::Impl {
 public:
  // make_fold(rows, k) runs on the thread that fold k keeps.
  Impl(const Objective& objective, const RateConstraints& constraints, FoldRows rows,
       Reserved reserved, BoosterSettings settings,
       const std::function<std::unique_ptr<Fold>(const FoldRows&, std::size_t)>& make_fold)
      : objective_(objective),
        constraints_(constraints),
        rows_(std::move(rows)),
        reserved_(reserved),
        settings_(std::move(settings)),
        pass_(objective, detail::PassOptions{}),
        scores_(objective.rows().num_rows() * objective.rows().num_scores()),
        folds_(rows_.num_folds()),
        pool_(rows_.num_folds()) {
    detail::RequireAtLeast<std::int64_t>("rounds_per_step", settings_.rounds_per_step, 1);
    detail::RequireAtLeast<std::int64_t>("early_stopping_rounds", settings_.early_stopping_rounds,
                                         0);
    pool_.Run(/*at_once=*/1, [&](std::size_t k) {
      const detail::ThreadScope threads(settings_.num_threads, settings_.region);
      folds_[k] = make_fold(rows_, k);
      // Making a booster takes much that it does not keep, on a thread that lives on.
      detail::ReleaseUnusedMemory();
      CheckFold(k);
      CollectScores(k);
      return false;
    });
  }

  std::span<const double> scores() const { return scores_; }
  const RateConstraints& constraints() const { return constraints_; }
  const FoldRows& rows() const { return rows_; }
  const BoosterSettings& settings() const { return settings_; }
  const Fold& fold(std::size_t k) const { return *folds_.at(k); }

  void SetRoundsPerStep(std::int64_t rounds) {
    detail::RequireAtLeast<std::int64_t>("rounds_per_step", rounds, 1);
    settings_.rounds_per_step = rounds;
  }

  LearnerValues Evaluate(const ConstraintSet& constraints) const {
    const detail::ThreadScope threads(settings_.num_threads, settings_.region);
    return pass_.Evaluate(constraints, View());
  }

  StepOutcome Step(const ProximalStep& step) {
    const bool constrained = step.constraints != nullptr && step.constraints->size() > 0;
    if (constrained && step.constraints != &constraints_) {
      throw std::invalid_argument(
          "constraints: not those that the folds were made for; allowed: the set given to the "
          "learner");
    }
    return TakeStep([&](std::size_t k) {
      ProximalStep of_fold = step;
      of_fold.constraints = constrained ? &folds_[k]->constraints : nullptr;
      return folds_[k]->learner->impl_->AddRound(of_fold);
    });
  }

  StepOutcome StepOnCosts(std::span<const double> costs, double tau) {
    detail::RequirePositive("tau", tau);
    const std::size_t allowed =
        constraints_.compiled().cells.cells.size() * objective_.rows().labels.levels.size();
    if (costs.size() != allowed) {
      throw std::invalid_argument(fmt::format(
          "costs: {} values; allowed: {}, one for each cell and class", costs.size(), allowed));
    }
    return TakeStep([&](std::size_t k) {
      const Fold& fold = *folds_[k];
      const std::vector<double> of_fold = fold.Costs(costs);
      return fold.learner->impl_->AddRound(
          {.cells = &fold.constraints.compiled().cells, .costs = of_fold}, tau);
    });
  }

  std::span<const double> ReservedScores() {
    if (reserved_.rows == 0 || reserved_is_current_) return reserved_scores_;
    reserved_scores_.assign(reserved_.rows * objective_.rows().num_scores(), 0.0);
    const auto row_of = [&](std::size_t j) { return rows_.reserved()[j]; };
    const auto add = [&](std::size_t j, std::size_t c, double score) {
      reserved_scores_[c * reserved_.rows + j] += score / static_cast<double>(folds_.size());
    };
    for (const auto& fold : folds_) ReadScores(*fold, reserved_.set, reserved_.rows, row_of, add);
    reserved_is_current_ = true;
    return reserved_scores_;
  }

  template <class Function>
  void ForEachFold(const Function& function) const {
    for (const auto& fold : folds_) function(*fold->learner);
  }

  // Each fold on its thread, whose arena has room that other threads cannot use.
  void SetAnchor() {
    pool_.Run(/*at_once=*/1, [&](std::size_t k) {
      folds_[k]->learner->SetAnchor();
      return false;
    });
  }

  std::unique_ptr<ModelState> Save() const { return SaveState(); }

  void Restore(const ModelState& saved) {
    const auto* state = dynamic_cast<const State*>(&saved);
    if (state == nullptr) throw std::logic_error("the state is another learner's");
    ChangeFolds([&](std::size_t k) { folds_[k]->learner->Restore(*state->folds[k]); });
    rounds_done_ = state->rounds_done;
    best_ = state->best;
  }

  void ReturnToBest() {
    const Best best = best_;  // Restore() goes back to what was best then
    if (best.state && best.round < rounds_done_) Restore(*best.state);
  }

  void UseAverage() {
    ChangeFolds([&](std::size_t k) { folds_[k]->learner->UseAverage(); });
    best_ = {};
    best_.round = rounds_done_;
  }

  // A solver's states come first, then those that its own best rounds are in.
  void EndSegment(std::span<ModelState* const> kept, detail::ByteWriter& out) {
    std::vector<State*> all;
    for (ModelState* saved : kept) {
      all.push_back(dynamic_cast<State*>(saved));
      if (all.back() == nullptr) throw std::logic_error("the state is another learner's");
    }
    const auto place_of = [&](const Best& best) {
      if (best.state == nullptr) return std::int64_t{-1};
      std::size_t place = kept.size();
      while (place < all.size() && all[place] != best.state.get()) ++place;
      if (place == all.size()) all.push_back(best.state.get());
      return static_cast<std::int64_t>(place);
    };
    detail::ByteWriter bests;
    const auto write = [&](const Best& best, std::int64_t rounds_done) {
      bests.Put(best.loss);
      bests.Put(best.round);
      bests.Put(place_of(best));
      bests.Put(rounds_done);
    };
    write(best_, rounds_done_);
    for (std::size_t i = 0; i < all.size(); ++i) {  // which grows
      const Best best = all[i]->best;
      write(best, all[i]->rounds_done);
    }
    out.Put(static_cast<std::int64_t>(kept.size()));
    out.Put(static_cast<std::int64_t>(all.size()));
    out.Put(std::string_view(bests.bytes()));
    std::vector<detail::ByteWriter> of_fold(folds_.size());
    ChangeFolds([&](std::size_t k) {
      std::vector<ModelState*> states;
      for (const State* state : all) states.push_back(state->folds[k].get());
      folds_[k]->learner->EndSegment(states, of_fold[k]);
    });
    for (const detail::ByteWriter& bytes : of_fold) out.Put(std::string_view(bytes.bytes()));
  }

  std::vector<std::unique_ptr<ModelState>> TakeUp(detail::ByteReader& in) {
    constexpr std::size_t kBytesOfBest = 4 * sizeof(std::int64_t);
    const std::size_t num_kept = in.Count(kBytesOfBest);
    std::vector<std::shared_ptr<State>> all(in.Count(kBytesOfBest));
    if (num_kept > all.size()) throw std::runtime_error("fewer states than were kept");
    for (auto& state : all) state = std::make_shared<State>();
    const std::string bests = in.Text();
    detail::ByteReader numbers(bests);
    const auto read = [&](Best& best, std::int64_t& rounds_done, bool has_state) {
      best = {.loss = numbers.Real(), .round = numbers.Integer(), .state = nullptr};
      const std::int64_t place = numbers.Integer();
      rounds_done = numbers.Integer();
      constexpr std::int64_t kMostRounds = std::int64_t{1} << 62U;
      detail::RequireOfOneTraining(best.loss > -std::numeric_limits<double>::infinity() &&
                                   best.round >= 0 && best.round <= rounds_done &&
                                   rounds_done < kMostRounds);
      if (place == -1) return;
      // A best state stands behind the solver's, and knows of no other.
      if (!has_state || place < static_cast<std::int64_t>(num_kept) ||
          place >= static_cast<std::int64_t>(all.size())) {
        throw std::runtime_error("a best state that is not there");
      }
      best.state = all[static_cast<std::size_t>(place)];
    };
    read(best_, rounds_done_, /*has_state=*/true);
    for (std::size_t i = 0; i < all.size(); ++i) {
      read(all[i]->best, all[i]->rounds_done, /*has_state=*/i < num_kept);
    }
    numbers.RequireEnd();

    std::vector<std::string> of_fold(folds_.size());
    for (std::string& bytes : of_fold) bytes = in.Text();
    std::vector<std::vector<std::unique_ptr<ModelState>>> states(folds_.size());
    ChangeFolds([&](std::size_t k) {
      detail::ByteReader bytes(of_fold[k]);
      states[k] = folds_[k]->learner->TakeUp(bytes);
      bytes.RequireEnd();
      if (states[k].size() != all.size()) throw std::runtime_error("states of some folds only");
    });
    std::vector<std::unique_ptr<ModelState>> kept;
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (auto& of_one : states) all[i]->folds.push_back(std::move(of_one[i]));
      // Nothing else points to a solver's states.
      if (i < num_kept) kept.push_back(std::make_unique<State>(std::move(*all[i])));
    }
    return kept;
  }

  double MeanOverFolds(const std::function<double(const Fold&)>& value) {
    double total = 0.0;
    for (const auto& fold : folds_) {
      const BufferLease lease(buffers_, *fold->learner->impl_);
      total += value(*fold);
    }
    return total / static_cast<double>(folds_.size());
  }

 private:
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

  std::unique_ptr<State> SaveState() const {
    auto state = std::make_unique<State>();
    ForEachFold([&](BoostedLearner& learner) { state->folds.push_back(learner.Save()); });
    state->rounds_done = rounds_done_;
    state->best = best_;
    return state;
  }

  // Shared arrays for a learner while it works.
  class BufferLease {
   public:
    BufferLease(detail::RoundBufferPool& pool, BoostedLearner::Impl& learner)
        : pool_(pool), learner_(learner), buffers_(pool.Take()) {
      learner_.UseBuffers(buffers_.get());
    }
    ~BufferLease() {
      learner_.UseBuffers(nullptr);
      pool_.GiveBack(std::move(buffers_));
    }
    BufferLease(const BufferLease&) = delete;
    BufferLease& operator=(const BufferLease&) = delete;

   private:
    detail::RoundBufferPool& pool_;
    BoostedLearner::Impl& learner_;
    std::unique_ptr<detail::RoundBuffers> buffers_;
  };

  // XGBoost bins a plain DMatrix when a booster first trains on it; that must not happen twice at
  // once.
  std::size_t FoldsAtOnce() const {
    if (!warmed_up_) return 1;
    const int cores = settings_.num_threads > 0 ? settings_.num_threads : omp_get_max_threads();
    return std::clamp<std::size_t>(static_cast<std::size_t>(cores), 1, folds_.size());
  }

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

  // One step of all folds: rounds of add_round(fold), which says whether it wants another.
  template <class AddRound>
  StepOutcome TakeStep(const AddRound& add_round) {
    const std::unique_ptr<ModelState> before = Save();
    std::vector<std::int64_t> rounds(folds_.size(), 0);
    std::vector<StepOutcome> outcomes(folds_.size());
    const auto run_round = [&](std::size_t k) {
      // Our row loops inside a fold's thread stay on it.
      const detail::ThreadScope threads(1);
      BoostedLearner::Impl& learner = *folds_[k]->learner->impl_;
      if (rounds[k] == 0) learner.BeginStep();
      const BufferLease lease(buffers_, learner);
      const bool more = add_round(k) && ++rounds[k] < settings_.rounds_per_step;
      if (more) return true;
      outcomes[k] = learner.EndStep();
      CollectScores(k);
      if (!warmed_up_) detail::ReleaseUnusedMemory();  // a booster's first round takes more
      return false;
    };
    try {
      pool_.Run(FoldsAtOnce(), run_round);
    } catch (...) {
      Restore(*before);
      throw;
    }
    warmed_up_ = true;
    reserved_is_current_ = false;
    return Gather(outcomes);
  }

  detail::ScoreView View() const {
    return {.data = scores_.data(),
            .num_rows = objective_.rows().num_rows(),
            .num_scores = objective_.rows().num_scores(),
            .layout = detail::ScoreLayout::kClassMajor};
  }

  // A group that a fold's training rows lack would leave it with other constraints than the rest.
  void CheckFold(std::size_t k) const {
    if (folds_[k]->constraints.size() == constraints_.size()) return;
    throw std::invalid_argument(fmt::format(
        "folds: the rows outside fold {} lack a group that the constraints compare; allowed: folds "
        "that leave every group in each training set (use fewer folds, or drop the group)",
        k));
  }

  void CollectScores(std::size_t k) {
    const Fold& fold = *folds_[k];
    const std::size_t n = objective_.rows().num_rows();
    const auto row_of = [&](std::size_t j) { return rows_.InData(fold.held_out[j]); };
    const auto put = [&](std::size_t j, std::size_t c, double score) {
      scores_[c * n + static_cast<std::size_t>(fold.held_out[j])] = score;
    };
    ReadScores(fold, fold.set, fold.held_out.size(), row_of, put);
  }

  // Of a set that the booster scores apart, or else of rows of the data set that it trains on,
  // where row j is row_of(j).
  template <class RowOf, class Use>
  void ReadScores(const Fold& fold, std::optional<std::size_t> set, std::size_t count,
                  const RowOf& row_of, const Use& use) const {
    if (!set) {
      fold.learner->impl_->ReadScores(count, row_of, use);
      return;
    }
    const std::span<const double> scores = fold.learner->HeldOutScores(*set);
    for (std::size_t at = 0; at < scores.size(); ++at) use(at % count, at / count, scores[at]);
  }

  // The step of the tuple: stalled only if every fold is.
  StepOutcome Gather(const std::vector<StepOutcome>& outcomes) {
    StepOutcome all{.suboptimality = std::numeric_limits<double>::quiet_NaN()};
    std::string stalled;
    const auto folds = static_cast<double>(folds_.size());
    for (std::size_t k = 0; k < folds_.size(); ++k) {
      const StepOutcome& one = outcomes[k];
      all.distance += one.distance / folds;
      if (one.evaluations > 0) all.residual += one.residual * one.residual / folds;
      all.evaluations += one.evaluations;
      if (!one.stalled.empty()) stalled = fmt::format("fold {}: {}", k, one.stalled);
    }
    all.residual = std::sqrt(all.residual);
    if (all.evaluations == 0) {
      all.stalled = fmt::format("no fold's booster found a split; {}", stalled);
      return all;
    }
    all.stopped = CheckLoss();
    return all;
  }

  std::string CheckLoss() {
    if (settings_.early_stopping_rounds == 0) return {};
    rounds_done_ += settings_.rounds_per_step;
    const double loss = Evaluate(detail::NoConstraints()).objective;
    if (loss < best_.loss) {
      best_.state.reset();  // the state to come would keep it, and so on
      best_ = {.loss = loss, .round = rounds_done_, .state = SaveState()};
    }
    if (rounds_done_ - best_.round < settings_.early_stopping_rounds) return {};
    return fmt::format(
        "the out-of-fold loss was lowest, {:.6g}, after round {} and has not fallen in the {} "
        "rounds since",
        best_.loss, best_.round, rounds_done_ - best_.round);
  }

  const Objective& objective_;
  const RateConstraints& constraints_;
  FoldRows rows_;
  Reserved reserved_;
  BoosterSettings settings_;
  detail::BoostingPass pass_;
  std::vector<double> scores_;           // out of fold, class-major
  std::vector<double> reserved_scores_;  // the mean over the folds, class-major
  bool reserved_is_current_ = false;
  std::vector<std::unique_ptr<Fold>> folds_;
  detail::WorkerPool pool_;
  detail::RoundBufferPool buffers_;
  bool warmed_up_ = false;

  std::int64_t rounds_done_ = 0;
  Best best_;
};

LockstepLearner::LockstepLearner(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LockstepLearner::~LockstepLearner() = default;

std::unique_ptr<LockstepLearner> LockstepLearner::LightGbm(const LightGbmDataset& data,
                                                           const Objective& objective,
                                                           const RateConstraints& constraints,
                                                           const LockstepOptions& options,
                                                           const LightGbmDataset* reserved) {
  CheckSameRows(objective, constraints);
  CheckReservedOnce(options, reserved != nullptr);
  const RowData& rows = objective.rows();
  BoostedOptions of_fold = options.boosting;
  of_fold.parameters = detail::LightGbmFoldParameters(options.boosting.parameters);
  of_fold.early_stopping_rounds = 0;
  FoldRows fold_rows(constraints.compiled().cells, options, data.num_rows());
  std::optional<LightGbmDataset> apart;
  if (reserved != nullptr) apart = *reserved;
  if (!options.reserved_rows.empty()) apart = data.Subset(options.reserved_rows);
  const auto make_fold = [&](const FoldRows& split, std::size_t k) {
    const std::vector<std::int32_t> training = split.Training(k);
    auto fold =
        std::make_unique<Fold>(TakeRows(rows, training), objective, constraints, split.HeldOut(k));
    fold->set = kFoldSet;
    std::vector<std::int32_t> places;
    std::vector<HeldOut<LightGbmDataset>> scored = {
        {.dataset = data.Subset(split.InData(fold->held_out, places))}};
    if (apart) scored.push_back({.dataset = *apart});
    fold->learner = BoostedLearner::LightGbm(data.Subset(split.InData(training, places)),
                                             fold->training, of_fold, scored);
    return fold;
  };
  return std::unique_ptr<LockstepLearner>(new LockstepLearner(std::make_unique<Impl>(
      objective, constraints, std::move(fold_rows),
      Reserved{.rows = apart ? apart->num_rows() : 0, .set = kFoldSet + 1},
      LightGbmBoosterSettings(data, objective, options.boosting), make_fold)));
}

std::unique_ptr<LockstepLearner> LockstepLearner::Xgboost(const XgboostDataset& data,
                                                          const Objective& objective,
                                                          const RateConstraints& constraints,
                                                          const LockstepOptions& options,
                                                          const XgboostDataset* reserved) {
  CheckSameRows(objective, constraints);
  CheckReservedOnce(options, reserved != nullptr);
  const RowData& rows = objective.rows();
  BoostedOptions of_fold = options.boosting;
  of_fold.parameters = detail::XgboostFoldParameters(options.boosting.parameters);
  of_fold.early_stopping_rounds = 0;
  FoldRows fold_rows(constraints.compiled().cells, options, data.num_rows());
  const auto make_fold = [&](const FoldRows& split, std::size_t k) {
    auto fold =
        std::make_unique<Fold>(split.Masked(rows, k), objective, constraints, split.HeldOut(k));
    std::vector<HeldOut<XgboostDataset>> apart;
    if (reserved != nullptr) apart.push_back({.dataset = *reserved});
    fold->learner = BoostedLearner::Xgboost(data, fold->training, of_fold, apart);
    return fold;
  };
  Reserved scored{.rows = options.reserved_rows.size(), .set = std::nullopt};
  if (reserved != nullptr) scored = {.rows = reserved->num_rows(), .set = 0};
  return std::unique_ptr<LockstepLearner>(new LockstepLearner(std::make_unique<Impl>(
      objective, constraints, std::move(fold_rows), scored,
      XgboostBoosterSettings(data, objective, options.boosting), make_fold)));
}

std::span<const double> LockstepLearner::scores() const { return impl_->scores(); }
double LockstepLearner::objective() const {
  return impl_->Evaluate(detail::NoConstraints()).objective;
}
LearnerValues LockstepLearner::Evaluate(const ConstraintSet& constraints) const {
  return impl_->Evaluate(constraints);
}
StepOutcome LockstepLearner::Step(const ProximalStep& step) { return impl_->Step(step); }

const RateConstraints& LockstepLearner::unseen() const { return impl_->constraints(); }
const RateConstraints& LockstepLearner::training() const { return impl_->constraints(); }
StepOutcome LockstepLearner::StepOnCosts(std::span<const double> costs, double tau) {
  return impl_->StepOnCosts(costs, tau);
}
std::span<const double> LockstepLearner::ReservedScores() const { return impl_->ReservedScores(); }
std::int64_t LockstepLearner::requested_rounds() const { return impl_->settings().num_rounds; }
std::int64_t LockstepLearner::rounds_per_step() const { return impl_->settings().rounds_per_step; }
void LockstepLearner::SetRoundsPerStep(std::int64_t rounds) { impl_->SetRoundsPerStep(rounds); }

void LockstepLearner::SetAnchor() { impl_->SetAnchor(); }
double LockstepLearner::AnchorDistance() const {
  return impl_->MeanOverFolds([](const Fold& fold) { return fold.learner->AnchorDistance(); });
}
void LockstepLearner::AccumulateAverage(double weight) {
  impl_->ForEachFold([weight](BoostedLearner& learner) { learner.AccumulateAverage(weight); });
}
void LockstepLearner::ResetAverage() {
  impl_->ForEachFold([](BoostedLearner& learner) { learner.ResetAverage(); });
}
void LockstepLearner::UseAverage() { impl_->UseAverage(); }
void LockstepLearner::ReturnToBest() { impl_->ReturnToBest(); }
std::unique_ptr<ModelState> LockstepLearner::Save() const { return impl_->Save(); }
void LockstepLearner::Restore(const ModelState& state) { impl_->Restore(state); }
void LockstepLearner::EndSegment(std::span<ModelState* const> kept, detail::ByteWriter& out) {
  impl_->EndSegment(kept, out);
}
std::vector<std::unique_ptr<ModelState>> LockstepLearner::TakeUp(detail::ByteReader& in) {
  return impl_->TakeUp(in);
}

double LockstepLearner::StationarityResidual(const ConstraintSet& constraints,
                                             std::span<const double> multipliers,
                                             double objective_weight) const {
  const bool constrained = constraints.size() > 0;
  const detail::NoConstraints none;
  return std::sqrt(impl_->MeanOverFolds([&](const Fold& fold) {
    const ConstraintSet& of_fold =
        constrained ? static_cast<const ConstraintSet&>(fold.constraints) : none;
    const double residual =
        fold.learner->StationarityResidual(of_fold, multipliers, objective_weight);
    return residual * residual;
  }));
}

std::size_t LockstepLearner::num_folds() const { return impl_->rows().num_folds(); }
std::span<const std::int32_t> LockstepLearner::fold_of_row() const {
  return impl_->rows().fold_of_row();
}
const BoostedLearner& LockstepLearner::fold(std::size_t k) const {
  if (k >= num_folds()) {
    throw std::invalid_argument(fmt::format("fold: {}; allowed: below {}", k, num_folds()));
  }
  return *impl_->fold(k).learner;
}

std::int64_t LockstepLearner::rounds_done() const {
  std::int64_t most = 0;
  for (std::size_t k = 0; k < num_folds(); ++k) most = std::max(most, fold(k).num_rounds());
  return most;
}

std::string LockstepLearner::Model(const ModelAdjustment& adjustment) const {
  std::vector<const BoostedLearner*> learners;
  for (std::size_t k = 0; k < num_folds(); ++k) learners.push_back(&fold(k));
  return BoostedLearner::MeanModel(learners, adjustment);
}

}  // namespace bregboost
