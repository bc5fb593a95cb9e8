// A model of XGBoost's `gbtree`, whose members are known to be there and to fit each other.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/detail/ubjson.h"

namespace bregboost::detail {

struct XgboostModel {
  Json root;
  bool is_ubjson = false;  // what it was read from, and will be written as
  std::size_t num_scores = 1;
  std::size_t num_features = 0;
  std::size_t num_parallel_trees = 1;
  std::vector<std::size_t> round_begin;   // round r has the trees [round_begin[r], [r + 1])
  std::vector<std::size_t> tree_classes;  // the score that each tree adds to

  std::size_t num_rounds() const { return round_begin.size() - 1; }

  Json& learner() { return root["learner"]; }
  const Json& learner() const { return root.at("learner"); }
  Json& ensemble() { return learner()["gradient_booster"]["model"]; }
  const Json& ensemble() const { return learner().at("gradient_booster").at("model"); }
  Json& trees() { return ensemble()["trees"]; }
};

// JSON or UBJSON. Throws std::invalid_argument that starts with `name` and the place, if it is not
// what XGBoost 2.1 and newer write, is cut short, or holds what leaves cannot express.
XgboostModel ParseXgboostModel(std::string_view bytes, const std::string& name);

std::string BytesOf(const XgboostModel& model);

}  // namespace bregboost::detail
