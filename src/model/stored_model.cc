#include "bregboost/model/stored_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "bregboost/data/feature_matrix.h"
#include "bregboost/learners/xgboost_dataset.h"
#include "detail/json_depth.h"
#include "learners/detail/lightgbm_api.h"
#include "learners/detail/xgboost_handle.h"
#include "model/detail/lightgbm_text.h"
#include "model/detail/xgboost_model.h"

namespace bregboost {
namespace {

using nlohmann::json;

constexpr const char* kLinearFormat = "bregboost linear model";
constexpr int kLinearVersion = 1;

void CheckColumns(const FeatureArray& features, std::size_t allowed) {
  Validate(features);
  if (features.columns == allowed) return;
  throw std::invalid_argument(
      fmt::format("features: {} columns; allowed: as many as the model was trained on, {}",
                  features.columns, allowed));
}

// Row by row to class by class.
template <class Value>
std::vector<double> ClassMajor(std::span<const Value> values, std::size_t rows) {
  const std::size_t num_scores = rows == 0 ? 0 : values.size() / rows;
  std::vector<double> scores(values.size());
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t k = 0; k < num_scores; ++k) {
      scores[k * rows + i] = static_cast<double>(values[i * num_scores + k]);
    }
  }
  return scores;
}

}  // namespace

class StoredModel::Impl {
 public:
  virtual ~Impl() = default;
  virtual std::vector<double> Scores(const FeatureArray& features) const = 0;
};

namespace {

class LightGbmModel final : public StoredModel::Impl {
 public:
  LightGbmModel(const std::string& text, const std::string& library)
      : api_(detail::LightGbmApi::Load(library)) {
    detail::ParseForLightGbm(text, "model: no LightGBM model");
    int rounds = 0;
    if (api_->BoosterLoadModelFromString(text.c_str(), &rounds, &handle_) != 0) {
      throw std::invalid_argument(
          fmt::format("model: no LightGBM model: {}", api_->GetLastError()));
    }
  }
  ~LightGbmModel() override { api_->BoosterFree(handle_); }
  LightGbmModel(const LightGbmModel&) = delete;
  LightGbmModel& operator=(const LightGbmModel&) = delete;

  std::vector<double> Scores(const FeatureArray& features) const override {
    int columns = 0;
    api_->Check(api_->BoosterGetNumFeature(handle_, &columns), "reading the model");
    CheckColumns(features, static_cast<std::size_t>(columns));
    int num_scores = 0;
    api_->Check(api_->BoosterGetNumClasses(handle_, &num_scores), "reading the model");
    std::vector<double> by_row(features.rows * static_cast<std::size_t>(num_scores));
    std::int64_t length = 0;
    const int type = features.is_float32 ? detail::kLgbFloat32 : detail::kLgbFloat64;
    constexpr int kRaw = 1, kAllRounds = -1;
    if (features.layout == FeatureArray::Layout::kCsr) {
      api_->Check(
          api_->BoosterPredictForCsr(handle_, features.row_offsets.data(), detail::kLgbInt64,
                                     features.column_indices.data(), features.values, type,
                                     static_cast<std::int64_t>(features.row_offsets.size()),
                                     static_cast<std::int64_t>(features.num_values), columns, kRaw,
                                     /*start_iteration=*/0, kAllRounds, "", &length, by_row.data()),
          "predicting");
    } else {
      const bool row_major = features.layout == FeatureArray::Layout::kRowMajor;
      api_->Check(api_->BoosterPredictForMat(handle_, features.values, type,
                                             static_cast<std::int32_t>(features.rows), columns,
                                             row_major ? 1 : 0, kRaw, /*start_iteration=*/0,
                                             kAllRounds, "", &length, by_row.data()),
                  "predicting");
    }
    return ClassMajor(std::span<const double>(by_row), features.rows);
  }

