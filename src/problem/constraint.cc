#include "bregboost/problem/constraint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "problem/detail/number_text.h"
#include "problem/detail/rate_words.h"
#include "problem/detail/text.h"

namespace bregboost {
namespace {

// "- 2 * fnr" inside a sum, "-2 * fnr" at its head.
std::string SignedText(double value, const std::string& magnitude, bool at_head) {
  const bool negative = std::signbit(value);
  if (at_head) return (negative ? "-" : "") + magnitude;
  return (negative ? " - " : " + ") + magnitude;
}

std::string TermText(const Term& term, bool at_head) {
  const double size = std::abs(term.coefficient);
  const std::string factor = size == 1.0 ? "" : detail::DecimalText(size) + " * ";
  return SignedText(term.coefficient, factor + ToText(term.rate), at_head);
}

std::string GroupsText(const std::vector<Column>& by) {
  std::vector<std::string> columns;
  for (const Column& column : by) columns.push_back(ToText(column));
  if (columns.size() == 1) return columns.front();
  return fmt::format("({})", detail::Joined(columns));
}

}  // namespace

std::string_view Name(RateKind kind) { return detail::Traits(kind).name; }

bool NamesGroups(const Constraint& constraint) {
  const auto is_group = [](const Column& column) { return !column.is_label; };
  return std::any_of(constraint.by.begin(), constraint.by.end(), is_group) ||
         std::any_of(constraint.expression.terms.begin(), constraint.expression.terms.end(),
                     [&](const Term& term) {
                       return std::any_of(
                           term.rate.where.begin(), term.rate.where.end(),
                           [&](const Condition& condition) { return is_group(condition.column); });
                     });
}

bool ComparesGroups(const Constraint& constraint) {
  if (!NamesGroups(constraint)) return false;
  if (constraint.aggregate == Aggregate::kGap || constraint.aggregate == Aggregate::kRatio) {
    return true;
  }
  const std::vector<Term>& terms = constraint.expression.terms;
  const auto is_added = [](const Term& term) { return term.coefficient > 0.0; };
  return std::any_of(terms.begin(), terms.end(), is_added) &&
         !std::all_of(terms.begin(), terms.end(), is_added);
}

Range ValueRange(const RateExpression& expression) {
  Range range{.low = expression.constant, .high = expression.constant};
  for (const Term& term : expression.terms) {
    const bool is_loss = term.rate.kind == RateKind::kLoss;
    const double largest = is_loss ? std::numeric_limits<double>::infinity() : 1.0;
    if (term.coefficient > 0.0) range.high += term.coefficient * largest;
    if (term.coefficient < 0.0) range.low += term.coefficient * largest;
  }
  return range;
}

std::string ToText(const Column& column) {
  return column.is_label ? "class" : detail::ColumnText(column.name);
}

std::string ToText(const Rate& rate) {
  std::vector<std::string> arguments;
  if (rate.predicted) arguments.push_back("predicted=" + detail::ValueText(*rate.predicted));
  for (const Condition& condition : rate.where) {
    arguments.push_back(ToText(condition.column) + '=' + detail::ValueText(condition.value));
  }
  if (arguments.empty()) return std::string(Name(rate.kind));
  return fmt::format("{}({})", Name(rate.kind), detail::Joined(arguments));
}

std::string ToText(const RateExpression& expression) {
  std::string text;
  for (const Term& term : expression.terms) text += TermText(term, /*at_head=*/text.empty());
  if (!text.empty() && expression.constant == 0.0) return text;
  const double size = std::abs(expression.constant);
  return text + SignedText(expression.constant, detail::ConstantText(expression, size),
                           /*at_head=*/text.empty());
}

std::string ToText(const Constraint& constraint) {
  std::string left = ToText(constraint.expression);
  if (constraint.aggregate != Aggregate::kNone) {
    left = fmt::format("{}({}, by={})", detail::Word(constraint.aggregate), left,
                       GroupsText(constraint.by));
  }
  return fmt::format("{} {} {}", left, constraint.relation == Relation::kAtMost ? "<=" : ">=",
                     detail::BoundText(constraint, constraint.bound));
}

}  // namespace bregboost
