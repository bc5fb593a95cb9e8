#include "calibrate/detail/dual_steps.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bregboost/solve/scale_free_ascent.h"

namespace bregboost::detail {
namespace {

constexpr double kRounding = 1e-9;

// The charge of each label, or nothing where the table charges anything but class errors.
bool ReadCharges(const RateProblem& problem, const std::vector<double>& table,
                 std::vector<double>& charge_of_label) {
  constexpr double kUnset = -1.0;
  const std::size_t classes = problem.rows().labels.levels.size();
  const std::vector<Cell>& cells = problem.compiled().cells.cells;
  charge_of_label.assign(classes, kUnset);
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    const auto label = static_cast<std::size_t>(cells[cell].label);
    const double right = table[cell * classes + label];
    for (std::size_t k = 0; k < classes; ++k) {
      if (k == label) continue;
      const double charge = table[cell * classes + k] - right;
      double& known = charge_of_label[label];
      if (known == kUnset) known = charge;
      if (!(charge >= 0.0) || std::abs(charge - known) > kRounding * (1.0 + known)) return false;
    }
  }
  for (double& charge : charge_of_label) charge = std::max(charge, 0.0);
  return true;
}

}  // namespace

std::optional<ClassCharges> ReadClassCharges(const RateProblem& problem) {
  std::vector<double> multipliers(problem.num_limits(), 0.0), charges;
  ClassCharges found;
  const std::vector<double>& base = found.of_cost;
  if (!ReadCharges(problem, problem.CostTable(multipliers), found.of_cost)) return std::nullopt;
  std::vector<bool> is_bounded(base.size(), false);
  for (std::size_t j = 0; j < multipliers.size(); ++j) {
    if (!(problem.largest_charges()[j] > 0.0)) return std::nullopt;
    // Large enough that a negative charge of the limit shows beside the cost.
    const double factor =
        2.0 * (1.0 + *std::max_element(base.begin(), base.end())) / problem.largest_charges()[j];
    multipliers[j] = factor;
    if (!ReadCharges(problem, problem.CostTable(multipliers), charges)) return std::nullopt;
    for (std::size_t k = 0; k < charges.size(); ++k) {
      if (charges[k] < base[k]) return std::nullopt;
      if (charges[k] > base[k] + kRounding * (1.0 + base[k])) is_bounded[k] = true;
    }
    multipliers[j] = 0.0;
  }
  for (std::size_t k = 0; k < is_bounded.size(); ++k) {
    if (is_bounded[k]) found.bounded.push_back(k);
  }
  return found;
}

std::vector<double> OffsetsOfCharges(const std::vector<double>& charges) {
  const double largest = *std::max_element(charges.begin(), charges.end());
  const double least = 1e-6 * (largest > 0.0 ? largest : 1.0);
  std::vector<double> offsets;
  for (const double charge : charges) offsets.push_back(std::log(std::max(charge, least)));
  return offsets;
}

DualResult TakeDualSteps(const RateProblem& problem, double rho, const std::vector<double>& biases,
                         OffsetJudge& judge) {
  constexpr int kSteps = 80;
  DualResult result;
  std::vector<double> charges;
  for (const double rate : {0.1, 0.3, 1.0}) {
    ScaleFreeAscent ascent(problem.largest_charges(), rate, rho);
    for (int step = 0; step < kSteps; ++step) {
      ReadCharges(problem, problem.CostTable(ascent.multipliers()), charges);
      std::vector<double> offsets = OffsetsOfCharges(charges);
      for (std::size_t k = 0; k < biases.size(); ++k) offsets[k] += biases[k];
      const OffsetPoint point = judge.At(std::move(offsets));
      if (result.best.offsets.empty() || Better(point.standing, result.best.standing)) {
        result = {.best = point, .multipliers = ascent.multipliers()};
      }
      ascent.Step(problem.Excess(point.sums), /*extrapolate=*/false);
    }
  }
  return result;
}

}  // namespace bregboost::detail
