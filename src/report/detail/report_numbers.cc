#include "report/detail/report_numbers.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace bregboost::detail {
namespace {

std::string WithDigits(double value, bool percent, int more_digits) {
  if (!percent) return fmt::format("{:.{}g}", value, 4 + more_digits);
  std::string text = fmt::format("{:.{}f}%", 100.0 * value, 2 + more_digits);
  const bool is_minus_zero = text.front() == '-' && std::strtod(text.c_str(), nullptr) == 0.0;
  return is_minus_zero ? text.substr(1) : text;
}

}  // namespace

bool InPercent(std::string_view constraint) { return constraint.ends_with('%'); }

bool GroupsInPercent(std::string_view constraint) {
  const std::string_view compared = constraint.substr(0, constraint.rfind(", by="));
  const bool ratio_of_losses =
      compared.starts_with("ratio(") && compared.find("loss") != std::string_view::npos;
  return InPercent(constraint) && !ratio_of_losses;
}

std::string ValueText(std::optional<double> value, bool percent, std::optional<double> beside) {
  if (!value) return kUndefined;
  std::string text;
  for (int more = 0; more < 7; ++more) {
    text = WithDigits(*value, percent, more);
    if (!beside || *value == *beside || text != WithDigits(*beside, percent, more)) break;
  }
  return text;
}

std::string BoundText(std::optional<double> value, bool percent) {
  if (!value) return kUndefined;
  return percent ? fmt::format("{:.10g}%", 100.0 * *value) : fmt::format("{:.10g}", *value);
}

std::string DifferenceText(std::optional<double> value, bool percent) {
  if (!value) return kUndefined;
  if (!percent) return fmt::format("{:.4g}", *value);
  const double points = 100.0 * *value;
  return points == 0.0 || std::abs(points) >= 0.1 ? fmt::format("{:.2f} points", points)
                                                  : fmt::format("{:.2g} points", points);
}

std::string CountText(std::optional<std::int64_t> count) {
  if (!count) return kUndefined;
  const std::string digits = std::to_string(*count);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0 && digits[i - 1] != '-') text += ',';
    text += digits[i];
  }
  return text;
}

std::string NumberText(std::optional<double> value) {
  return value ? fmt::format("{:.4g}", *value) : kUndefined;
}

}  // namespace bregboost::detail
