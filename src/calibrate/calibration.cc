#include "bregboost/calibrate/calibration.h"

#include <cmath>
#include <limits>

#include "calibrate/detail/best_decision.h"
#include "calibrate/detail/bound_scores.h"
#include "detail/option_checks.h"

namespace bregboost {

void Validate(const CalibrationOptions& options) { detail::RequireNonNegative("rho", options.rho); }

Calibrator::Calibrator(std::span<const double> scores, const RowData& rows)
    : bound_(std::make_unique<const detail::BoundScores>(scores, rows)) {}
Calibrator::~Calibrator() = default;
Calibrator::Calibrator(Calibrator&&) noexcept = default;
Calibrator& Calibrator::operator=(Calibrator&&) noexcept = default;

double Calibrator::temperature() const { return bound_->temperature; }

Calibration Calibrator::Solve(const RateProblem& problem, const CalibrationOptions& options) const {
  Validate(options);
  detail::CheckProblemFits(*bound_, problem);
  const double temperature = options.fit_temperature ? bound_->temperature : 1.0;
  const detail::Goal goal{.kind = detail::Goal::Kind::kMerit, .rho = options.rho};
  detail::BestDecision found =
      detail::FindBestDecision(*bound_, problem, goal, temperature, options.seed);

  Calibration result;
  result.adjustment = {.temperature = temperature, .offsets = std::move(found.offsets)};
  result.cost = problem.Cost(found.sums);
  result.total_violation = problem.TotalViolation(found.sums);
  result.merit = std::isinf(result.total_violation)
                     ? std::numeric_limits<double>::infinity()
                     : result.cost + options.rho * result.total_violation;
  result.measurements = problem.Measure(found.sums);
  result.sums = std::move(found.sums);
  result.multipliers = std::move(found.multipliers);
  result.exact = found.exact;
  result.evaluations = found.evaluations;
  return result;
}

Calibration Calibrate(std::span<const double> scores, const RateProblem& problem,
                      const CalibrationOptions& options) {
  return Calibrator(scores, problem.rows()).Solve(problem, options);
}

}  // namespace bregboost
