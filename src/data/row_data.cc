#include "bregboost/data/row_data.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>

#include "data/detail/level_order.h"

namespace bregboost {
namespace {

void CheckLength(const char* field, std::size_t length, std::size_t rows) {
  if (length == rows) return;
  throw std::invalid_argument(
      fmt::format("{} has {} values; allowed: one for each of the {} rows", field, length, rows));
}

void CheckCodes(const std::string& field, const std::vector<std::int32_t>& codes,
                std::size_t levels) {
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (codes[i] >= 0 && static_cast<std::size_t>(codes[i]) < levels) continue;
    throw std::invalid_argument(fmt::format("{}: code {} in row {}; allowed: 0 to {}", field,
                                            codes[i], i, static_cast<std::int64_t>(levels) - 1));
  }
}

void CheckWeights(const char* field, const std::vector<double>& weights, std::size_t rows,
                  bool one_of_several) {
  if (weights.empty()) return;
  CheckLength(field, weights.size(), rows);
  double total = 0.0;
  for (std::size_t i = 0; i < rows; ++i) {
    if (!(weights[i] >= 0.0) || !std::isfinite(weights[i])) {
      throw std::invalid_argument(fmt::format(
          "{}: value {} in row {}; allowed: finite and at least 0", field, weights[i], i));
    }
    total += weights[i];
  }
  if (total <= 0.0 && !one_of_several) {
    throw std::invalid_argument(fmt::format("{}: the sum is 0; allowed: a positive sum", field));
  }
}

void CheckTarget(const RowData& rows) {
  if (!rows.targets.empty() && !(rows.labels.codes.empty() && rows.labels.levels.empty())) {
    throw std::invalid_argument("labels and targets are both given; allowed: one of them");
  }
  for (std::size_t i = 0; i < rows.targets.size(); ++i) {
    if (std::isfinite(rows.targets[i])) continue;
    throw std::invalid_argument(
        fmt::format("targets: value {} in row {}; allowed: finite", rows.targets[i], i));
  }
  if (!rows.targets.empty()) return;
  if (rows.labels.levels.size() < 2) {
    throw std::invalid_argument(
        fmt::format("labels: {} distinct value(s); allowed: 2 or more", rows.labels.levels.size()));
  }
  CheckCodes("labels", rows.labels.codes, rows.labels.levels.size());
  if (rows.task() == Task::kBinary && rows.positive_class != 0 && rows.positive_class != 1) {
    throw std::invalid_argument(
        fmt::format("positive_class: {}; allowed: 0 or 1", rows.positive_class));
  }
}

void CheckGroups(const RowData& rows) {
  std::unordered_set<std::string> names;
  for (const CategoricalColumn& group : rows.groups) {
    const std::string field = fmt::format("group column '{}'", group.name);
    if (!names.insert(group.name).second) {
      throw std::invalid_argument(field + " is given twice; allowed: distinct names");
    }
    CheckLength(field.c_str(), group.codes.size(), rows.num_rows());
    CheckCodes(field, group.codes, group.levels.size());
  }
}

}  // namespace

CategoricalColumn EncodeColumn(std::string name, const std::vector<std::string>& values) {
  CategoricalColumn column{.name = std::move(name), .levels = values, .codes = {}};
  std::sort(column.levels.begin(), column.levels.end());
  column.levels.erase(std::unique(column.levels.begin(), column.levels.end()), column.levels.end());
  detail::SortLevels(column.levels);
  std::unordered_map<std::string, std::int32_t> code_of;
  for (const std::string& level : column.levels) {
    code_of.emplace(level, static_cast<std::int32_t>(code_of.size()));
  }
  column.codes.reserve(values.size());
  for (const std::string& value : values) column.codes.push_back(code_of.at(value));
  return column;
}

Task RowData::task() const {
  if (!targets.empty()) return Task::kRegression;
  return labels.levels.size() > 2 ? Task::kMulticlass : Task::kBinary;
}

std::size_t RowData::num_scores() const {
  return task() == Task::kMulticlass ? labels.levels.size() : 1;
}

double RowData::metric_weight(std::size_t row) const {
  return std::max(weight(row), rate_weight(row));
}

void Validate(const RowData& rows) {
  const bool one_of_several = rows.workers != nullptr;
  if (rows.num_rows() == 0 && !(one_of_several && !rows.labels.levels.empty())) {
    throw std::invalid_argument("rows: 0; allowed: at least 1");
  }
  CheckTarget(rows);
  CheckWeights("weights", rows.weights, rows.num_rows(), one_of_several);
  CheckWeights("rate_weights", rows.rate_weights, rows.num_rows(), one_of_several);
  CheckGroups(rows);
  if (!rows.baseline.empty()) {
    CheckLength("baseline", rows.baseline.size(), rows.num_rows());
    CheckCodes("baseline", rows.baseline, rows.labels.levels.size());
  }
}

namespace {

template <class T>
std::vector<T> Take(const std::vector<T>& values, std::span<const std::int32_t> indices) {
  std::vector<T> taken;
  if (values.empty()) return taken;
  taken.reserve(indices.size());
  for (const std::int32_t i : indices) taken.push_back(values[static_cast<std::size_t>(i)]);
  return taken;
}

}  // namespace

RowData TakeRows(const RowData& rows, std::span<const std::int32_t> indices) {
  RowData taken;
  taken.labels = {.name = rows.labels.name,
                  .levels = rows.labels.levels,
                  .codes = Take(rows.labels.codes, indices)};
  taken.positive_class = rows.positive_class;
  taken.targets = Take(rows.targets, indices);
  for (const CategoricalColumn& group : rows.groups) {
    taken.groups.push_back(
        {.name = group.name, .levels = group.levels, .codes = Take(group.codes, indices)});
  }
  taken.weights = Take(rows.weights, indices);
  taken.rate_weights = Take(rows.rate_weights, indices);
  taken.baseline = Take(rows.baseline, indices);
  taken.workers = rows.workers;
  return taken;
}

