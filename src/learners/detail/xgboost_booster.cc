#include "learners/detail/xgboost_booster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "detail/memory_room.h"
#include "learners/detail/array_interface.h"
#include "learners/detail/parameter_text.h"
#include "model/detail/xgboost_model.h"

namespace bregboost::detail {
namespace {

constexpr const char* kCategories = "cats";  // of an ensemble

// A round of one-node trees shifts every row's score of one class by the same constant. True if two
// rows have moved apart by more than rounding explains; false does not prove the contrary. Mostly
// the first rows decide.
bool MovedApart(std::span<const float> before, std::span<const float> after,
                std::size_t num_scores) {
  constexpr double kRounding = 4.0 * static_cast<double>(std::numeric_limits<float>::epsilon());
  for (std::size_t i = num_scores; i < before.size(); ++i) {
    const std::size_t first = i % num_scores;
    const auto a = static_cast<double>(before[i]);
    const auto b = static_cast<double>(after[i]);
    const auto first_a = static_cast<double>(before[first]);
    const auto first_b = static_cast<double>(after[first]);
    const double magnitude = std::abs(a) + std::abs(b) + std::abs(first_a) + std::abs(first_b);
    if (std::abs((b - a) - (first_b - first_a)) > kRounding * magnitude) return true;
  }
  return false;
}

std::size_t NumBaseMargins(const XgboostDataset& set) {
  XgboostApi::Unsigned size = 0;
  const float* values = nullptr;
  set.api()->Check(set.api()->DMatrixGetFloatInfo(set.handle(), "base_margin", &size, &values),
                   "reading base margins");
  return size;
}

// With the trees that were written before, if there are any.
XgboostBoosterHandle MakeBooster(const XgboostApi& api, std::span<void* const> matrices,
                                 const std::string& trees) {
  void* handle = nullptr;
  api.Check(api.BoosterCreate(matrices.data(), matrices.size(), &handle), "making a booster");
  XgboostBoosterHandle booster(handle, {&api});
  if (!trees.empty()) {
    RequireRoomForModel(trees.size());
    api.Check(api.BoosterLoadModelFromBuffer(handle, trees.data(), trees.size()), "reading trees");
  }
  return booster;
}

}  // namespace

XgboostBooster::XgboostBooster(const XgboostDataset& train,
                               std::span<const XgboostDataset> held_out, XgboostSettings settings,
                               const TargetSummary& targets)
    : api_(train.api()),
      train_(train),
      held_out_(held_out.begin(), held_out.end()),
      settings_(std::move(settings)),
      num_rows_(train.num_rows()),
      starting_scores_(settings_.num_scores, 0.0),
      scores_(1 + held_out.size()) {
  CheckDatasets();
  const bool has_margins = NumBaseMargins(train_) > 0;
  // Always explicit: a base_score that is left open is estimated from labels, which the data set
  // need not have, or stays at its default in some caches. Where base margins replace it, it is the
  // one that adds nothing.
  if (has_margins) {
    settings_.parameters["base_score"] = settings_.objective == "binary:logistic" ? "0.5" : "0";
  } else if (!settings_.has_base_score) {
    settings_.parameters["base_score"] = EstimateBaseScore(*api_, settings_, targets);
  }
  Create();
  try {
    CheckXgboostNames(settings_, Config());
  } catch (const std::runtime_error& error) {
    throw std::invalid_argument(fmt::format("parameters: {}", error.what()));
  }
  if (has_margins) return;
  Read(0);
  for (std::size_t k = 0; k < settings_.num_scores; ++k) {
    starting_scores_[k] = static_cast<double>(scores_[0].values[k]);
  }
}

void XgboostBooster::CheckDatasets() const {
  const bool has_margins = NumBaseMargins(train_) > 0;
  for (std::size_t index = 0; index <= held_out_.size(); ++index) {
    const XgboostDataset& set = dataset(index);
    const std::string name =
        index == 0 ? "training set" : fmt::format("held-out set {}", index - 1);
    if (set.api() != api_) {
      throw std::invalid_argument(fmt::format("library of {}: {}; allowed: the training set's, {}",
                                              name, set.api()->path(), api_->path()));
    }
    if (set.num_columns() != train_.num_columns()) {
      throw std::invalid_argument(fmt::format("columns of {}: {}; allowed: the training set's, {}",
                                              name, set.num_columns(), train_.num_columns()));
    }
    const std::size_t margins = NumBaseMargins(set);
    const std::size_t expected = has_margins ? set.num_rows() * settings_.num_scores : 0;
    if (margins == expected) continue;
    throw std::invalid_argument(fmt::format(
        "base margins of {}: {} values; allowed: {}", name, margins,
        has_margins ? fmt::format("{} rows x {} scores", set.num_rows(), settings_.num_scores)
                    : "none, as the training set has none"));
  }
}

void XgboostBooster::Create(const std::string& trees) {
  std::vector<void*> matrices;
  for (std::size_t i = 0; i <= held_out_.size(); ++i) matrices.push_back(dataset(i).handle());
  booster_ = MakeBooster(*api_, matrices, trees);
  GbmParameters parameters = settings_.parameters;
  constexpr std::int64_t kDrawsOfSegment = 1000;
  const std::int64_t draw = num_empty_rounds_ + segment_ * kDrawsOfSegment;
  if (draw > 0) {
    // With the same seed the draws would be the same. (XGBoost 2.1 draws features, not rows,
    // without regard to the seed: there they are.)
    const auto seed = FindParameter(parameters, {"seed", "random_state"});
    parameters.erase("random_state");
    parameters["seed"] = std::to_string((seed ? ToInteger(*seed) : 0) + draw);
  }
  for (const auto& [name, value] : parameters) {
    api_->Check(api_->BoosterSetParam(booster_.get(), name.c_str(), value.c_str()),
                "setting parameters");
  }
  NameFeatures();
  num_rounds_ = 0;
  thread_ = {};
}

// The model takes names and types of the features from the training set, as in Python.
void XgboostBooster::NameFeatures() {
  for (const char* field : {"feature_name", "feature_type"}) {
    const std::span<const char*> values = FeatureInfo(field);
    if (values.empty()) continue;
    api_->Check(api_->BoosterSetStrFeatureInfo(booster_.get(), field, values.data(), values.size()),
                "naming the features");
  }
}

// Of the training set; valid until the next call.
std::span<const char*> XgboostBooster::FeatureInfo(const char* field) const {
  XgboostApi::Unsigned size = 0;
  const char** values = nullptr;
  api_->Check(api_->DMatrixGetStrFeatureInfo(train_.handle(), field, &size, &values),
              "reading the features' names");
  return {values, size};
}

std::string XgboostBooster::Config() const {
  XgboostApi::Unsigned length = 0;
  const char* text = nullptr;
  api_->Check(api_->BoosterSaveJsonConfig(booster_.get(), &length, &text), "reading parameters");
  return {text, length};
}

void XgboostBooster::Predict(std::size_t index, std::vector<float>& margins) const {
  // Margins come out of the library's cache for the data set, brought up to date with the newest
  // trees alone. `training` keeps them what the next round starts from.
  const std::string config = fmt::format(
      R"({{"type":1,"training":{},"iteration_begin":0,"iteration_end":0,"strict_shape":false}})",
      index == 0);
  const XgboostApi::Unsigned* shape = nullptr;
  XgboostApi::Unsigned dimensions = 0;
  const float* values = nullptr;
  api_->Check(api_->BoosterPredictFromDMatrix(booster_.get(), dataset(index).handle(),
                                              config.c_str(), &shape, &dimensions, &values),
              "reading scores");
  std::size_t size = 1;
  for (std::size_t i = 0; i < dimensions; ++i) size *= shape[i];
  // One buffer serves all predictions of a booster in a thread, so each is copied out of it.
  margins.assign(values, values + size);
}

ScoreView XgboostBooster::Read(std::size_t index) {
  CachedScores& cached = scores_[index];
  if (!cached.is_fresh) {
    Predict(index, cached.values);
    cached.is_fresh = true;
  }
  return ViewOf(cached.values);
}

ScoreView XgboostBooster::ViewOf(const std::vector<float>& margins) const {
  return {.data = margins.data(),
          .num_rows = margins.size() / settings_.num_scores,
          .num_scores = settings_.num_scores,
          .layout = ScoreLayout::kRowMajor};
}

// The buffer that was read last becomes the one that is kept: nothing is copied.
ScoreView XgboostBooster::HoldScores() {
  if (!held_is_current_) {
    Read(0);
    std::swap(held_, scores_[0].values);
    scores_[0].is_fresh = false;
    held_is_current_ = true;
  }
  return ViewOf(held_);
}

bool XgboostBooster::Boost(std::span<const float> gradient, std::span<const float> hessian) {
  const std::size_t expected = num_rows_ * settings_.num_scores;
  if (gradient.size() != expected || hessian.size() != expected) {
    throw std::invalid_argument(fmt::format("derivatives: {} and {} values; allowed: {}",
                                            gradient.size(), hessian.size(), expected));
  }
  TrainScores();
  const std::vector<float>& before = held_is_current_ ? held_ : scores_[0].values;
  std::vector<float>& after = held_is_current_ ? scores_[0].values : next_scores_;
  // XGBoost caches predictions by thread. A round adds its own trees to the cache of the thread
  // that it runs on and calls that up to date: trees grown elsewhere since would be missing for
  // good.
  if (thread_ != std::this_thread::get_id()) Predict(0, after);
  thread_ = std::this_thread::get_id();
  const auto interface = [&](std::span<const float> values) {
    return ArrayInterface(values.data(), num_rows_, settings_.num_scores, settings_.num_scores,
                          std::size_t{1});
  };
  // With seed_per_iteration the number decides what is sampled: a round that comes after an empty
  // one draws anew.
  const auto iteration = static_cast<int>(num_rounds_ + num_empty_rounds_);
  api_->Check(api_->BoosterTrainOneIter(booster_.get(), train_.handle(), iteration,
                                        interface(gradient).c_str(), interface(hessian).c_str()),
              "a boosting round");
  ++num_rounds_;
  Predict(0, after);
  if (!MovedApart(before, after, settings_.num_scores) && !LastRoundHasSplit()) {
    ++num_empty_rounds_;
    SliceTo(num_rounds_ - 1);  // the scores read so far are still right
    return false;
  }
  if (!held_is_current_) scores_[0].values.swap(next_scores_);
  held_is_current_ = false;
  for (std::size_t i = 0; i < scores_.size(); ++i) scores_[i].is_fresh = i == 0;
  return true;
}

bool XgboostBooster::LastRoundHasSplit() const {
  const XgboostBoosterHandle round = Slice(num_rounds_ - 1, num_rounds_);
  XgboostApi::Unsigned size = 0;
  const char** trees = nullptr;
  api_->Check(
      api_->BoosterDumpModelEx(round.get(), "", /*with_statistics=*/0, "text", &size, &trees),
      "reading trees");
  return std::any_of(trees, trees + size, [](std::string_view tree) {
    return !tree.starts_with("0:leaf");  // the root, node 0, comes first
  });
}

XgboostBoosterHandle XgboostBooster::Slice(std::int64_t begin, std::int64_t end) const {
  void* handle = nullptr;
  api_->Check(api_->BoosterSlice(booster_.get(), static_cast<int>(begin), static_cast<int>(end),
                                 /*step=*/1, &handle),
              "taking rounds back");
  return {handle, {api_.get()}};
}

void XgboostBooster::SliceTo(std::int64_t num_rounds) {
  if (num_rounds == 0) {  // as the end of a slice, 0 stands for the last round
    Create();
    return;
  }
  RememberCategories();
  booster_ = Slice(0, num_rounds);
  num_rounds_ = num_rounds;
  thread_ = {};
}

void XgboostBooster::RememberCategories() {
  const std::span<const char*> types = FeatureInfo("feature_type");
  const bool has_some =
      std::any_of(types.begin(), types.end(), [](std::string_view type) { return type == "c"; });
  if (!has_some || !categories_.is_null()) return;
  const XgboostModel model = ParseXgboostModel(Serialize(), "trees");
  categories_ = model.ensemble().value(kCategories, Json());  // none before XGBoost 3.1
}

void XgboostBooster::RollBackTo(std::int64_t num_rounds) {
  if (num_rounds < 0 || num_rounds > num_rounds_) {
    throw std::invalid_argument(
        fmt::format("num_rounds: {}; allowed: 0 to {}", num_rounds, num_rounds_));
  }
  if (num_rounds == num_rounds_) return;
  SliceTo(num_rounds);
  for (CachedScores& cached : scores_) cached.is_fresh = false;
  held_is_current_ = false;
}

BoosterSnapshot XgboostBooster::TakeSnapshot() {
  return {.num_rounds = num_rounds_,
          .num_empty_rounds = num_empty_rounds_,
          .trees = num_rounds_ == 0 ? std::string() : Serialize(),
          .scores = {}};
}

void XgboostBooster::Check(const BoosterSnapshot& snapshot) const {
  RequireOfOneTraining(snapshot.scores.empty());
  if (snapshot.num_rounds == 0) {
    RequireOfOneTraining(snapshot.trees.empty());
    return;
  }
  const XgboostModel model = ParseXgboostModel(snapshot.trees, "trees");
  const auto parallel = FindParameter(settings_.parameters, {"num_parallel_tree"});
  RequireOfOneTraining(model.num_scores == settings_.num_scores &&
                       model.num_features == train_.num_columns() &&
                       static_cast<std::int64_t>(model.num_parallel_trees) ==
                           (parallel ? ToInteger(*parallel) : 1) &&
                       static_cast<std::int64_t>(model.num_rounds()) == snapshot.num_rounds);
  for (const auto& [key, field] :
       {std::pair{"feature_names", "feature_name"}, std::pair{"feature_types", "feature_type"}}) {
    const std::span<const char*> values = FeatureInfo(field);
    const std::vector<std::string> expected(values.begin(), values.end());
    RequireOfOneTraining(model.learner().value(key, Json(Json::array())) == Json(expected));
  }
  // XGBoost may refuse what is left; a training may go back to its best rounds much later.
  MakeBooster(*api_, {}, snapshot.trees);
}

void XgboostBooster::Load(const BoosterSnapshot& snapshot, std::int64_t segment) {
  segment_ = segment;
  num_empty_rounds_ = snapshot.num_empty_rounds;
  Create(snapshot.trees);
  num_rounds_ = snapshot.num_rounds;
  for (CachedScores& cached : scores_) cached.is_fresh = false;
  held_is_current_ = false;
}

std::string XgboostBooster::Serialize() const {
  RequireRoomForModel(0);
  XgboostApi::Unsigned length = 0;
  const char* text = nullptr;
  api_->Check(api_->BoosterSaveModelToBuffer(booster_.get(), R"({"format":"ubj"})", &length, &text),
              "writing the model");
  std::string bytes(text, length);
  if (categories_.is_null()) return bytes;
  XgboostModel model = ParseXgboostModel(bytes, "trees");
  model.ensemble()[kCategories] = categories_;
  return BytesOf(model);
}

}  // namespace bregboost::detail
