#include "explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace bregboost::cli {
namespace {

std::string Where(const Rate& rate) {
  std::string text;
  for (const Condition& condition : rate.where) {
    text +=
        fmt::format("{}{} = {}", text.empty() ? " with " : " and ",
                    condition.column.is_label ? "class" : condition.column.name, condition.value);
  }
  return text;
}

std::string Selected(const Rate& rate) { return rate.predicted.value_or("the positive class"); }

std::string Meaning(const Rate& rate) {
  switch (rate.kind) {
    case RateKind::kError:
      return fmt::format("share of rows{} that are predicted wrongly", Where(rate));
    case RateKind::kAccuracy:
      return fmt::format("share of rows{} that are predicted rightly", Where(rate));
    case RateKind::kBalancedError:
      return fmt::format("mean over classes of the share of rows{} predicted wrongly", Where(rate));
    case RateKind::kLoss:
      return fmt::format("mean loss of rows{}", Where(rate));
    case RateKind::kDisagreement:
      return fmt::format("share of rows{} predicted otherwise than by the baseline", Where(rate));
    case RateKind::kSelectionRate:
      return fmt::format("share of rows{} that are predicted as {}", Where(rate), Selected(rate));
    case RateKind::kRecall:
      return fmt::format("share of rows{} of the class that are predicted as it", Where(rate));
    case RateKind::kPrecision:
      return fmt::format("share of rows{} predicted as {} that are it", Where(rate),
                         Selected(rate));
    case RateKind::kFnr:
      return fmt::format("share of positive rows{} that are missed", Where(rate));
    case RateKind::kFpr:
      return fmt::format("share of negative rows{} that are taken for positive", Where(rate));
    case RateKind::kTpr:
      return fmt::format("share of positive rows{} that are found", Where(rate));
    case RateKind::kTnr:
      return fmt::format("share of negative rows{} that are left alone", Where(rate));
  }
  return "";
}

std::string Meaning(const RateExpression& expression) {
  std::string text;
  for (const Term& term : expression.terms) {
    const double size = std::abs(term.coefficient);
    const std::string factor = size == 1.0 ? "" : fmt::format("{} times ", size);
    const char* sign = term.coefficient < 0.0 ? " minus " : text.empty() ? "" : " plus ";
    text += fmt::format("{}{}the {}", sign, factor, Meaning(term.rate));
  }
  return text;
}

std::string Columns(const Constraint& constraint) {
  std::vector<std::string> names;
  for (const Column& column : constraint.by) names.push_back(ToText(column));
  return fmt::format("{}", fmt::join(names, " and "));
}

}  // namespace

std::string Explain(const Constraint& constraint) {
  const std::string what = Meaning(constraint.expression);
  // The bound as the canonical text has it: behind the last sign.
  const std::string text = ToText(constraint);
  const std::string bound = text.substr(text.rfind("= ") + 2);
  const char* relation = constraint.relation == Relation::kAtMost ? "at most" : "at least";
  switch (constraint.aggregate) {
    case Aggregate::kNone:
      return fmt::format("{} is {} {}", what, relation, bound);
    case Aggregate::kGap:
      return fmt::format("{} differs by at most {} between any two groups of {}", what, bound,
                         Columns(constraint));
    case Aggregate::kRatio:
      return fmt::format("{} in any group of {} is at least {} of that in any other", what,
                         Columns(constraint), bound);
    case Aggregate::kMax:
    case Aggregate::kMin:
      return fmt::format("{} is {} {} in every group of {}", what, relation, bound,
                         Columns(constraint));
  }
  return {};
}

}  // namespace bregboost::cli
