#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "bregboost/certify/certificate.h"
#include "bregboost/problem/compiled_constraints.h"
#include "command.h"
#include "data_flags.h"
#include "explain.h"
#include "fit_flags.h"
#include "text_tables.h"

namespace bregboost::cli {
namespace {

constexpr const char* kExample =
    "  bregboost constraints --data adult.csv --label income --positive '>50K' \\\n"
    "    --constraint 'gap(fnr, by=(sex, race)) <= 5%'\n"
    "\n"
    "Says what every limit means, how many rows it is about, and which groups are too small\n"
    "to show anything at the confidence asked for, even if no row of them were wrong.";

struct Settings {
  CommonFlags common;
  DataFlags data;
  std::vector<std::string> constraints;
  double delta = 0.1;
};

nlohmann::json ToJson(const Constraint& constraint, const ConstraintVerdict& verdict,
                      const CompiledConstraint& compiled) {
  nlohmann::json small = nlohmann::json::array(), groups = nlohmann::json::array();
  for (const SubsetRows& subset : verdict.too_small) {
    small.push_back({{"subset", subset.subset}, {"rows", subset.rows}});
    if (subset.rows_needed) small.back()["rows_needed"] = *subset.rows_needed;
  }
  for (const MeasuredRate& rate : compiled.rates) {
    if (!rate.group.empty()) groups.push_back(rate.group);
  }
  return {{"text", ToText(constraint)}, {"meaning", Explain(constraint)},
          {"rows", verdict.rows},       {"limits", compiled.num_rows},
          {"groups", groups},           {"too_small", small}};
}

void Run(const Settings& settings) {
  const std::vector<Constraint> constraints = ConstraintsOf(settings.constraints);
  const LoadedRows loaded = LoadForTraining(settings.data, constraints, /*linear=*/false);
  CompiledConstraints compiled;
  As(ExitCode::kUsage, [&] { compiled = Compile(constraints, loaded.rows()); });
  Certificate perfect;  // how many rows there are to show something with
  As(ExitCode::kUsage, [&] {
    CertifyOptions options{.delta = settings.delta};
    options.loss_range = LossRange{};
    const Predictions labels{.classes = loaded.rows().labels.codes,
                             .losses = std::vector<double>(loaded.num_rows(), 0.0)};
    perfect = Certify(labels, loaded.rows(), constraints, options);
  });
  if (settings.common.json) {
    nlohmann::json result = nlohmann::json::array();
    for (std::size_t c = 0; c < constraints.size(); ++c) {
      result.push_back(ToJson(constraints[c], perfect.constraints[c], compiled.constraints[c]));
    }
    fmt::print("{}\n", result.dump(1));
    return;
  }
  for (std::size_t c = 0; c < constraints.size(); ++c) {
    fmt::print("{}\n  {}\n  about {} of {} rows, {} limit{}\n", ToText(constraints[c]),
               Explain(constraints[c]), perfect.constraints[c].rows, loaded.num_rows(),
               compiled.constraints[c].num_rows, compiled.constraints[c].num_rows == 1 ? "" : "s");
    for (const SubsetRows& subset : perfect.constraints[c].too_small) {
      fmt::print("  - too small for {:.4g}% confidence: {}, {} rows{}\n",
                 100.0 * (1.0 - settings.delta), subset.subset, subset.rows,
                 subset.rows_needed ? fmt::format(" of {} needed", *subset.rows_needed) : "");
    }
  }
}

}  // namespace

void AddConstraintsCommand(CLI::App& app) {
  const auto settings = std::make_shared<Settings>();
  CLI::App& command =
      AddCommand(app, "constraints", "Check limits against a file, and explain them", kExample,
                 settings->common);
  AddDataFlags(command, settings->data, Labels::kNeeded);
  command.add_option("--constraint", settings->constraints, "A limit; may be repeated")
      ->type_name("TEXT")
      ->required();
  command.add_option("--delta", settings->delta, "Risk of a false certificate")
      ->capture_default_str();
  command.callback([settings] { Run(*settings); });
}

}  // namespace bregboost::cli
