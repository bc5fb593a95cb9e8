// The first stage of a fit: which rows are trained on, which are unseen, which are kept for the
// certificate, and the problem that the limits pose on each of them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bregboost/data/row_data.h"
#include "bregboost/pipeline/fit.h"
#include "bregboost/problem/objective.h"
#include "bregboost/problem/rate_problem.h"

namespace bregboost::detail {

// Rows of the training data, in rising order.
using Places = std::vector<std::int32_t>;

// Rows with what learners need to know of them. Problem and objective point to the rows, so it
// stays put.
struct FitPart {
  FitPart(RowData part_rows, Places part_in_data, const std::vector<Constraint>& constraints,
          const RateObjective& rate_objective, const LossOptions& loss);
  FitPart(const FitPart&) = delete;
  FitPart& operator=(const FitPart&) = delete;

  RowData rows;
  Places in_data;  // where they are in the training data; empty for rows of the user's own
  RateProblem problem;
  Objective objective;
};

class FitSplit {
 public:
  // `evaluation` and `certification` are null where the user gave none. Throws ConstraintError, or
  // std::invalid_argument where the rows of a part cannot answer the constraints.
  FitSplit(const RowData& data, const RowData* evaluation, const RowData* certification,
           const std::vector<Constraint>& constraints, const FitOptions& options);

  Validation validation() const { return validation_; }
  bool holds_out() const { return validation_ != Validation::kFolds; }

  // Every row of the training data that is not kept for the certificate.
  FitPart& all() { return *all_; }
  // Folds: all rows, both ways. A hold-out: its two sides.
  FitPart& training() { return training_ ? *training_ : *all_; }
  FitPart& unseen() { return unseen_ ? *unseen_ : *all_; }
  const FitPart& unseen() const { return unseen_ ? *unseen_ : *all_; }

  // The rows kept for the certificate; in_data is empty if they are the user's own.
  bool reserves() const { return reserves_; }
  const RowData& reserved_rows() const { return reserved_rows_; }
  const Places& reserved_in_data() const { return reserved_in_data_; }

  const std::vector<Constraint>& constraints() const { return constraints_; }
  const RateObjective& objective() const { return objective_; }
  const LossOptions& loss() const { return loss_; }
  // How many groups each constraint compares in the training data.
  const std::vector<std::size_t>& num_groups() const { return num_groups_; }

 private:
  std::unique_ptr<FitPart> MakePart(RowData rows, Places in_data) const;
  void DrawHoldOut(const FitOptions& options);
  void CheckFolds() const;
  void CheckAlike() const;

  std::vector<Constraint> constraints_;
  RateObjective objective_;
  LossOptions loss_;
  Validation validation_ = Validation::kFolds;
  std::vector<std::size_t> num_groups_;
  RowData reserved_rows_;
  bool reserves_ = false;
  Places reserved_in_data_;
  std::unique_ptr<FitPart> all_, training_, unseen_;
};

// The places where `drawn` is `wanted`.
Places PlacesWhere(std::span<const std::uint8_t> drawn, std::uint8_t wanted);

}  // namespace bregboost::detail
