#include "bregboost/report/fit_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

namespace bregboost {
namespace {

using nlohmann::json;

template <class Value>
json OrNull(const std::optional<Value>& value) {
  return value ? json(*value) : json(nullptr);
}

json Of(const SubsetRows& subset) {
  return {{"subset", subset.subset},
          {"rows", subset.rows},
          {"rows_needed", OrNull(subset.rows_needed)}};
}

json Of(const std::optional<Interval>& interval) {
  return interval ? json::array({interval->low, interval->high}) : json(nullptr);
}

using Subsets = std::vector<SubsetSize>;

bool IsSmall(const Subsets& too_small, const std::string& text, const std::string& group) {
  return std::any_of(too_small.begin(), too_small.end(), [&](const SubsetSize& size) {
    return size.text == text && size.group == group;
  });
}

// The part that measurements of fits, of decisions without limits and of frontiers share. `rates`
// of a limit without groups has one entry, of other limits one per group.
json Of(const Measurement& measured, const std::vector<RateOnRows>& rates,
        const Subsets& too_small) {
  json groups = json::array();
  for (const RateOnRows& rate : rates) {
    if (rate.group.empty()) continue;
    groups.push_back({{"group", rate.group},
                      {"value", rate.value},
                      {"rows", rate.rows},
                      {"interval", Of(rate.interval)},
                      {"small", IsSmall(too_small, measured.text, rate.group)}});
  }
  json result = {{"text", measured.text},
                 {"value", measured.value},
                 {"violation", measured.violation},
                 {"satisfied", measured.satisfied},
                 {"groups", groups}};
  if (groups.empty() && !rates.empty()) {
    result.update({{"rows", rates.front().rows},
                   {"interval", Of(rates.front().interval)},
                   {"small", IsSmall(too_small, measured.text, "")}});
  }
  return result;
}

json Of(const std::vector<Measurement>& measured, const std::vector<std::vector<RateOnRows>>& rates,
        const Subsets& too_small = {}) {
  json rows = json::array();
  for (std::size_t c = 0; c < measured.size(); ++c) {
    rows.push_back(Of(measured[c], rates[c], too_small));
  }
  return rows;
}

json WithBounds(json measured, const std::vector<Constraint>& constraints) {
  for (std::size_t c = 0; c < measured.size(); ++c) {
    measured[c]["bound"] = constraints[c].bound;
    measured[c]["relation"] = constraints[c].relation == Relation::kAtMost ? "<=" : ">=";
  }
  return measured;
}

json Of(const RateProblem& problem, std::span<const double> sums) {
  const auto rates =
      FindRateIntervals(problem.compiled(), problem.num_constraints(), problem.rows(), sums);
  return WithBounds(Of(problem.Measure(sums), rates), problem.constraints());
}

json Of(const std::vector<Price>& prices) {
  json rows = json::array();
  for (const Price& price : prices) {
    rows.push_back({{"text", price.text},
                    {"price", price.price},
                    {"standard_error", price.standard_error},
                    {"binding", price.binding}});
  }
  return rows;
}

json Of(const ConstraintVerdict& verdict) {
  json too_small = json::array();
  for (const SubsetRows& subset : verdict.too_small) too_small.push_back(Of(subset));
  return {{"text", verdict.text},
          {"verdict", Name(verdict.verdict)},
          {"value", verdict.value},
          {"bound", verdict.bound},
          {"confidence_bound", verdict.confidence_bound},
          {"other_bound", verdict.other_bound},
          {"confidence", verdict.confidence},
          {"rows", verdict.rows},
          {"method", verdict.method},
          {"needs", verdict.needs.subset},
          {"rows_there", verdict.needs.rows},
          {"rows_needed", OrNull(verdict.needs.rows_needed)},
          {"too_small", too_small}};
}

json Of(const std::vector<ConstraintVerdict>& verdicts) {
  json rows = json::array();
  for (const ConstraintVerdict& verdict : verdicts) rows.push_back(Of(verdict));
  return rows;
}

json Of(const Reachability& reach) {
  json alone = json::array(), blocking = json::array();
  for (const ReachableValue& value : reach.alone) {
    alone.push_back({{"text", value.text}, {"value", value.value}});
  }
  for (const BlockingCell& cell : reach.blocking) {
    blocking.push_back({{"cell", cell.text}, {"rows", cell.rows}, {"share", cell.share}});
  }
  return {{"feasible", reach.feasible},
          {"relaxation", reach.relaxation},
          {"binding", reach.binding},
          {"exact", reach.exact},
          {"alone", alone},
          {"blocking", blocking}};
}

json Of(const IterationStats& stats) {
  return {{"phase", Name(stats.phase)},
          {"outer", stats.outer},
          {"k", stats.k},
          {"objective", stats.objective},
          {"surrogate_violation", stats.surrogate_violation},
          {"exact_violation", stats.exact_violation},
          {"max_multiplier", stats.max_multiplier},
          {"multiplier_sum", stats.multiplier_sum},
          {"tau", stats.tau},
          {"sigma", stats.sigma},
          {"seconds", stats.seconds},
          {"multipliers", stats.multipliers},
          {"values", stats.values}};
}

json Of(const std::vector<IterationStats>& history) {
  json rows = json::array();
  for (const IterationStats& stats : history) rows.push_back(Of(stats));
  return rows;
}

json Of(const AutoResult& unseen) {
  json too_small = json::array();
  for (const SubsetSize& size : unseen.too_small) {
    too_small.push_back({{"text", size.text}, {"group", size.group}, {"rows", size.rows}});
  }
  return {{"path", Name(unseen.path)},
          {"reason", Name(unseen.training.reason)},
          {"detail", unseen.training.detail},
          {"steps_kept", unseen.training.steps_kept},
          {"rounds_kept", unseen.training.rounds_kept},
          {"multipliers", unseen.training.multipliers},
          {"history", Of(unseen.training.history)},
          {"prices", Of(unseen.prices)},
          {"too_small", too_small}};
}

}  // namespace

std::string ToJson(const FitReport& report, const Reachability* diagnosis) {
  json result = Of(report.unseen);
  json path = json::array();
  for (const CautiousDecision& decision : report.path) {
    path.push_back({{"caution", decision.caution}, {"objective", decision.objective}});
  }
  const bool binary = !report.positive_class.empty();
  result.update(
      {{"solver", "auto"},
       {"validation", Name(report.validation)},
       {"deploy", Name(report.deploy)},
       {"models", report.num_models},
       {"rows",
        {{"training", report.training_rows},
         {"unseen", report.unseen_rows},
         {"certification", report.certification_rows}}},
       {"objective_name", report.objective},
       {"maximise", report.maximise},
       {"rho", report.unseen.rho},
       {"delta", report.certificate.delta},
       {"classes", report.classes},
       {"positive_class", binary ? json(report.positive_class) : json(nullptr)},
       {"temperature", report.adjustment.temperature},
       {"offsets", report.adjustment.offsets},
       {"objective", report.objective_value},
       {"violation", report.total_violation},
       {"constraints", WithBounds(Of(report.measurements, report.rates, report.unseen.too_small),
                                  report.constraints)},
       {"certificate", Of(report.certificate.constraints)},
       {"all_certified", report.certificate.all_certified},
       {"cautious_path", path},
       {"certified_point", report.tested ? OrNull(report.tested->deployed) : json()},
       {"diagnosis", diagnosis != nullptr ? Of(*diagnosis) : json()},
       {"warnings", report.warnings},
       {"seconds",
        {{"training", report.unseen.training_seconds},
         {"calibration", report.unseen.calibration_seconds},
         {"certification", report.certification_seconds}}}});
  return result.dump();
}

std::string ToJson(const UnlimitedDecision& unlimited) {
  const json result = {{"objective", unlimited.objective},
                       {"constraints", Of(unlimited.measurements, unlimited.rates)}};
  return result.dump();
}

std::string ToJson(const PaperReport& report, const std::vector<Constraint>& constraints) {
  const json result = {
      {"solver", Name(report.solver)},
      {"validation", "none"},
      {"models", 1},
      {"rows",
       {{"training", report.training_rows},
        {"unseen", report.evaluation_rows},
        {"certification", 0}}},
      {"reason", Name(report.reason)},
      {"detail", report.detail},
      {"objective", report.loss},
      {"objective_name", "loss"},
      {"maximise", false},
      {"violation", report.total_violation},
      {"multipliers", report.multipliers},
      {"constraints", WithBounds(Of(report.measurements, report.rates), constraints)},
      {"history", Of(report.history)},
      {"seconds", {{"training", report.seconds}}}};
  return result.dump();
}

std::string ToJson(const Certificate& certificate) {
  const json result = {{"certificate", Of(certificate.constraints)},
                       {"all_certified", certificate.all_certified},
                       {"delta", certificate.delta},
                       {"joint", certificate.joint},
                       {"warnings", certificate.warnings}};
  return result.dump();
}

std::string ToJson(const Frontier& frontier) {
  json points = json::array();
  for (const FrontierPoint& point : frontier.points) {
    points.push_back({{"bound", point.bound},
                      {"rho", point.rho},
                      {"objective", point.objective},
                      {"total_violation", point.total_violation},
                      {"measurements", Of(point.measurements, point.rates)},
                      {"prices", Of(point.prices)},
                      {"temperature", point.adjustment.temperature},
                      {"offsets", point.adjustment.offsets},
                      {"trained_for", point.trained_for},
                      {"steps", point.steps},
                      {"dominated", point.dominated}});
  }
  return json{{"points", points},
              {"trainings", frontier.trainings},
              {"swept", frontier.sweeps_rho ? "rho" : "bound"},
              {"constraint", frontier.constraint}}
      .dump();
}

std::string ToJson(const Calibration& calibration, const RateProblem& problem,
                   const std::vector<Price>& prices) {
  const json result = {{"temperature", calibration.adjustment.temperature},
                       {"offsets", calibration.adjustment.offsets},
                       {"objective", problem.ObjectiveValue(calibration.sums)},
                       {"maximise", problem.objective().maximise},
                       {"violation", calibration.total_violation},
                       {"rho", calibration.rho},
                       {"prices", Of(prices)},
                       {"constraints", Of(problem, calibration.sums)}};
  return result.dump();
}

std::string ToJson(const IterationStats& stats) { return Of(stats).dump(); }

std::string MeasuredJson(const RateProblem& problem, std::span<const double> sums) {
  return Of(problem, sums).dump();
}

}  // namespace bregboost