 private:
  std::shared_ptr<const detail::LightGbmApi> api_;
  void* handle_ = nullptr;
};

class XgboostModel final : public StoredModel::Impl {
 public:
  XgboostModel(std::string_view bytes, const std::string& library)
      : library_(library), api_(detail::XgboostApi::Load(library)) {
    detail::ParseXgboostModel(bytes, "model: no XGBoost model");
    void* handle = nullptr;
    api_->Check(api_->BoosterCreate(nullptr, 0, &handle), "creating a booster");
    booster_ = detail::XgboostBoosterHandle(handle, {api_.get()});
    if (api_->BoosterLoadModelFromBuffer(handle, bytes.data(), bytes.size()) != 0) {
      throw std::invalid_argument(fmt::format("model: no XGBoost model: {}", api_->GetLastError()));
    }
  }

  std::vector<double> Scores(const FeatureArray& features) const override {
    detail::XgboostApi::Unsigned columns = 0;
    api_->Check(api_->BoosterGetNumFeature(booster_.get(), &columns), "reading the model");
    CheckColumns(features, columns);
    // Trees compare with values, not with bins.
    const XgboostDataset dataset = XgboostDataset::FromArray(features, {{"tree_method", "exact"}},
                                                             /*reference=*/nullptr, library_);
    constexpr const char* kMargins =
        R"({"type":1,"training":false,"iteration_begin":0,"iteration_end":0,"strict_shape":true})";
    const detail::XgboostApi::Unsigned* shape = nullptr;
    detail::XgboostApi::Unsigned dimensions = 0;
    const float* values = nullptr;
    api_->Check(api_->BoosterPredictFromDMatrix(booster_.get(), dataset.handle(), kMargins, &shape,
                                                &dimensions, &values),
                "predicting");
    std::size_t size = 1;
    for (std::size_t i = 0; i < dimensions; ++i) size *= shape[i];
    return ClassMajor(std::span(values, size), features.rows);
  }

 private:
  std::string library_;
  std::shared_ptr<const detail::XgboostApi> api_;
  detail::XgboostBoosterHandle booster_;
};

class LinearFile final : public StoredModel::Impl {
 public:
  explicit LinearFile(std::string_view text) {
    detail::CheckJsonDepth("model", text);
    try {
      const json file = json::parse(text);
      if (file.at("format") != kLinearFormat || file.at("version") != kLinearVersion) {
        throw std::invalid_argument(fmt::format("model: format {}, version {}; allowed: \"{}\", {}",
                                                file.at("format").dump(), file.at("version").dump(),
                                                kLinearFormat, kLinearVersion));
      }
      Read(file);
    } catch (const json::exception& error) {
      throw std::invalid_argument(fmt::format("model: no linear model: {}", error.what()));
    }
  }

  std::vector<double> Scores(const FeatureArray& features) const override {
    CheckColumns(features, static_cast<std::size_t>(model_.coefficients.rows()));
    const auto num_scores = static_cast<std::size_t>(model_.coefficients.cols());
    std::vector<double> scores(num_scores * features.rows);
    Matrix(features).Multiply(model_.coefficients, model_.intercept, scores);
    return scores;
  }

 private:
  void Read(const json& file) {
    const auto columns = file.at("coefficients").get<std::vector<std::vector<double>>>();
    const auto intercept = file.at("intercept").get<std::vector<double>>();
    const std::size_t length = file.at("features").get<std::vector<std::string>>().size();
    if (columns.empty() || columns.size() != intercept.size()) {
      throw std::invalid_argument(
          fmt::format("model: coefficients of {} scores and {} intercepts; allowed: as many, and "
                      "at least 1",
                      columns.size(), intercept.size()));
    }
    model_.coefficients.resize(static_cast<Eigen::Index>(length),
                               static_cast<Eigen::Index>(columns.size()));
    model_.intercept.resize(static_cast<Eigen::Index>(columns.size()));
    for (std::size_t k = 0; k < columns.size(); ++k) {
      if (columns[k].size() != length) {
        throw std::invalid_argument(
            fmt::format("model: coefficients[{}] has {} numbers; allowed: one for each of {} "
                        "features",
                        k, columns[k].size(), length));
      }
      for (std::size_t j = 0; j < length; ++j) {
        model_.coefficients(static_cast<Eigen::Index>(j), static_cast<Eigen::Index>(k)) =
            columns[k][j];
      }
      model_.intercept[static_cast<Eigen::Index>(k)] = intercept[k];
    }
  }

