// Constraints on rates as a ConstraintSet: exact and surrogate values from one pass over the rows,
// derivatives from another, at a cost that does not depend on the number of constraints.
#pragma once

#include <Eigen/SparseCore>
#include <memory>
#include <span>
#include <vector>

#include "bregboost/data/row_data.h"
#include "bregboost/problem/compiled_constraints.h"
#include "bregboost/problem/constraint.h"
#include "bregboost/problem/constraint_set.h"
#include "bregboost/problem/surrogate.h"

namespace bregboost {

namespace detail {
class EventKernel;
struct EventSums;
}  // namespace detail

class RateConstraints final : public ConstraintSet {
 public:
  // Keeps a reference to `rows`. Throws ConstraintError.
  RateConstraints(const std::vector<Constraint>& constraints, const RowData& rows,
                  const SurrogateOptions& surrogate = {}, const LossOptions& loss = {},
                  EmptySubsetPolicy policy = EmptySubsetPolicy::kError);
  RateConstraints(const std::vector<Constraint>& constraints, const RowData&& rows,
                  const SurrogateOptions& surrogate = {}, const LossOptions& loss = {},
                  EmptySubsetPolicy policy = EmptySubsetPolicy::kError) = delete;
  // The same constraints on the same rows with other bounds, one for each constraint. Equal to new
  // ones in every answer, but made without another look at each row. Throws ConstraintError, or
  // std::invalid_argument for a wrong number of bounds.
  RateConstraints WithBounds(std::span<const double> bounds) const;
  ~RateConstraints() override;
  RateConstraints(RateConstraints&&) noexcept;
  RateConstraints& operator=(RateConstraints&&) noexcept;

  std::size_t size() const override { return compiled_->bounds.size(); }
  ConstraintValues Evaluate(std::span<const double> scores) const override;
  double AddLagrangian(std::span<const double> scores, std::span<const double> multipliers,
                       std::span<double> gradient, std::span<double> hessian) const override;
  void AddDerivatives(std::span<const double> scores, std::span<const double> multipliers,
                      std::span<double> gradient, std::span<double> hessian) const override;
  bool convex() const override;
  double LipschitzBound() const override;
  double WeakConvexityBound() const override;
  // Valid while this object lives. Convex surrogates only: else nullptr.
  std::unique_ptr<ConstraintSet> Majorize(std::span<const double> scores) const override;
  bool has_bound_schedule() const override {
    return surrogate_.bound_rule == SurrogateBoundRule::kUniformThenCurrent;
  }
  using ConstraintSet::UpdateBounds;
  bool UpdateBounds(double progress, const ScoreReader& read) override;

  // The sums S of the events, 0-1 and losses: column = cell * slots + slot.
  std::vector<double> ExactSums(std::span<const double> scores) const;

  // Every constraint as written: value, violation and group rates with 0-1 events.
  std::vector<Measurement> Measure(std::span<const double> scores) const;

  const CompiledConstraints& compiled() const { return *compiled_; }
  std::vector<Constraint> sources() const;  // to bind them to other rows

  // For passes over rows that make the event sums S themselves, column = cell * slots + slot.
  // Keeping the shared form alive tells these constraints from any that come after them.
  std::shared_ptr<const CompiledConstraints> shared_compiled() const { return compiled_; }
  const RowData& rows() const { return *rows_; }
  const SurrogateOptions& surrogate() const { return surrogate_; }
  const LossOptions& loss() const { return loss_; }
  const std::vector<bool>& used_slots() const { return used_slots_; }  // those that A names
  std::vector<double> Coefficients(std::span<const double> multipliers) const;  // A'y
  ConstraintValues ValuesOf(std::span<const double> exact_sums,
                            std::span<const double> surrogate_sums) const;

 private:
  class Majorizer;

  RateConstraints(const RowData& rows, CompiledConstraints compiled,
                  const SurrogateOptions& surrogate, const LossOptions& loss);
  detail::EventSums Sums(std::span<const double> scores) const;  // over all workers
  bool SlotIsConvex(std::size_t slot) const;
  double SlotSlope(std::size_t slot) const;
  double SlotCurvature(std::size_t slot) const;
  void SetInitialBounds();

  const RowData* rows_;
  SurrogateOptions surrogate_;
  LossOptions loss_;
  std::shared_ptr<const CompiledConstraints> compiled_;  // the kernel points into it
  std::vector<bool> used_slots_;
  std::vector<double> surrogate_bounds_;     // b, or what the bound rule makes of it
  bool bounds_follow_current_loss_ = false;  // the second half of kUniformThenCurrent
  std::unique_ptr<detail::EventKernel> kernel_;
};

}  // namespace bregboost
