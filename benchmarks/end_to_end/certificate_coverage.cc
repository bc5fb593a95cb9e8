// How often certificates are false, and how often they are found: simulated predictions with known
// true rates, for every kind of constraint, and where few rows decide.
//
//   false   true rates exactly at the limit, the hardest case: the share of sets that is certified
//           must be at most delta, up to 3 standard errors of the simulation
//   found   true rates at 60% of the limit and ten times the rows that certificates of small sets
//           ask for: at least 95% must be certified
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdio>
#include <string>

#include "../../tests/cpp/certify_scenarios.h"

namespace bregboost::benchmarks {
namespace {

struct Settings {
  std::size_t sets = 2000;
  std::size_t power_sets = 200;
};

// The share of sets at the limit that is certified; prints the row of the table up to there.
bool RunAtTheLimit(const simulation::Scenario& scenario, std::size_t sets) {
  const double delta = scenario.options.delta;
  const auto count = static_cast<double>(sets);
  const double share = static_cast<double>(simulation::CountCertified(scenario, sets)) / count;
  const std::string method =
      simulation::DrawCertificate(scenario, scenario.rows, 1.0, /*seed=*/1).constraints[0].method;
  fmt::print("| {} | {} | {} | {:.1f}% |", scenario.name, method, scenario.rows, 100.0 * share);
  return share <= simulation::MostOf(sets, delta) / count;
}

// Whether enough of the sets at 60% of the limit are certified; prints the rest of the row.
bool RunBelowTheLimit(const simulation::Scenario& scenario, std::size_t sets) {
  const std::size_t asked = simulation::RowsAskedFor(scenario, 0.6);
  const double found =
      static_cast<double>(simulation::Simulate(scenario, 10 * asked, 0.6, sets).certified) /
      static_cast<double>(sets);
  fmt::print(" {} | {:.1f}% |", asked, 100.0 * found);
  return found >= 0.95;
}

void EndRow(bool good) {
  fmt::print("{}\n", good ? "" : " NOT AS IT SHOULD BE");
  std::fflush(stdout);
}

bool RunAll(const Settings& settings) {
  bool good = true;
  fmt::print(
      "| constraint | method | rows | certified at the limit | rows asked for | certified at 60% "
      "|\n"
      "| --- | --- | --- | --- | --- | --- |\n");
  for (const auto& scenario : simulation::Scenarios()) {
    const bool is_sound = RunAtTheLimit(scenario, settings.sets);
    const bool is_found = RunBelowTheLimit(scenario, settings.power_sets);
    EndRow(is_sound && is_found);
    good = good && is_sound && is_found;
  }
  fmt::print(
      "\n| few rows | method | rows | certified at the limit |\n| --- | --- | --- | --- |\n");
  for (const auto& scenario : simulation::FewRows()) {
    const bool is_sound = RunAtTheLimit(scenario, settings.sets);
    EndRow(is_sound);
    good = good && is_sound;
  }
  return good;
}

}  // namespace
}  // namespace bregboost::benchmarks

int main(int argc, char** argv) {
  bregboost::benchmarks::Settings settings;
  CLI::App app("How often certificates are false, and how often they are found.");
  app.add_option("--sets", settings.sets, "Simulated sets at the limit")
      ->check(CLI::Range(100, 1000000));
  app.add_option("--power-sets", settings.power_sets, "Simulated sets at 60% of the limit")
      ->check(CLI::Range(20, 1000000));
  CLI11_PARSE(app, argc, argv);
  return bregboost::benchmarks::RunAll(settings) ? 0 : 1;
}
