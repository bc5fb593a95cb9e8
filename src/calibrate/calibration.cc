#include "bregboost/calibrate/calibration.h"

#include <cmath>
#include <limits>

#include "calibrate/detail/best_decision.h"
#include "calibrate/detail/bound_scores.h"
#include "detail/option_checks.h"

namespace bregboost {
namespace {

constexpr double kPointsOfAccuracy = 5.0;
constexpr double kInsistence = 10.0;

// Times rho: to see whether all limits can be held, whatever it costs.
constexpr double kAnyPrice = 1e6;

// A search that begins at what another found may be short.
constexpr double kShort = 0.1;

// Whether limits are broken, all of a kind that is insisted on.
bool WantsInsistence(const RateProblem& problem, const Calibration& found) {
  bool breaks = false;
  for (std::size_t c = 0; c < problem.num_constraints(); ++c) {
    if (found.measurements[c].satisfied) continue;
    if (ComparesGroups(problem.constraints()[c])) return false;
    breaks = true;
  }
  return breaks;
}

double ToThreeDigits(double value) {
  const double unit = std::pow(10.0, 2.0 - std::floor(std::log10(value)));
  return std::round(value * unit) / unit;
}

}  // namespace

double DefaultRho(const RateProblem& problem) {
  const double charge = problem.largest_cost_charge();
  if (!(charge > 0.0) || !std::isfinite(charge)) return kPointsOfAccuracy;
  return ToThreeDigits(kPointsOfAccuracy * charge);
}

void Validate(const CalibrationOptions& options) {
  if (options.rho) detail::RequireNonNegative("rho", *options.rho);
}

Calibrator::Calibrator(std::span<const double> scores, const RowData& rows)
    : bound_(std::make_unique<const detail::BoundScores>(scores, rows)) {}
Calibrator::~Calibrator() = default;
Calibrator::Calibrator(Calibrator&&) noexcept = default;
Calibrator& Calibrator::operator=(Calibrator&&) noexcept = default;

double Calibrator::temperature() const { return bound_->temperature; }

Calibration Calibrator::Solve(const RateProblem& problem, const CalibrationOptions& options) const {
  Validate(options);
  detail::CheckProblemFits(*bound_, problem);
  detail::SearchHints hints{.all_offsets = options.all_offsets};
  if (options.rho) return SolveFor(*options.rho, problem, options, hints);
  Calibration found = SolveFor(DefaultRho(problem), problem, options, hints);
  if (!WantsInsistence(problem, found)) return found;
  return Insisting(std::move(found), problem, options, std::move(hints));
}

Calibration Calibrator::Insisting(Calibration found, const RateProblem& problem,
                                  const CalibrationOptions& options,
                                  detail::SearchHints hints) const {
  const double rho = kInsistence * found.rho;
  hints.starts = {found.adjustment.offsets};
  hints.effort = kShort;
  Calibration holding = SolveFor(kAnyPrice * rho, problem, options, hints);
  if (holding.total_violation > 0.0) return found;
  hints.starts.push_back(std::move(holding.adjustment.offsets));
  hints.effort = 1.0;
  return SolveFor(rho, problem, options, hints);
}

Calibration Calibrator::SolveFor(double rho, const RateProblem& problem,
                                 const CalibrationOptions& options,
                                 const detail::SearchHints& hints) const {
  const double temperature = options.fit_temperature ? bound_->temperature : 1.0;
  const detail::Goal goal{.kind = detail::Goal::Kind::kMerit, .rho = rho};
  detail::BestDecision found =
      detail::FindBestDecision(*bound_, problem, goal, temperature, options.seed, hints);

  Calibration result;
  result.adjustment = {.temperature = temperature, .offsets = std::move(found.offsets)};
  result.cost = problem.Cost(found.sums);
  result.total_violation = problem.TotalViolation(found.sums);
  result.merit = std::isinf(result.total_violation) ? std::numeric_limits<double>::infinity()
                                                    : result.cost + rho * result.total_violation;
  result.rho = rho;
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
