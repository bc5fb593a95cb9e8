#include "fit_flags.h"

#include <fmt/format.h>
#include <omp.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "bregboost/problem/constraint_error.h"
#include "bregboost/problem/parser.h"
#include "command.h"
#include "failure.h"

namespace bregboost::cli {
namespace {

// Names that the libraries know the number of rounds by.
constexpr const char* kRoundNames[] = {
    "num_iterations", "num_boost_round", "n_estimators", "num_iteration", "n_iter",  "num_tree",
    "num_trees",      "num_round",       "num_rounds",   "nrounds",       "max_iter"};

// What is wrong with the value of a flag; nothing if it is right.
std::string CheckNonNegative(const std::string& text) {
  double value = 0.0;
  if (CLI::detail::lexical_cast(text, value) && std::isfinite(value) && value >= 0.0) return "";
  return fmt::format("'{}'; allowed: a finite number, at least 0", text);
}

GbmParameters ParametersOf(const FitFlags& flags) {
  GbmParameters parameters;
  for (const std::string& text : flags.parameters) {
    const std::size_t sign = text.find('=');
    if (sign == std::string::npos || sign == 0) {
      throw Failure(ExitCode::kUsage, fmt::format("param: '{}'; allowed: name=value", text));
    }
    parameters[text.substr(0, sign)] = text.substr(sign + 1);
  }
  const bool is_xgboost = LearnerOf(flags) == LearnerKind::kXgboost;
  if (flags.rounds > 0) {
    parameters[is_xgboost ? "num_boost_round" : "num_iterations"] = std::to_string(flags.rounds);
  }
  if (flags.threads > 0) {
    parameters[is_xgboost ? "nthread" : "num_threads"] = std::to_string(flags.threads);
  }
  // The library's chatter would break the progress line.
  if (!parameters.contains("verbosity") && !parameters.contains("verbose")) {
    parameters["verbosity"] = is_xgboost ? "0" : "-1";
  }
  return parameters;
}

}  // namespace

std::string_view Name(LearnerKind kind) {
  switch (kind) {
    case LearnerKind::kLightGbm:
      return "lightgbm";
    case LearnerKind::kXgboost:
      return "xgboost";
    case LearnerKind::kLinear:
      return "linear";
  }
  return "";
}

void AddFitFlags(CLI::App& command, FitFlags& flags, FitCommand kind) {
  const bool trains = kind == FitCommand::kTrain;
  command
      .add_option("--constraint", flags.constraints,
                  trains ? "A limit, such as 'fnr <= 5%'; may be repeated"
                         : "A limit that is kept while another is swept; may be repeated")
      ->type_name("TEXT");
  command.add_option("--learner", flags.learner, "lightgbm, xgboost or linear")
      ->capture_default_str();
  command.add_option("--param", flags.parameters, "A parameter of the library; may be repeated")
      ->type_name("NAME=VALUE");
  command.add_option("--rounds", flags.rounds, "Boosting rounds [the library's, 100]")
      ->check(CLI::PositiveNumber);
  command.add_flag("--all-rounds", flags.all_rounds,
                   "Keep every round, also where unseen rows say that fewer are better");
  command.add_option("--l2", flags.l2, "Penalty on the coefficients of a linear model")
      ->check(CheckNonNegative, "")
      ->capture_default_str();
  command
      .add_option("--objective", flags.objective,
                  "The rate to make best under the limits [accuracy; numeric target: loss]")
      ->type_name("RATE");
  command
      .add_option("--rho", flags.rho,
                  "Points of the objective that a point of violation is worth [chosen]")
      ->check(CheckNonNegative, "");
  command.add_option("--validation", flags.validation, "Unseen rows: auto, folds or holdout")
      ->capture_default_str();
  command.add_option("--folds", flags.folds, "Number of folds")->capture_default_str();
  if (trains) {
    command.add_option("--solver", flags.solver, "auto, or the paper's abpp or cbpr")
        ->capture_default_str();
    command
        .add_option("--certify", flags.certify, "Share of the rows to set aside for a certificate")
        ->capture_default_str();
    command.add_option("--delta", flags.delta, "Risk of a false certificate")
        ->capture_default_str();
    command.add_option("--max-weight", flags.max_weight,
                       "The largest weight that a row can have, for certificates of weighted rows");
    command
        .add_option("--loss-range", flags.loss_range,
                    "The smallest and the largest loss that a row can have, for certificates")
        ->expected(2)
        ->type_name("NUMBER");
    command.add_option("--deploy", flags.deploy, "After folds: fold_mean or refit")
        ->capture_default_str();
    command
        .add_option("--checkpoint-dir", flags.checkpoint.directory,
                    "Write down there how far the training is, now and then")
        ->type_name("FOLDER");
    command
        .add_option("--checkpoint-every", flags.checkpoint.every,
                    "Rounds from one checkpoint to the next")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command.add_flag("--resume", flags.checkpoint.resume,
                     "Go on from the checkpoint; without one, from the beginning");
  }
  command.add_option("--seed", flags.seed, "Of splits and searches")->capture_default_str();
  command.add_option("--threads", flags.threads, "At most [as many as there are cores]")
      ->check(CLI::PositiveNumber);
  AddLibraryFlag(command, flags.library);
}

std::vector<Constraint> ConstraintsOf(const std::vector<std::string>& texts) {
  std::vector<Constraint> constraints;
  As(ExitCode::kUsage, [&] {
    for (const std::string& text : texts) constraints.push_back(ParseConstraint(text));
  });
  return constraints;
}

LearnerKind LearnerOf(const FitFlags& flags) {
  for (const LearnerKind kind :
       {LearnerKind::kLightGbm, LearnerKind::kXgboost, LearnerKind::kLinear}) {
    if (Name(kind) == flags.learner) return kind;
  }
  throw Failure(ExitCode::kUsage,
                fmt::format("learner: '{}'; allowed: lightgbm, xgboost, linear", flags.learner));
}

FitOptions FitOptionsOf(const FitFlags& flags) {
  FitOptions options;
  options.objective = flags.objective;
  options.solver.rho = flags.rho;
  options.solver.all_rounds = flags.all_rounds;
  options.num_folds = flags.folds;
  options.certify = flags.certify;
  options.certification.delta = flags.delta;
  if (flags.max_weight > 0.0) options.certification.max_weight = flags.max_weight;
  if (flags.loss_range.size() == 2) {
    options.certification.loss_range = {.low = flags.loss_range[0], .high = flags.loss_range[1]};
  }
  options.seed = flags.seed;
  options.checkpoint = flags.checkpoint;
  if (flags.validation == "auto") {
    options.validation = Validation::kByCells;
  } else if (flags.validation == "folds") {
    options.validation = Validation::kFolds;
  } else if (flags.validation == "holdout") {
    options.validation = Validation::kHoldOut;
  } else {
    throw Failure(ExitCode::kUsage,
                  fmt::format("validation: '{}'; allowed: auto, folds, holdout", flags.validation));
  }
  if (flags.deploy == "refit") {
    options.deploy = Deploy::kRefit;
  } else if (flags.deploy != "fold_mean") {
    throw Failure(ExitCode::kUsage,
                  fmt::format("deploy: '{}'; allowed: fold_mean, refit", flags.deploy));
  }
  As(ExitCode::kUsage, [&] { Validate(options); });
  return options;
}

PaperOptions PaperOptionsOf(const FitFlags& flags) {
  PaperOptions options;
  if (flags.solver == "cbpr") options.solver = PaperSolver::kCbpr;
  options.checkpoint = flags.checkpoint;
  return options;
}

BoostedOptions BoostedOptionsOf(const FitFlags& flags) {
  // With two rounds between moves of the multipliers, folds wait for each other half as often.
  return {.parameters = ParametersOf(flags), .rounds_per_step = flags.solver == "auto" ? 2 : 1};
}

LinearOptions LinearOptionsOf(const FitFlags& flags) {
  if (!flags.parameters.empty()) {
    throw Failure(ExitCode::kUsage,
                  fmt::format("param: '{}'; allowed for a linear model: none, see --l2",
                              flags.parameters.front()));
  }
  return {.l2 = flags.l2};
}

void LimitThreads(const FitFlags& flags) {
  if (flags.threads > 0) omp_set_num_threads(flags.threads);
}

std::int64_t StepsOf(const FitFlags& flags) {
  if (LearnerOf(flags) == LearnerKind::kLinear) return 0;
  const BoostedOptions boosting = BoostedOptionsOf(flags);
  std::int64_t rounds = 100;
  for (const char* name : kRoundNames) {
    const auto found = boosting.parameters.find(name);
    if (found != boosting.parameters.end()) rounds = std::atoll(found->second.c_str());
  }
  return (rounds + boosting.rounds_per_step - 1) / boosting.rounds_per_step;
}

std::string OptionsJson(const FitFlags& flags) {
  const nlohmann::json options = {
      {"solver", flags.solver},
      {"objective", flags.objective},
      {"rho", flags.rho ? nlohmann::json(*flags.rho) : nlohmann::json()},
      {"delta", flags.delta},
      {"certify", flags.certify},
      {"validation", flags.validation},
      {"folds", flags.folds},
      {"deploy", flags.deploy},
      {"all_rounds", flags.all_rounds},
      {"threads", flags.threads}};
  return options.dump();
}

}  // namespace bregboost::cli
