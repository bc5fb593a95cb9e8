#include "bregboost/learners/lightgbm_dataset.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "learners/detail/lightgbm_api.h"
#include "learners/detail/lightgbm_fields_lock.h"
#include "learners/detail/lightgbm_parameters.h"

namespace bregboost {

class LightGbmDataset::Impl {
 public:
  Impl(std::shared_ptr<const detail::LightGbmApi> library, void* dataset, bool is_ours)
      : api(std::move(library)), handle(dataset), owned(is_ours) {}
  ~Impl() {
    if (owned) api->DatasetFree(handle);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  std::shared_ptr<const detail::LightGbmApi> api;
  void* handle;
  bool owned;
};

LightGbmDataset LightGbmDataset::FromArray(const FeatureArray& features,
                                           const GbmParameters& parameters,
                                           const LightGbmDataset* reference,
                                           const std::string& library) {
  Validate(features);
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
  if (features.rows > kMost) {
    throw std::invalid_argument(
        fmt::format("rows: {}; allowed by LightGBM: at most {}", features.rows, kMost));
  }
  const auto api = reference != nullptr ? reference->api() : detail::LightGbmApi::Load(library);
  detail::CheckLightGbmNames(parameters, *api);
  std::string text = detail::LightGbmParameterText(detail::LightGbmDataParameters(parameters));
  if (!features.categorical.empty()) {
    text += fmt::format(" categorical_feature={}", fmt::join(features.categorical, ","));
  }
  const int type = features.is_float32 ? detail::kLgbFloat32 : detail::kLgbFloat64;
  void* reference_handle = reference == nullptr ? nullptr : reference->handle();
  void* handle = nullptr;
  if (features.layout == FeatureArray::Layout::kCsr) {
    api->Check(api->DatasetCreateFromCSR(features.row_offsets.data(), detail::kLgbInt64,
                                         features.column_indices.data(), features.values, type,
                                         static_cast<std::int64_t>(features.row_offsets.size()),
                                         static_cast<std::int64_t>(features.num_values),
                                         static_cast<std::int64_t>(features.columns), text.c_str(),
                                         reference_handle, &handle),
               "making a data set");
  } else {
    const bool row_major = features.layout == FeatureArray::Layout::kRowMajor;
    api->Check(
        api->DatasetCreateFromMat(features.values, type, static_cast<std::int32_t>(features.rows),
                                  static_cast<std::int32_t>(features.columns), row_major ? 1 : 0,
                                  text.c_str(), reference_handle, &handle),
        "making a data set");
  }
  LightGbmDataset dataset(std::make_shared<Impl>(api, handle, /*is_ours=*/true));
  if (!features.names.empty()) {
    std::vector<const char*> names;
    for (const std::string& name : features.names) names.push_back(name.c_str());
    api->Check(api->DatasetSetFeatureNames(handle, names.data(), static_cast<int>(names.size())),
               "naming the features");
  }
  return dataset;
}

LightGbmDataset LightGbmDataset::Adopt(void* handle, const std::string& library) {
  if (handle == nullptr) throw std::invalid_argument("handle: null; allowed: a LightGBM Dataset");
  return LightGbmDataset(
      std::make_shared<Impl>(detail::LightGbmApi::Load(library), handle, /*is_ours=*/false));
}

LightGbmDataset LightGbmDataset::Subset(std::span<const std::int32_t> rows) const {
  if (rows.empty()) throw std::invalid_argument("rows: none; allowed: at least 1");
  if (!std::is_sorted(rows.begin(), rows.end()) || rows.front() < 0 ||
      static_cast<std::size_t>(rows.back()) >= num_rows()) {
    throw std::invalid_argument(
        fmt::format("rows: from {} to {}; allowed: 0 to {}, in rising order", rows.front(),
                    rows.back(), num_rows() - 1));
  }
  void* handle = nullptr;
  const auto lock = detail::LockLightGbmFields();
  api()->Check(
      api()->DatasetGetSubset(impl_->handle, rows.data(), static_cast<std::int32_t>(rows.size()),
                              "verbosity=-1", &handle),
      "taking rows of a data set");
  return LightGbmDataset(std::make_shared<Impl>(api(), handle, /*is_ours=*/true));
}

void LightGbmDataset::SetInitialScores(std::span<const double> scores) {
  if (scores.empty() || scores.size() % num_rows() != 0) {
    throw std::invalid_argument(fmt::format(
        "initial scores: {}; allowed: a multiple of the {} rows", scores.size(), num_rows()));
  }
  const auto set = [&](std::span<const double> values) {
    api()->Check(api()->DatasetSetField(impl_->handle, "init_score", values.data(),
                                        static_cast<int>(values.size()), detail::kLgbFloat64),
                 "setting initial scores");
  };
  // LightGBM makes room for scores only where it has none: more than before would not fit.
  if (scores.size() != initial_scores().size()) set({});
  set(scores);
}

std::span<const double> LightGbmDataset::initial_scores() const {
  int size = 0;
  int type = 0;
  const void* data = nullptr;
  api()->Check(api()->DatasetGetField(impl_->handle, "init_score", &size, &data, &type),
               "reading initial scores");
  if (size == 0 || data == nullptr) return {};
  return {static_cast<const double*>(data), static_cast<std::size_t>(size)};
}

std::size_t LightGbmDataset::num_rows() const {
  std::int32_t rows = 0;
  api()->Check(api()->DatasetGetNumData(impl_->handle, &rows), "counting rows");
  return static_cast<std::size_t>(rows);
}

std::size_t LightGbmDataset::num_features() const {
  std::int32_t features = 0;
  api()->Check(api()->DatasetGetNumFeature(impl_->handle, &features), "counting features");
  return static_cast<std::size_t>(features);
}

void* LightGbmDataset::handle() const { return impl_->handle; }

const std::shared_ptr<const detail::LightGbmApi>& LightGbmDataset::api() const {
  return impl_->api;
}

}  // namespace bregboost
