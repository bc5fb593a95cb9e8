#include "model/detail/xgboost_model.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>

#include "model/detail/number_array.h"
#include "model/detail/xgboost_json.h"

namespace bregboost::detail {
namespace {

// An object of the model and its place in messages, e.g. "XGBoost model: trees[3]".
struct Place {
  const Json& object;
  std::string path;

  [[noreturn]] void Fail(const std::string& message) const {
    throw std::invalid_argument(fmt::format("{}: {}", path, message));
  }

  const Json& Require(const char* key, Json::value_t type) const {
    const auto found = object.find(key);
    if (found == object.end()) Fail(fmt::format("there is no '{}'", key));
    const bool fits = type == Json::value_t::array ? IsArray(*found) : found->type() == type;
    if (!fits) {
      Fail(fmt::format("'{}' is {}; expected {}", key, found->type_name(), Json(type).type_name()));
    }
    return *found;
  }

  Place Object(const char* key) const {
    return {Require(key, Json::value_t::object), fmt::format("{}, {}", path, key)};
  }

  const Json& Array(const char* key) const { return Require(key, Json::value_t::array); }

  const Json& Array(const char* key, std::size_t size) const {
    const Json& array = Array(key);
    if (SizeOf(array) == size) return array;
    Fail(fmt::format("'{}' has {} values; expected {}", key, SizeOf(array), size));
  }

  // An array of anything but numbers.
  const Json& List(const char* key) const {
    const Json& list = Array(key);
    if (list.is_array()) return list;
    Fail(fmt::format("'{}' holds numbers; expected objects", key));
  }

  const std::string& Text(const char* key) const {
    return Require(key, Json::value_t::string).get_ref<const std::string&>();
  }

  // XGBoost keeps its counts in strings.
  std::size_t Count(const char* key) const {
    const std::string& text = Text(key);
    std::size_t count = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, count);
    if (error == std::errc{} && stop == end) return count;
    Fail(fmt::format("'{}' is '{}'; expected a count", key, text));
  }

  std::vector<std::int64_t> Integers(const char* key) const {
    std::optional<std::vector<std::int64_t>> integers = IntegersIn(Array(key));
    if (!integers) Fail(fmt::format("'{}' holds something else than whole numbers", key));
    return *std::move(integers);
  }

  std::vector<std::int64_t> Integers(const char* key, std::size_t size) const {
    Array(key, size);
    return Integers(key);
  }

