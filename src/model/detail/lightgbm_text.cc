#include "model/detail/lightgbm_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <unordered_set>
#include <utility>

namespace bregboost::detail {
namespace {

constexpr std::string_view kTreeMark = "Tree=";
constexpr std::string_view kEndOfTrees = "end of trees";
constexpr std::string_view kAverageOutput = "average_output";  // the only line without '='
constexpr std::string_view kEndOfParameters = "end of parameters";

const TextLine* FindLine(const std::vector<TextLine>& lines, std::string_view key) {
  const auto found = std::find_if(lines.begin(), lines.end(),
                                  [&](const TextLine& line) { return line.key == key; });
  return found == lines.end() ? nullptr : &*found;
}

// Reads the text line by line and words the errors.
class Reader {
 public:
  Reader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  std::size_t position() const { return position_; }
  std::size_t line_number() const { return line_number_; }
  std::string_view Rest() const { return text_.substr(position_); }

  std::optional<std::string_view> Next() {
    if (position_ >= text_.size()) return std::nullopt;
    const std::size_t end = std::min(text_.find('\n', position_), text_.size());
    const std::string_view line = text_.substr(position_, end - position_);
    position_ = std::min(end + 1, text_.size());
    ++line_number_;
    return line;
  }

  // The next line, which must exist because `awaited` has not come yet.
  std::string_view Require(std::string_view awaited) {
    if (const auto line = Next()) return *line;
    Fail(line_number_, fmt::format("the text ends before '{}': it is cut short", awaited));
  }

  // The lines down to the next empty one, which `awaited` must follow. What LightGBM would read
  // otherwise is refused: it takes the last of two lines for one key, and a CR for the end of one.
  std::vector<TextLine> Block(std::string_view awaited, std::string_view lone_word = {}) {
    std::vector<TextLine> lines;
    std::unordered_set<std::string_view> keys;
    for (std::string_view line = Require(awaited); !line.empty(); line = Require(awaited)) {
      const std::size_t equals = line.find('=');
      if (equals == 0 || (equals == std::string_view::npos && line != lone_word)) {
        Fail(line_number_, "expected 'key=value'");
      }
      if (line.find('\r') != std::string_view::npos) Fail(line_number_, "a carriage return");
      if (!keys.insert(line.substr(0, equals)).second) {
        Fail(line_number_, fmt::format("{}: for the second time", line.substr(0, equals)));
      }
      lines.push_back({.key = line.substr(0, equals),
                       .value = line.substr(std::min(equals, line.size() - 1) + 1),
                       .number = line_number_});
    }
    return lines;
  }

  [[noreturn]] void Fail(std::size_t line_number, std::string_view message) const {
    throw std::invalid_argument(fmt::format("{}, line {}: {}", name_, line_number, message));
  }

