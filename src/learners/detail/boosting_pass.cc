#include "learners/detail/boosting_pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "bregboost/problem/rate_constraints.h"
#include "detail/parallel.h"
#include "learners/detail/fused_derivatives.h"
#include "learners/detail/fused_values.h"
#include "learners/detail/generic_pass.h"
#include "learners/detail/native_gradients.h"
#include "learners/detail/pass_cells.h"
#include "learners/detail/pass_weights.h"
#include "problem/detail/input_checks.h"

namespace bregboost::detail {
namespace {

void CheckSize(const char* field, std::size_t size, std::size_t allowed, const char* what) {
  if (size == allowed) return;
  throw std::invalid_argument(
      fmt::format("{}: {} values; allowed: {}, one for each {}", field, size, allowed, what));
}

bool Alike(const ScoreView& a, const ScoreView& b) {
  return a.num_rows == b.num_rows && a.num_scores == b.num_scores && a.layout == b.layout &&
         a.data.index() == b.data.index();
}

void CheckCosts(const CellCosts& costs, const RowData& rows) {
  if (rows.task() == Task::kRegression) {
    throw std::invalid_argument("costs: on a numeric target; allowed: class labels");
  }
  CheckSize("cells", costs.cells->cell_of_row.size(), rows.num_rows(), "row");
  CheckSize("costs", costs.costs.size(), costs.cells->cells.size() * rows.labels.levels.size(),
            "cell and class");
  for (const double cost : costs.costs) {
    if (cost >= 0.0 && std::isfinite(cost)) continue;
    throw std::invalid_argument(fmt::format("costs: {}; allowed: finite and at least 0", cost));
  }
}

// The weight of all rows in <y, g>: the sum of the absolute coefficients of their events.
double WeightOf(const RateConstraints& constraints, std::span<const double> coefficients) {
  const CompiledConstraints& compiled = constraints.compiled();
  double total = 0.0;
  for (std::size_t j = 0; j < coefficients.size(); ++j) {
    const Cell& cell = compiled.cells.cells[j / compiled.slots.size()];
    total += cell.rate_weight * std::abs(coefficients[j]);
  }
  return total;
}

// Of any worker: all of them must go the same way through their rows.
double FewestRows(const RowData& rows) {
  double negative = -static_cast<double>(rows.num_rows());
  if (rows.workers != nullptr) rows.workers->Max({&negative, 1});
  return -negative;
}

double SumOfSizes(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0,
                         [](double sum, double value) { return sum + std::abs(value); });
}

}  // namespace

class BoostingPass::Impl {
 public:
  Impl(const Objective& objective, const PassOptions& options)
      : objective_(objective),
        rows_(objective.rows()),
        options_(options),
        weights_(rows_),
        native_rows_{.labels = rows_.labels.codes,
                     .targets = std::vector<float>(rows_.targets.begin(), rows_.targets.end()),
                     .weights = weights_.loss,
                     .softmax_hessian_factor = options.softmax_hessian_factor},
        generic_(objective, weights_, options.softmax_hessian_factor),
        may_fuse_(rows_.task() != Task::kRegression &&
                  FewestRows(rows_) >= static_cast<double>(kFewestFusedRows)) {}

  LearnerValues Evaluate(const ConstraintSet& constraints, const ScoreView& scores) {
    CheckScores(scores);
    if (may_fuse_ && constraints.size() == 0) {
      return {.objective = FusedObjective(objective_, ObjectiveCells(), scores), .constraints = {}};
    }
    const RateConstraints* rates = Fusible(&constraints);
    if (rates == nullptr) return generic_.Evaluate(constraints, scores);
    return FusedValues(objective_, *rates, PlanOf(*rates), scores);
  }

  double Distance(const ScoreView& a, const ScoreView& b) const;

  double Derive(const Lagrangian& lagrangian, const ScoreView& scores, std::span<float> gradient,
                std::span<float> hessian);
  double Derive(const CellCosts& costs, std::span<const Pull> pulls, const ScoreView& scores,
                std::span<float> gradient, std::span<float> hessian);

 private:
  void CheckScores(const ScoreView& scores) const {
    const std::size_t num_rows = rows_.num_rows();
    const std::size_t num_scores = rows_.num_scores();
    if (scores.num_rows == num_rows && scores.num_scores == num_scores) return;
    throw std::invalid_argument(fmt::format("scores: {} rows of {}; allowed: {} rows of {}",
                                            scores.num_rows, scores.num_scores, num_rows,
                                            num_scores));
  }
  void CheckTarget(const ScoreView& scores, std::span<const Pull> pulls, std::span<float> gradient,
                   std::span<float> hessian) const;

