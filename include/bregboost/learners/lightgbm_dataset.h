// Binned features inside LightGBM: made from arrays, or somebody else's Dataset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "bregboost/data/feature_array.h"
#include "bregboost/learners/boosted_options.h"

namespace bregboost {

namespace detail {
class LightGbmApi;
}

// A cheap handle; copies share the data.
class LightGbmDataset {
 public:
  // Bins `features` as the parameters say (max_bin, min_data_in_bin, ...). A held-out set is binned
  // like its `reference`, the training set. `library` is the path of a shared library to
  // use in place of the one that is found (docs/learners.md says where).
  static LightGbmDataset FromArray(const FeatureArray& features,
                                   const GbmParameters& parameters = {},
                                   const LightGbmDataset* reference = nullptr,
                                   const std::string& library = {});

  // `handle` is a LightGBM DatasetHandle of the same shared library. It stays its owner's, who
  // keeps it alive; training leaves its fields as they were.
  static LightGbmDataset Adopt(void* handle, const std::string& library = {});

  // The rows, in rising order, with the same bins.
  LightGbmDataset Subset(std::span<const std::int32_t> rows) const;

  // Scores to start from, class-major, one per row and score; they replace the library's starting
  // score and, as in the stock library, are no part of the model.
  void SetInitialScores(std::span<const double> scores);
  std::span<const double> initial_scores() const;  // empty: none

  std::size_t num_rows() const;
  std::size_t num_features() const;
  void* handle() const;
  const std::shared_ptr<const detail::LightGbmApi>& api() const;

 private:
  class Impl;
  explicit LightGbmDataset(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

  std::shared_ptr<Impl> impl_;
};

}  // namespace bregboost
