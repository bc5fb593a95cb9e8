// What a fit is, for its checkpoints: everything that the trained model depends on.
#pragma once

#include <string>
#include <vector>

#include "bregboost/data/row_data.h"
#include "bregboost/learners/boosted_options.h"
#include "bregboost/learners/checkpoint.h"
#include "bregboost/learners/library_info.h"
#include "bregboost/pipeline/fit.h"
#include "bregboost/pipeline/paper_fit.h"
#include "bregboost/problem/constraint.h"

namespace bregboost::detail {

// Labels, groups, targets, weights and baseline in the order of the rows.
std::string RowsDigest(const RowData& rows);

struct FitParts {
  const RowData& training;
  const RowData* evaluation = nullptr;  // null: none
  const RowData* certification = nullptr;
  const std::vector<Constraint>& constraints;
  LibraryInfo library;
  const BoostedOptions& boosting;
  const CheckpointOptions& checkpoint;
  std::string settings;  // SettingsText()
};
TrainingIdentity IdentityOf(const FitParts& parts);

std::string SettingsText(const FitOptions& options);
std::string SettingsText(const PaperOptions& options);

// Linear models are trained in one go.
void RefuseCheckpoints(const CheckpointOptions& checkpoint);

LibraryInfo LibraryOf(const LightGbmDataset& data);
LibraryInfo LibraryOf(const XgboostDataset& data);

}  // namespace bregboost::detail