  // The constraints as the fused passes take them, or null.
  const RateConstraints* Fusible(const ConstraintSet* constraints) const {
    const auto* rates = dynamic_cast<const RateConstraints*>(constraints);
    if (!may_fuse_ || rates == nullptr || &rates->rows() != &rows_) return nullptr;
    return UsesCrossEntropiesOnly(*rates) ? rates : nullptr;
  }

  const PassCells& ObjectiveCells() {
    if (objective_cells_ == nullptr) {
      objective_cells_ = std::make_unique<PassCells>(objective_.cells());
    }
    return *objective_cells_;
  }

  const ConstraintPlan& PlanOf(const RateConstraints& constraints) {
    if (plan_ == nullptr || !plan_->IsOf(constraints)) {
      plan_ = std::make_unique<ConstraintPlan>(constraints);
    }
    return *plan_;
  }

  // The factor that makes the mean weight of a row 1, in units of the library's loss.
  double MeanRowWeightOne(double weight_of_all) const {
    const double half = objective_.options().loss.kind == LossKind::kSquared ? 0.5 : 1.0;
    return half * (weight_of_all > 0.0 ? weights_.counted / weight_of_all : weights_.counted);
  }

  bool IsNative() const {
    const ObjectiveOptions& options = objective_.options();
    return options.weighting == ObjectiveWeighting::kRows && options.loss.kind != LossKind::kHuber;
  }

  FusedTarget TargetOf(const ScoreView& scores, std::span<const Pull> pulls, double factor,
                       std::span<float> gradient, std::span<float> hessian) const {
    return {.scores = scores,
            .pulls = pulls,
            .factor = factor,
            .weights = weights_,
            .softmax_hessian_factor = options_.softmax_hessian_factor,
            .gradient = gradient,
            .hessian = hessian};
  }

  const Objective& objective_;
  const RowData& rows_;
  PassOptions options_;
  PassWeights weights_;
  NativeRows native_rows_;
  GenericPass generic_;
  bool may_fuse_;
  std::unique_ptr<PassCells> objective_cells_;  // made when first needed, as is the plan
  std::unique_ptr<ConstraintPlan> plan_;
};

void BoostingPass::Impl::CheckTarget(const ScoreView& scores, std::span<const Pull> pulls,
                                     std::span<float> gradient, std::span<float> hessian) const {
  CheckScores(scores);
  CheckSize("gradient", gradient.size(), scores.size(), "score");
  CheckSize("hessian", hessian.size(), scores.size(), "score");
  for (const Pull& pull : pulls) {
    if (pull.center.num_rows == 0 || Alike(pull.center, scores)) continue;
    throw std::invalid_argument("pulls: a center unlike the scores; allowed: their size and type");
  }
}

double BoostingPass::Impl::Derive(const Lagrangian& lagrangian, const ScoreView& scores,
                                  std::span<float> gradient, std::span<float> hessian) {
  CheckTarget(scores, lagrangian.pulls, gradient, hessian);
  const ConstraintSet* constraints = lagrangian.constraints;
  CheckMultipliers(constraints == nullptr ? 0 : constraints->size(), lagrangian.multipliers);
  const bool pulled = std::any_of(lagrangian.pulls.begin(), lagrangian.pulls.end(),
                                  [](const Pull& pull) { return pull.weight != 0.0; });
  double factor = 0.0;
  std::vector<double> coefficients;
  if (lagrangian.multipliers.empty() && !pulled && lagrangian.objective_weight > 0.0) {
    factor = weights_.loss_total / weights_.counted * MeanRowWeightOne(lagrangian.objective_weight);
    if (IsNative()) {
      NativeDerivatives(native_rows_, scores, gradient, hessian);
      return factor;
    }
  } else {
    const auto* rates = dynamic_cast<const RateConstraints*>(constraints);
    if (rates != nullptr) coefficients = rates->Coefficients(lagrangian.multipliers);
    factor = MeanRowWeightOne(
        lagrangian.objective_weight +
        (rates != nullptr ? WeightOf(*rates, coefficients) : SumOfSizes(lagrangian.multipliers)));
  }
  const RateConstraints* rates = Fusible(constraints);
  if (!may_fuse_ || (constraints != nullptr && rates == nullptr)) {
    generic_.Derive(lagrangian, factor, scores, gradient, hessian);
    return factor;
  }
  const PassCells& cells = rates == nullptr ? ObjectiveCells() : PlanOf(*rates).cells();
  CellCharges of_objective =
      ChargesOf(objective_, cells.table(), factor * lagrangian.objective_weight);
  const CellCharges of_constraints = rates == nullptr
                                         ? CellCharges(cells.size(), of_objective.num_classes)
                                         : ChargesOf(*rates, coefficients, factor);
  FusedDerivatives(cells.ids(), std::move(of_objective), of_constraints,
                   TargetOf(scores, lagrangian.pulls, factor, gradient, hessian));
  return factor;
}

