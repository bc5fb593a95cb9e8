#include "data/detail/delimited_header.h"

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>
#include <unordered_map>

#include "data/detail/place.h"

namespace bregboost::detail {
namespace {

void CheckHeader(const std::string& source, std::uint64_t line,
                 const std::vector<std::string>& header) {
  std::unordered_map<std::string_view, std::size_t> column_of;
  for (std::size_t j = 0; j < header.size(); ++j) {
    if (header[j].empty()) {
      throw std::invalid_argument(
          fmt::format("'{}', line {}: column {} of {} has no name; allowed: names that are not "
                      "empty",
                      source, line, j + 1, header.size()));
    }
    const auto [same, is_new] = column_of.emplace(header[j], j);
    if (is_new) continue;
    throw std::invalid_argument(
        fmt::format("'{}', line {}: columns {} and {} are both named {}; allowed: distinct names",
                    source, line, same->second + 1, j + 1, Quoted(header[j])));
  }
}

}  // namespace

std::vector<std::string> ReadHeader(const std::string& source, RecordBatches& batches,
                                    RecordBatch& batch, BatchRows& rows) {
  do {
    if (!batches.Next(batch)) {
      throw std::invalid_argument(
          fmt::format("'{}': no header; allowed: a first line with column names", source));
    }
    rows.Start(batch);
  } while (!rows.NextRow());
  std::vector<std::string> header;
  while (rows.has_more_fields()) header.emplace_back(rows.NextField());
  CheckHeader(source, rows.line(), header);
  rows.SetNumFields(header.size());
  return header;
}

void FailWithoutRows(const std::string& source) {
  throw std::invalid_argument(
      fmt::format("'{}': no row below the header; allowed: at least one", source));
}

}  // namespace bregboost::detail
