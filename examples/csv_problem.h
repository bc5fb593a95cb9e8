// The flags that describe a problem, and the problem that they make of a CSV file: rows, features,
// objective and constraints.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bregboost/data/column_encoding.h"
#include "bregboost/data/encoded_table.h"
#include "bregboost/data/row_data.h"
#include "bregboost/data/table.h"
#include "bregboost/data/table_rows.h"
#include "bregboost/problem/objective.h"
#include "bregboost/problem/parser.h"
#include "bregboost/problem/rate_constraints.h"
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
  app.add_option("--data", flags.data,
                 "CSV or TSV file with a header, or one compressed as .gz, .xz or .zst; "
                 "other columns are features")
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
  bregboost::ColumnEncoding encoding;
  bregboost::EncodedTable features;
};

inline bregboost::RowColumns ColumnsOf(const ProblemFlags& flags) {
  if (flags.label.empty() == flags.target.empty()) {
    throw std::invalid_argument("label, target: give one of them");
  }
  return {
      .label = flags.label, .target = flags.target, .weight = flags.weight, .groups = flags.groups};
}

enum class Features {
  kAny,      // categories and missing values too, as trees take them
  kNumbers,  // for linear models
};

// Columns that are named in `categorical` hold categories even if they look like numbers.
inline Table LoadTable(const ProblemFlags& flags, Features allowed,
                       const std::vector<std::string>& categorical = {}) {
  const bregboost::RowColumns columns = ColumnsOf(flags);
  bregboost::Table read = bregboost::ReadTable(
      flags.data, bregboost::WithRowColumns({.categorical = categorical}, columns));
  Table table;
  table.rows = bregboost::RowsOf(read, columns);
  if (!flags.positive.empty()) {
    table.rows.positive_class = bregboost::PositiveClass(table.rows, flags.positive);
  }
  table.encoding = bregboost::MakeEncoding(read, columns);
  if (allowed == Features::kNumbers) bregboost::CheckForLinear(read, table.encoding);
  table.features = bregboost::Encode(std::move(read), table.encoding);
  return table;
}

// Rows to be held out take classes, groups and categories from the training rows.
inline Table LoadHeldOut(const std::string& path, const ProblemFlags& flags,
                         const Table& training) {
  const bregboost::RowColumns columns = ColumnsOf(flags);
  bregboost::Table read =
      bregboost::ReadTable(path, bregboost::ReadingOptions(training.encoding, columns));
  Table table;
  table.rows = bregboost::RecodeLike(bregboost::RowsOf(read, columns, training.encoding.classes),
                                     training.rows);
  table.encoding = training.encoding;
  table.features = bregboost::Encode(std::move(read), table.encoding);
  for (const bregboost::UnseenCategories& unseen : table.features.unseen) {
    fmt::print(stderr, "'{}', {}\n", path, unseen.text());
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
