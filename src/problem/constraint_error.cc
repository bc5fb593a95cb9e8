#include "bregboost/problem/constraint_error.h"

#include <fmt/format.h>

#include "problem/detail/text.h"

namespace bregboost {
namespace {

// A message is read by people: a constraint longer than this is cut.
constexpr std::size_t kMaxShownBytes = 200;

std::string FullMessage(const std::string& message, const std::string& text,
                        std::optional<std::size_t> position) {
  const std::string shown = detail::Printable(detail::Shortened(text, kMaxShownBytes));
  if (position) return fmt::format("constraint '{}', column {}: {}", shown, *position, message);
  return fmt::format("constraint '{}': {}", shown, message);
}

}  // namespace

std::string_view Name(ConstraintErrorCode code) {
  switch (code) {
    case ConstraintErrorCode::kSyntax:
      return "syntax";
    case ConstraintErrorCode::kUnknownRate:
      return "unknown-rate";
    case ConstraintErrorCode::kUnknownArgument:
      return "unknown-argument";
    case ConstraintErrorCode::kNumberOutOfRange:
      return "number-out-of-range";
    case ConstraintErrorCode::kStrictInequality:
      return "strict-inequality";
    case ConstraintErrorCode::kNoRate:
      return "no-rate";
    case ConstraintErrorCode::kBoundOutOfRange:
      return "bound-out-of-range";
    case ConstraintErrorCode::kPrecisionNotLinear:
      return "precision-not-linear";
    case ConstraintErrorCode::kPrecisionUpperBound:
      return "precision-upper-bound";
    case ConstraintErrorCode::kGapLowerBound:
      return "gap-lower-bound";
    case ConstraintErrorCode::kRatioUpperBound:
      return "ratio-upper-bound";
    case ConstraintErrorCode::kAggregateDirection:
      return "aggregate-direction";
    case ConstraintErrorCode::kAggregateInArithmetic:
      return "aggregate-in-arithmetic";
    case ConstraintErrorCode::kRatioNotSingleRate:
      return "ratio-not-single-rate";
    case ConstraintErrorCode::kUnknownColumn:
      return "unknown-column";
    case ConstraintErrorCode::kUnknownClass:
      return "unknown-class";
    case ConstraintErrorCode::kUnknownGroup:
      return "unknown-group";
    case ConstraintErrorCode::kEmptySubset:
      return "empty-subset";
    case ConstraintErrorCode::kTooFewGroups:
      return "too-few-groups";
    case ConstraintErrorCode::kTooManyGroups:
      return "too-many-groups";
    case ConstraintErrorCode::kContradiction:
      return "contradiction";
    case ConstraintErrorCode::kNeedsBinary:
      return "needs-binary";
    case ConstraintErrorCode::kNeedsClassification:
      return "needs-classification";
    case ConstraintErrorCode::kNeedsPredictedClass:
      return "needs-predicted-class";
    case ConstraintErrorCode::kNeedsBaseline:
      return "needs-baseline";
  }
  return "unknown";
}

ConstraintError::ConstraintError(ConstraintErrorCode code, const std::string& message,
                                 const std::string& text, std::optional<std::size_t> position)
    : std::invalid_argument(FullMessage(message, text, position)),
      code_(code),
      text_(text),
      position_(position) {}

}  // namespace bregboost
