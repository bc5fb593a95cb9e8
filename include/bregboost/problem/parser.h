// Text -> Constraint. One grammar for the command line, config files and Python.
//
//   constraint  := expression ("<=" | ">=") expression
//   expression  := product (("+" | "-") product)*
//   product     := factor ("*" factor | "/" number)*      at most one factor holds rates
//   factor      := ["-"] (number | rate | aggregate | "(" expression ")")
//   number      := decimal ["%"]
//   rate        := name ["(" argument ("," argument)* ")"]
//   argument    := column "=" value                       class=..., predicted=..., group columns
//   aggregate   := ("gap" | "ratio" | "max" | "min") "(" expression "," "by" "=" columns ")"
//   columns     := column | "(" column ("," column)* ")"
//   column      := identifier | quoted                    bare `class` is the label
//   value       := quoted | run of characters other than space , ( ) = " '
//
// Rates: error accuracy balanced_error loss disagreement selection_rate recall precision fnr fpr
// tpr tnr, with the aliases churn (disagreement), sensitivity (tpr), specificity (tnr), misses
// (fnr). An aggregate stands alone against a number. Rates on both sides are moved to the left,
// numbers to the right.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bregboost/problem/constraint.h"

namespace bregboost {

// Throws ConstraintError with a position. Never crashes, whatever the bytes.
Constraint ParseConstraint(std::string_view text);

// A bare expression, as in `objective = "balanced_error"`; aggregates are refused.
RateExpression ParseExpression(std::string_view text);

// Known names nearest to `name` by edit distance, best first, at most three; empty if none is near.
std::vector<std::string> NearestNames(std::string_view name, const std::vector<std::string>& known);

}  // namespace bregboost
