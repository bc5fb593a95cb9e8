#include "learners/boosted_impl.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "detail/option_checks.h"
#include "detail/parallel.h"
#include "detail/thread_scope.h"
#include "learners/detail/booster.h"
#include "learners/detail/boosting_pass.h"
#include "learners/detail/no_constraints.h"
#include "learners/detail/step_measure.h"

namespace bregboost {

using detail::ScoreLayout;
using detail::ScoreView;

namespace {

// With row or feature sampling an empty round may be the draw's fault.
constexpr int kMostDraws = 10;

ModelObjective ObjectiveOf(Task task, LossKind loss) {
  switch (task) {
    case Task::kBinary:
      return ModelObjective::kBinary;
    case Task::kMulticlass:
      return ModelObjective::kMulticlass;
    case Task::kRegression:
      break;
  }
  return loss == LossKind::kHuber ? ModelObjective::kHuber : ModelObjective::kRegression;
}

std::vector<float> Transposed(const std::vector<float>& class_major, std::size_t num_scores) {
  const std::size_t rows = class_major.size() / num_scores;
  std::vector<float> row_major(class_major.size());
  for (std::size_t k = 0; k < num_scores; ++k) {
    for (std::size_t i = 0; i < rows; ++i) {
      row_major[i * num_scores + k] = class_major[k * rows + i];
    }
  }
  return row_major;
}

}  // namespace

BoostedLearner::Impl::Impl(const Objective& objective, BoosterSettings settings,
                           const detail::PassOptions& pass_options,
                           std::unique_ptr<detail::Booster> booster, ModelWriter writer,
                           std::span<const Objective* const> held_out)
    : objective_(objective),
      settings_(std::move(settings)),
      booster_(std::move(booster)),
      writer_(writer),
      pass_(objective, pass_options),
      metric_(objective.rows()),
      scored_(1 + held_out.size()) {
  detail::RequireAtLeast<std::int64_t>("rounds_per_step", settings_.rounds_per_step, 1);
  detail::RequireAtLeast<std::int64_t>("early_stopping_rounds", settings_.early_stopping_rounds, 0);
  if (settings_.early_stopping_rounds > 0 && (held_out.empty() || held_out[0] == nullptr)) {
    throw std::invalid_argument(fmt::format(
        "early_stopping_rounds: {}; allowed without {}: 0", settings_.early_stopping_rounds,
        held_out.empty() ? "a held-out set" : "an objective of the first held-out set"));
  }
  for (const Objective* of_held_out : held_out) {
    held_out_.emplace_back(of_held_out == nullptr ? nullptr
                                                  : std::make_unique<detail::BoostingPass>(
                                                        *of_held_out, pass_options));
  }
}

void BoostedLearner::Impl::UseBuffers(detail::RoundBuffers* buffers) {
  if (lent_buffers_ != nullptr) booster_->GiveBackRoom(lent_buffers_->scores);
  lent_buffers_ = buffers;
  if (lent_buffers_ != nullptr) booster_->LendRoom(lent_buffers_->scores);
}

detail::RoundBuffers& BoostedLearner::Impl::Buffers() {
  if (lent_buffers_ == nullptr && own_buffers_ == nullptr) {
    own_buffers_ = std::make_unique<detail::RoundBuffers>();
  }
  detail::RoundBuffers& buffers = lent_buffers_ == nullptr ? *own_buffers_ : *lent_buffers_;
  const std::size_t size = objective_.rows().num_rows() * objective_.rows().num_scores();
  buffers.gradient.resize(size);
  buffers.hessian.resize(size);
  return buffers;
}

// ---- scores

ScoreView BoostedLearner::Impl::LibraryScores(std::size_t set) {
  return set == 0 ? booster_->TrainScores() : booster_->HeldOutScores(set - 1);
}

ScoreView BoostedLearner::Impl::Scores(std::size_t set) {
  const ScoreView scores = LibraryScores(set);
  Scored& scored = scored_[set];
  if (scored.shift.empty()) return scores;
  if (scored.shifted_at != version_) {
    detail::ToClassMajor(scores, scored.shifted);
    for (std::size_t i = 0; i < scored.shifted.size(); ++i) scored.shifted[i] += scored.shift[i];
    scored.shifted_at = version_;
  }
  return {.data = scored.shifted.data(),
          .num_rows = scores.num_rows,
          .num_scores = scores.num_scores,
          .layout = ScoreLayout::kClassMajor};
}

ScoreView BoostedLearner::Impl::HoldScores() {
  if (scored_[0].shift.empty()) return booster_->HoldScores();
  held_.Assign(Scores(0));
  return held_.view();
}

// The view itself where it is what solvers expect, else a copy.
std::span<const double> BoostedLearner::Impl::ClassMajor(std::size_t set) {
  const ScoreView scores = Scores(set);
  const auto* doubles = std::get_if<const double*>(&scores.data);
  if (doubles != nullptr && scores.layout == ScoreLayout::kClassMajor) {
    return {*doubles, scores.size()};
  }
  Scored& scored = scored_[set];
  if (scored.converted_at != version_) detail::ToClassMajor(scores, scored.class_major);
  scored.converted_at = version_;
  return scored.class_major;
}

std::span<const double> BoostedLearner::Impl::ClassMajorScores() { return ClassMajor(0); }

std::span<const double> BoostedLearner::Impl::HeldOutScores(std::size_t set) {
  CheckHeldOut(set);
  return ClassMajor(set + 1);
}

void BoostedLearner::Impl::CheckHeldOut(std::size_t set) const {
  if (set < held_out_.size()) return;
  throw std::invalid_argument(
      fmt::format("held-out set: {}; allowed: below {}", set, held_out_.size()));
}

// ---- values

LearnerValues BoostedLearner::Impl::Evaluate(const ConstraintSet& constraints) {
  const detail::ThreadScope threads(settings_.num_threads, settings_.region);
  LearnerValues values = pass_.Evaluate(constraints, Scores(0));
  objective_value_ = values.objective;
  objective_at_ = version_;
  return values;
}

double BoostedLearner::Impl::objective() {
  if (objective_at_ != version_) Evaluate(detail::NoConstraints());
  return objective_value_;
}

LearnerValues BoostedLearner::Impl::EvaluateHeldOut(std::size_t set,
                                                    const ConstraintSet& constraints) {
  CheckHeldOut(set);
  if (held_out_[set] == nullptr) {
    throw std::invalid_argument(
        fmt::format("held-out set: {}, which has no objective; allowed: one that has", set));
  }
  const detail::ThreadScope threads(settings_.num_threads, settings_.region);
  return held_out_[set]->Evaluate(constraints, Scores(set + 1));
}

// A solve that starts from a model without trees needs no copy of its scores.
void BoostedLearner::Impl::SetAnchor() {
  const ScoreView now = Scores(0);
  anchor_constants_ = detail::ConstantScores(now);
  anchor_.Clear();
  if (anchor_constants_.empty()) anchor_.Assign(now);
}

// In the type and layout of the scores, which an average may have changed since it was set.
const ScoreView& BoostedLearner::Impl::Anchor() {
  const ScoreView now = Scores(0);
  if (anchor_.view().num_rows == 0 && !anchor_constants_.empty()) {
    anchor_.AssignConstants(anchor_constants_, now);
  }
  const ScoreView& anchor = anchor_.view();
  const bool alike = anchor.data.index() == now.data.index() && anchor.layout == now.layout;
  if (anchor.num_rows > 0 && !alike) {
    std::vector<double> class_major;
    detail::ToClassMajor(anchor, class_major);
    anchor_.AssignClassMajor(class_major, now);
  }
  return anchor_.view();
}

double BoostedLearner::Impl::AnchorDistance() {
  const detail::ThreadScope threads(settings_.num_threads, settings_.region);
  const bool was_made = anchor_.view().num_rows > 0;
  const ScoreView& anchor = Anchor();
  const double distance = anchor.num_rows == 0 ? 0.0 : pass_.Distance(Scores(0), anchor);
  if (!was_made) anchor_.Clear();
  return distance;
}

double BoostedLearner::Impl::StationarityResidual(const ConstraintSet& constraints,
                                                  std::span<const double> multipliers,
                                                  double objective_weight) {
  const detail::ThreadScope threads(settings_.num_threads, settings_.region);
  const std::span<const double> scores = ClassMajorScores();
  std::vector<double> gradient(scores.size(), 0.0);
  objective_.AddDerivatives(scores, objective_weight, gradient, {});
  constraints.AddDerivatives(scores, multipliers, gradient, {});
  const ScoreView before = step_end_ == version_ ? step_start_ : ScoreView{};
  return detail::LeafResidual(metric_, before, Scores(0), gradient);
}

// ---- rounds

void BoostedLearner::Impl::SetRoundsPerStep(std::int64_t rounds) {
  detail::RequireAtLeast<std::int64_t>("rounds_per_step", rounds, 1);
  settings_.rounds_per_step = rounds;
}

StepOutcome BoostedLearner::Impl::Step(const ProximalStep& step) {
  return RunRounds([&] { return AddRound(step); });
}

StepOutcome BoostedLearner::Impl::Step(const detail::CellCosts& costs, double tau) {
  return RunRounds([&] { return AddRound(costs, tau); });
}

template <class Add>
StepOutcome BoostedLearner::Impl::RunRounds(const Add& add_round) {
  BeginStep();
  try {
    for (std::int64_t round = 0; round < settings_.rounds_per_step; ++round) {
      if (!add_round()) break;
    }
    return EndStep();
  } catch (...) {
    RollBackTo(step_round_);
    throw;
  }
}

void BoostedLearner::Impl::BeginStep() {
  step_start_ = HoldScores();
  step_round_ = booster_->num_rounds();
  step_ = {.suboptimality = std::numeric_limits<double>::quiet_NaN(),
           .residual = std::numeric_limits<double>::quiet_NaN()};
}

bool BoostedLearner::Impl::AddRound(const ProximalStep& step) {
  step_measured_ = step.measured;
  const bool constrained = step.constraints != nullptr && step.constraints->size() > 0;
  const bool anchored = step.anchor_weight > 0.0;
  std::vector<detail::Pull> pulls;
  if (constrained || anchored) pulls.push_back(ProximalPull(step.tau));
  if (anchored) pulls.push_back({.weight = step.anchor_weight, .center = Anchor()});
  const detail::ThreadScope threads(settings_.num_threads, settings_.region);
  detail::RoundBuffers& buffers = Buffers();
  scale_ = pass_.Derive({.constraints = constrained ? step.constraints : nullptr,
                         .multipliers = step.multipliers,
                         .objective_weight = step.objective_weight,
                         .pulls = pulls},
                        Scores(0), buffers.gradient, buffers.hessian);
  return BoostDerived();
}

bool BoostedLearner::Impl::AddRound(const detail::CellCosts& costs, double tau) {
  step_measured_ = false;
  const detail::Pull pull = ProximalPull(tau);
  const detail::ThreadScope threads(settings_.num_threads, settings_.region);
  detail::RoundBuffers& buffers = Buffers();
  scale_ = pass_.Derive(costs, {&pull, 1}, Scores(0), buffers.gradient, buffers.hessian);
  return BoostDerived();
}

// At x_k itself the proximal term pulls nowhere, but it has its curvature.
detail::Pull BoostedLearner::Impl::ProximalPull(double tau) const {
  return {.weight = 1.0 / tau, .center = step_.evaluations == 0 ? ScoreView{} : step_start_};
}

bool BoostedLearner::Impl::BoostDerived() {
  step_.stalled = GrowOrSayWhy();
  if (!step_.stalled.empty()) return false;
  ++step_.evaluations;
  step_.stopped = CheckHeldOutLoss();
  return step_.stopped.empty();
}

StepOutcome BoostedLearner::Impl::EndStep() {
  if (step_.evaluations == 0) {
    step_end_ = -1;  // step_start_ is the point itself now, and tells no leaves apart
    return step_;
  }
  const detail::ThreadScope threads(settings_.num_threads, settings_.region);
  step_.stalled.clear();  // some round moved
  step_end_ = version_;
  if (!step_measured_) {
    step_.distance = std::numeric_limits<double>::quiet_NaN();
    return step_;
  }
  const detail::StepMeasure measure =
      detail::MeasureStep(metric_, step_start_, Scores(0), Buffers().hessian);
  step_.distance = measure.distance;
  step_.residual = measure.curved_length / (settings_.learning_rate * scale_);
  return step_;
}

bool BoostedLearner::Impl::Grow() {
  const detail::RoundBuffers& buffers = Buffers();
  const ScoreView native = booster_->TrainScores();
  // After an average our scores, hence the derivatives, are class-major whatever the library's are.
  const bool transpose =
      !scored_[0].shift.empty() && native.num_scores > 1 && native.layout == ScoreLayout::kRowMajor;
  const bool grown = transpose ? booster_->Boost(Transposed(buffers.gradient, native.num_scores),
                                                 Transposed(buffers.hessian, native.num_scores))
                               : booster_->Boost(buffers.gradient, buffers.hessian);
  if (!grown) return false;
  round_weights_.push_back(1.0);
  round_ids_.push_back(++last_round_id_);
  ++version_;
  return true;
}

std::string BoostedLearner::Impl::GrowOrSayWhy() {
  const int draws = settings_.samples ? kMostDraws : 1;
  for (int draw = 0; draw < draws; ++draw) {
    if (Grow()) return {};
  }
  const std::vector<float>& gradient = Buffers().gradient;
  const std::vector<float>& hessian = Buffers().hessian;
  const auto [lowest, highest] = std::minmax_element(gradient.begin(), gradient.end());
  const double total_hessian = std::accumulate(hessian.begin(), hessian.end(), 0.0);
  return fmt::format(
      "{} found no split in round {}{}: gradients from {:.3g} to {:.3g}, sum of hessians {:.3g}; "
      "limits in force: {}",
      settings_.library_title, booster_->num_rounds() + 1,
      draws > 1 ? fmt::format(", nor in {} draws of rows or features", draws) : "", *lowest,
      *highest, total_hessian, booster_->StallHint());
}

std::string BoostedLearner::Impl::CheckHeldOutLoss() {
  if (settings_.early_stopping_rounds == 0) return {};
  const double loss = EvaluateHeldOut(0, detail::NoConstraints()).objective;
  const std::int64_t round = booster_->num_rounds();
  if (loss < best_.loss) best_ = {.loss = loss, .round = round};
  if (round - best_.round < settings_.early_stopping_rounds) return {};
  return fmt::format(
      "the loss on held-out rows was lowest, {:.6g}, after round {} and has not fallen in the {} "
      "rounds since",
      best_.loss, best_.round, round - best_.round);
}

void BoostedLearner::Impl::ReturnToBest() {
  if (std::isfinite(best_.loss) && best_.round < booster_->num_rounds()) {
    GoBackTo(best_.round, best_.snapshot);
  }
}

void BoostedLearner::Impl::RollBackTo(std::int64_t rounds) { GoBackTo(rounds, nullptr); }

void BoostedLearner::Impl::GoBackTo(
    std::int64_t rounds, const std::shared_ptr<const detail::BoosterSnapshot>& snapshot) {
  if (snapshot != nullptr && rounds < booster_->first_round()) {
    booster_->Load(*snapshot, segment_);
  } else {
    booster_->RollBackTo(rounds);
  }
  round_weights_.resize(static_cast<std::size_t>(rounds));
  round_ids_.resize(static_cast<std::size_t>(rounds));
  ++version_;
}

// ---- averages of iterates: every tree weighs the share of the averaged iterates that hold it

void BoostedLearner::Impl::AccumulateAverage(double weight) {
  average_weight_ += weight;
  const double share = weight / average_weight_;
  for (std::size_t set = 0; set < scored_.size(); ++set) {
    const std::span<const double> now = ClassMajor(set);
    std::vector<double>& average = scored_[set].average;
    average.resize(now.size(), 0.0);
    for (std::size_t i = 0; i < now.size(); ++i) average[i] += share * (now[i] - average[i]);
  }
  iterates_.push_back({.rounds = round_ids_.size(),
                       .last_round = round_ids_.empty() ? 0 : round_ids_.back(),
                       .weight = weight});
}

void BoostedLearner::Impl::ResetAverage() {
  average_weight_ = 0.0;
  for (Scored& scored : scored_) scored.average.clear();
  iterates_.clear();
}

void BoostedLearner::Impl::UseAverage() {
  if (iterates_.empty()) return;
  std::vector<double> share(round_ids_.size(), 0.0);
  for (const Iterate& iterate : iterates_) {
    const bool still_there =
        iterate.rounds <= round_ids_.size() &&
        (iterate.rounds == 0 || round_ids_[iterate.rounds - 1] == iterate.last_round);
    if (!still_there) throw std::logic_error("an averaged iterate has been taken back");
    for (std::size_t t = 0; t < iterate.rounds; ++t) share[t] += iterate.weight / average_weight_;
  }
  for (std::size_t t = 0; t < share.size(); ++t) round_weights_[t] *= share[t];
  std::vector<double> from_library;
  for (std::size_t set = 0; set < scored_.size(); ++set) {
    detail::ToClassMajor(LibraryScores(set), from_library);
    std::vector<double>& shift = scored_[set].shift;
    shift = scored_[set].average;
    for (std::size_t i = 0; i < shift.size(); ++i) shift[i] -= from_library[i];
  }
  ++version_;
  best_ = {.loss = std::numeric_limits<double>::infinity(), .round = booster_->num_rounds()};
  ResetAverage();
}

// ---- states

std::unique_ptr<ModelState> BoostedLearner::Impl::Save() const {
  auto state = std::make_unique<State>();
  state->round_weights = round_weights_;
  state->round_ids = round_ids_;
  for (const Scored& scored : scored_) state->shifts.push_back(scored.shift);
  state->best = best_;
  return state;
}

void BoostedLearner::Impl::Restore(const ModelState& saved) {
  const auto* state = dynamic_cast<const State*>(&saved);
  if (state == nullptr) throw std::logic_error("the state is another learner's");
  const auto& ids = state->round_ids;
  if (ids.size() > round_ids_.size() || !std::equal(ids.begin(), ids.end(), round_ids_.begin())) {
    throw std::logic_error("rounds of the state have been taken back since");
  }
  GoBackTo(static_cast<std::int64_t>(ids.size()), state->snapshot);
  round_weights_ = state->round_weights;
  for (std::size_t set = 0; set < scored_.size(); ++set) {
    scored_[set].shift = state->shifts[set];
  }
  best_ = state->best;
}

// ---- the model

std::string BoostedLearner::Impl::MeanModel(std::span<Impl* const> learners,
                                            const ModelAdjustment& adjustment) {
  detail::RequirePositive("temperature", adjustment.temperature);
  std::vector<std::string> texts(learners.size());
  detail::ForEachTask(learners.size(),
                      [&](std::size_t p) { texts[p] = learners[p]->booster_->Serialize(); });
  std::vector<ModelPart> parts;
  for (std::size_t p = 0; p < learners.size(); ++p) {
    parts.push_back({.text = texts[p],
                     .weight = 1.0,
                     .round_weights = learners[p]->round_weights_,
                     .start = learners[p]->booster_->StartingScores()});
  }
  const Impl& first = *learners.front();
  const RowData& rows = first.objective_.rows();
  const LossOptions& loss = first.objective_.options().loss;
  ExportSpec spec{.objective = ObjectiveOf(rows.task(), loss.kind),
                  .num_scores = rows.num_scores(),
                  .huber_delta = loss.huber_delta};
  std::string plain = first.writer_.write(parts, spec);
  if (adjustment.temperature == 1.0 && adjustment.offsets.empty()) return plain;
  spec.inverse_temperature = 1.0 / adjustment.temperature;
  spec.offsets = adjustment.offsets;
  return first.writer_.adjust(plain, spec);
}

}  // namespace bregboost
