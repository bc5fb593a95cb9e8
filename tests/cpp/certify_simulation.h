// Simulated predictions whose true rates are known: at the limit, where a certificate would be
// false by a hair, or at 60% of it, where there is something to show. Shared with
// benchmarks/end_to_end/certificate_coverage.cc.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "bregboost/certify/certificate.h"
#include "bregboost/problem/parser.h"

namespace bregboost::simulation {

using Random = std::mt19937_64;

struct Sample {
  RowData rows;
  Predictions predictions;
};

struct Scenario {
  std::string name;
  std::vector<std::string> constraints;
  std::size_t rows = 0;  // that are hard to certify by
  CertifyOptions options;
  // `level` 1: the limit holds with equality; less: the distance to a perfect value shrinks alike.
  std::function<Sample(std::size_t rows, double level, Random& random)> draw;
};

// A row before it is drawn. Binary labels, code 1 is "yes".
struct RowPlan {
  std::int32_t label = 0;
  std::int32_t group = 0;
  double error_rate = 0.0;
  double weight = 1.0;
};

inline bool Happens(double probability, Random& random) {
  return std::uniform_real_distribution<double>(0.0, 1.0)(random) < probability;
}

inline std::int32_t Uniform(std::int32_t count, Random& random) {
  return std::uniform_int_distribution<std::int32_t>(0, count - 1)(random);
}

inline Sample DrawRows(std::size_t rows, std::int32_t classes, std::vector<std::string> groups,
                       const std::function<RowPlan()>& plan, Random& random) {
  Sample sample;
  sample.rows.labels.name = "label";
  sample.rows.labels.levels = {"no", "yes", "perhaps", "never"};
  sample.rows.labels.levels.resize(static_cast<std::size_t>(classes));
  sample.rows.groups = {{.name = "sex", .levels = std::move(groups), .codes = {}}};
  for (std::size_t i = 0; i < rows; ++i) {
    const RowPlan row = plan();
    sample.rows.labels.codes.push_back(row.label);
    sample.rows.groups.front().codes.push_back(row.group);
    sample.rows.weights.push_back(row.weight);
    const bool wrong = Happens(row.error_rate, random);
    sample.predictions.classes.push_back(wrong ? (row.label + 1) % classes : row.label);
  }
  return sample;
}

inline std::vector<Scenario> Scenarios() {
  std::vector<Scenario> all;
  all.push_back({.name = "class error",
                 .constraints = {"error(class=yes) <= 5%"},
                 .rows = 400,
                 .draw = [](std::size_t rows, double level, Random& random) {
                   return DrawRows(
                       rows, 2, {"F", "M"},
                       [&]() -> RowPlan {
                         const std::int32_t label = Uniform(2, random);
                         return {.label = label, .error_rate = label == 1 ? 0.05 * level : 0.3};
                       },
                       random);
                 }});
  // Errors are commoner where weights are small: (0.25 * 1.8 + 1 * 0.8) / 1.25 = 1.
  all.push_back({.name = "weighted class error",
                 .constraints = {"error(class=yes) <= 10%"},
                 .rows = 400,
                 .options = {.max_weight = 1.0},
                 .draw = [](std::size_t rows, double level, Random& random) {
                   return DrawRows(
                       rows, 2, {"F", "M"},
                       [&]() -> RowPlan {
                         const bool light = Happens(0.5, random);
                         return {.label = Uniform(2, random),
                                 .error_rate = (light ? 0.18 : 0.08) * level,
                                 .weight = light ? 0.25 : 1.0};
                       },
                       random);
                 }});
  all.push_back({.name = "selection rate",
                 .constraints = {"selection_rate <= 10%"},
                 .rows = 200,
                 .draw = [](std::size_t rows, double level, Random& random) {
                   return DrawRows(
                       rows, 2, {"F", "M"},
                       [&]() -> RowPlan {
                         const std::int32_t label = Happens(0.1 * level, random) ? 1 : 0;
                         return {.label = label, .error_rate = 0.0};
                       },
                       random);
                 }});
  all.push_back({.name = "precision",
                 .constraints = {"precision >= 80%"},
                 .rows = 300,
                 .draw = [](std::size_t rows, double level, Random& random) {
                   // All of a no's errors are selected, and no yes is missed: 0.3 (1 - 0.2 level)
                   // of the rows are yes, and the errors among the selected are 0.2 level.
                   const double yes = 0.3 * (1.0 - 0.2 * level), selected_no = 0.3 * 0.2 * level;
                   return DrawRows(
                       rows, 2, {"F", "M"},
                       [&]() -> RowPlan {
                         const std::int32_t label = Happens(yes, random) ? 1 : 0;
                         return {.label = label,
                                 .error_rate = label == 1 ? 0.0 : selected_no / (1.0 - yes)};
                       },
                       random);
                 }});
  all.push_back({.name = "gap of two groups",
                 .constraints = {"gap(error, by=sex) <= 10%"},
                 .rows = 300,
                 .draw = [](std::size_t rows, double level, Random& random) {
                   return DrawRows(
                       rows, 2, {"F", "M"},
                       [&]() -> RowPlan {
                         const std::int32_t group = Happens(0.35, random) ? 0 : 1;
                         return {.label = Uniform(2, random),
                                 .group = group,
                                 .error_rate = group == 0 ? 0.12 + 0.1 * level : 0.12};
                       },
                       random);
                 }});
  all.push_back({.name = "gap of four groups",
                 .constraints = {"gap(error, by=sex) <= 20%"},
                 .rows = 400,
                 .draw = [](std::size_t rows, double level, Random& random) {
                   return DrawRows(
                       rows, 2, {"F", "M", "X", "Y"},
                       [&]() -> RowPlan {
                         const std::int32_t group = Uniform(4, random);
                         const std::vector<double> share = {1.0, 0.5, 0.5, 0.0};
                         return {.label = Uniform(2, random),
                                 .group = group,
                                 .error_rate =
                                     0.1 + 0.2 * level * share[static_cast<std::size_t>(group)]};
                       },
                       random);
                 }});
  all.push_back({.name = "ratio",
                 .constraints = {"ratio(selection_rate, by=sex) >= 80%"},
                 .rows = 600,
                 .draw = [](std::size_t rows, double level, Random& random) {
                   return DrawRows(
                       rows, 2, {"F", "M"},
                       [&]() -> RowPlan {
                         const std::int32_t group = Uniform(2, random);
                         const double selected = group == 0 ? 0.5 * (1.0 - 0.2 * level) : 0.5;
                         return {.label = Happens(selected, random) ? 1 : 0, .group = group};
                       },
                       random);
                 }});
  all.push_back({.name = "overlapping subsets",
                 .constraints = {"error(sex=F) - error <= 5%"},
                 .rows = 600,
                 .draw = [](std::size_t rows, double level, Random& random) {
                   return DrawRows(
                       rows, 2, {"F", "M"},
                       [&]() -> RowPlan {
                         const std::int32_t group = Uniform(2, random);
                         return {.label = Uniform(2, random),
                                 .group = group,
                                 .error_rate = group == 0 ? 0.1 + 0.1 * level : 0.1};
                       },
                       random);
                 }});
  all.push_back({.name = "balanced error",
                 .constraints = {"balanced_error <= 20%"},
                 .rows = 400,
                 .draw = [](std::size_t rows, double level, Random& random) {
                   return DrawRows(
                       rows, 4, {"F", "M"},
                       [&]() -> RowPlan {
                         const std::int32_t label = Uniform(4, random);
                         return {.label = label, .error_rate = (0.05 + 0.1 * label) * level};
                       },
                       random);
                 }});
  all.push_back({.name = "mean loss",
                 .constraints = {"loss <= 0.3"},
                 .rows = 300,
                 .options = {.loss_range = LossRange{.low = 0.0, .high = 2.0}},
                 .draw = [](std::size_t rows, double level, Random& random) {
                   // A fifth of the rows has 0.1 + 1 on average, the others 0.1.
                   Sample sample = DrawRows(
                       rows, 2, {"F", "M"},
                       [&]() -> RowPlan { return {.label = Uniform(2, random)}; }, random);
                   for (std::size_t i = 0; i < rows; ++i) {
                     const bool large = Happens(0.2, random);
                     const double extra = std::uniform_real_distribution<double>(0.2, 1.8)(random);
                     sample.predictions.losses.push_back(level * (0.1 + (large ? extra : 0.0)));
                   }
                   return sample;
                 }});
  all.push_back({.name = "three limits at once",
                 .constraints = {"fnr <= 10%", "fpr <= 30%", "gap(error, by=sex) <= 20%"},
                 .rows = 600,
                 .draw = [](std::size_t rows, double level, Random& random) {
                   return DrawRows(
                       rows, 2, {"F", "M"},
                       [&]() -> RowPlan {
                         const std::int32_t label = Uniform(2, random);
                         return {.label = label,
                                 .group = Uniform(2, random),
                                 .error_rate = label == 1 ? 0.1 * level : 0.15};
                       },
                       random);
                 }});
  return all;
}

inline std::vector<Constraint> ConstraintsOf(const Scenario& scenario) {
  std::vector<Constraint> constraints;
  for (const std::string& text : scenario.constraints) {
    constraints.push_back(ParseConstraint(text));
  }
  return constraints;
}

inline Certificate DrawCertificate(const Scenario& scenario, std::size_t rows, double level,
                                   std::uint64_t seed) {
  Random random(seed);
  const Sample sample = scenario.draw(rows, level, random);
  CertifyOptions options = scenario.options;
  options.seed = seed;
  return Certify(sample.predictions, sample.rows, ConstraintsOf(scenario), options);
}

// How many of `sets` simulated sets are certified.
inline std::size_t CountCertified(const Scenario& scenario, std::size_t rows, double level,
                                  std::size_t sets) {
  std::size_t certified = 0;
  for (std::uint64_t seed = 1; seed <= sets; ++seed) {
    if (DrawCertificate(scenario, rows, level, seed).all_certified) ++certified;
  }
  return certified;
}

// Rows of the whole set that certificates ask for, the median over small sets: the set grows as
// the subset does that needs most.
inline std::size_t RowsAskedFor(const Scenario& scenario, double level) {
  constexpr std::size_t kPilots = 31;
  const std::size_t pilot_rows = scenario.rows / 2;
  std::vector<double> asked;
  for (std::uint64_t seed = 1; seed <= kPilots; ++seed) {
    const Certificate certificate =
        DrawCertificate(scenario, pilot_rows, level, /*seed=*/1'000'000 + seed);
    double factor = 1.0;
    bool hopeless = false;
    for (const ConstraintVerdict& verdict : certificate.constraints) {
      if (verdict.verdict == Verdict::kCertified) continue;
      if (!verdict.needs.rows_needed) hopeless = true;
      factor = std::max(factor, static_cast<double>(verdict.needs.rows_needed.value_or(0)) /
                                    static_cast<double>(verdict.needs.rows));
    }
    // By chance the observed rate can be beyond the limit; more rows would not help then.
    if (!hopeless) asked.push_back(factor * static_cast<double>(pilot_rows));
  }
  std::nth_element(asked.begin(), asked.begin() + static_cast<std::ptrdiff_t>(asked.size() / 2),
                   asked.end());
  return static_cast<std::size_t>(asked[asked.size() / 2]);
}

}  // namespace bregboost::simulation
