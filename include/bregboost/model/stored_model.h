// A model file read back, to predict with: LightGBM's text and XGBoost's binary or JSON form
// through the stock library itself, linear models through a file of our own.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bregboost/data/feature_array.h"
#include "bregboost/learners/linear_model.h"

namespace bregboost {

class StoredModel {
 public:
  // Throw std::invalid_argument where the text is no such model, LibraryError without the library;
  // `library` is the path of a shared library to use in place of the one that is found. Texts are
  // checked before the library sees them, so only models that model/tree_model.h can export are
  // taken.
  static StoredModel LightGbm(const std::string& text, const std::string& library = {});
  static StoredModel Xgboost(std::string_view bytes, const std::string& library = {});
  static StoredModel Linear(std::string_view json);
  ~StoredModel();
  StoredModel(StoredModel&&) noexcept;
  StoredModel& operator=(StoredModel&&) noexcept;

  // Raw and class-major: log-odds, a score for each class, or values. As many columns as the model
  // was trained on, in that order. Throws std::invalid_argument for another number of them, and for
  // missing values or categories of a linear model.
  std::vector<double> Scores(const FeatureArray& features) const;

  class Impl;

 private:
  explicit StoredModel(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The file of a linear model; `features` has a name for each coefficient of a score.
std::string ToJson(const LinearModel& model, std::span<const std::string> features);

// Of class-major scores: softmax, or the logistic function of log-odds and its complement; row by
// row, one value per class.
std::vector<double> ClassProbabilities(std::span<const double> scores, std::size_t num_rows);

// The class that the scores decide for, row by row: the largest score, the first of equal ones;
// log-odds decide for class 1 above 0.
std::vector<std::int32_t> Decisions(std::span<const double> scores, std::size_t num_rows);

}  // namespace bregboost
