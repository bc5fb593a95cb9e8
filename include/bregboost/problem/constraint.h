// Constraints as people write them: a linear expression of rates, or an aggregate of one over
// groups, compared with a bound. This header knows no data; `compiled_constraints.h` binds it.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bregboost {

// The word `class` in a text means the label; a group column of that name is written "class".
struct Column {
  bool is_label = false;
  std::string name;  // empty for the label

  static Column Label() { return {.is_label = true, .name = {}}; }
  static Column Group(std::string name) { return {.is_label = false, .name = std::move(name)}; }
  bool operator==(const Column&) const = default;
  auto operator<=>(const Column&) const = default;
};

// Rows whose `column` reads `value`. Values are compared as text, so `class=2` matches integer 2.
struct Condition {
  Column column;
  std::string value;

  bool operator==(const Condition&) const = default;
  auto operator<=>(const Condition&) const = default;
};

enum class RateKind {
  kError,          // predicted != label
  kAccuracy,       // 1 - error
  kBalancedError,  // mean over classes of the class's error
  kLoss,           // mean loss of the objective's kind
  kDisagreement,   // prediction differs from the baseline model's (churn)
  kSelectionRate,  // predicted == `predicted`, the positive class by default
  kRecall,         // 1 - error of a class, the positive class by default
  kPrecision,      // share of label `predicted` among rows predicted `predicted`
  kFnr,            // binary: error of the positive class
  kFpr,            // binary: error of the negative class
  kTpr,            // 1 - fnr
  kTnr,            // 1 - fpr
};

// The word of the grammar, e.g. "selection_rate".
std::string_view Name(RateKind kind);

// The weighted average of an event over the rows that meet every condition.
struct Rate {
  RateKind kind = RateKind::kError;
  std::vector<Condition> where;          // sorted, at most one per column
  std::optional<std::string> predicted;  // selection_rate and precision: which predicted class

  bool operator==(const Rate&) const = default;
};

struct Term {
  double coefficient = 1.0;
  Rate rate;

  bool operator==(const Term&) const = default;
};

// sum of terms + constant. Canonical: no rate twice, no zero coefficient.
struct RateExpression {
  std::vector<Term> terms;
  double constant = 0.0;

  bool operator==(const RateExpression&) const = default;
};

enum class Aggregate {
  kNone,
  kGap,    // largest minus smallest over groups
  kRatio,  // smallest over largest over groups
  kMax,
  kMin,
};

enum class Relation { kAtMost, kAtLeast };

struct Constraint {
  Aggregate aggregate = Aggregate::kNone;
  RateExpression expression;  // its constant is zero when `aggregate` is kNone: the bound has it
  std::vector<Column> by;     // aggregates only: groups are the tuples of these columns that occur
  Relation relation = Relation::kAtMost;
  double bound = 0.0;

  bool operator==(const Constraint&) const = default;
};

bool NamesGroups(const Constraint& constraint);  // a group column, anywhere in it
// Whether it holds groups against each other: a gap or a ratio of groups, or a difference of rates
// of which one is that of a group.
bool ComparesGroups(const Constraint& constraint);

// The interval of values a rate expression can take by its form alone: [0, 1] for a rate, [0, inf)
// for a loss, interval arithmetic for sums.
struct Range {
  double low = 0.0;
  double high = 1.0;
};
Range ValueRange(const RateExpression& expression);

// Texts that parse back to the same value. Bounds that are exact in percent are printed so.
std::string ToText(const Column& column);
std::string ToText(const Rate& rate);
std::string ToText(const RateExpression& expression);
std::string ToText(const Constraint& constraint);

}  // namespace bregboost
