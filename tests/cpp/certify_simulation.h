// Simulated predictions whose true rates are known: at the limit, where a certificate would be
// false by a hair, or at 60% of it, where there is something to show. Shared with
// benchmarks/end_to_end/certificate_coverage.cc; what is simulated is in certify_scenarios.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "bregboost/certify/certificate.h"
#include "bregboost/problem/constraint_error.h"
#include "bregboost/problem/parser.h"
#include "certify/detail/certify_rows.h"

namespace bregboost::simulation {

using Random = std::mt19937_64;

struct Sample {
  RowData rows;
  Predictions predictions;
};

// A row before it is drawn.
struct RowPlan {
  std::int32_t label = 0;
  std::int32_t sex = 0;
  std::int32_t age = 0;
  double error_rate = 0.0;  // an error predicts the next class
  double churn_rate = 0.0;  // the baseline predicts another class than the model
  double loss = 0.0;
  double weight = 1.0;
};

struct Scenario {
  std::string name;
  std::vector<std::string> constraints;
  std::size_t rows = 0;  // that are hard to certify by
  CertifyOptions options;
  std::int32_t classes = 2;  // of "no", "yes", "perhaps", "never"; "yes" is the positive one of two
  std::vector<std::string> sexes = {"F", "M"};
  std::vector<std::string> ages = {"young", "old"};
  // `level` 1: the limit holds with equality; less: the distance to a perfect value shrinks alike.
  std::function<RowPlan(double level, Random& random)> plan;
};

inline void PrintTo(const Scenario& scenario, std::ostream* out) { *out << scenario.name; }

inline bool Happens(double probability, Random& random) {
  return std::uniform_real_distribution<double>(0.0, 1.0)(random) < probability;
}

inline std::int32_t Uniform(std::int32_t count, Random& random) {
  return std::uniform_int_distribution<std::int32_t>(0, count - 1)(random);
}

inline Sample DrawSample(const Scenario& scenario, std::size_t rows, double level, Random& random) {
  Sample sample;
  sample.rows.labels.name = "label";
  sample.rows.labels.levels = {"no", "yes", "perhaps", "never"};
  sample.rows.labels.levels.resize(static_cast<std::size_t>(scenario.classes));
  sample.rows.groups = {{.name = "sex", .levels = scenario.sexes, .codes = {}},
                        {.name = "age", .levels = scenario.ages, .codes = {}}};
  for (std::size_t i = 0; i < rows; ++i) {
    const RowPlan row = scenario.plan(level, random);
    const auto next = [&](std::int32_t code) { return (code + 1) % scenario.classes; };
    const std::int32_t predicted = Happens(row.error_rate, random) ? next(row.label) : row.label;
    sample.rows.labels.codes.push_back(row.label);
    sample.rows.groups[0].codes.push_back(row.sex);
    sample.rows.groups[1].codes.push_back(row.age);
    sample.rows.weights.push_back(row.weight);
    sample.rows.baseline.push_back(Happens(row.churn_rate, random) ? next(predicted) : predicted);
    sample.predictions.classes.push_back(predicted);
    sample.predictions.losses.push_back(row.loss);
  }
  return sample;
}

inline std::vector<Constraint> ConstraintsOf(const Scenario& scenario) {
  std::vector<Constraint> constraints;
  for (const std::string& text : scenario.constraints) {
    constraints.push_back(ParseConstraint(text));
  }
  return constraints;
}

// One set of the scenario; `seed` is that of the rows and of bounds that draw an order of them.
struct Draw {
  Draw(const Scenario& scenario, std::size_t rows, double level, std::uint64_t seed)
      : options(scenario.options) {
    Random random(seed);
    sample = DrawSample(scenario, rows, level, random);
    options.seed = seed;
  }

  Sample sample;
  CertifyOptions options;
};

inline Certificate DrawCertificate(const Scenario& scenario, std::size_t rows, double level,
                                   std::uint64_t seed) {
  const Draw draw(scenario, rows, level, seed);
  return Certify(draw.sample.predictions, draw.sample.rows, ConstraintsOf(scenario), draw.options);
}

// Whether a certificate would be given; many times faster than one with all its bounds. Rows of a
// single group have none to compare it with, and are refused.
inline bool Passes(const Scenario& scenario, const Draw& draw) {
  try {
    return detail::RowsPass(draw.sample.predictions, draw.sample.rows, ConstraintsOf(scenario),
                            draw.options);
  } catch (const ConstraintError&) {
    return false;
  }
}

// How many of `sets` simulated sets are certified, all of them false by a hair.
inline std::size_t CountCertified(const Scenario& scenario, std::size_t sets) {
  std::size_t certified = 0;
  for (std::uint64_t seed = 1; seed <= sets; ++seed) {
    if (Passes(scenario, Draw(scenario, scenario.rows, /*level=*/1.0, seed))) ++certified;
  }
  return certified;
}

// What became of a number of simulated sets.
struct Tally {
  std::size_t sets = 0;
  std::size_t certified = 0;      // every constraint
  std::size_t any_certified = 0;  // at least one constraint
  std::size_t any_violated = 0;   // at least one constraint is called so
};

inline Tally Simulate(const Scenario& scenario, std::size_t rows, double level, std::size_t sets) {
  Tally tally{.sets = sets};
  for (std::uint64_t seed = 1; seed <= sets; ++seed) {
    const Certificate certificate = DrawCertificate(scenario, rows, level, seed);
    const auto any = [&](Verdict verdict) {
      return std::any_of(certificate.constraints.begin(), certificate.constraints.end(),
                         [&](const ConstraintVerdict& one) { return one.verdict == verdict; });
    };
    if (certificate.all_certified) ++tally.certified;
    if (any(Verdict::kCertified)) ++tally.any_certified;
    if (any(Verdict::kViolated)) ++tally.any_violated;
  }
  return tally;
}

// How many of `sets` an event of probability `delta` may happen in: 3 standard errors more than
// expected.
inline double MostOf(std::size_t sets, double delta) {
  const auto count = static_cast<double>(sets);
  return count * delta + 3.0 * std::sqrt(count * delta * (1.0 - delta));
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
