// How often certificates are false, and how often they are found: simulated predictions with known
// true rates, for every kind of constraint.
//
//   false   true rates exactly at the limit, the hardest case: the share of sets that is certified
//           must be at most delta, up to 3 standard errors of the simulation
//   found   true rates at 60% of the limit and ten times the rows that certificates of small sets
//           ask for: at least 95% must be certified
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>

#include "../../tests/cpp/certify_simulation.h"

namespace bregboost::benchmarks {
namespace {

struct Settings {
  std::size_t sets = 2000;
  std::size_t power_sets = 200;
};

// Returns whether both shares are as they should be.
bool Run(const simulation::Scenario& scenario, const Settings& settings) {
  const auto start = std::chrono::steady_clock::now();
  const double delta = scenario.options.delta;
  const auto sets = static_cast<double>(settings.sets);
  const double false_share =
      static_cast<double>(simulation::CountCertified(scenario, scenario.rows, 1.0, settings.sets)) /
      sets;
  const double most = delta + 3.0 * std::sqrt(delta * (1.0 - delta) / sets);
  const std::size_t asked = simulation::RowsAskedFor(scenario, 0.6);
  const double found = static_cast<double>(simulation::CountCertified(scenario, 10 * asked, 0.6,
                                                                      settings.power_sets)) /
                       static_cast<double>(settings.power_sets);
  const std::string method =
      simulation::DrawCertificate(scenario, scenario.rows, 1.0, /*seed=*/1).constraints[0].method;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const bool good = false_share <= most && found >= 0.95;
  fmt::print("| {} | {} | {} | {:.1f}% | {} | {:.1f}% | {:.0f} s |{}\n", scenario.name, method,
             scenario.rows, 100.0 * false_share, asked, 100.0 * found, seconds.count(),
             good ? "" : " NOT AS IT SHOULD BE");
  std::fflush(stdout);
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
  fmt::print(
      "| constraint | method | rows | certified at the limit | rows asked for at 60% | "
      "certified with ten times those | time |\n| --- | --- | --- | --- | --- | --- | --- |\n");
  bool good = true;
  for (const auto& scenario : bregboost::simulation::Scenarios()) {
    good = bregboost::benchmarks::Run(scenario, settings) && good;
  }
  return good ? 0 : 1;
}