  static FeatureMatrix Matrix(const FeatureArray& features) {
    if (features.is_float32 || features.layout == FeatureArray::Layout::kCsr ||
        !features.categorical.empty()) {
      throw std::invalid_argument(
          "features: sparse, of single precision or with categories; allowed for a linear model: "
          "a dense array of doubles");
    }
    const std::span values(static_cast<const double*>(features.values), features.num_values);
    return features.layout == FeatureArray::Layout::kRowMajor
               ? FeatureMatrix::DenseRowMajor(values, features.rows, features.columns)
               : FeatureMatrix::DenseColumnMajor(values, features.rows, features.columns);
  }

  LinearModel model_;
};

}  // namespace

StoredModel::StoredModel(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
StoredModel::~StoredModel() = default;
StoredModel::StoredModel(StoredModel&&) noexcept = default;
StoredModel& StoredModel::operator=(StoredModel&&) noexcept = default;

StoredModel StoredModel::LightGbm(const std::string& text, const std::string& library) {
  return StoredModel(std::make_unique<LightGbmModel>(text, library));
}
StoredModel StoredModel::Xgboost(std::string_view bytes, const std::string& library) {
  return StoredModel(std::make_unique<XgboostModel>(bytes, library));
}
StoredModel StoredModel::Linear(std::string_view json_text) {
  return StoredModel(std::make_unique<LinearFile>(json_text));
}

std::vector<double> StoredModel::Scores(const FeatureArray& features) const {
  return impl_->Scores(features);
}

std::string ToJson(const LinearModel& model, std::span<const std::string> features) {
  if (features.size() != static_cast<std::size_t>(model.coefficients.rows())) {
    throw std::invalid_argument(
        fmt::format("features: {} names; allowed: one for each of {} coefficients", features.size(),
                    model.coefficients.rows()));
  }
  json coefficients = json::array();
  for (Eigen::Index k = 0; k < model.coefficients.cols(); ++k) {
    const Eigen::VectorXd column = model.coefficients.col(k);
    coefficients.push_back(std::vector<double>(column.begin(), column.end()));
  }
  const json file = {
      {"format", kLinearFormat},
      {"version", kLinearVersion},
      {"features", std::vector<std::string>(features.begin(), features.end())},
      {"coefficients", coefficients},
      {"intercept", std::vector<double>(model.intercept.begin(), model.intercept.end())}};
  return file.dump(1);
}

std::vector<double> ClassProbabilities(std::span<const double> scores, std::size_t num_rows) {
  if (num_rows == 0) return {};
  const std::size_t num_scores = scores.size() / num_rows;
  const std::size_t classes = std::max<std::size_t>(2, num_scores);
  std::vector<double> probabilities(num_rows * classes);
  for (std::size_t i = 0; i < num_rows; ++i) {
    double* row = probabilities.data() + i * classes;
    if (num_scores == 1) {
      row[0] = 1.0 / (1.0 + std::exp(scores[i]));
      row[1] = 1.0 / (1.0 + std::exp(-scores[i]));
      continue;
    }
    double largest = -std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < classes; ++k) {
      largest = std::max(largest, scores[k * num_rows + i]);
    }
    double total = 0.0;
    for (std::size_t k = 0; k < classes; ++k) {
      total += row[k] = std::exp(scores[k * num_rows + i] - largest);
    }
    for (std::size_t k = 0; k < classes; ++k) row[k] /= total;
  }
  return probabilities;
}

std::vector<std::int32_t> Decisions(std::span<const double> scores, std::size_t num_rows) {
  std::vector<std::int32_t> decisions(num_rows, 0);
  if (num_rows == 0) return decisions;
  const std::size_t num_scores = scores.size() / num_rows;
  for (std::size_t i = 0; i < num_rows; ++i) {
    if (num_scores == 1) {
      decisions[i] = scores[i] > 0.0 ? 1 : 0;
      continue;
    }
    std::size_t best = 0;
    for (std::size_t k = 1; k < num_scores; ++k) {
      if (scores[k * num_rows + i] > scores[best * num_rows + i]) best = k;
    }
    decisions[i] = static_cast<std::int32_t>(best);
  }
  return decisions;
}

}  // namespace bregboost
