#include "data/detail/number_field.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>

namespace bregboost::detail {
namespace {

// strtod of the C library is the reference: same bits, or NaN in both.
void ExpectAsStrtod(const std::string& text) {
  const std::optional<double> ours = ParseNumberField(text);
  ASSERT_TRUE(ours.has_value()) << text;
  const double reference = std::strtod(text.c_str(), nullptr);
  if (std::isnan(reference)) {
    EXPECT_TRUE(std::isnan(*ours)) << text;
  } else {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(*ours), std::bit_cast<std::uint64_t>(reference)) << text;
  }
}

TEST(ParseNumberField, AgreesWithStrtodOnRandomDoubles) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 20'000; ++i) {
    const auto value = std::bit_cast<double>(random());
    for (const std::string& text : {fmt::format("{}", value), fmt::format("{:.17g}", value),
                                    fmt::format("{:.16g}", value), fmt::format("{:g}", value),
                                    fmt::format("{:.25e}", value), fmt::format("{:+.9e}", value)}) {
      ExpectAsStrtod(text);
    }
  }
}

TEST(ParseNumberField, AgreesWithStrtodOnRandomDecimals) {
  std::mt19937_64 random(4);
  const auto digits = [&](std::size_t below) {
    std::string text;
    for (std::size_t n = random() % below; n > 0; --n)
      text += static_cast<char>('0' + random() % 10);
    return text;
  };
  for (int i = 0; i < 50'000; ++i) {
    std::string text = random() % 3 == 0 ? "-" : random() % 3 == 0 ? "+" : "";
    text += digits(22) + static_cast<char>('0' + random() % 10);
    if (random() % 2 == 0) text += '.' + digits(25);
    if (random() % 3 == 0) {
      text += (random() % 2 == 0 ? "e" : "E") + std::string(random() % 2 == 0 ? "-" : "") +
              std::to_string(random() % 330);
    }
    ExpectAsStrtod(text);
  }
}

TEST(ParseNumberField, AgreesWithStrtodOnSpellings) {
  for (const char* text : {"0",
                           "-0",
                           "+0",
                           "1.",
                           ".5",
                           "-.5",
                           "+.5",
                           "00012",
                           "1e5",
                           "1E5",
                           "1e+5",
                           "1e-5",
                           "inf",
                           "-inf",
                           "+inf",
                           "INF",
                           "Infinity",
                           "-infinity",
                           "nan",
                           "NaN",
                           "NAN",
                           "-nan",
                           "1e999",
                           "-1e999",
                           "1e-999",
                           "4.9e-324",
                           "2.4703282292062327e-324",
                           "2.4703282292062329e-324",
                           "1.7976931348623157e308",
                           "1.7976931348623159e308",
                           "9007199254740993",
                           "0.1000000000000000055511151231257827021181583404541015625"}) {
    ExpectAsStrtod(text);
  }
}

TEST(ParseNumberField, RefusesTexts) {
  for (const char* text : {"",
                           "+",
                           "-",
                           ".",
                           "e5",
                           "1e",
                           "1e+",
                           "+-1",
                           "-+1",
                           "++1",
                           "1x",
                           "x1",
                           "1 2",
                           "1,5",
                           "0x10",
                           "1_000",
                           "infin",
                           "nano",
                           "1.2.3",
                           "--1",
                           "$5",
                           "5%",
                           " 5",
                           "5 ",
                           "\xE2\x88\x92"
                           "5"}) {
    EXPECT_FALSE(ParseNumberField(text).has_value()) << text;
  }
}

TEST(Trimmed, CutsSpacesAndTabs) {
  EXPECT_EQ(Trimmed(" \t 5 6\t "), "5 6");
  EXPECT_EQ(Trimmed("  \t"), "");
  EXPECT_EQ(Trimmed(""), "");
}

}  // namespace
}  // namespace bregboost::detail
