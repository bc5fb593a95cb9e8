#include "bregboost/learners/boosted.h"

#include <stdexcept>
#include <utility>

#include "detail/option_checks.h"
#include "learners/boosted_impl.h"

namespace bregboost {

BoostedLearner::BoostedLearner(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BoostedLearner::~BoostedLearner() = default;

std::span<const double> BoostedLearner::scores() const { return impl_->ClassMajorScores(); }
double BoostedLearner::objective() const { return impl_->objective(); }
LearnerValues BoostedLearner::Evaluate(const ConstraintSet& constraints) const {
  return impl_->Evaluate(constraints);
}
StepOutcome BoostedLearner::Step(const ProximalStep& step) { return impl_->Step(step); }
StepOutcome BoostedLearner::StepOnCosts(const CellTable& cells, std::span<const double> costs,
                                        double tau) {
  detail::RequirePositive("tau", tau);
  return impl_->Step({.cells = &cells, .costs = costs}, tau);
}
void BoostedLearner::SetAnchor() { impl_->SetAnchor(); }
double BoostedLearner::AnchorDistance() const { return impl_->AnchorDistance(); }
void BoostedLearner::AccumulateAverage(double weight) { impl_->AccumulateAverage(weight); }
void BoostedLearner::ResetAverage() { impl_->ResetAverage(); }
void BoostedLearner::UseAverage() { impl_->UseAverage(); }
void BoostedLearner::ReturnToBest() { impl_->ReturnToBest(); }
std::unique_ptr<ModelState> BoostedLearner::Save() const { return impl_->Save(); }
void BoostedLearner::Restore(const ModelState& state) { impl_->Restore(state); }
double BoostedLearner::StationarityResidual(const ConstraintSet& constraints,
                                            std::span<const double> multipliers,
                                            double objective_weight) const {
  return impl_->StationarityResidual(constraints, multipliers, objective_weight);
}
void BoostedLearner::EndSegment(std::span<ModelState* const> kept, detail::ByteWriter& out) {
  impl_->EndSegment(kept, out);
}
std::vector<std::unique_ptr<ModelState>> BoostedLearner::TakeUp(detail::ByteReader& in) {
  return impl_->TakeUp(in);
}
std::int64_t BoostedLearner::num_rounds() const { return impl_->num_rounds(); }
std::int64_t BoostedLearner::requested_rounds() const { return impl_->settings().num_rounds; }
bool BoostedLearner::stops_early() const { return impl_->settings().early_stopping_rounds > 0; }
std::int64_t BoostedLearner::rounds_per_step() const { return impl_->settings().rounds_per_step; }
void BoostedLearner::SetRoundsPerStep(std::int64_t rounds) { impl_->SetRoundsPerStep(rounds); }
std::size_t BoostedLearner::num_held_out() const { return impl_->num_held_out(); }
std::span<const double> BoostedLearner::HeldOutScores(std::size_t set) const {
  return impl_->HeldOutScores(set);
}
LearnerValues BoostedLearner::EvaluateHeldOut(std::size_t set,
                                              const ConstraintSet& constraints) const {
  return impl_->EvaluateHeldOut(set, constraints);
}
std::string BoostedLearner::Model(const ModelAdjustment& adjustment) const {
  Impl* self = impl_.get();
  return Impl::MeanModel({&self, 1}, adjustment);
}
std::string BoostedLearner::MeanModel(std::span<const BoostedLearner* const> learners,
                                      const ModelAdjustment& adjustment) {
  if (learners.empty()) throw std::invalid_argument("learners: none; allowed: at least 1");
  std::vector<Impl*> all;
  for (const BoostedLearner* learner : learners) all.push_back(learner->impl_.get());
  return Impl::MeanModel(all, adjustment);
}

}  // namespace bregboost
