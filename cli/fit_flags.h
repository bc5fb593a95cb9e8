// What to train, under which limits and how: flags into options of the library.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bregboost/learners/boosted_options.h"
#include "bregboost/learners/linear.h"
#include "bregboost/pipeline/fit.h"
#include "bregboost/pipeline/paper_fit.h"
#include "bregboost/problem/constraint.h"

namespace bregboost::cli {

enum class LearnerKind { kLightGbm, kXgboost, kLinear };
std::string_view Name(LearnerKind kind);  // "lightgbm", "xgboost", "linear"

struct FitFlags {
  std::vector<std::string> constraints, parameters;
  std::string learner = "lightgbm", solver = "auto", objective, validation = "auto",
              deploy = "fold_mean", library;
  std::optional<double> rho;  // none: chosen
  double delta = 0.1, certify = 0.0, l2 = 1e-4, max_weight = 0.0;
  std::vector<double> loss_range;
  std::size_t folds = 5;
  std::int64_t rounds = 0;  // 0: the library's own number
  bool all_rounds = false;
  int threads = 0;  // 0: as many as there are cores
  std::uint64_t seed = 0;
  CheckpointOptions checkpoint;
};

// Solvers are for training; a sweep is always the automatic one's, and nothing is certified in it.
enum class FitCommand { kTrain, kSweep };
void AddFitFlags(CLI::App& command, FitFlags& flags, FitCommand kind);

// All that return a value throw Failure.
std::vector<Constraint> ConstraintsOf(const std::vector<std::string>& texts);
LearnerKind LearnerOf(const FitFlags& flags);
FitOptions FitOptionsOf(const FitFlags& flags);
PaperOptions PaperOptionsOf(const FitFlags& flags);
BoostedOptions BoostedOptionsOf(const FitFlags& flags);
LinearOptions LinearOptionsOf(const FitFlags& flags);
// Holds for reading tables and for linear models as for the libraries.
void LimitThreads(const FitFlags& flags);
// Steps that a fit will take at most, for progress; 0: unknown.
std::int64_t StepsOf(const FitFlags& flags);
// JSON: all but the learner's own parameters.
std::string OptionsJson(const FitFlags& flags);

}  // namespace bregboost::cli
