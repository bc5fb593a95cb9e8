#include "learners/detail/masked_xgboost.h"

#include <stdexcept>

#include "detail/bytes.h"
#include "learners/boosted_impl.h"
#include "learners/detail/xgboost_parameters.h"

namespace bregboost::detail {
namespace {

// The unseen rows are among those of the matrix, so the booster has no held-out set to watch.
BoostedOptions Unwatched(BoostedOptions options) {
  options.parameters = XgboostWithoutEarlyStopping(options.parameters);
  options.early_stopping_rounds = 0;
  return options;
}

// As many rows as the data set has. Those that are not given look like the first one, which adds no
// cell, and weigh nothing.
RowData Spread(const RowData& rows, std::span<const std::int32_t> in_data, std::size_t size) {
  if (in_data.empty()) {  // every other worker may have some
    throw std::invalid_argument("training rows: none on this worker; allowed: at least 1");
  }
  if (in_data.size() != rows.num_rows() || static_cast<std::size_t>(in_data.back()) >= size) {
    throw std::logic_error("rows without a place in the data set");
  }
  std::vector<std::int32_t> from(size, 0);
  std::vector<std::uint8_t> keep(size, 0);
  for (std::size_t i = 0; i < in_data.size(); ++i) {
    from[static_cast<std::size_t>(in_data[i])] = static_cast<std::int32_t>(i);
    keep[static_cast<std::size_t>(in_data[i])] = 1;
  }
  return MaskRows(TakeRows(rows, from), keep);
}

std::vector<HeldOut<XgboostDataset>> ScoredOnly(const std::vector<XgboostDataset>& datasets) {
  std::vector<HeldOut<XgboostDataset>> sets;
  for (const XgboostDataset& dataset : datasets) sets.push_back({.dataset = dataset});
  return sets;
}

// Sets of their own, in the order in which the booster numbers them.
std::vector<XgboostDataset> OwnSets(const ScoredRows& unseen, const ScoredRows& reserved) {
  std::vector<XgboostDataset> sets;
  for (const ScoredRows* rows : {&unseen, &reserved}) {
    if (rows->own != nullptr) sets.push_back(*rows->own);
  }
  return sets;
}

}  // namespace

MaskedXgboost::MaskedXgboost(const XgboostDataset& data, const RateConstraints& constraints,
                             std::span<const std::int32_t> in_data,
                             const ObjectiveOptions& objective, const BoostedOptions& options,
                             const std::vector<XgboostDataset>& apart)
    : rows_(Spread(constraints.rows(), in_data, data.num_rows())),
      objective_(rows_, objective),
      constraints_(constraints.sources(), rows_, constraints.surrogate(), constraints.loss()),
      learner_(BoostedLearner::Xgboost(data, objective_, options, ScoredOnly(apart))) {}

std::vector<double> MaskedXgboost::ScoresOf(std::span<const std::int32_t> data_rows) const {
  if (data_rows.empty()) return {};  // after a return to an earlier state, scores are dear
  const std::span<const double> all = learner_->scores();
  const std::size_t n = rows_.num_rows();
  std::vector<double> scores;
  scores.reserve(data_rows.size() * rows_.num_scores());
  for (std::size_t k = 0; k < rows_.num_scores(); ++k) {
    for (const std::int32_t row : data_rows) {
      scores.push_back(all[k * n + static_cast<std::size_t>(row)]);
    }
  }
  return scores;
}

MaskedHoldOut::MaskedHoldOut(const XgboostDataset& data, const Part& training,
                             std::span<const std::int32_t> training_in_data, const Part& unseen,
                             ScoredRows unseen_rows, ScoredRows reserved_rows,
                             const BoostedOptions& options)
    : training_(training.constraints),
      unseen_(unseen),
      unseen_rows_(std::move(unseen_rows)),
      reserved_rows_(std::move(reserved_rows)),
      early_stopping_rounds_(
          XgboostBoosterSettings(data, training.objective, options).early_stopping_rounds),
      masked_(data, training.constraints, training_in_data, training.objective.options(),
              Unwatched(options), OwnSets(unseen_rows_, reserved_rows_)) {}

std::vector<double> MaskedHoldOut::ReadRows(const ScoredRows& rows, std::size_t set) const {
  if (rows.own == nullptr) return masked_.ScoresOf(rows.in_data);
  const std::span<const double> scores = booster().HeldOutScores(set);
  return {scores.begin(), scores.end()};
}

std::span<const double> MaskedHoldOut::scores() const {
  if (scores_.empty()) scores_ = ReadRows(unseen_rows_, 0);
  return scores_;
}

std::span<const double> MaskedHoldOut::ReservedScores() const {
  if (reserved_scores_.empty()) {
    reserved_scores_ = ReadRows(reserved_rows_, unseen_rows_.own != nullptr ? 1 : 0);
  }
  return reserved_scores_;
}

void MaskedHoldOut::ForgetScores() {
  scores_.clear();
  reserved_scores_.clear();
}

const ConstraintSet* MaskedHoldOut::OnMaskedRows(const ConstraintSet* constraints) const {
  if (constraints == nullptr || constraints->size() == 0) return nullptr;
  if (constraints == &training_ || constraints == &unseen_.constraints) {
    return &masked_.constraints();
  }
  throw std::logic_error("constraints that the learner was not made for");
}

StepOutcome MaskedHoldOut::Step(const ProximalStep& step) {
  ProximalStep on_masked = step;
  on_masked.constraints = OnMaskedRows(step.constraints);
  ForgetScores();
  StepOutcome outcome = booster().Step(on_masked);
  if (outcome.stalled.empty()) outcome.stopped = CheckUnseenLoss();
  return outcome;
}

std::string MaskedHoldOut::CheckUnseenLoss() {
  if (early_stopping_rounds_ == 0) return {};
  const double loss = objective();
  const std::int64_t round = booster().num_rounds();
  if (loss < best_loss_) {
    best_loss_ = loss;
    best_round_ = round;
    best_state_ = Save();
  }
  if (round - best_round_ < early_stopping_rounds_) return {};
  return fmt::format(
      "the loss on held-out rows was lowest, {:.6g}, after round {} and has not fallen in the {} "
      "rounds since",
      best_loss_, best_round_, round - best_round_);
}

void MaskedHoldOut::UseAverage() {
  ForgetScores();
  booster().UseAverage();
}

std::unique_ptr<ModelState> MaskedHoldOut::Save() const {
  auto state = std::make_unique<State>();
  state->booster = booster().Save();
  state->scores = scores_;
  state->reserved_scores = reserved_scores_;
  return state;
}

void MaskedHoldOut::Restore(const ModelState& saved) {
  const auto* state = dynamic_cast<const State*>(&saved);
  if (state == nullptr) throw std::logic_error("the state is another learner's");
  booster().Restore(*state->booster);
  scores_ = state->scores;
  reserved_scores_ = state->reserved_scores;
}

// Its own best state goes behind those that a solver keeps. Scores are not written, so nobody keeps
// them: whoever takes the training up reads them again, as this one does then.
void MaskedHoldOut::EndSegment(std::span<ModelState* const> kept, ByteWriter& out) {
  out.Put(best_loss_);
  out.Put(best_round_);
  out.Put(std::int64_t{best_state_ != nullptr});
  std::vector<ModelState*> all(kept.begin(), kept.end());
  if (best_state_ != nullptr) all.push_back(best_state_.get());
  for (ModelState*& saved : all) {
    auto* state = dynamic_cast<State*>(saved);
    if (state == nullptr) throw std::logic_error("the state is another learner's");
    state->scores.clear();
    state->reserved_scores.clear();
    saved = state->booster.get();
  }
  booster().EndSegment(all, out);
  ForgetScores();
}

std::vector<std::unique_ptr<ModelState>> MaskedHoldOut::TakeUp(ByteReader& in) {
  best_loss_ = in.Real();
  best_round_ = in.Integer();
  const bool has_best = in.Integer() != 0;
  std::vector<std::unique_ptr<ModelState>> states = booster().TakeUp(in);
  RequireOfOneTraining(best_loss_ > -std::numeric_limits<double>::infinity() && best_round_ >= 0 &&
                       best_round_ <= booster().num_rounds());
  for (std::unique_ptr<ModelState>& taken : states) {
    auto state = std::make_unique<State>();
    state->booster = std::move(taken);
    taken = std::move(state);
  }
  ForgetScores();
  best_state_ = nullptr;
  if (!has_best) return states;
  if (states.empty()) throw std::runtime_error("a best state that is not there");
  best_state_ = std::move(states.back());
  states.pop_back();
  return states;
}

void MaskedHoldOut::ReturnToBest() {
  if (best_state_ != nullptr && best_round_ < booster().num_rounds()) {
    Restore(*best_state_);
  }
}

StepOutcome MaskedHoldOut::StepOnCosts(std::span<const double> costs, double tau) {
  ForgetScores();
  return booster().StepOnCosts(masked_.constraints().compiled().cells, costs, tau);
}

double MaskedHoldOut::StationarityResidual(const ConstraintSet& constraints,
                                           std::span<const double> multipliers,
                                           double objective_weight) const {
  const ConstraintSet* on_masked = OnMaskedRows(&constraints);
  return booster().StationarityResidual(on_masked != nullptr ? *on_masked : constraints,
                                        multipliers, objective_weight);
}

}  // namespace bregboost::detail
