#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "bregboost/model/tree_model.h"
#include "model/detail/export_plan.h"
#include "model/detail/lightgbm_text.h"

namespace bregboost {
namespace {

using detail::ExportPlan;
using detail::LightGbmText;
using detail::LightGbmTree;
using detail::PlannedRound;
using detail::TextLine;

// As LightGBM writes doubles that it must read back, and those that are only looked at.
constexpr const char* kExact = "{:.17g}";
constexpr const char* kRounded = "{:g}";

std::string ObjectiveText(const ExportSpec& spec) {
  switch (spec.objective) {
    case ModelObjective::kBinary:
      return "binary sigmoid:1";
    case ModelObjective::kMulticlass:
      return fmt::format("multiclass num_class:{}", spec.num_scores);
    case ModelObjective::kRegression:
    case ModelObjective::kHuber:
      break;
  }
  return std::string(Name(spec.objective));
}

const char* DefaultMetric(ModelObjective objective) {
  switch (objective) {
    case ModelObjective::kBinary:
      return "binary_logloss";
    case ModelObjective::kMulticlass:
      return "multi_logloss";
    case ModelObjective::kRegression:
      return "l2";
    case ModelObjective::kHuber:
      break;
  }
  return "huber";
}

// Header lines that say what features mean; trees of different meanings cannot be added.
void CheckSameFeatures(std::span<const LightGbmText> models) {
  for (std::size_t p = 1; p < models.size(); ++p) {
    for (const char* key : {"max_feature_idx", "feature_names", "monotone_constraints"}) {
      const TextLine* first = models[0].Find(key);
      const TextLine* other = models[p].Find(key);
      if ((first == nullptr) == (other == nullptr) &&
          (first == nullptr || first->value == other->value)) {
        continue;
      }
      throw std::invalid_argument(
          fmt::format("parts[{}]: {} differs from that of parts[0]", p, key));
    }
    if (models[p].rest == models[0].rest) continue;
    throw std::invalid_argument(
        fmt::format("parts[{}]: pandas_categorical differs from that of parts[0]", p));
  }
}

void AppendNumbers(std::span<const double> numbers, double factor, double constant,
                   const char* format, std::string& out) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) out += ' ';
    const double value = factor * numbers[i] + constant;
    if (std::isfinite(numbers[i]) && !std::isfinite(value)) {
      throw std::invalid_argument(
          fmt::format("a leaf of {} times {} plus {} is not finite", numbers[i], factor, constant));
    }
    fmt::format_to(std::back_inserter(out), fmt::runtime(format), value);
  }
}

// factor * tree + constant. As LightGBM does itself: a tree's shrinkage is scaled with it, and is 1
// once a constant has been added.
void AppendTree(const LightGbmTree& tree, std::size_t index, double factor, double constant,
                std::string& out) {
  const bool changed = factor != 1.0 || constant != 0.0;
  fmt::format_to(std::back_inserter(out), "Tree={}\n", index);
  for (const TextLine& line : tree.lines) {
    out += line.key;
    out += '=';
    if (changed && line.key == "leaf_value") {
      AppendNumbers(tree.leaf_values, factor, constant, kExact, out);
    } else if (changed && line.key == "internal_value") {
      AppendNumbers(tree.internal_values, factor, constant, kRounded, out);
    } else if (changed && line.key == "shrinkage") {
      const double shrinkage = constant == 0.0 ? factor * tree.shrinkage : 1.0;
      fmt::format_to(std::back_inserter(out), fmt::runtime(kRounded), shrinkage);
    } else {
      out += line.value;
    }
    out += '\n';
  }
  out += "\n\n";
}

void AppendConstantTree(std::size_t index, double value, std::string& out) {
  fmt::format_to(std::back_inserter(out),
                 "Tree={}\nnum_leaves=1\nnum_cat=0\nsplit_feature=\nsplit_gain=\nthreshold=\n"
                 "decision_type=\nleft_child=\nright_child=\nleaf_value={:.17g}\nleaf_weight=\n"
                 "leaf_count=0\ninternal_value=\ninternal_weight=\ninternal_count=\nis_linear=0\n"
                 "shrinkage=1\n\n\n",
                 index, value);
}

struct WrittenTrees {
  std::string text;
  std::string sizes;                           // "521 583"
  std::vector<std::size_t> splits_by_feature;  // with a gain

  // Call after each tree that was appended to `text`, whose size was `begin` before.
  void Measure(std::size_t begin) {
    if (!sizes.empty()) sizes += ' ';
    sizes += std::to_string(text.size() - begin);
  }
};

WrittenTrees WriteTrees(std::span<const LightGbmText> models, const ExportPlan& plan) {
  const std::size_t num_scores = plan.constants.size();
  WrittenTrees trees;
  trees.splits_by_feature.assign(models[0].feature_names.size(), 0);
  std::size_t index = 0;
  for (const PlannedRound& planned : plan.rounds) {
    for (std::size_t k = 0; k < num_scores; ++k, ++index) {
      const LightGbmTree& tree = models[planned.part].trees[planned.round * num_scores + k];
      const std::size_t begin = trees.text.size();
      AppendTree(tree, index, planned.factor, index < num_scores ? plan.constants[k] : 0.0,
                 trees.text);
      trees.Measure(begin);
      for (const std::size_t feature : tree.split_features) ++trees.splits_by_feature[feature];
    }
  }
  for (; index < num_scores; ++index) {
    const std::size_t begin = trees.text.size();
    AppendConstantTree(index, plan.constants[index], trees.text);
    trees.Measure(begin);
  }
  return trees;
}

