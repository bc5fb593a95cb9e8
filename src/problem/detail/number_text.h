// Numbers of the grammar. What these functions print, ParseNumber reads back to the same double.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bregboost/problem/constraint.h"

namespace bregboost::detail {

// The double nearest to a literal such as `2.5e-3`, `.5` or `5 %`. Nothing if it is too large, or
// not zero and too small. `0.1%` is the double nearest to 0.001, not 0.1 divided by 100.
std::optional<double> ParseNumber(std::string_view literal);

// The shortest decimal of this value.
std::string DecimalText(double value);

// The same digits in percent, or the decimal where a percentage would be a row of zeros.
std::string PercentText(double value);

// A constant of `expression`: in percent, unless the expression has a loss, which is no share.
std::string ConstantText(const RateExpression& expression, double value);

// A bound of `constraint`: as a constant; a ratio is a share whatever it is taken of.
std::string BoundText(const Constraint& constraint, double value);

}  // namespace bregboost::detail
