// The learner of a fit, made from its split: folds or a hold-out, of either library or linear.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bregboost/learners/cross_fit.h"
#include "bregboost/pipeline/fit.h"
#include "pipeline/detail/fit_split.h"

namespace bregboost::detail {

using WriteModel = std::function<std::string(const ModelAdjustment&)>;
using WriteLinear = std::function<LinearModel(const ModelAdjustment&)>;

// The functions write the model that the learner is at; only one of them is set. Whoever keeps them
// keeps the learner.
struct FitLearner {
  std::unique_ptr<CrossFitLearner> learner;
  std::size_t num_models = 1;  // whose trees the model holds
  WriteModel write_model = nullptr;
  WriteLinear write_linear = nullptr;
};

// `split` outlives the learner.
FitLearner MakeLearner(const FitData<LightGbmDataset>& data, FitSplit& split,
                       const BoostedOptions& boosting, const FitOptions& options);
FitLearner MakeLearner(const FitData<XgboostDataset>& data, FitSplit& split,
                       const BoostedOptions& boosting, const FitOptions& options);
FitLearner MakeLearner(const FitData<FeatureMatrix>& data, FitSplit& split,
                       const LinearOptions& linear, const FitOptions& options);

// One model on the rows of all folds, by the steps that the fold models took.
struct Refitted {
  WriteModel write_model;
  std::vector<double> reserved_scores;
};
Refitted Refit(const FitData<LightGbmDataset>& data, FitSplit& split,
               const BoostedOptions& boosting, const AutoResult& folds);
Refitted Refit(const FitData<XgboostDataset>& data, FitSplit& split, const BoostedOptions& boosting,
               const AutoResult& folds);

// How many threads the user allows; 0: as many as there are.
int ThreadsOf(const FitData<LightGbmDataset>& data, const BoostedOptions& boosting);
int ThreadsOf(const FitData<XgboostDataset>& data, const BoostedOptions& boosting);

BoostedOptions WithoutEarlyStopping(const FitData<LightGbmDataset>& data, BoostedOptions boosting);
BoostedOptions WithoutEarlyStopping(const FitData<XgboostDataset>& data, BoostedOptions boosting);

}  // namespace bregboost::detail