 private:
  std::string_view text_;
  const std::string& name_;
  std::size_t position_ = 0;
  std::size_t line_number_ = 0;
};

template <class Number>
std::vector<Number> ParseNumbers(const Reader& reader, const TextLine& line) {
  std::vector<Number> numbers;
  const char* const end = line.value.data() + line.value.size();
  for (const char* at = line.value.data(); at != end;) {
    Number number{};
    const auto [stop, error] = std::from_chars(at, end, number);
    if (error != std::errc{} || (stop != end && *stop != ' ')) {
      reader.Fail(line.number, fmt::format("{}: '{}' is not a number", line.key,
                                           std::string_view(at, std::find(at, end, ' '))));
    }
    numbers.push_back(number);
    at = stop == end ? end : stop + 1;
  }
  return numbers;
}

const TextLine& RequireLine(const Reader& reader, const std::vector<TextLine>& lines,
                            std::string_view key) {
  if (const TextLine* line = FindLine(lines, key)) return *line;
  reader.Fail(reader.line_number(), fmt::format("no '{}=' in the block above", key));
}

void CheckCount(const Reader& reader, const TextLine& line, std::size_t found,
                std::size_t expected) {
  if (found == expected) return;
  reader.Fail(line.number, fmt::format("{}: {} values; expected {}", line.key, found, expected));
}

template <class Number>
std::vector<Number> RequireNumbers(const Reader& reader, const std::vector<TextLine>& lines,
                                   std::string_view key, std::size_t count) {
  const TextLine& line = RequireLine(reader, lines, key);
  std::vector<Number> numbers = ParseNumbers<Number>(reader, line);
  CheckCount(reader, line, numbers.size(), count);
  return numbers;
}

std::size_t RequireCount(const Reader& reader, const std::vector<TextLine>& lines,
                         std::string_view key) {
  return RequireNumbers<std::size_t>(reader, lines, key, 1).front();
}

// Arrays that are copied as they are; LightGBM reads beyond their end where a number lacks.
void CheckCopied(const Reader& reader, const std::vector<TextLine>& lines, std::string_view key,
                 std::size_t expected, bool may_be_empty) {
  const TextLine& line = RequireLine(reader, lines, key);
  if (line.value.empty() && may_be_empty) return;
  CheckCount(reader, line, ParseNumbers<double>(reader, line).size(), expected);
}

// Child c >= 0 of split i is split c, which came after i; c < 0 is leaf -c - 1.
void CheckChildren(const Reader& reader, const TextLine& line, std::size_t num_splits) {
  const auto children = ParseNumbers<std::int64_t>(reader, line);
  CheckCount(reader, line, children.size(), num_splits);
  const auto splits = static_cast<std::int64_t>(num_splits);
  for (std::int64_t i = 0; i < splits; ++i) {
    const std::int64_t child = children[static_cast<std::size_t>(i)];
    if (child >= 0 ? child > i && child < splits : child >= -splits - 1) continue;
    reader.Fail(line.number, fmt::format("{}: {} at {} is neither a later split nor a leaf",
                                         line.key, child, i));
  }
}

// The threshold of a split by categories is the place of its set among those of the tree.
void CheckSets(const Reader& reader, const std::vector<TextLine>& lines, std::size_t num_splits,
               std::size_t num_sets) {
  constexpr int kByCategories = 1;
  const auto types = RequireNumbers<int>(reader, lines, "decision_type", num_splits);
  const auto thresholds = RequireNumbers<double>(reader, lines, "threshold", num_splits);
  for (std::size_t i = 0; i < num_splits; ++i) {
    if ((types[i] & kByCategories) == 0) continue;
    if (thresholds[i] >= 0.0 && thresholds[i] < static_cast<double>(num_sets)) continue;
    reader.Fail(RequireLine(reader, lines, "threshold").number,
                fmt::format("threshold: {} at {}, a split by categories; there are {} sets of them "
                            "(num_cat)",
                            thresholds[i], i, num_sets));
  }
}

void CheckCategories(const Reader& reader, const std::vector<TextLine>& lines,
                     std::size_t num_nodes) {
  const std::size_t num_splits = RequireCount(reader, lines, "num_cat");
  CheckSets(reader, lines, num_nodes, num_splits);
  if (num_splits == 0) return;
  const TextLine& line = RequireLine(reader, lines, "cat_boundaries");
  const std::vector<std::size_t> bounds = ParseNumbers<std::size_t>(reader, line);
  if (bounds.empty() || bounds.size() - 1 != num_splits || bounds.front() != 0 ||
      !std::is_sorted(bounds.begin(), bounds.end())) {
    reader.Fail(line.number,
                fmt::format("cat_boundaries: expected ascending numbers from 0, one more than "
                            "num_cat, which is {}",
                            num_splits));
  }
  RequireNumbers<std::uint32_t>(reader, lines, "cat_threshold", bounds.back());
}

void CheckFinite(const Reader& reader, const LightGbmTree& tree) {
  for (const double value : tree.leaf_values) {
    if (std::isfinite(value)) continue;
    reader.Fail(RequireLine(reader, tree.lines, "leaf_value").number,
                fmt::format("leaf_value: {}; allowed: finite numbers", value));
  }
}

void ParseSplits(const Reader& reader, std::size_t num_splits, std::size_t num_features,
                 LightGbmTree& tree) {
  const std::vector<TextLine>& lines = tree.lines;
  const auto features = RequireNumbers<std::size_t>(reader, lines, "split_feature", num_splits);
  const std::size_t largest = *std::max_element(features.begin(), features.end());
  if (largest >= num_features) {
    reader.Fail(RequireLine(reader, lines, "split_feature").number,
                fmt::format("split_feature: {}; there are {} features", largest, num_features));
  }
  for (const char* key : {"left_child", "right_child"}) {
    CheckChildren(reader, RequireLine(reader, lines, key), num_splits);
  }
  for (const char* key : {"internal_weight", "internal_count"}) {
    CheckCopied(reader, lines, key, num_splits, false);
  }
  CheckCategories(reader, lines, num_splits);
  const auto gains = RequireNumbers<double>(reader, lines, "split_gain", num_splits);
  for (std::size_t i = 0; i < num_splits; ++i) {
    if (gains[i] > 0.0) tree.split_features.push_back(features[i]);
  }
}

LightGbmTree ParseTree(Reader& reader, std::size_t num_features) {
  LightGbmTree tree{.lines = reader.Block(kEndOfTrees)};
  const std::vector<TextLine>& lines = tree.lines;
  const std::size_t num_leaves = RequireCount(reader, lines, "num_leaves");
  if (num_leaves == 0) reader.Fail(RequireLine(reader, lines, "num_leaves").number, "no leaves");
  const TextLine* linear = FindLine(lines, "is_linear");
  if (linear != nullptr && linear->value != "0") {
    reader.Fail(linear->number,
                "is_linear: the leaves of linear trees are models themselves, which averages, "
                "offsets and converters cannot express; train with linear_tree=false");
  }
  tree.leaf_values = RequireNumbers<double>(reader, lines, "leaf_value", num_leaves);
  CheckFinite(reader, tree);
  tree.internal_values = RequireNumbers<double>(reader, lines, "internal_value", num_leaves - 1);
  tree.shrinkage = RequireNumbers<double>(reader, lines, "shrinkage", 1).front();
  // Some versions write these for a single leaf, some do not.
  CheckCopied(reader, lines, "leaf_weight", num_leaves, num_leaves == 1);
  CheckCopied(reader, lines, "leaf_count", num_leaves, num_leaves == 1);
  if (num_leaves > 1) ParseSplits(reader, num_leaves - 1, num_features, tree);
  return tree;
}

void ParseHeader(Reader& reader, LightGbmText& model) {
  if (reader.Require("tree") != "tree") {
    reader.Fail(1, "the first line is not 'tree': this is no LightGBM model text");
  }
  model.header = reader.Block(kEndOfTrees, kAverageOutput);
  const TextLine& version = RequireLine(reader, model.header, "version");
  if (version.value != "v4") {
    reader.Fail(version.number,
                fmt::format("version: '{}'; allowed: v4, which LightGBM 4 writes", version.value));
  }
  if (const TextLine* average = model.Find(kAverageOutput)) {
    reader.Fail(average->number,
                "average_output: a random forest divides by its number of rounds, so that its "
                "rounds cannot be weighted or continued; train with boosting=gbdt");
  }
  model.trees_per_round = RequireCount(reader, model.header, "num_tree_per_iteration");
  if (model.trees_per_round == 0) {
    reader.Fail(reader.line_number(), "num_tree_per_iteration: 0; allowed: at least 1");
  }
  const TextLine& names = RequireLine(reader, model.header, "feature_names");
  for (std::string_view rest = names.value; !rest.empty();) {
    const std::size_t space = rest.find(' ');
    model.feature_names.push_back(rest.substr(0, space));
    rest = space == std::string_view::npos ? std::string_view() : rest.substr(space + 1);
  }
  const std::size_t last = RequireCount(reader, model.header, "max_feature_idx");
  if (model.feature_names.empty() || model.feature_names.size() - 1 != last) {
    reader.Fail(names.number, fmt::format("feature_names: {} names; max_feature_idx is {}",
                                          model.feature_names.size(), last));
  }
}

void ParseTrees(Reader& reader, LightGbmText& model) {
  std::vector<std::size_t> starts;
  for (;;) {
    const std::size_t start = reader.position();
    const std::string_view line = reader.Require(kEndOfTrees);
    if (line.empty()) continue;
    if (line == kEndOfTrees) {
      starts.push_back(start);
      break;
    }
    if (line != fmt::format("{}{}", kTreeMark, model.trees.size())) {
      reader.Fail(reader.line_number(), fmt::format("expected '{}{}' or '{}'", kTreeMark,
                                                    model.trees.size(), kEndOfTrees));
    }
    starts.push_back(start);
    model.trees.push_back(ParseTree(reader, model.feature_names.size()));
  }
  if (model.trees.size() % model.trees_per_round != 0) {
    reader.Fail(reader.line_number(), fmt::format("{} trees are no whole rounds of {}",
                                                  model.trees.size(), model.trees_per_round));
  }
  const TextLine* line = model.Find("tree_sizes");
  if (line == nullptr) return;
  const auto sizes = ParseNumbers<std::size_t>(reader, *line);
  CheckCount(reader, *line, sizes.size(), model.trees.size());
  for (std::size_t t = 0; t < sizes.size(); ++t) {
    if (sizes[t] == starts[t + 1] - starts[t]) continue;
    reader.Fail(line->number, fmt::format("tree_sizes: {} for tree {}, which has {} bytes",
                                          sizes[t], t, starts[t + 1] - starts[t]));
  }
}

}  // namespace

const TextLine* LightGbmText::Find(std::string_view key) const { return FindLine(header, key); }

LightGbmText ParseLightGbmText(std::string_view text, const std::string& name) {
  Reader reader(text, name);
  LightGbmText model;
  ParseHeader(reader, model);
  ParseTrees(reader, model);
  // Importances are counted anew from the trees.
  while (reader.Require("parameters:") != "parameters:") continue;
  for (;;) {
    const std::string_view line = reader.Require(kEndOfParameters);
    if (line == kEndOfParameters) break;
    if (!line.empty()) model.parameters.push_back(line);
  }
  model.rest = reader.Rest();
  return model;
}

LightGbmText ParseForLightGbm(std::string_view text, const std::string& name) {
  if (text.find('\0') != std::string_view::npos) {
    throw std::invalid_argument(name + ": a NUL byte; allowed: text");
  }
  LightGbmText model = ParseLightGbmText(text, name);
  if (model.trees.empty()) throw std::invalid_argument(name + ": no trees; allowed: at least 1");
  if (model.Find("tree_sizes") == nullptr) {
    throw std::invalid_argument(name + ": no 'tree_sizes=', by which the trees are found");
  }
  const TextLine* num_class = model.Find("num_class");
  if (num_class != nullptr && num_class->value == fmt::to_string(model.trees_per_round)) {
    return model;
  }
  throw std::invalid_argument(
      fmt::format("{}: num_class: {}; allowed: as num_tree_per_iteration, {}", name,
                  num_class == nullptr ? "not there" : num_class->value, model.trees_per_round));
}

}  // namespace bregboost::detail
