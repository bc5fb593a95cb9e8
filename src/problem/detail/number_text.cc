#include "problem/detail/number_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

namespace bregboost::detail {
namespace {

// Outside these limits a percentage reads worse than a decimal with an exponent.
constexpr double kSmallestPercent = 1e-6;
constexpr double kLargestPercent = 1e4;

// Far beyond a double's exponents, so that saturating here cannot change a result.
constexpr int kHugeExponent = 1'000'000;

int ParseExponent(std::string_view digits) {
  if (digits.starts_with('+')) digits.remove_prefix(1);
  int exponent = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), exponent);
  if (error == std::errc{}) return std::clamp(exponent, -kHugeExponent, kHugeExponent);
  return digits.starts_with('-') ? -kHugeExponent : kHugeExponent;
}

// Percent by the decimal exponent: dividing by 100 would round a second time.
std::string DividedByHundred(std::string_view decimal) {
  const std::size_t mark = decimal.find_first_of("eE");
  const int exponent = mark == std::string_view::npos ? 0 : ParseExponent(decimal.substr(mark + 1));
  return std::string(decimal.substr(0, mark)) + 'e' + std::to_string(exponent - 2);
}

bool HasNonZeroDigit(std::string_view decimal) {
  const std::string_view mantissa = decimal.substr(0, decimal.find_first_of("eE"));
  return mantissa.find_first_of("123456789") != std::string_view::npos;
}

template <typename... Format>
std::string Shortest(double value, Format... format) {
  std::array<char, 64> buffer;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format...);
  return std::string(buffer.data(), result.ptr);
}

// "0.07" -> "7", "12" -> "1200", "0.0005" -> "0.05".
std::string PointMovedRight(std::string fixed, std::size_t places) {
  std::size_t point = fixed.find('.');
  if (point == std::string::npos) point = fixed.size();
  fixed.erase(point, 1);
  point += places;
  if (fixed.size() > point) {
    fixed.insert(point, 1, '.');
  } else {
    fixed.append(point - fixed.size(), '0');
  }
  const std::size_t first = std::min(fixed.find_first_not_of('0'), point - 1);
  return fixed.substr(first);
}

bool HasLoss(const RateExpression& expression) {
  return std::any_of(expression.terms.begin(), expression.terms.end(),
                     [](const Term& term) { return term.rate.kind == RateKind::kLoss; });
}

}  // namespace

std::optional<double> ParseNumber(std::string_view literal) {
  std::string decimal(literal.substr(0, literal.find_first_of(" \t\r\n%")));
  if (literal.ends_with('%')) decimal = DividedByHundred(decimal);
  double value = 0.0;
  const auto [end, error] = std::from_chars(decimal.data(), decimal.data() + decimal.size(), value);
  if (error != std::errc{} || !std::isfinite(value)) return std::nullopt;
  if (value == 0.0 && HasNonZeroDigit(decimal)) return std::nullopt;
  return value;
}

std::string DecimalText(double value) { return Shortest(value); }

std::string PercentText(double value) {
  const double size = std::abs(value);
  if (value == 0.0) return "0%";
  if (!(size >= kSmallestPercent && size < kLargestPercent)) return DecimalText(value);
  const std::string digits = PointMovedRight(Shortest(size, std::chars_format::fixed), 2);
  return (value < 0.0 ? "-" : "") + digits + '%';
}

std::string ConstantText(const RateExpression& expression, double value) {
  return HasLoss(expression) ? DecimalText(value) : PercentText(value);
}

std::string BoundText(const Constraint& constraint, double value) {
  if (constraint.aggregate == Aggregate::kRatio) return PercentText(value);
  return ConstantText(constraint.expression, value);
}

}  // namespace bregboost::detail