namespace {

constexpr std::int32_t kNoCode = -1;

// The code in `to` of every level of `from`.
std::vector<std::int32_t> CodesIn(const std::vector<std::string>& to,
                                  const std::vector<std::string>& from) {
  std::unordered_map<std::string, std::int32_t> code_of;
  for (const std::string& level : to) {
    code_of.emplace(level, static_cast<std::int32_t>(code_of.size()));
  }
  std::vector<std::int32_t> codes;
  for (const std::string& level : from) {
    const auto found = code_of.find(level);
    codes.push_back(found == code_of.end() ? kNoCode : found->second);
  }
  return codes;
}

void Translate(std::vector<std::int32_t>& codes, const std::vector<std::int32_t>& code_of) {
  for (std::int32_t& code : codes) code = code_of[static_cast<std::size_t>(code)];
}

// Levels that only `rows` have go behind those of `like`.
CategoricalColumn RecodeGroup(const CategoricalColumn& group, const CategoricalColumn& like) {
  CategoricalColumn recoded{.name = group.name, .levels = like.levels, .codes = group.codes};
  std::vector<std::int32_t> code_of = CodesIn(like.levels, group.levels);
  for (std::size_t level = 0; level < code_of.size(); ++level) {
    if (code_of[level] != kNoCode) continue;
    code_of[level] = static_cast<std::int32_t>(recoded.levels.size());
    recoded.levels.push_back(group.levels[level]);
  }
  Translate(recoded.codes, code_of);
  return recoded;
}

}  // namespace

namespace {

// Levels of all workers, as EncodeColumn would order them.
void Merge(const std::vector<std::vector<std::string>>& of_workers, CategoricalColumn& column) {
  std::set<std::string> all;
  for (const std::vector<std::string>& levels : of_workers)
    all.insert(levels.begin(), levels.end());
  std::vector<std::string> merged(all.begin(), all.end());
  detail::SortLevels(merged);
  Translate(column.codes, CodesIn(merged, column.levels));
  column.levels = std::move(merged);
}

}  // namespace

void AgreeOnLevels(RowData& rows) {
  if (rows.workers == nullptr) return;
  std::vector<CategoricalColumn*> columns = {&rows.labels};
  for (CategoricalColumn& group : rows.groups) columns.push_back(&group);
  nlohmann::json mine = nlohmann::json::array();
  for (const CategoricalColumn* column : columns) {
    mine.push_back({{"name", column->name}, {"levels", column->levels}});
  }
  std::vector<nlohmann::json> of_workers;
  for (const std::string& text : rows.workers->Gather(mine.dump())) {
    of_workers.push_back(nlohmann::json::parse(text));
  }
  const std::vector<std::string> labels_before = rows.labels.levels;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    std::vector<std::vector<std::string>> levels;
    for (std::size_t worker = 0; worker < of_workers.size(); ++worker) {
      const nlohmann::json& theirs = of_workers[worker];
      const auto name = c < theirs.size() ? theirs[c].at("name").get<std::string>() : "";
      if (theirs.size() != columns.size() || name != columns[c]->name) {
        throw std::invalid_argument(
            fmt::format("groups: worker {} has '{}' where worker {} has '{}'; allowed: the same "
                        "columns on all workers",
                        worker, name, rows.workers->rank(), columns[c]->name));
      }
      levels.push_back(theirs[c].at("levels"));
    }
    Merge(levels, *columns[c]);
  }
  Translate(rows.baseline, CodesIn(rows.labels.levels, labels_before));
}

RowData RecodeLike(const RowData& rows, const RowData& like) {
  RowData recoded = rows;
  const std::vector<std::int32_t> label_of = CodesIn(like.labels.levels, rows.labels.levels);
  CheckCodes("labels", rows.labels.codes, label_of.size());
  CheckCodes("baseline", rows.baseline, label_of.size());
  for (const auto* codes : {&rows.labels.codes, &rows.baseline}) {
    for (const std::int32_t code : *codes) {
      if (label_of[static_cast<std::size_t>(code)] != kNoCode) continue;
      throw std::invalid_argument(fmt::format("labels: '{}'; allowed: {}",
                                              rows.labels.levels[static_cast<std::size_t>(code)],
                                              fmt::join(like.labels.levels, ", ")));
    }
  }
  Translate(recoded.labels.codes, label_of);
  Translate(recoded.baseline, label_of);
  recoded.labels.levels = like.labels.levels;
  recoded.positive_class = like.positive_class;
  recoded.groups.clear();
  for (const CategoricalColumn& group : like.groups) {
    const auto same =
        std::find_if(rows.groups.begin(), rows.groups.end(),
                     [&](const CategoricalColumn& column) { return column.name == group.name; });
    if (same == rows.groups.end()) continue;
    CheckCodes(fmt::format("group column '{}'", same->name), same->codes, same->levels.size());
    recoded.groups.push_back(RecodeGroup(*same, group));
  }
  return recoded;
}

RowData MaskRows(const RowData& rows, std::span<const std::uint8_t> keep) {
  RowData masked = rows;
  masked.weights.resize(rows.num_rows(), 1.0);
  for (std::size_t i = 0; i < keep.size(); ++i) {
    if (keep[i] != 0) continue;
    masked.weights[i] = 0.0;
    if (!masked.rate_weights.empty()) masked.rate_weights[i] = 0.0;
  }
  return masked;
}

}  // namespace bregboost