// What is known of each feature's values, from the first part that knows it: a fold may lack what
// another one saw.
std::string FeatureInfos(std::span<const LightGbmText> models, const TextLine& line) {
  if (line.value.find("none") == std::string_view::npos) return std::string(line.value);
  std::vector<std::string_view> infos;
  for (const LightGbmText& model : models) {
    const TextLine* other = model.Find("feature_infos");
    std::string_view rest = other == nullptr ? std::string_view() : other->value;
    for (std::size_t i = 0; !rest.empty(); ++i) {
      const std::size_t space = rest.find(' ');
      const std::string_view info = rest.substr(0, space);
      if (i == infos.size()) infos.push_back(info);
      if (infos[i] == "none") infos[i] = info;
      rest = space == std::string_view::npos ? std::string_view() : rest.substr(space + 1);
    }
  }
  std::string joined;
  for (const std::string_view info : infos) {
    if (!joined.empty()) joined += ' ';
    joined += info;
  }
  return joined;
}

void AppendHeader(std::span<const LightGbmText> models, const ExportSpec& spec,
                  const std::string& tree_sizes, std::string& out) {
  out += "tree\n";
  for (const TextLine& line : models[0].header) {
    if (line.key == "objective" || line.key == "tree_sizes") continue;
    if (line.key == "feature_names") out += "objective=" + ObjectiveText(spec) + '\n';
    out += line.key;
    out += '=';
    if (line.key == "feature_infos") {
      out += FeatureInfos(models, line);
    } else if (line.key == "num_class") {
      out += std::to_string(spec.num_scores);
    } else {
      out += line.value;
    }
    out += '\n';
  }
  out += "tree_sizes=" + tree_sizes + "\n\n";
}

// As LightGBM writes them: features that split, most splits first.
void AppendImportances(const LightGbmText& model, const std::vector<std::size_t>& splits_by_feature,
                       std::string& out) {
  std::vector<std::pair<std::size_t, std::string_view>> used;
  for (std::size_t f = 0; f < splits_by_feature.size(); ++f) {
    if (splits_by_feature[f] > 0) used.emplace_back(splits_by_feature[f], model.feature_names[f]);
  }
  std::stable_sort(used.begin(), used.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  out += "\nfeature_importances:\n";
  for (const auto& [splits, name] : used) {
    fmt::format_to(std::back_inserter(out), "{}={}\n", name, splits);
  }
}

// The training parameters, save for those that custom derivatives left untrue: Python's Booster
// takes the objective from here.
void AppendParameters(const LightGbmText& model, const ExportSpec& spec, std::string& out) {
  std::vector<std::pair<std::string_view, std::string>> changed = {
      {"objective", std::string(Name(spec.objective))},
      {"num_class", std::to_string(spec.num_scores)},
      {"sigmoid", "1"},
      {"reg_sqrt", "0"},
  };
  if (spec.objective == ModelObjective::kHuber) {
    changed.emplace_back("alpha", fmt::format("{}", spec.huber_delta));
  }
  out += "\nparameters:\n";
  for (const std::string_view line : model.parameters) {
    const std::size_t colon = line.find(": ");
    const std::string_view key =
        colon == std::string_view::npos || colon == 0 ? line : line.substr(1, colon - 1);
    const auto found = std::find_if(changed.begin(), changed.end(),
                                    [&](const auto& entry) { return entry.first == key; });
    if (found != changed.end()) {
      fmt::format_to(std::back_inserter(out), "[{}: {}]\n", key, found->second);
    } else if (line == "[metric: custom]" || line == "[metric: ]") {
      fmt::format_to(std::back_inserter(out), "[metric: {}]\n", DefaultMetric(spec.objective));
    } else {
      fmt::format_to(std::back_inserter(out), "{}\n", line);
    }
  }
  out += "\nend of parameters\n";
  out += model.rest;
}

}  // namespace

std::string ExportLightGbm(std::span<const ModelPart> parts, const ExportSpec& spec) {
  detail::CheckExport(parts, spec);
  std::vector<LightGbmText> models;
  std::vector<std::size_t> num_rounds;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const std::string name = detail::PartName("LightGBM", p, parts.size());
    models.push_back(detail::ParseLightGbmText(parts[p].text, name));
    const LightGbmText& model = models.back();
    if (model.trees_per_round != spec.num_scores) {
      throw std::invalid_argument(fmt::format("{}: num_tree_per_iteration is {}; num_scores is {}",
                                              name, model.trees_per_round, spec.num_scores));
    }
    num_rounds.push_back(model.trees.size() / model.trees_per_round);
  }
  CheckSameFeatures(models);
  const WrittenTrees trees = WriteTrees(models, detail::PlanExport(parts, num_rounds, spec));
  std::string out;
  AppendHeader(models, spec, trees.sizes, out);
  out += trees.text;
  out += "end of trees\n";
  AppendImportances(models[0], trees.splits_by_feature, out);
  AppendParameters(models[0], spec, out);
  return out;
}

std::string AdjustLightGbm(std::string_view model, const ExportSpec& spec) {
  const ModelPart part{.text = model};
  return ExportLightGbm({&part, 1}, spec);
}

}  // namespace bregboost
