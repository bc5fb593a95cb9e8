#include "bregboost/certify/certification_log.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "detail/hash.h"
#include "detail/json_depth.h"

namespace bregboost {
namespace {

constexpr const char* kField = "certification_rows";

// Codes depend on which other values occur, so values are hashed by their text, once per level.
std::vector<std::uint64_t> LevelHashes(const CategoricalColumn& column) {
  std::vector<std::uint64_t> hashes;
  for (const std::string& level : column.levels) {
    std::uint64_t hash = 0;
    detail::AddToHash(std::string_view(column.name), hash);
    detail::AddToHash(std::string_view(level), hash);
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

  std::uint64_t fingerprint = detail::Mixed(rows.num_rows());
  for (std::size_t i = 0; i < rows.num_rows(); ++i) {
    std::uint64_t hash = 0;
    const auto add_level = [&](const std::vector<std::uint64_t>& levels, std::int32_t code) {
      detail::AddToHash(levels[static_cast<std::size_t>(code)], hash);
    };
    if (rows.targets.empty()) add_level(labels, rows.labels.codes[i]);
    if (!rows.targets.empty()) detail::AddToHash(rows.targets[i], hash);
    for (std::size_t g = 0; g < groups.size(); ++g) add_level(groups[g], rows.groups[g].codes[i]);
    detail::AddToHash(rows.rate_weight(i), hash);
    if (!rows.baseline.empty()) add_level(labels, rows.baseline[i]);
    if (!digests.empty()) detail::AddToHash(digests[i], hash);
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
  detail::CheckJsonDepth("certification log", text);
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
