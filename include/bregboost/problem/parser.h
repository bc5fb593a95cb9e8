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
//   column      := bare word of letters, digits, _ - . | quoted    bare `class` is the label
//   value       := run of characters other than space , ( ) " ' not opened by = | quoted
//   quoted      := "..." or '...' with the escapes \" \' \\ and \xHH (a byte)
//
// Rates: error accuracy balanced_error loss disagreement selection_rate recall precision fnr fpr
// tpr tnr, with the aliases churn and disagrees (disagreement), selected (selection_rate), misses
// (fnr), sensitivity (tpr), specificity (tnr). An aggregate stands alone against a number. Rates
// on both sides are moved to the left, numbers to the right; `5% >= fnr` is `fnr <= 5%`.
//
// Bytes outside ASCII are letters. Control bytes other than white space between tokens, texts of
// more than 64 KiB and parentheses nested deeper than 100 are syntax errors.
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

// Known names nearest to `name` by edit distance (ASCII case ignored), best first, at most three;
// empty if none is near.
std::vector<std::string> NearestNames(std::string_view name, const std::vector<std::string>& known);

}  // namespace bregboost
