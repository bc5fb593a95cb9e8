#include "trainer.h"

#include <fmt/format.h>

#include <type_traits>
#include <utility>

#include "bregboost/learners/library_info.h"
#include "bregboost/model/stored_model.h"

namespace bregboost::cli {
namespace {

// The places of a linear model's coefficients.
std::vector<std::string> FeatureNames(const ColumnEncoding& encoding) {
  std::vector<std::string> names;
  for (const FeatureEncoding& feature : encoding.features) names.push_back(feature.name);
  for (std::size_t j = 0; j < encoding.sparse_columns; ++j) names.push_back(std::to_string(j));
  return names;
}

}  // namespace

Trainer::Trainer(const FitFlags& flags, const LoadedRows& training, const LoadedRows* evaluation,
                 const LoadedRows* certification)
    : flags_(flags), training_(training), evaluation_(evaluation), certification_(certification) {
  const auto fill = [&]<class Features>(const auto& make) {
    Sets<Features> sets{.training = make(training, nullptr)};
    const auto other = [&](const LoadedRows* rows) {
      return rows == nullptr ? nullptr : std::make_unique<Features>(make(*rows, &sets.training));
    };
    sets.evaluation = other(evaluation);
    sets.certification = other(certification);
    sets_.template emplace<Sets<Features>>(std::move(sets));
  };
  switch (LearnerOf(flags)) {
    case LearnerKind::kLightGbm:
      fill.operator()<LightGbmDataset>(
          [&](const LoadedRows& rows, const LightGbmDataset* reference) {
            return LightGbmDataset::FromArray(rows.features(), BoostedOptionsOf(flags).parameters,
                                              reference, flags.library);
          });
      break;
    case LearnerKind::kXgboost:
      fill.operator()<XgboostDataset>([&](const LoadedRows& rows, const XgboostDataset* reference) {
        return XgboostDataset::FromArray(rows.features(), BoostedOptionsOf(flags).parameters,
                                         reference, flags.library);
      });
      break;
    case LearnerKind::kLinear:
      fill.operator()<FeatureMatrix>(
          [&](const LoadedRows& rows, const FeatureMatrix*) { return rows.matrix(); });
      break;
  }
}

template <class Features>
FitData<Features> Trainer::DataOf(const Sets<Features>& sets) const {
  FitData<Features> data{.training = {sets.training, training_.rows()}};
  if (sets.evaluation) {
    data.evaluation.emplace(FitRows<Features>{*sets.evaluation, evaluation_->rows()});
  }
  if (sets.certification) {
    data.certification.emplace(FitRows<Features>{*sets.certification, certification_->rows()});
  }
  return data;
}

CheckpointOptions Trainer::WithDigest(CheckpointOptions checkpoint) const {
  if (checkpoint.directory.empty()) return checkpoint;
  for (const LoadedRows* rows : {&training_, evaluation_, certification_}) {
    checkpoint.data_digest +=
        rows == nullptr ? " none" : fmt::format(" {:016x}", Fingerprint(rows->features()));
  }
  return checkpoint;
}

AutoFit Trainer::Fit(const std::vector<Constraint>& constraints, FitOptions options,
                     const SolveHooks& hooks) const {
  options.checkpoint = WithDigest(options.checkpoint);
  if (const auto* sets = std::get_if<Sets<LightGbmDataset>>(&sets_)) {
    return AutoFit::LightGbm(DataOf(*sets), constraints, BoostedOptionsOf(flags_), options, hooks);
  }
  if (const auto* sets = std::get_if<Sets<XgboostDataset>>(&sets_)) {
    return AutoFit::Xgboost(DataOf(*sets), constraints, BoostedOptionsOf(flags_), options, hooks);
  }
  return AutoFit::Linear(DataOf(std::get<Sets<FeatureMatrix>>(sets_)), constraints,
                         LinearOptionsOf(flags_), options, hooks);
}

PaperFit Trainer::FitPaper(const std::vector<Constraint>& constraints,
                           const SolveHooks& hooks) const {
  PaperOptions options = PaperOptionsOf(flags_);
  options.checkpoint = WithDigest(options.checkpoint);
  if (const auto* sets = std::get_if<Sets<LightGbmDataset>>(&sets_)) {
    return PaperFit::LightGbm(DataOf(*sets), constraints, BoostedOptionsOf(flags_), options, hooks);
  }
  if (const auto* sets = std::get_if<Sets<XgboostDataset>>(&sets_)) {
    return PaperFit::Xgboost(DataOf(*sets), constraints, BoostedOptionsOf(flags_), options, hooks);
  }
  return PaperFit::Linear(DataOf(std::get<Sets<FeatureMatrix>>(sets_)), constraints,
                          LinearOptionsOf(flags_), options, hooks);
}

Frontier Trainer::Sweep(const std::vector<Constraint>& constraints, const FitOptions& options,
                        const FrontierOptions& sweep, const SolveHooks& hooks) const {
  if (const auto* sets = std::get_if<Sets<LightGbmDataset>>(&sets_)) {
    return SweepLightGbm(DataOf(*sets), constraints, BoostedOptionsOf(flags_), options, sweep,
                         hooks);
  }
  if (const auto* sets = std::get_if<Sets<XgboostDataset>>(&sets_)) {
    return SweepXgboost(DataOf(*sets), constraints, BoostedOptionsOf(flags_), options, sweep,
                        hooks);
  }
  return SweepLinear(DataOf(std::get<Sets<FeatureMatrix>>(sets_)), constraints,
                     LinearOptionsOf(flags_), options, sweep, hooks);
}

std::string Trainer::ModelName() const {
  switch (LearnerOf(flags_)) {
    case LearnerKind::kLightGbm:
      return "model.txt";
    case LearnerKind::kXgboost:
      return "model.ubj";
    case LearnerKind::kLinear:
      break;
  }
  return "model.json";
}

template <class SomeFit>
std::string Trainer::ModelFile(const SomeFit& fit) const {
  if (LearnerOf(flags_) != LearnerKind::kLinear) return fit.Model();
  return ToJson(fit.Coefficients(), FeatureNames(training_.encoding()));
}
template std::string Trainer::ModelFile(const AutoFit& fit) const;
template std::string Trainer::ModelFile(const PaperFit& fit) const;

std::map<std::string, std::string> Trainer::Versions() const {
  std::map<std::string, std::string> versions = {{"bregboost", BREGBOOST_VERSION}};
  switch (LearnerOf(flags_)) {
    case LearnerKind::kLightGbm:
      versions["lightgbm"] = FindLightGbm(flags_.library).version;
      break;
    case LearnerKind::kXgboost:
      versions["xgboost"] = FindXgboost(flags_.library).version;
      break;
    case LearnerKind::kLinear:
      break;
  }
  return versions;
}

}  // namespace bregboost::cli
