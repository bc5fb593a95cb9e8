// Small models as the stock libraries write them, for tests of the exporter.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace bregboost::testing {

// What the std::invalid_argument that `action` throws says.
template <class Action>
std::string MessageOf(const Action& action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

inline ::testing::AssertionResult Contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "no '" << part << "' in: " << text;
}

inline std::string Spaced(const std::vector<double>& numbers) {
  std::string text;
  for (const double number : numbers) {
    if (!text.empty()) text += ' ';
    text += fmt::format("{:.17g}", number);
  }
  return text;
}

// A split of feature 0 (at 0.5) and of feature 1 below it, by categories 1 and 3.
//
//   x0 <= 0.5 ? (x1 in {1, 3} ? leaves[0] : leaves[2]) : leaves[1]
inline std::string LightGbmTreeText(std::size_t index, const std::vector<double>& leaves) {
  return fmt::format(
      "Tree={}\nnum_leaves=3\nnum_cat=1\nsplit_feature=0 1\nsplit_gain=4 2\nthreshold=0.5 0\n"
      "decision_type=2 1\nleft_child=1 -1\nright_child=-2 -3\nleaf_value={}\nleaf_weight=2 3 5\n"
      "leaf_count=8 12 20\ninternal_value=0.25 -0.5\ninternal_weight=10 7\ninternal_count=40 28\n"
      "cat_boundaries=0 1\ncat_threshold=10\nis_linear=0\nshrinkage=0.1\n\n\n",
      index, Spaced(leaves));
}

inline std::string LightGbmStumpText(std::size_t index, double value) {
  return fmt::format(
      "Tree={}\nnum_leaves=1\nnum_cat=0\nsplit_feature=\nsplit_gain=\nthreshold=\ndecision_type=\n"
      "left_child=\nright_child=\nleaf_value={:.17g}\nleaf_weight=\nleaf_count=40\n"
      "internal_value=\ninternal_weight=\ninternal_count=\nis_linear=0\nshrinkage=1\n\n\n",
      index, value);
}

struct LightGbmTextOptions {
  std::string header;  // lines above feature_names
  std::string feature_names = "age job";
  std::string feature_infos = "[0:1] 0:1:3";
  std::string metric = "custom";
  std::string rest;  // below the parameters
};

inline std::string LightGbmModelText(const std::vector<std::string>& trees,
                                     std::size_t num_scores = 1,
                                     const LightGbmTextOptions& options = {}) {
  std::string sizes;
  std::string text;
  for (const std::string& tree : trees) {
    sizes += fmt::format("{}{}", sizes.empty() ? "" : " ", tree.size());
    text += tree;
  }
  return fmt::format(
      "tree\nversion=v4\nnum_class={0}\nnum_tree_per_iteration={0}\nlabel_index=0\n"
      "max_feature_idx=1\n{1}feature_names={2}\nfeature_infos={3}\ntree_sizes={4}\n\n{5}"
      "end of trees\n\nfeature_importances:\nage={6}\njob={6}\n\nparameters:\n[boosting: gbdt]\n"
      "[objective: custom]\n[metric: {7}]\n[num_class: {0}]\n[sigmoid: 2]\n[reg_sqrt: 0]\n"
      "[alpha: 0.9]\n\nend of parameters\n{8}",
      num_scores, options.header, options.feature_names, options.feature_infos, sizes, text,
      trees.size(), options.metric, options.rest);
}

// As LightGbmTreeText, with the missing value at a categorical split that XGBoost 2.1 writes.
inline std::string XgboostTreeText(std::size_t id, const std::vector<float>& leaves) {
  return fmt::format(
      R"({{"base_weights":[1E0,2E0,{2}E0,{1}E0,{3}E0],"categories":[1,3],"categories_nodes":[1],)"
      R"("categories_segments":[0],"categories_sizes":[2],"default_left":[1,0,0,0,0],"id":{0},)"
      R"("left_children":[1,3,-1,-1,-1],"loss_changes":[4E0,2E0,0E0,0E0,0E0],)"
      R"("parents":[2147483647,0,0,1,1],"right_children":[2,4,-1,-1,-1],)"
      R"("split_conditions":[5E-1,NaN,{2}E0,{1}E0,{3}E0],"split_indices":[0,1,0,0,0],)"
      R"("split_type":[0,1,0,0,0],"sum_hessian":[1E1,7E0,3E0,2.5E0,4.5E0],)"
      R"("tree_param":{{"num_deleted":"0","num_feature":"2","num_nodes":"5",)"
      R"("size_leaf_vector":"1"}}}})",
      id, leaves[0], leaves[1], leaves[2]);
}

struct XgboostTextOptions {
  std::size_t num_scores = 1;
  std::size_t num_parallel_trees = 1;
  std::string objective = R"({"name":"binary:logistic","reg_loss_param":{"scale_pos_weight":"3"}})";
  std::string base_score = "[5E-1]";
  std::string feature_names = R"(["age","NaN"])";  // names may look like numbers
  std::string booster = "gbtree";
};

inline std::string XgboostModelText(const std::vector<std::string>& trees,
                                    const XgboostTextOptions& options = {}) {
  const std::size_t per_round = options.num_scores * options.num_parallel_trees;
  std::string text;
  std::string classes;
  std::string rounds = "0";
  for (std::size_t t = 0; t < trees.size(); ++t) {
    text += (t > 0 ? "," : "") + trees[t];
    classes += fmt::format("{}{}", t > 0 ? "," : "", t % per_round / options.num_parallel_trees);
    if ((t + 1) % per_round == 0) rounds += fmt::format(",{}", t + 1);
  }
  return fmt::format(
      R"({{"learner":{{"attributes":{{"best_iteration":"1","owner":"us"}},"feature_names":{0},)"
      R"("feature_types":["q","c"],"gradient_booster":{{"model":{{"gbtree_model_param":)"
      R"({{"num_parallel_tree":"{1}","num_trees":"{2}"}},"iteration_indptr":[{3}],)"
      R"("tree_info":[{4}],"trees":[{5}]}},"name":"{6}"}},"learner_model_param":)"
      R"({{"base_score":"{7}","boost_from_average":"1","num_class":"{8}","num_feature":"2",)"
      R"("num_target":"1"}},"objective":{9}}},"version":[3,2,0]}})",
      options.feature_names, options.num_parallel_trees, trees.size(), rounds, classes, text,
      options.booster, options.base_score, options.num_scores == 1 ? 0 : options.num_scores,
      options.objective);
}

// Replaces the one occurrence of `from`.
inline std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos || text.find(from, at + 1) != std::string::npos) {
    throw std::invalid_argument("not exactly one '" + from + "'");
  }
  return text.replace(at, from.size(), to);
}

}  // namespace bregboost::testing