  std::vector<double> Floats(const char* key, std::size_t size) const {
    std::optional<std::vector<double>> floats = FloatsIn(Array(key, size));
    if (!floats) Fail(fmt::format("'{}' holds something else than floats", key));
    return *std::move(floats);
  }
};

std::vector<std::size_t> Indices(const Place& place, const char* key) {
  std::vector<std::size_t> indices;
  for (const std::int64_t value : place.Integers(key)) {
    if (value < 0) place.Fail(fmt::format("'{}' holds {}; expected numbers from 0", key, value));
    indices.push_back(static_cast<std::size_t>(value));
  }
  return indices;
}

void CheckBooster(const Place& booster) {
  const std::string& name = booster.Text("name");
  if (name == "gbtree") return;
  const char* reason = name == "dart"       ? "it keeps a weight beside each tree; use gbtree"
                       : name == "gblinear" ? "it has no trees"
                                            : "it is not known here";
  booster.Fail(fmt::format("booster '{}' cannot be exported: {}", name, reason));
}

void ReadShape(const Place& learner, const Place& ensemble, XgboostModel& model) {
  const Place parameters = learner.Object("learner_model_param");
  if (parameters.Count("num_target") > 1) {
    parameters.Fail("num_target above 1: multi-output models are not supported");
  }
  model.num_scores = std::max<std::size_t>(1, parameters.Count("num_class"));
  model.num_features = parameters.Count("num_feature");
  parameters.Text("base_score");
  const Place forest = ensemble.Object("gbtree_model_param");
  model.num_parallel_trees = forest.Count("num_parallel_tree");
  if (model.num_parallel_trees == 0) forest.Fail("num_parallel_tree is 0; allowed: at least 1");
  ensemble.List("trees");
  ensemble.Array("trees", forest.Count("num_trees"));
}

// Every round must hold `num_parallel_tree` trees of each class, as SHAP and the ONNX converter
// assume.
void ReadRounds(const Place& ensemble, XgboostModel& model) {
  const std::size_t num_trees = ensemble.List("trees").size();
  ensemble.Array("tree_info", num_trees);
  model.tree_classes = Indices(ensemble, "tree_info");
  if (!ensemble.object.contains("iteration_indptr")) {
    ensemble.Fail("no 'iteration_indptr'; XGBoost 2.1 and newer write it");
  }
  model.round_begin = Indices(ensemble, "iteration_indptr");
  // Counts are not to be believed before the trees are seen: their product may not fit a number,
  // and a model without trees gets a round of them.
  constexpr std::size_t kMostWithoutTrees = 10'000;
  const std::size_t most = num_trees > 0 ? num_trees : kMostWithoutTrees;
  bool regular = model.num_scores <= most / model.num_parallel_trees;
  const std::size_t per_round = regular ? model.num_scores * model.num_parallel_trees : 1;
  regular = regular && model.round_begin.size() == num_trees / per_round + 1;
  for (std::size_t r = 0; regular && r < model.round_begin.size(); ++r) {
    regular = model.round_begin[r] == r * per_round;
  }
  if (!regular || num_trees % per_round != 0) {
    ensemble.Fail(
        fmt::format("iteration_indptr does not divide {} trees into rounds of one-output trees of "
                    "{} scores, num_parallel_tree={}",
                    num_trees, model.num_scores, model.num_parallel_trees));
  }
  for (std::size_t t = 0; t < num_trees; ++t) {
    if (model.tree_classes[t] == t % per_round / model.num_parallel_trees) continue;
    ensemble.Fail(fmt::format("tree_info: {} for tree {}; expected {}", model.tree_classes[t], t,
                              t % per_round / model.num_parallel_trees));
  }
}

// A tree: each node has two children or none, and at most one parent.
void CheckChildren(const Place& tree, std::size_t num_nodes, std::size_t num_features) {
  const auto left = tree.Integers("left_children", num_nodes);
  const auto right = tree.Integers("right_children", num_nodes);
  const auto features = tree.Integers("split_indices", num_nodes);
  std::vector<bool> has_parent(num_nodes, false);
  for (std::size_t i = 0; i < num_nodes; ++i) {
    if (left[i] == -1 && right[i] == -1) continue;
    for (const std::int64_t child : {left[i], right[i]}) {
      const auto index = static_cast<std::size_t>(child);
      if (child < 1 || index >= num_nodes || has_parent[index]) {
        tree.Fail(fmt::format("node {} has child {}, which is no free node", i, child));
      }
      has_parent[index] = true;
    }
    if (features[i] < 0 || static_cast<std::size_t>(features[i]) >= num_features) {
      tree.Fail(fmt::format("node {} splits feature {}; there are {} features", i, features[i],
                            num_features));
    }
  }
  // XGBoost looks up the parent of every node but the root, those without a way to them included.
  const auto parents = tree.Integers("parents", num_nodes);
  for (std::size_t i = 1; i < num_nodes; ++i) {
    if (parents[i] >= 0 && static_cast<std::size_t>(parents[i]) < num_nodes) continue;
    tree.Fail(fmt::format("node {} has parent {}; there are {} nodes", i, parents[i], num_nodes));
  }
  tree.Floats("base_weights", num_nodes);
  const auto conditions = tree.Floats("split_conditions", num_nodes);
  for (std::size_t i = 0; i < num_nodes; ++i) {
    if (left[i] != -1 || std::isfinite(conditions[i])) continue;
    tree.Fail(fmt::format("leaf {} holds {}; expected a finite float", i, conditions[i]));
  }
}

void CheckCategories(const Place& tree, std::size_t num_nodes) {
  const std::vector<std::size_t> nodes = Indices(tree, "categories_nodes");
  const std::vector<std::size_t> segments = Indices(tree, "categories_segments");
  const std::vector<std::size_t> sizes = Indices(tree, "categories_sizes");
  const std::vector<std::size_t> categories = Indices(tree, "categories");
  const std::size_t num_categories = categories.size();
  bool fits = segments.size() == nodes.size() && sizes.size() == nodes.size();
  for (std::size_t i = 0; fits && i < nodes.size(); ++i) {
    fits = nodes[i] < num_nodes && segments[i] <= num_categories && sizes[i] > 0 &&
           sizes[i] <= num_categories - segments[i];
  }
  if (!fits) tree.Fail("categories, categories_nodes, _segments and _sizes do not fit each other");
  // XGBoost writes no model of which a node says that it has categories, but has none.
  std::vector<std::size_t> categorical;
  const std::vector<std::int64_t> types = tree.Integers("split_type", num_nodes);
  for (std::size_t i = 0; i < num_nodes; ++i) {
    if (types[i] != 0) categorical.push_back(i);
  }
  if (categorical != nodes) tree.Fail("'split_type' does not fit 'categories_nodes'");
  // XGBoost keeps a bit for every category up to the largest.
  constexpr std::size_t kMaxCategories = std::size_t{1} << 24;
  for (const std::size_t category : categories) {
    if (category < kMaxCategories) continue;
    tree.Fail(fmt::format("'categories' holds {}; allowed: below {}", category, kMaxCategories));
  }
}

// XGBoost puts each tree in the place that its id names, and looks at all places.
void CheckId(const Place& tree, std::size_t index) {
  const auto found = tree.object.find("id");
  if (found == tree.object.end()) tree.Fail("no 'id'");
  if (found->is_number_integer() && *found == index) return;
  tree.Fail(fmt::format("'id' is {}; expected {}", found->dump(), index));
}

void CheckTree(const Place& tree, std::size_t num_features) {
  const Place parameters = tree.Object("tree_param");
  if (parameters.Count("size_leaf_vector") > 1) {
    parameters.Fail(
        "size_leaf_vector above 1: multi-output trees are not supported; train with "
        "multi_strategy=one_output_per_tree");
  }
  const std::size_t num_nodes = parameters.Count("num_nodes");
  if (num_nodes == 0) parameters.Fail("num_nodes is 0");
  for (const char* key : {"default_left", "loss_changes", "split_type", "sum_hessian"}) {
    tree.Array(key, num_nodes);
  }
  CheckChildren(tree, num_nodes, num_features);
  CheckCategories(tree, num_nodes);
}

}  // namespace

