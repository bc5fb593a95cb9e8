#include "learners/lockstep_impl.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "detail/option_checks.h"
#include "detail/unused_memory.h"
#include "learners/detail/no_constraints.h"

namespace bregboost {
namespace {

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

}  // namespace

TrainingFold::TrainingFold(RowData training_rows, const Objective& objective,
                           const RateConstraints& all_constraints,
                           std::vector<std::int32_t> rows_held_out)
    : rows(std::move(training_rows)),
      training(rows, objective.options()),
      constraints(all_constraints.sources(), rows, all_constraints.surrogate(),
                  all_constraints.loss()),
      cell_places(PlacesAmong(all_constraints.compiled().cells, constraints.compiled().cells)),
      held_out(std::move(rows_held_out)) {
  rows.groups.clear();  // part of the cells by now; K copies would add up
}

std::vector<double> TrainingFold::Costs(std::span<const double> of_all_cells) const {
  const std::size_t num_classes = rows.labels.levels.size();
  std::vector<double> costs;
  for (const std::size_t place : cell_places) {
    const auto first = of_all_cells.subspan(place * num_classes, num_classes);
    costs.insert(costs.end(), first.begin(), first.end());
  }
  return costs;
}

// Shared arrays for a learner while it works.
class LockstepLearner::Impl::BufferLease {
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

LockstepLearner::Impl::Impl(const Objective& objective, const RateConstraints& constraints,
                            detail::FoldRows rows, ReservedRows reserved, BoosterSettings settings,
                            const MakeFold& make_fold)
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
  detail::RequireAtLeast<std::int64_t>("early_stopping_rounds", settings_.early_stopping_rounds, 0);
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

void LockstepLearner::Impl::SetRoundsPerStep(std::int64_t rounds) {
  detail::RequireAtLeast<std::int64_t>("rounds_per_step", rounds, 1);
  settings_.rounds_per_step = rounds;
}

LearnerValues LockstepLearner::Impl::Evaluate(const ConstraintSet& constraints) const {
  const detail::ThreadScope threads(settings_.num_threads, settings_.region);
  return pass_.Evaluate(constraints, View());
}

std::span<const double> LockstepLearner::Impl::ReservedScores() {
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

// The model of fold k scores the rows of the (m + 1)-th fold before it.
std::vector<double> LockstepLearner::Impl::TrainedScores(std::size_t m) {
  const std::size_t n = objective_.rows().num_rows();
  std::vector<double> scores(scores_.size());
  pool_.Run(FoldsAtOnce(), [&](std::size_t k) {
    const detail::ThreadScope threads(1);
    const TrainingFold& fold = *folds_[k];
    const std::size_t before = (k + folds_.size() - m - 1) % folds_.size();
    const std::vector<std::int32_t>& rows = folds_[before]->held_out;
    const std::vector<std::int32_t> places = PlacesIn(fold, rows);
    const BufferLease lease(buffers_, *fold.learner->impl_);
    fold.learner->impl_->ReadScores(
        rows.size(), [&](std::size_t j) { return places[j]; },
        [&](std::size_t j, std::size_t c, double score) {
          scores[c * n + static_cast<std::size_t>(rows[j])] = score;
        });
    return false;
  });
  return scores;
}

double LockstepLearner::Impl::MeanOverFolds(
    const std::function<double(const TrainingFold&)>& value) {
  double total = 0.0;
  for (const auto& fold : folds_) {
    const BufferLease lease(buffers_, *fold->learner->impl_);
    total += value(*fold);
  }
  return total / static_cast<double>(folds_.size());
}

// ---- steps

StepOutcome LockstepLearner::Impl::Step(const ProximalStep& step) {
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

StepOutcome LockstepLearner::Impl::StepOnCosts(std::span<const double> costs, double tau) {
  detail::RequirePositive("tau", tau);
  const std::size_t allowed =
      constraints_.compiled().cells.cells.size() * objective_.rows().labels.levels.size();
  if (costs.size() != allowed) {
    throw std::invalid_argument(fmt::format(
        "costs: {} values; allowed: {}, one for each cell and class", costs.size(), allowed));
  }
  return TakeStep([&](std::size_t k) {
    const TrainingFold& fold = *folds_[k];
    const std::vector<double> of_fold = fold.Costs(costs);
    return fold.learner->impl_->AddRound(
        {.cells = &fold.constraints.compiled().cells, .costs = of_fold}, tau);
  });
}

// One step of all folds: rounds of add_round(fold), which says whether it wants another.
template <class AddRound>
StepOutcome LockstepLearner::Impl::TakeStep(const AddRound& add_round) {
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

// XGBoost bins a plain DMatrix when a booster first trains on it; that must not happen twice at
// once.
std::size_t LockstepLearner::Impl::FoldsAtOnce() const {
  if (!warmed_up_) return 1;
  const int cores = settings_.num_threads > 0 ? settings_.num_threads : omp_get_max_threads();
  return std::clamp<std::size_t>(static_cast<std::size_t>(cores), 1, folds_.size());
}

// The step of the tuple: stalled only if every fold is.
StepOutcome LockstepLearner::Impl::Gather(const std::vector<StepOutcome>& outcomes) {
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

std::string LockstepLearner::Impl::CheckLoss() {
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

// Each fold on its thread, whose arena has room that other threads cannot use.
void LockstepLearner::Impl::SetAnchor() {
  pool_.Run(/*at_once=*/1, [&](std::size_t k) {
    folds_[k]->learner->SetAnchor();
    return false;
  });
}

void LockstepLearner::Impl::ReturnToBest() {
  const Best best = best_;  // Restore() goes back to what was best then
  if (best.state && best.round < rounds_done_) Restore(*best.state);
}

void LockstepLearner::Impl::UseAverage() {
  ChangeFolds([&](std::size_t k) { folds_[k]->learner->UseAverage(); });
  best_ = {};
  best_.round = rounds_done_;
}

// ---- states

std::unique_ptr<LockstepLearner::Impl::State> LockstepLearner::Impl::SaveState() const {
  auto state = std::make_unique<State>();
  ForEachFold([&](BoostedLearner& learner) { state->folds.push_back(learner.Save()); });
  state->rounds_done = rounds_done_;
  state->best = best_;
  return state;
}

void LockstepLearner::Impl::Restore(const ModelState& saved) {
  const auto* state = dynamic_cast<const State*>(&saved);
  if (state == nullptr) throw std::logic_error("the state is another learner's");
  ChangeFolds([&](std::size_t k) { folds_[k]->learner->Restore(*state->folds[k]); });
  rounds_done_ = state->rounds_done;
  best_ = state->best;
}

// ---- scores

detail::ScoreView LockstepLearner::Impl::View() const {
  return {.data = scores_.data(),
          .num_rows = objective_.rows().num_rows(),
          .num_scores = objective_.rows().num_scores(),
          .layout = detail::ScoreLayout::kClassMajor};
}

// A group that a fold's training rows lack would leave it with other constraints than the rest.
void LockstepLearner::Impl::CheckFold(std::size_t k) const {
  if (folds_[k]->constraints.size() == constraints_.size()) return;
  throw std::invalid_argument(fmt::format(
      "folds: the rows outside fold {} lack a group that the constraints compare; allowed: folds "
      "that leave every group in each training set (use fewer folds, or drop the group)",
      k));
}

void LockstepLearner::Impl::CollectScores(std::size_t k) {
  const TrainingFold& fold = *folds_[k];
  const std::size_t n = objective_.rows().num_rows();
  const auto row_of = [&](std::size_t j) { return rows_.InData(fold.held_out[j]); };
  const auto put = [&](std::size_t j, std::size_t c, double score) {
    scores_[c * n + static_cast<std::size_t>(fold.held_out[j])] = score;
  };
  ReadScores(fold, fold.set, fold.held_out.size(), row_of, put);
}

// Where training rows of a fold, which rise, are in the data set of its booster.
std::vector<std::int32_t> LockstepLearner::Impl::PlacesIn(
    const TrainingFold& fold, std::span<const std::int32_t> rows) const {
  std::vector<std::int32_t> places;
  places.reserve(rows.size());
  std::size_t left_out = 0;  // rows before this one that a subset of the data lacks
  for (const std::int32_t row : rows) {
    if (!fold.set) {
      places.push_back(rows_.InData(row));
      continue;
    }
    while (left_out < fold.held_out.size() && fold.held_out[left_out] < row) ++left_out;
    places.push_back(row - static_cast<std::int32_t>(left_out));
  }
  return places;
}

// Of a set that the booster scores apart, or else of rows of the data set that it trains on,
// where row j is row_of(j).
template <class RowOf, class Use>
void LockstepLearner::Impl::ReadScores(const TrainingFold& fold, std::optional<std::size_t> set,
                                       std::size_t count, const RowOf& row_of,
                                       const Use& use) const {
  if (!set) {
    fold.learner->impl_->ReadScores(count, row_of, use);
    return;
  }
  const std::span<const double> scores = fold.learner->HeldOutScores(*set);
  for (std::size_t at = 0; at < scores.size(); ++at) use(at % count, at / count, scores[at]);
}

}  // namespace bregboost