double BoostingPass::Impl::Derive(const CellCosts& costs, std::span<const Pull> pulls,
                                  const ScoreView& scores, std::span<float> gradient,
                                  std::span<float> hessian) {
  CheckTarget(scores, pulls, gradient, hessian);
  CheckCosts(costs, rows_);
  const std::size_t num_classes = rows_.labels.levels.size();
  double weight_of_all = 0.0;
  for (std::size_t j = 0; j < costs.costs.size(); ++j) {
    weight_of_all +=
        costs.cells->cells[j / num_classes].rate_weight / weights_.rate_total * costs.costs[j];
  }
  const double factor = MeanRowWeightOne(weight_of_all);
  if (!may_fuse_) {
    generic_.Derive(costs, pulls, factor, scores, gradient, hessian);
    return factor;
  }
  CellCharges charges(costs.cells->cells.size(), num_classes);
  for (std::size_t j = 0; j < costs.costs.size(); ++j) {
    charges.Add(j / num_classes, static_cast<std::int32_t>(j % num_classes),
                factor / weights_.rate_total * costs.costs[j]);
  }
  const bool planned = plan_ != nullptr && &plan_->cells().table() == costs.cells;
  const CellIds cells = planned ? plan_->cells().ids() : costs.cells->cell_of_row.data();
  FusedDerivatives(cells, charges, TargetOf(scores, pulls, factor, gradient, hessian));
  return factor;
}

double BoostingPass::Impl::Distance(const ScoreView& a, const ScoreView& b) const {
  CheckScores(a);
  if (!Alike(a, b)) throw std::invalid_argument("scores: unlike each other; allowed: one layout");
  const bool class_major = a.layout == ScoreLayout::kClassMajor;
  const std::size_t class_stride = class_major ? a.num_rows : 1;
  const std::size_t row_stride = class_major ? 1 : a.num_scores;
  const bool weighted = weights_.metric_weights() != nullptr;
  std::vector<double> partial(NumChunks(a.num_rows), 0.0);
  const auto sum_up = [&](const auto* from, const auto* to) {
    ForEachChunk(a.num_rows, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
      // Rows take turns, so that no addition waits for the one before it.
      double turns[4] = {0.0, 0.0, 0.0, 0.0};
      for (std::size_t i = begin; i < end; ++i) {
        double squares = 0.0;
        for (std::size_t k = 0; k < a.num_scores; ++k) {
          const std::size_t at = i * row_stride + k * class_stride;
          const double moved = static_cast<double>(from[at]) - static_cast<double>(to[at]);
          squares += moved * moved;
        }
        turns[i % 4] += weighted ? rows_.metric_weight(i) * squares : squares;
      }
      partial[chunk] = turns[0] + turns[1] + turns[2] + turns[3];
    });
  };
  std::visit([&](const auto* from) { sum_up(from, std::get<decltype(from)>(b.data)); }, a.data);
  const double total = rows_.SumOverWorkers(std::accumulate(partial.begin(), partial.end(), 0.0));
  return total / (2.0 * weights_.metric_total);
}

BoostingPass::BoostingPass(const Objective& objective, const PassOptions& options)
    : impl_(std::make_unique<Impl>(objective, options)) {}
BoostingPass::~BoostingPass() = default;

LearnerValues BoostingPass::Evaluate(const ConstraintSet& constraints,
                                     const ScoreView& scores) const {
  return impl_->Evaluate(constraints, scores);
}

double BoostingPass::Distance(const ScoreView& a, const ScoreView& b) const {
  return impl_->Distance(a, b);
}

double BoostingPass::Derive(const Lagrangian& lagrangian, const ScoreView& scores,
                            std::span<float> gradient, std::span<float> hessian) const {
  return impl_->Derive(lagrangian, scores, gradient, hessian);
}

double BoostingPass::Derive(const CellCosts& costs, std::span<const Pull> pulls,
                            const ScoreView& scores, std::span<float> gradient,
                            std::span<float> hessian) const {
  return impl_->Derive(costs, pulls, scores, gradient, hessian);
}

}  // namespace bregboost::detail
