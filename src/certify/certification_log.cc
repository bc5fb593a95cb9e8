#include "bregboost/certify/certification_log.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

namespace bregboost {
namespace {

constexpr const char* kField = "certification_rows";

// The finaliser of SplitMix64: every bit of the input moves every bit of the result.
std::uint64_t Mixed(std::uint64_t z) {
  z += 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

void Add(std::uint64_t value, std::uint64_t& hash) { hash = Mixed(hash ^ value); }

// -0.0 and 0.0 are one number.
void Add(double value, std::uint64_t& hash) {
  Add(std::bit_cast<std::uint64_t>(value + 0.0), hash);
}

void Add(std::string_view text, std::uint64_t& hash) {
  Add(static_cast<std::uint64_t>(text.size()), hash);
  for (const char c : text) Add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)), hash);
}

// Codes depend on which other values occur, so values are hashed by their text, once per level.
std::vector<std::uint64_t> LevelHashes(const CategoricalColumn& column) {
  std::vector<std::uint64_t> hashes;
  for (const std::string& level : column.levels) {
    std::uint64_t hash = 0;
    Add(std::string_view(column.name), hash);
    Add(std::string_view(level), hash);
    hashes.push_back(hash);
  }
  return hashes;
}

}  // namespace

std::uint64_t Fingerprint(const RowData& rows, std::span<const double> digests) {
  if (!digests.empty() && digests.size() != rows.num_rows()) {
    throw std::invalid_argument(
        fmt::format("digests: {} numbers; allowed: none, or one for each of the {} rows",
                    digests.size(), rows.num_rows()));
  }
  const std::vector<std::uint64_t> labels = LevelHashes(rows.labels);
  std::vector<std::vector<std::uint64_t>> groups;
  for (const CategoricalColumn& group : rows.groups) groups.push_back(LevelHashes(group));

  std::uint64_t fingerprint = Mixed(rows.num_rows());
  for (std::size_t i = 0; i < rows.num_rows(); ++i) {
    std::uint64_t hash = 0;
    const auto add_level = [&](const std::vector<std::uint64_t>& levels, std::int32_t code) {
      Add(levels[static_cast<std::size_t>(code)], hash);
    };
    if (rows.targets.empty()) add_level(labels, rows.labels.codes[i]);
    if (!rows.targets.empty()) Add(rows.targets[i], hash);
    for (std::size_t g = 0; g < groups.size(); ++g) add_level(groups[g], rows.groups[g].codes[i]);
    Add(rows.rate_weight(i), hash);
    if (!rows.baseline.empty()) add_level(labels, rows.baseline[i]);
    if (!digests.empty()) Add(digests[i], hash);
    fingerprint += hash;  // a sum, so that the order of the rows does not matter
  }
  return fingerprint;
}

std::string CertificationLog::ToJson() const {
  std::vector<std::string> texts;
  for (const std::uint64_t fingerprint : used_)
    texts.push_back(fmt::format("{:016x}", fingerprint));
  return nlohmann::json({{kField, texts}}).dump();
}

CertificationLog CertificationLog::FromJson(std::string_view text) {
  const auto fail = [](const std::string& value) {
    throw std::invalid_argument(fmt::format(
        "certification log: {}; allowed: {{\"{}\": [16 hexadecimal digits, ...]}}", value, kField));
  };
  const nlohmann::json parsed = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object() || !parsed.contains(kField) || !parsed[kField].is_array()) {
    fail("no such object");
  }
  CertificationLog log;
  for (const nlohmann::json& entry : parsed[kField]) {
    if (!entry.is_string()) fail(entry.dump());
    const auto& digits = entry.get_ref<const std::string&>();
    std::uint64_t fingerprint = 0;
    const char* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, fingerprint, /*base=*/16);
    if (error != std::errc() || stop != end || digits.size() != 16) fail(entry.dump());
    log.Remember(fingerprint);
  }
  return log;
}

}  // namespace bregboost
