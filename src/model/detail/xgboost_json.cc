#include "model/detail/xgboost_json.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <stdexcept>

namespace bregboost::detail {
namespace {

// Deeper than any model; the writer recurses.
constexpr int kMaxDepth = 32;

// A bare word, and the string of as many bytes that stands for it while parsing, so that positions
// in errors stay true. Texts with the byte DEL, escaped or not, are refused, hence no other string
// looks like it.
struct NonFinite {
  std::string_view word;
  std::string_view quoted;
  double value;
};
constexpr char kMark = '\x7f';
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::array<NonFinite, 3> kNonFinite = {{
    {"NaN", "\"\x7f\"", std::numeric_limits<double>::quiet_NaN()},
    {"Infinity", "\"\x7f     \"", kInfinity},
    {"-Infinity", "\"\x7f      \"", -kInfinity},
}};

[[noreturn]] void FailAtMark(std::size_t at, const std::string& name) {
  throw std::invalid_argument(fmt::format("{}, byte {}: control character DEL", name, at + 1));
}

std::string QuoteNonFinite(std::string_view text, const std::string& name) {
  std::string quoted(text);
  bool in_string = false;
  for (std::size_t i = 0; i < quoted.size(); ++i) {
    if (in_string && quoted[i] == '\\') {
      const std::string_view escape = text.substr(i, 6);
      if (escape == "\\u007f" || escape == "\\u007F") FailAtMark(i, name);
      ++i;
    } else if (quoted[i] == '"') {
      in_string = !in_string;
    } else if (!in_string && (quoted[i] == 'N' || quoted[i] == 'I' || quoted[i] == '-')) {
      for (const NonFinite& entry : kNonFinite) {
        if (!text.substr(i).starts_with(entry.word)) continue;
        quoted.replace(i, entry.word.size(), entry.quoted);
        i += entry.word.size() - 1;
        break;
      }
    }
  }
  return quoted;
}

void RestoreNonFinite(Json& value) {
  if (!value.is_string()) return;
  const auto& text = value.get_ref<const std::string&>();
  if (!text.starts_with(kMark)) return;
  for (const NonFinite& entry : kNonFinite) {
    if (text.size() + 2 != entry.quoted.size()) continue;
    value = entry.value;
    return;
  }
}

void AppendNumber(double value, std::string& out) {
  if (!std::isfinite(value)) {
    out += kNonFinite[std::isnan(value) ? 0 : value > 0.0 ? 1 : 2].word;
    return;
  }
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  const std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
  out += text;
  // A number of floats stays one for whoever reads the text.
  if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

void Append(const Json& json, std::string& out) {
  const char* separator = "";
  if (json.is_object()) {
    out += '{';
    for (const auto& [key, value] : json.items()) {
      out += separator;
      out += Json(key).dump();
      out += ':';
      Append(value, out);
      separator = ",";
    }
    out += '}';
  } else if (json.is_array()) {
    out += '[';
    for (const Json& value : json) {
      out += separator;
      Append(value, out);
      separator = ",";
    }
    out += ']';
  } else if (json.is_number_float()) {
    AppendNumber(json.get<double>(), out);
  } else if (json.is_number_integer()) {
    fmt::format_to(std::back_inserter(out), "{}", json.get<std::int64_t>());
  } else {
    out += json.dump();
  }
}

}  // namespace

Json ParseXgboostJson(std::string_view text, const std::string& name) {
  if (const std::size_t mark = text.find(kMark); mark != std::string_view::npos) {
    FailAtMark(mark, name);
  }
  const auto on_event = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > kMaxDepth) {
      throw std::invalid_argument(fmt::format("{}: nested deeper than {}", name, kMaxDepth));
    }
    if (event == Json::parse_event_t::value) RestoreNonFinite(parsed);
    return true;
  };
  try {
    return Json::parse(QuoteNonFinite(text, name), on_event);
  } catch (const Json::parse_error& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 5: ..."
    const std::string_view what = error.what();
    const std::size_t colon = what.find(": ");
    throw std::invalid_argument(
        fmt::format("{}, byte {}: no JSON, or cut short: {}", name, error.byte,
                    what.substr(colon == std::string_view::npos ? 0 : colon + 2)));
  } catch (const Json::exception& error) {
    throw std::invalid_argument(fmt::format("{}: {}", name, error.what()));
  }
}

std::string XgboostJsonText(const Json& json) {
  std::string out;
  Append(json, out);
  return out;
}

Json FloatJson(float value) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  double nearest = 0.0;
  std::from_chars(digits.data(), end, nearest);
  return nearest;
}

}  // namespace bregboost::detail
