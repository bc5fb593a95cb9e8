// The flags that describe a problem, and the problem that they make of a CSV file: rows, features,
// objective and constraints.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bregboost/data/row_data.h"
#include "bregboost/problem/objective.h"
#include "bregboost/problem/parser.h"
#include "bregboost/problem/rate_constraints.h"
#include "numeric_csv.h"
#include "program.h"

namespace example {

struct ProblemFlags {
  std::string data, label, target, positive, weight;
  std::vector<std::string> groups, constraints;
  std::string loss, surrogate = "cross_entropy", bounds = "same";
  double huber_delta = 1.0, surrogate_temperature = 1.0;
  bool class_balanced = false;
};

inline void AddFlags(CLI::App& app, ProblemFlags& flags) {
  app.add_option("--data", flags.data, "CSV file with a header; other columns are features")
      ->required();
  app.add_option("--label", flags.label, "column with class labels");
  app.add_option("--target", flags.target, "column with a numeric target");
  app.add_option("--positive", flags.positive, "the positive class; default: the larger one");
  app.add_option("--weight", flags.weight, "column with row weights");
  app.add_option("--group", flags.groups, "group column; may be repeated");
  app.add_option("--constraint", flags.constraints, "e.g. 'fnr <= 5%'; may be repeated");
  app.add_option("--surrogate", flags.surrogate, "of 0-1 events in constraints");
  app.add_option("--surrogate-temperature", flags.surrogate_temperature,
                 "of the sigmoid surrogate");
  app.add_option("--bounds", flags.bounds, "how bounds apply to surrogates");
  app.add_option("--loss", flags.loss, "cross_entropy, squared or huber");
  app.add_option("--huber-delta", flags.huber_delta, "where the Huber loss turns linear");
  app.add_flag("--class-balanced", flags.class_balanced, "minimise the mean of class losses");
}

struct Table {
  bregboost::RowData rows;
  std::vector<double> features;  // column-major
  std::vector<std::string> feature_names;
};

// The values with the codes of another table's column.
inline bregboost::CategoricalColumn EncodeLike(const bregboost::CategoricalColumn& other,
                                               const std::vector<std::string>& values) {
  bregboost::CategoricalColumn column = bregboost::EncodeColumn(other.name, values);
  std::vector<std::int32_t> code_of;
  for (const std::string& level : column.levels) {
    const auto found = std::find(other.levels.begin(), other.levels.end(), level);
    if (found == other.levels.end()) {
      throw std::invalid_argument(fmt::format(
          "column '{}': '{}'; allowed: values of the training rows", other.name, level));
    }
    code_of.push_back(static_cast<std::int32_t>(found - other.levels.begin()));
  }
  for (std::int32_t& code : column.codes) code = code_of[static_cast<std::size_t>(code)];
  column.levels = other.levels;
  return column;
}

// Rows to be held out take classes and groups from the training rows, `training`.
inline Table LoadTable(const std::string& path, const ProblemFlags& flags,
                       Missing missing = Missing::kRefused, const Table* training = nullptr) {
  if (flags.label.empty() == flags.target.empty()) {
    throw std::invalid_argument("label, target: give one of them");
  }
  const Csv csv = ReadCsv(path);
  const auto encode = [&](const std::string& name, const bregboost::CategoricalColumn* other) {
    return other != nullptr ? EncodeLike(*other, ColumnOf(csv, name))
                            : bregboost::EncodeColumn(name, ColumnOf(csv, name));
  };
  Table table;
  for (std::size_t j = 0; j < flags.groups.size(); ++j) {
    table.rows.groups.push_back(
        encode(flags.groups[j], training != nullptr ? &training->rows.groups[j] : nullptr));
  }
  if (!flags.weight.empty()) table.rows.weights = NumbersOf(csv, flags.weight);
  if (!flags.target.empty()) {
    table.rows.targets = NumbersOf(csv, flags.target);
  } else {
    table.rows.labels = encode(flags.label, training != nullptr ? &training->rows.labels : nullptr);
    const auto& levels = table.rows.labels.levels;
    const auto found = std::find(levels.begin(), levels.end(), flags.positive);
    if (found != levels.end()) {
      table.rows.positive_class = static_cast<std::int32_t>(found - levels.begin());
    } else if (!flags.positive.empty()) {
      throw std::invalid_argument(fmt::format("positive: '{}' is not a label", flags.positive));
    }
  }
  std::set<std::string> taken(flags.groups.begin(), flags.groups.end());
  taken.insert({flags.label, flags.target, flags.weight});
  for (const std::string& name : csv.header) {
    if (taken.contains(name)) continue;
    const std::vector<double> values = NumbersOf(csv, name, missing);
    table.features.insert(table.features.end(), values.begin(), values.end());
    table.feature_names.push_back(name);
  }
  if (training != nullptr && table.feature_names != training->feature_names) {
    throw std::invalid_argument(fmt::format(
        "'{}': its feature columns differ; allowed: those of the training rows, in the same order",
        path));
  }
  return table;
}

inline bregboost::LossOptions LossOf(const ProblemFlags& flags, bregboost::Task task) {
  using bregboost::LossKind;
  const std::string by_default = task == bregboost::Task::kRegression ? "squared" : "cross_entropy";
  return {.kind = Choose("loss", flags.loss.empty() ? by_default : flags.loss,
                         {LossKind::kCrossEntropy, LossKind::kSquared, LossKind::kHuber}),
          .huber_delta = flags.huber_delta};
}

inline bregboost::SurrogateOptions SurrogateOf(const ProblemFlags& flags) {
  using bregboost::SurrogateBoundRule;
  using bregboost::SurrogateKind;
  return {.kind = Choose("surrogate", flags.surrogate,
                         {SurrogateKind::kCrossEntropy, SurrogateKind::kLogisticBase2,
                          SurrogateKind::kHingeSquared, SurrogateKind::kHuberisedHinge,
                          SurrogateKind::kSigmoid}),
          .temperature = flags.surrogate_temperature,
          .bound_rule = Choose("bounds", flags.bounds,
                               {SurrogateBoundRule::kSame, SurrogateBoundRule::kUniformThenCurrent,
                                SurrogateBoundRule::kNegativeLog})};
}

inline std::vector<bregboost::Constraint> ConstraintsOf(const ProblemFlags& flags) {
  std::vector<bregboost::Constraint> constraints;
  for (const std::string& text : flags.constraints) {
    constraints.push_back(bregboost::ParseConstraint(text));
  }
  return constraints;
}

// f and g over the rows of a table, which outlives them.
struct Problem {
  Problem(const Table& table, const ProblemFlags& flags,
          bregboost::EmptySubsetPolicy policy = bregboost::EmptySubsetPolicy::kError)
      : objective(table.rows,
                  {.loss = LossOf(flags, table.rows.task()),
                   .weighting = flags.class_balanced ? bregboost::ObjectiveWeighting::kClassBalanced
                                                     : bregboost::ObjectiveWeighting::kRows}),
        constraints(ConstraintsOf(flags), table.rows, SurrogateOf(flags), objective.options().loss,
                    policy) {}

  bregboost::Objective objective;
  bregboost::RateConstraints constraints;
};

}  // namespace example
