// Rates, bounds, differences and counts as people read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bregboost::detail {

inline constexpr const char* kUndefined = "undefined";

// Whether a constraint is about shares; bounds of losses are written without a % sign.
bool InPercent(std::string_view constraint);
// Whether its groups' own rates are shares; a ratio is one, even of losses.
bool GroupsInPercent(std::string_view constraint);

// A measured value, with digits enough to tell it from the bound `beside` it: "4.87%", "0.3127".
std::string ValueText(std::optional<double> value, bool percent,
                      std::optional<double> beside = std::nullopt);
// A number that somebody chose, as short as it was written: "5%".
std::string BoundText(std::optional<double> value, bool percent);
// A difference of two values: "0.31 points" for shares.
std::string DifferenceText(std::optional<double> value, bool percent);
std::string CountText(std::optional<std::int64_t> count);  // "12,345"
std::string NumberText(std::optional<double> value);       // four digits

}  // namespace bregboost::detail
