#include "problem/detail/constraint_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "problem/detail/number_text.h"
#include "problem/detail/rate_words.h"
#include "problem/detail/text.h"

namespace bregboost::detail {
namespace {

using Code = ConstraintErrorCode;

constexpr std::size_t kMaxShownBytes = 80;

bool IsPrecision(const PlacedTerm& placed) { return placed.term.rate.kind == RateKind::kPrecision; }

bool IsSingleRate(const LinearForm& form) {
  return form.terms.size() == 1 && form.terms.front().term.coefficient == 1.0 &&
         form.constant == 0.0;
}

void CheckAggregateForm(const PlacedConstraint& placed) {
  const Aggregate aggregate = placed.constraint.aggregate;
  const bool compares_groups = aggregate == Aggregate::kGap || aggregate == Aggregate::kRatio;
  const auto precision =
      std::find_if(placed.form.terms.begin(), placed.form.terms.end(), IsPrecision);
  if (compares_groups && precision != placed.form.terms.end()) {
    throw Flaw{Code::kPrecisionNotLinear, precision->offset,
               fmt::format("precision cannot stand inside {}; allowed: precision >= bound, or "
                           "min(precision, by=column) >= bound",
                           Word(aggregate))};
  }
  if (aggregate == Aggregate::kRatio && !IsSingleRate(placed.form)) {
    throw Flaw{Code::kRatioNotSingleRate, placed.expression_offset,
               fmt::format("ratio of '{}' is not linear; allowed: ratio of one rate without "
                           "factor or constant, as in ratio(selection_rate, by=column)",
                           Shortened(ToText(placed.constraint.expression), kMaxShownBytes))};
  }
}

void CheckDirection(const PlacedConstraint& placed) {
  const auto fail = [&](Code code, std::string_view message) {
    throw Flaw{code, placed.relation_offset, std::string(message)};
  };
  const Constraint& constraint = placed.constraint;
  const bool at_most = constraint.relation == Relation::kAtMost;
  const bool is_precision = IsPrecision(placed.form.terms.front());
  switch (constraint.aggregate) {
    case Aggregate::kNone:
      if (is_precision && at_most) {
        fail(Code::kPrecisionUpperBound,
             "precision has no upper bound; allowed: precision >= bound");
      }
      break;
    case Aggregate::kGap:
      if (!at_most) fail(Code::kGapLowerBound, "gap has no lower bound; allowed: gap(...) <= x");
      break;
    case Aggregate::kRatio:
      if (at_most) {
        fail(Code::kRatioUpperBound, "ratio has no upper bound; allowed: ratio(...) >= x");
      }
      break;
    case Aggregate::kMax:
      if (!at_most) {
        fail(Code::kAggregateDirection,
             "max has no lower bound, since only some group would have to meet it; allowed: "
             "max(...) <= x, or min(...) >= x for every group");
      }
      if (is_precision) {
        fail(Code::kPrecisionUpperBound,
             "precision has no upper bound; allowed: min(precision, by=column) >= bound");
      }
      break;
    case Aggregate::kMin:
      if (at_most) {
        fail(Code::kAggregateDirection,
             "min has no upper bound, since only some group would have to meet it; allowed: "
             "min(...) >= x, or max(...) <= x for every group");
      }
      break;
  }
}

Range BoundRange(const Constraint& constraint) {
  const Range values = ValueRange(constraint.expression);
  if (constraint.aggregate == Aggregate::kGap) return {0.0, values.high - values.low};
  if (constraint.aggregate == Aggregate::kRatio) return {0.0, 1.0};
  return values;
}

std::string RangeText(const Constraint& constraint, const Range& range) {
  const bool has_low = std::isfinite(range.low), has_high = std::isfinite(range.high);
  const std::string low = BoundText(constraint, range.low);
  const std::string high = BoundText(constraint, range.high);
  if (has_low && has_high) return fmt::format("{} to {}", low, high);
  return has_low ? fmt::format("{} or more", low) : fmt::format("{} or less", high);
}

// An endpoint is allowed even if summing the coefficients rounded it away; a lone rate has none.
double RoundingOf(const RateExpression& expression) {
  double size = std::abs(expression.constant);
  if (size == 0.0 && expression.terms.size() == 1) return 0.0;
  for (const Term& term : expression.terms) size += std::abs(term.coefficient);
  const auto additions = static_cast<double>(expression.terms.size());
  return additions * std::numeric_limits<double>::epsilon() * size;
}

// `fnr <= 5` is 500%.
std::string PercentHint(const Constraint& constraint, const Range& range) {
  const bool is_share = range.low >= -1.0 && range.high <= 1.0;
  if (!is_share || constraint.bound < 2.0 || constraint.bound > 100.0) return "";
  return fmt::format("; did you mean {}%?", constraint.bound);
}

void CheckBound(const PlacedConstraint& placed) {
  const Constraint& constraint = placed.constraint;
  const Range range = BoundRange(constraint);
  const double slack = RoundingOf(constraint.expression);
  if (constraint.bound >= range.low - slack && constraint.bound <= range.high + slack) return;
  const std::string expression = Shortened(ToText(constraint.expression), kMaxShownBytes);
  const std::string_view word = Word(constraint.aggregate);
  throw Flaw{Code::kBoundOutOfRange, placed.bound_offset,
             fmt::format("bound {} is out of range for '{}'; allowed: {}",
                         BoundText(constraint, constraint.bound),
                         word.empty() ? expression : fmt::format("{}({})", word, expression),
                         RangeText(constraint, range)) +
                 PercentHint(constraint, range)};
}

}  // namespace

void CheckHasRate(const LinearForm& form, std::size_t offset) {
  if (!form.terms.empty()) return;
  throw Flaw{Code::kNoRate, offset,
             "no rate is left: the text holds only numbers, or its rates cancel; at least one "
             "rate is needed, as in fnr <= 5%"};
}

void CheckPrecisionAlone(const LinearForm& form) {
  const auto precision = std::find_if(form.terms.begin(), form.terms.end(), IsPrecision);
  if (precision == form.terms.end() || IsSingleRate(form)) return;
  throw Flaw{Code::kPrecisionNotLinear, precision->offset,
             "precision cannot be part of arithmetic; allowed: precision >= bound, or "
             "min(precision, by=column) >= bound"};
}

void CheckConstraint(const PlacedConstraint& placed) {
  CheckHasRate(placed.form, placed.expression_offset);
  CheckPrecisionAlone(placed.form);
  CheckAggregateForm(placed);
  CheckDirection(placed);
  CheckBound(placed);
}

}  // namespace bregboost::detail
