#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "bregboost/model/tree_model.h"
#include "model/detail/export_plan.h"
#include "model/detail/number_array.h"
#include "model/detail/xgboost_json.h"
#include "model/detail/xgboost_model.h"

namespace bregboost {
namespace {

using detail::ExportPlan;
using detail::FloatJson;
using detail::Json;
using detail::PlannedRound;
using detail::XgboostModel;

// XGBoost up to 3.0 reads a `base_score` of several numbers without a word and uses 0.5. Models
// therefore carry 0.5, and the leaves everything else.
constexpr double kBaseScore = 0.5;

// What a base_score of 0.5 adds to every score: a probability for the logistic objective, else a
// score.
double BaseMargin(ModelObjective objective) {
  return objective == ModelObjective::kBinary ? 0.0 : kBaseScore;
}

Json ObjectiveJson(const ExportSpec& spec) {
  switch (spec.objective) {
    case ModelObjective::kBinary:
      return {{"name", "binary:logistic"}, {"reg_loss_param", {{"scale_pos_weight", "1"}}}};
    case ModelObjective::kMulticlass:
      return {{"name", "multi:softprob"},
              {"softmax_multiclass_param", {{"num_class", std::to_string(spec.num_scores)}}}};
    case ModelObjective::kRegression:
      return {{"name", "reg:squarederror"}, {"reg_loss_param", {{"scale_pos_weight", "1"}}}};
    case ModelObjective::kHuber:
      break;
  }
  return {{"name", "reg:pseudohubererror"},
          {"pseudo_huber_param", {{"huber_slope", fmt::format("{}", spec.huber_delta)}}}};
}

// "5E-1", or "[5E-1,5E-1]" where the version that wrote the model has one number per score.
std::string BaseScoreText(std::string_view written, std::size_t num_scores) {
  if (!written.starts_with('[')) return "5E-1";
  std::string text = "[5E-1";
  for (std::size_t k = 1; k < num_scores; ++k) text += ",5E-1";
  return text + ']';
}

// Trees of different features, or of categories under different codes, cannot be added.
void CheckSameFeatures(std::span<const XgboostModel> models) {
  const auto member = [](const Json& object, const char* key) { return object.value(key, Json()); };
  for (std::size_t p = 1; p < models.size(); ++p) {
    const XgboostModel& first = models[0];
    const XgboostModel& other = models[p];
    const char* differing = nullptr;
    if (other.num_features != first.num_features) differing = "num_feature";
    if (other.num_parallel_trees != first.num_parallel_trees) differing = "num_parallel_tree";
    for (const char* key : {"feature_names", "feature_types"}) {
      if (member(other.learner(), key) != member(first.learner(), key)) differing = key;
    }
    if (member(other.ensemble(), "cats") != member(first.ensemble(), "cats")) differing = "cats";
    if (differing == nullptr) continue;
    throw std::invalid_argument(
        fmt::format("parts[{}]: {} differs from that of parts[0]", p, differing));
  }
}

float ToFloat(double value) {
  constexpr auto kLargest = static_cast<double>(std::numeric_limits<float>::max());
  if (std::isfinite(value) && std::abs(value) > kLargest) {
    throw std::invalid_argument(fmt::format("leaf value {} is no finite float", value));
  }
  return static_cast<float>(value);
}

// factor * value + constant. Numbers in the text stand for floats; the result is rounded once.
float Scaled(double value, double factor, double constant) {
  const auto before = static_cast<double>(ToFloat(value));
  return ToFloat(factor * before + constant);
}

// factor * tree + constant. Predictions and SHAP values read leaves, whose values are in
// `split_conditions`; `base_weights` are what nodes would predict as leaves, before shrinkage at
// inner nodes.
void ScaleTree(Json& tree, double factor, double constant) {
  if (factor == 1.0 && constant == 0.0) return;
  Json& conditions = tree["split_conditions"];
  Json& weights = tree["base_weights"];
  const auto left = detail::IntegersIn(tree["left_children"]).value();
  const auto old_conditions = detail::FloatsIn(conditions).value();
  const auto old_weights = detail::FloatsIn(weights).value();
  for (std::size_t i = 0; i < left.size(); ++i) {
    const bool is_leaf = left[i] == -1;
    const float value = Scaled(is_leaf ? old_conditions[i] : old_weights[i], factor, constant);
    detail::SetFloat(weights, i, value);
    if (is_leaf) detail::SetFloat(conditions, i, value);
  }
}

// `sum_hessian` belongs to no row; it is no whole number because onnxmltools takes a model whose
// sums are all whole for a regression.
Json ConstantTree(double value, std::size_t num_features) {
  const Json leaf = FloatJson(ToFloat(value));
  const Json none = Json::array();
  const auto one = [](Json entry) { return Json::array({std::move(entry)}); };
  return {{"base_weights", one(leaf)},
          {"categories", none},
          {"categories_nodes", none},
          {"categories_segments", none},
          {"categories_sizes", none},
          {"default_left", one(0)},
          {"id", 0},
          {"left_children", one(-1)},
          {"loss_changes", one(0.0)},
          {"parents", one(2147483647)},
          {"right_children", one(-1)},
          {"split_conditions", one(leaf)},
          {"split_indices", one(0)},
          {"split_type", one(0)},
          {"sum_hessian", one(0.5)},
          {"tree_param",
           {{"num_deleted", "0"},
            {"num_feature", std::to_string(num_features)},
            {"num_nodes", "1"},
            {"size_leaf_vector", "1"}}}};
}

// With arrays of the types that the library reads in UBJSON.
Json WithTypedArrays(Json tree) {
  constexpr std::array<std::pair<const char*, char>, 14> kTypes = {{{"base_weights", 'd'},
                                                                    {"categories", 'l'},
                                                                    {"categories_nodes", 'l'},
                                                                    {"categories_segments", 'L'},
                                                                    {"categories_sizes", 'L'},
                                                                    {"default_left", 'U'},
                                                                    {"left_children", 'l'},
                                                                    {"loss_changes", 'd'},
                                                                    {"parents", 'l'},
                                                                    {"right_children", 'l'},
                                                                    {"split_conditions", 'd'},
                                                                    {"split_indices", 'l'},
                                                                    {"split_type", 'U'},
                                                                    {"sum_hessian", 'd'}}};
  for (const auto& [key, type] : kTypes) tree[key] = detail::Typed(tree[key], type);
  return tree;
}

// The trees of the planned rounds, taken out of the models. With parallel trees, the first of each
// class carries the constant.
Json TakeTrees(std::span<XgboostModel> models, const ExportPlan& plan) {
  const std::size_t parallel = models[0].num_parallel_trees;
  const std::size_t per_round = plan.constants.size() * parallel;
  const auto constant = [&](std::size_t index) {
    return index < per_round && index % parallel == 0 ? plan.constants[index / parallel] : 0.0;
  };
  Json trees = Json::array();
  for (const PlannedRound& planned : plan.rounds) {
    XgboostModel& model = models[planned.part];
    for (std::size_t t = 0; t < per_round; ++t) {
      Json tree = std::move(model.trees()[model.round_begin[planned.round] + t]);
      ScaleTree(tree, planned.factor, constant(trees.size()));
      trees.push_back(std::move(tree));
    }
  }
  while (trees.size() < per_round) {
    Json tree = ConstantTree(constant(trees.size()), models[0].num_features);
    trees.push_back(models[0].is_ubjson ? WithTypedArrays(std::move(tree)) : std::move(tree));
  }
  for (std::size_t t = 0; t < trees.size(); ++t) trees[t]["id"] = t;
  return trees;
}

void SetTrees(Json trees, XgboostModel& model) {
  const std::size_t per_round = model.num_scores * model.num_parallel_trees;
  Json classes = Json::array();
  Json rounds = Json::array({0});
  for (std::size_t t = 0; t < trees.size(); ++t) {
    classes.push_back(t % per_round / model.num_parallel_trees);
    if ((t + 1) % per_round == 0) rounds.push_back(t + 1);
  }
  Json& ensemble = model.ensemble();
  ensemble["gbtree_model_param"]["num_trees"] = std::to_string(trees.size());
  ensemble["iteration_indptr"] = std::move(rounds);
  ensemble["tree_info"] = std::move(classes);
  ensemble["trees"] = std::move(trees);
}

void SetObjective(const ExportSpec& spec, XgboostModel& model) {
  Json& learner = model.learner();
  Json& base_score = learner["learner_model_param"]["base_score"];
  base_score = BaseScoreText(base_score.get_ref<const std::string&>(), spec.num_scores);
  learner["learner_model_param"]["boost_from_average"] = "0";
  Json objective = ObjectiveJson(spec);
  // The same objective may carry a weight of the user's; where Huber's loss turns is ours to say.
  if (learner["objective"].value("name", Json()) != objective["name"] ||
      spec.objective == ModelObjective::kHuber) {
    learner["objective"] = std::move(objective);
  }
  // Rounds are numbered anew.
  learner["attributes"].erase("best_iteration");
  learner["attributes"].erase("best_score");
}

}  // namespace

std::string ExportXgboost(std::span<const ModelPart> parts, const ExportSpec& spec) {
  detail::CheckExport(parts, spec);
  std::vector<XgboostModel> models;
  std::vector<std::size_t> num_rounds;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const std::string name = detail::PartName("XGBoost", p, parts.size());
    models.push_back(detail::ParseXgboostModel(parts[p].text, name));
    if (models.back().num_scores != spec.num_scores) {
      throw std::invalid_argument(fmt::format("{}: {} scores (num_class); num_scores is {}", name,
                                              models.back().num_scores, spec.num_scores));
    }
    if (models.back().is_ubjson != models.front().is_ubjson) {
      throw std::invalid_argument(name + ": JSON beside UBJSON; allowed: the same for all parts");
    }
    num_rounds.push_back(models.back().num_rounds());
  }
  CheckSameFeatures(models);
  ExportPlan plan = detail::PlanExport(parts, num_rounds, spec);
  for (double& constant : plan.constants) constant -= BaseMargin(spec.objective);
  SetTrees(TakeTrees(models, plan), models[0]);
  SetObjective(spec, models[0]);
  return detail::BytesOf(models[0]);
}

std::string AdjustXgboost(std::string_view model, const ExportSpec& spec) {
  const ModelPart part{.text = model,
                       .start = std::vector<double>(spec.num_scores, BaseMargin(spec.objective))};
  return ExportXgboost({&part, 1}, spec);
}

}  // namespace bregboost
