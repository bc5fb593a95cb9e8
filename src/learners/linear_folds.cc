#include "bregboost/learners/linear_folds.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <stdexcept>

#include "bregboost/data/folds.h"
#include "detail/option_checks.h"
#include "learners/detail/linear_steps.h"

namespace bregboost {
namespace {

// What one model is trained on: all rows, those of its fold without weight.
struct Fold {
  Fold(const FeatureMatrix& features, const Objective& objective,
       const RateConstraints& all_constraints, std::span<const std::uint8_t> keep,
       const LinearOptions& options)
      : rows(MaskRows(objective.rows(), keep)),
        training(rows, objective.options()),
        constraints(all_constraints.sources(), rows, all_constraints.surrogate(),
                    all_constraints.loss()),
        learner(features, training, options) {}
  Fold(const Fold&) = delete;
  Fold& operator=(const Fold&) = delete;

  RowData rows;
  Objective training;
  RateConstraints constraints;
  LinearLearner learner;
};

}  // namespace

class LinearFolds::Impl {
 public:
  Impl(const FeatureMatrix& features, const Objective& objective,
       const RateConstraints& constraints, const LinearFoldsOptions& options)
      : objective_(objective), constraints_(constraints), options_(options) {
    detail::RequireAtLeast<std::int64_t>("steps", options.steps, 1);
    const std::vector<std::uint32_t>& cells = constraints.compiled().cells.cell_of_row;
    fold_of_row_ = AssignFolds(cells, options.num_folds, options.seed);
    std::vector<std::uint8_t> keep(fold_of_row_.size());
    for (std::size_t k = 0; k < options.num_folds; ++k) {
      std::transform(fold_of_row_.begin(), fold_of_row_.end(), keep.begin(),
                     [&](std::int32_t fold) { return fold != static_cast<std::int32_t>(k); });
      folds_.push_back(
          std::make_unique<Fold>(features, objective, constraints, keep, options.linear));
    }
    CollectScores();
  }

  StepOutcome ForEachStep(const std::function<StepOutcome(Fold&)>& step) {
    StepOutcome all;
    const auto folds = static_cast<double>(folds_.size());
    for (const auto& fold : folds_) {
      const StepOutcome one = step(*fold);
      all.distance += one.distance / folds;
      all.suboptimality = std::max(all.suboptimality, one.suboptimality);
      all.residual = std::max(all.residual, one.residual);
      all.evaluations += one.evaluations;
    }
    CollectScores();
    ++steps_;
    return all;
  }

  template <class Function>
  void ForEachLearner(const Function& function) {
    for (const auto& fold : folds_) function(fold->learner);
  }

  double Mean(const std::function<double(const Fold&)>& value) const {
    double total = 0.0;
    for (const auto& fold : folds_) total += value(*fold);
    return total / static_cast<double>(folds_.size());
  }

  void CollectScores() {
    scores_ = ScoresByFold(/*after=*/0);
    reserved_scores_.clear();  // made again when asked for
  }

  // Of each row by the model of the fold that comes so many after its own.
  std::vector<double> ScoresByFold(std::size_t after) const {
    const std::size_t n = objective_.rows().num_rows();
    std::vector<double> scores(n * objective_.rows().num_scores());
    for (std::size_t k = 0; k < objective_.rows().num_scores(); ++k) {
      for (std::size_t i = 0; i < n; ++i) {
        const auto fold = static_cast<std::size_t>(fold_of_row_[i]);
        scores[k * n + i] = folds_[(fold + after) % folds_.size()]->learner.scores()[k * n + i];
      }
    }
    return scores;
  }

  LinearModel MeanModel() const {
    LinearModel model{.coefficients = folds_.front()->learner.coefficients(),
                      .intercept = folds_.front()->learner.intercept()};
    for (std::size_t k = 1; k < folds_.size(); ++k) {
      model.coefficients += folds_[k]->learner.coefficients();
      model.intercept += folds_[k]->learner.intercept();
    }
    model.coefficients /= static_cast<double>(folds_.size());
    model.intercept /= static_cast<double>(folds_.size());
    return model;
  }

  std::span<const double> ReservedScores() {
    if (options_.reserved && reserved_scores_.empty()) {
      const LinearModel model = MeanModel();
      reserved_scores_.resize(options_.reserved->rows() * objective_.rows().num_scores());
      options_.reserved->Multiply(model.coefficients, model.intercept, reserved_scores_);
    }
    return reserved_scores_;
  }

  class State final : public ModelState {
   public:
    std::vector<std::unique_ptr<ModelState>> folds;
  };

