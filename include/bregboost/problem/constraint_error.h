// Every way in which a constraint can be wrong, as one exception with a code.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace bregboost {

enum class ConstraintErrorCode {
  kSyntax,                 // the text does not follow the grammar
  kUnknownRate,            // `fnrr`
  kUnknownArgument,        // a rate does not take this argument, or it is given twice
  kNumberOutOfRange,       // a literal too large for a double
  kStrictInequality,       // `<`, `>` or `=` in place of `<=` or `>=`
  kNoRate,                 // nothing but numbers, or all rates cancel
  kBoundOutOfRange,        // `fnr <= 120%`
  kPrecisionNotLinear,     // precision inside gap, ratio or arithmetic
  kPrecisionUpperBound,    // `precision <= p`
  kGapLowerBound,          // `gap(...) >= x`
  kRatioUpperBound,        // `ratio(...) <= x`
  kAggregateDirection,     // `max(...) >= x`, `min(...) <= x`
  kAggregateInArithmetic,  // `gap(...) + 1 <= x`, or an aggregate inside another
  kRatioNotSingleRate,     // ratio of anything but one rate
  kUnknownColumn,          // a group column that the data does not have
  kUnknownClass,           // a class value that the data does not have
  kUnknownGroup,           // a group value that the data does not have
  kEmptySubset,            // the rate's rows are none (or weigh nothing)
  kTooFewGroups,           // gap or ratio over fewer than two groups with rows
  kTooManyGroups,          // gap or ratio over so many that a column of numbers is more likely
  kContradiction,          // two constraints that no model can hold together
  kNeedsBinary,            // fnr, fpr, ... on more than two classes
  kNeedsClassification,    // a rate other than loss on a regression target
  kNeedsPredictedClass,    // selection_rate or precision on K > 2 without `predicted=`
  kNeedsBaseline,          // disagreement without a baseline model's predictions
};

// A stable, hyphenated name for logs and documentation, e.g. "unknown-rate".
std::string_view Name(ConstraintErrorCode code);

class ConstraintError : public std::invalid_argument {
 public:
  // `text` is the constraint as written (or printed); `position` the 1-based column in it, counted
  // in UTF-8 characters, when the error comes from parsing. what() reads: constraint 'TEXT', column
  // N: MESSAGE, with a long TEXT cut and control bytes in it escaped.
  ConstraintError(ConstraintErrorCode code, const std::string& message, const std::string& text,
                  std::optional<std::size_t> position = std::nullopt);

  ConstraintErrorCode code() const { return code_; }
  const std::string& text() const { return text_; }
  std::optional<std::size_t> position() const { return position_; }

 private:
  ConstraintErrorCode code_;
  std::string text_;
  std::optional<std::size_t> position_;
};

}  // namespace bregboost
