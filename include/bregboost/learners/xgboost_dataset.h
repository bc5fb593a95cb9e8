// Binned features inside XGBoost: made from arrays, or somebody else's DMatrix.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bregboost/data/feature_array.h"
#include "bregboost/learners/boosted_options.h"

namespace bregboost {

namespace detail {
class XgboostApi;
}

// A cheap handle; copies share the data.
class XgboostDataset {
 public:
  // Bins `features` as the parameters say (max_bin, nthread): a QuantileDMatrix, or a plain DMatrix
  // where the tree_method is `exact` or `approx`, which do without bins. A held-out set is binned
  // like its `reference`, the training set. `library` is the path of a shared library to
  // use in place of the one that is found (docs/learners.md says where).
  static XgboostDataset FromArray(const FeatureArray& features,
                                  const GbmParameters& parameters = {},
                                  const XgboostDataset* reference = nullptr,
                                  const std::string& library = {});

  // `handle` is an XGBoost DMatrixHandle of the same shared library. It stays its owner's, who
  // keeps it alive; training leaves it as it was. Labels and weights in it are not looked at.
  static XgboostDataset Adopt(void* handle, const std::string& library = {});

  // Scores to start from, class-major, one per row and score; they replace the library's starting
  // score and, as in the stock library, are no part of the model.
  void SetBaseMargin(std::span<const double> margins);
  std::vector<double> BaseMargin() const;  // class-major; empty: none

  std::size_t num_rows() const;
  std::size_t num_columns() const;
  void* handle() const;
  const std::shared_ptr<const detail::XgboostApi>& api() const;

 private:
  class Impl;
  explicit XgboostDataset(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

  std::shared_ptr<Impl> impl_;
};

}  // namespace bregboost