  const Objective& objective_;
  const RateConstraints& constraints_;
  LinearFoldsOptions options_;
  std::vector<std::int32_t> fold_of_row_;
  std::vector<std::unique_ptr<Fold>> folds_;
  std::vector<double> scores_;  // out of fold, class-major
  std::vector<double> reserved_scores_;
  std::int64_t steps_ = 0;
};

LinearFolds::LinearFolds(const FeatureMatrix& features, const Objective& objective,
                         const RateConstraints& constraints, const LinearFoldsOptions& options)
    : impl_(std::make_unique<Impl>(features, objective, constraints, options)) {}
LinearFolds::~LinearFolds() = default;

std::span<const double> LinearFolds::scores() const { return impl_->scores_; }
std::size_t LinearFolds::models_per_row() const { return impl_->folds_.size() - 1; }
std::vector<double> LinearFolds::TrainedScores(std::size_t m) const {
  return impl_->ScoresByFold(/*after=*/m + 1);
}
double LinearFolds::objective() const { return impl_->objective_.Evaluate(impl_->scores_); }

StepOutcome LinearFolds::Step(const ProximalStep& step) {
  const bool constrained = step.constraints != nullptr && step.constraints->size() > 0;
  if (constrained && step.constraints != &impl_->constraints_) {
    throw std::invalid_argument(
        "constraints: not those that the folds were made for; allowed: the set given to the "
        "learner");
  }
  return impl_->ForEachStep([&](Fold& fold) {
    return detail::SolveStep(fold.learner, step, constrained ? &fold.constraints : nullptr);
  });
}

StepOutcome LinearFolds::StepOnCosts(std::span<const double> costs, double /*tau*/) {
  // Folds keep all rows, so their cells are those of the whole.
  return impl_->ForEachStep([&](Fold& fold) {
    return detail::SolveOnCosts(fold.learner, fold.training, fold.constraints.compiled().cells,
                                costs);
  });
}

const RateConstraints& LinearFolds::unseen() const { return impl_->constraints_; }
const RateConstraints& LinearFolds::training() const { return impl_->constraints_; }
std::span<const double> LinearFolds::ReservedScores() const { return impl_->ReservedScores(); }
std::int64_t LinearFolds::requested_rounds() const { return impl_->options_.steps; }
std::int64_t LinearFolds::rounds_done() const { return impl_->steps_; }
std::span<const std::int32_t> LinearFolds::fold_of_row() const { return impl_->fold_of_row_; }

void LinearFolds::SetAnchor() {
  impl_->ForEachLearner([](LinearLearner& learner) { learner.SetAnchor(); });
}
double LinearFolds::AnchorDistance() const {
  return impl_->Mean([](const Fold& fold) { return fold.learner.AnchorDistance(); });
}
void LinearFolds::AccumulateAverage(double weight) {
  impl_->ForEachLearner([&](LinearLearner& learner) { learner.AccumulateAverage(weight); });
}
void LinearFolds::ResetAverage() {
  impl_->ForEachLearner([](LinearLearner& learner) { learner.ResetAverage(); });
}
void LinearFolds::UseAverage() {
  impl_->ForEachLearner([](LinearLearner& learner) { learner.UseAverage(); });
  impl_->CollectScores();
}

std::unique_ptr<ModelState> LinearFolds::Save() const {
  auto state = std::make_unique<Impl::State>();
  for (const auto& fold : impl_->folds_) state->folds.push_back(fold->learner.Save());
  return state;
}
void LinearFolds::Restore(const ModelState& saved) {
  const auto* state = dynamic_cast<const Impl::State*>(&saved);
  if (state == nullptr) throw std::logic_error("the state is another learner's");
  for (std::size_t k = 0; k < impl_->folds_.size(); ++k) {
    impl_->folds_[k]->learner.Restore(*state->folds[k]);
  }
  impl_->CollectScores();
}

double LinearFolds::StationarityResidual(const ConstraintSet& constraints,
                                         std::span<const double> multipliers,
                                         double objective_weight) const {
  return impl_->Mean([&](const Fold& fold) {
    const ConstraintSet& of_fold = constraints.size() > 0 ? fold.constraints : constraints;
    return fold.learner.StationarityResidual(of_fold, multipliers, objective_weight);
  });
}
double LinearFolds::ScoreSensitivity() const {
  double largest = 0.0;
  for (const auto& fold : impl_->folds_) {
    largest = std::max(largest, fold->learner.ScoreSensitivity());
  }
  return largest;
}
double LinearFolds::StrongConvexity() const {
  double smallest = std::numeric_limits<double>::infinity();
  for (const auto& fold : impl_->folds_) {
    smallest = std::min(smallest, fold->learner.StrongConvexity());
  }
  return smallest;
}

LinearModel LinearFolds::Model(const ModelAdjustment& adjustment) const {
  return Adjusted(impl_->MeanModel(), adjustment);
}

}  // namespace bregboost
