#include "model/detail/export_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "detail/option_checks.h"

namespace bregboost {

std::string_view Name(ModelObjective objective) {
  switch (objective) {
    case ModelObjective::kBinary:
      return "binary";
    case ModelObjective::kMulticlass:
      return "multiclass";
    case ModelObjective::kRegression:
      return "regression";
    case ModelObjective::kHuber:
      return "huber";
  }
  throw std::invalid_argument(
      fmt::format("objective: {}; allowed: one of ModelObjective", static_cast<int>(objective)));
}

namespace detail {
namespace {

constexpr double kLowest = -std::numeric_limits<double>::infinity();

void CheckFinite(const std::string& field, std::span<const double> values, double least) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i]) && values[i] >= least) continue;
    throw std::invalid_argument(
        fmt::format("{}: {} at {}; allowed: finite numbers{}", field, values[i], i,
                    std::isfinite(least) ? fmt::format(", at least {}", least) : ""));
  }
}

void CheckPerScore(const std::string& field, std::span<const double> values,
                   std::size_t num_scores) {
  if (!values.empty() && values.size() != num_scores) {
    throw std::invalid_argument(fmt::format("{}: {} values; allowed: none, or one for each of {}",
                                            field, values.size(), num_scores));
  }
  CheckFinite(field, values, kLowest);
}

std::string FieldOfPart(std::size_t part, const char* field) {
  return fmt::format("parts[{}].{}", part, field);
}

double WeightOf(const ModelPart& part, std::size_t round) {
  return part.round_weights.empty() ? 1.0 : part.round_weights[round];
}

}  // namespace

void CheckExport(std::span<const ModelPart> parts, const ExportSpec& spec) {
  const std::string_view objective = Name(spec.objective);
  const bool multiclass = spec.objective == ModelObjective::kMulticlass;
  if (multiclass ? spec.num_scores < 2 : spec.num_scores != 1) {
    throw std::invalid_argument(fmt::format("num_scores: {} for {}; allowed: {}", spec.num_scores,
                                            objective, multiclass ? "at least 2" : "1"));
  }
  RequirePositive("inverse_temperature", spec.inverse_temperature);
  RequirePositive("huber_delta", spec.huber_delta);
  CheckPerScore("offsets", spec.offsets, spec.num_scores);
  if (parts.empty()) throw std::invalid_argument("parts: none; allowed: at least 1");
  for (std::size_t p = 0; p < parts.size(); ++p) {
    RequirePositive(FieldOfPart(p, "weight").c_str(), parts[p].weight);
    CheckFinite(FieldOfPart(p, "round_weights"), parts[p].round_weights, 0.0);
    CheckPerScore(FieldOfPart(p, "start"), parts[p].start, spec.num_scores);
  }
}

ExportPlan PlanExport(std::span<const ModelPart> parts, std::span<const std::size_t> num_rounds,
                      const ExportSpec& spec) {
  double total_weight = 0.0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    total_weight += parts[p].weight;
    if (parts[p].round_weights.empty() || parts[p].round_weights.size() == num_rounds[p]) continue;
    throw std::invalid_argument(
        fmt::format("{}: {} values; allowed: none, or one for each of the model's {} rounds",
                    FieldOfPart(p, "round_weights"), parts[p].round_weights.size(), num_rounds[p]));
  }
  RequirePositive("sum of the parts' weights", total_weight);
  ExportPlan plan;
  plan.constants.assign(spec.num_scores, 0.0);
  const std::size_t longest = *std::max_element(num_rounds.begin(), num_rounds.end());
  for (std::size_t round = 0; round < longest; ++round) {
    for (std::size_t p = 0; p < parts.size(); ++p) {
      if (round >= num_rounds[p]) continue;
      const double weight = WeightOf(parts[p], round);
      if (weight == 0.0) continue;
      const double share = parts[p].weight / total_weight;
      plan.rounds.push_back(
          {.part = p, .round = round, .factor = spec.inverse_temperature * share * weight});
    }
  }
  for (std::size_t k = 0; k < spec.num_scores; ++k) {
    for (const ModelPart& part : parts) {
      if (part.start.empty()) continue;
      plan.constants[k] += part.weight / total_weight * part.start[k];
    }
    plan.constants[k] *= spec.inverse_temperature;
    if (!spec.offsets.empty()) plan.constants[k] += spec.offsets[k];
  }
  CheckFinite("inverse_temperature * start + offsets", plan.constants, kLowest);
  return plan;
}

std::string PartName(const char* library, std::size_t part, std::size_t num_parts) {
  if (num_parts == 1) return fmt::format("{} model", library);
  return fmt::format("{} model {} of {}", library, part + 1, num_parts);
}

}  // namespace detail
}  // namespace bregboost
