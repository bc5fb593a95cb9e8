// The chosen learner on loaded rows, behind one face: every command trains through it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "bregboost/learners/lightgbm_dataset.h"
#include "bregboost/learners/xgboost_dataset.h"
#include "bregboost/pipeline/fit.h"
#include "bregboost/pipeline/frontier.h"
#include "bregboost/pipeline/paper_fit.h"
#include "data_flags.h"
#include "fit_flags.h"

namespace bregboost::cli {

class Trainer {
 public:
  // Evaluation and certification rows may be null; all rows outlive the trainer.
  Trainer(const FitFlags& flags, const LoadedRows& training, const LoadedRows* evaluation = nullptr,
          const LoadedRows* certification = nullptr);

  AutoFit Fit(const std::vector<Constraint>& constraints, FitOptions options,
              const SolveHooks& hooks) const;
  PaperFit FitPaper(const std::vector<Constraint>& constraints, const SolveHooks& hooks) const;
  Frontier Sweep(const std::vector<Constraint>& constraints, const FitOptions& options,
                 const FrontierOptions& sweep, const SolveHooks& hooks) const;

  // The file of a fit's model: its name, and what is in it.
  std::string ModelName() const;
  template <class SomeFit>
  std::string ModelFile(const SomeFit& fit) const;

  std::map<std::string, std::string> Versions() const;

 private:
  // Libraries' data sets do not show the features that they were made of.
  CheckpointOptions WithDigest(CheckpointOptions checkpoint) const;

  template <class Features>
  struct Sets {
    Features training;
    std::unique_ptr<Features> evaluation = nullptr, certification = nullptr;
  };
  template <class Features>
  FitData<Features> DataOf(const Sets<Features>& sets) const;

  const FitFlags& flags_;
  const LoadedRows& training_;
  const LoadedRows* evaluation_;
  const LoadedRows* certification_;
  std::variant<std::monostate, Sets<LightGbmDataset>, Sets<XgboostDataset>, Sets<FeatureMatrix>>
      sets_;
};

}  // namespace bregboost::cli