XgboostModel ParseXgboostModel(std::string_view bytes, const std::string& name) {
  XgboostModel model;
  model.is_ubjson = IsUbjson(bytes);
  model.root = model.is_ubjson ? ParseUbjson(bytes, name) : ParseXgboostJson(bytes, name);
  if (!model.root.is_object()) throw std::invalid_argument(name + ": not a JSON object");
  const Place learner = Place{model.root, name}.Object("learner");
  learner.Object("attributes");
  learner.Object("objective");
  const Place booster = learner.Object("gradient_booster");
  CheckBooster(booster);
  const Place ensemble = booster.Object("model");
  ReadShape(learner, ensemble, model);
  ReadRounds(ensemble, model);
  const Json& trees = ensemble.List("trees");
  for (std::size_t t = 0; t < trees.size(); ++t) {
    const std::string path = fmt::format("{}, tree {}", name, t);
    if (!trees[t].is_object()) throw std::invalid_argument(path + ": not a JSON object");
    CheckId({trees[t], path}, t);
    CheckTree({trees[t], path}, model.num_features);
  }
  return model;
}

std::string BytesOf(const XgboostModel& model) {
  return model.is_ubjson ? UbjsonBytes(model.root) : XgboostJsonText(model.root);
}

}  // namespace bregboost::detail
