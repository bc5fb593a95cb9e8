// What constraints cost: whole trainings by the learners against the stock library training as many
// trees on the same binned data with its own objective.
//
// Rounds of the two are interleaved one by one in a single process, so that whatever else the
// machine does hits both; a run's ratio is the ratio of the summed times, and the table shows the
// median over runs. Where two cannot be interleaved, whole trainings alternate. Peak memory comes
// from child processes, one per case.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bregboost/problem/parser.h"
#include "bregboost/problem/rate_constraints.h"
#include "bregboost/solve/abpp.h"
#include "stock_trainers.h"

namespace bregboost::benchmarks {
namespace {

using Clock = std::chrono::steady_clock;

double Since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

struct Settings {
  std::size_t rows = 1'000'000;
  std::int64_t trees = 100;
  int threads = 1;
  int repeats = 5;
};

// A limit that stays slack leaves the trees what the stock library grows, so that the difference in
// time is what the constraint costs; one that binds makes other trees, which take a time of their
// own.
std::vector<Constraint> SlackLimit() { return {ParseConstraint("error(class=0) <= 90%")}; }
std::vector<Constraint> BindingLimit() { return {ParseConstraint("error(class=1) <= 30%")}; }

// Differences between groups, slack as well; with two labels they make 100 cells.
std::vector<Constraint> GroupLimits(std::size_t count) {
  std::vector<Constraint> limits;
  for (std::size_t step = 1; limits.size() < count; ++step) {
    for (std::size_t g = 0; g < kGroups && limits.size() < count; ++g) {
      limits.push_back(ParseConstraint(
          fmt::format("error(group=g{}) - error(group=g{}) <= 90%", g, (g + step) % kGroups)));
    }
  }
  return limits;
}

// Fixed steps: every iteration is one step, none is taken back.
AbppOptions FixedSteps(std::int64_t iterations) {
  AbppOptions options;
  options.step_rule = StepRule::kComputed;
  options.primal_step = 20.0;
  options.dual_step = 0.5;
  options.termination.max_iterations = iterations;
  options.termination.stationarity_tolerance = 0.0;
  return options;
}

struct Times {
  double ours = 0.0;
  double stock = 0.0;
};

// Our solve, with stock rounds squeezed in between its iterations off the clock.
Times Interleave(ProximalLearner& learner, RateConstraints& constraints, std::int64_t iterations,
                 const std::function<void()>& also_per_iteration,
                 const std::function<void()>& stock_iteration) {
  Times times;
  Clock::time_point mark = Clock::now();
  SolveHooks hooks;
  hooks.on_iteration = [&](const IterationStats& stats) {
    if (also_per_iteration && stats.k > 0) also_per_iteration();
    times.ours += Since(mark);
    if (stats.k < iterations && stock_iteration) {
      const Clock::time_point start = Clock::now();
      stock_iteration();
      times.stock += Since(start);
    }
    mark = Clock::now();
    return true;
  };
  const AbppResult result = SolveAbpp(learner, constraints, FixedSteps(iterations), hooks);
  if (result.reason != TerminationReason::kIterationLimit) {
    throw std::runtime_error(
        fmt::format("the solve ended {}: {}", Name(result.reason), result.detail));
  }
  return times;
}

struct Row {
  std::string name;
  Settings settings;
  double target = 0.0;
  std::vector<double> ratios;
  double ours_seconds = 0.0;  // medians over runs
  double base_seconds = 0.0;
};

class Report {
 public:
  void Add(Row row, const std::vector<Times>& runs) {
    std::vector<double> ours, base;
    for (const Times& run : runs) {
      row.ratios.push_back(run.ours / run.stock);
      ours.push_back(run.ours);
      base.push_back(run.stock);
    }
    row.ours_seconds = Median(ours);
    row.base_seconds = Median(base);
    Print(row);
    rows_.push_back(std::move(row));
  }

  void AddMemory(const std::string& name, std::size_t rows, double target, double ours_mib,
                 double base_mib) {
    Row row{.name = name, .settings = {}, .target = target, .ratios = {ours_mib / base_mib}};
    row.settings.rows = rows;
    row.ours_seconds = ours_mib;
    row.base_seconds = base_mib;
    fmt::print("| {} | {} | | {:.3f} | | {:.2f} | {:.0f} MiB | {:.0f} MiB |\n", name, rows,
               row.ratios[0], target, ours_mib, base_mib);
    std::fflush(stdout);
    rows_.push_back(std::move(row));
  }

  static void Header() {
    fmt::print("| case | rows | threads | ratio | spread | target | ours | base |\n");
    fmt::print("|---|---|---|---|---|---|---|---|\n");
  }

  void Write(const std::filesystem::path& path) const {
    nlohmann::json all = nlohmann::json::array();
    for (const Row& row : rows_) {
      all.push_back({{"case", row.name},
                     {"rows", row.settings.rows},
                     {"threads", row.settings.threads},
                     {"trees", row.settings.trees},
                     {"ratios", row.ratios},
                     {"median_ratio", Median(row.ratios)},
                     {"target", row.target},
                     {"ours", row.ours_seconds},
                     {"base", row.base_seconds}});
    }
    const std::filesystem::path beside = path.string() + ".new";
    std::ofstream(beside) << all.dump(1) << '\n';
    std::filesystem::rename(beside, path);
  }

 private:
  static void Print(const Row& row) {
    const auto [low, high] = std::minmax_element(row.ratios.begin(), row.ratios.end());
    fmt::print("| {} | {} | {} | {:.3f} | {:.3f}-{:.3f} | {:.2f} | {:.2f} s | {:.2f} s |\n",
               row.name, row.settings.rows, row.settings.threads, Median(row.ratios), *low, *high,
               row.target, row.ours_seconds, row.base_seconds);
    std::fflush(stdout);
  }

  std::vector<Row> rows_;
};

template <class Library>
class Cases {
 public:
  using Dataset = typename Library::Dataset;

  Cases(const Settings& settings, Report& report, const std::function<bool(std::string)>& wanted)
      : settings_(settings), report_(report), wanted_(wanted) {}

  void Run() {
    const SyntheticData binary = MakeSyntheticData(settings_.rows, 2, 1);
    const Dataset dataset =
        Dataset::FromArray(Features(binary), Library::Parameters(settings_.threads));
    const double target = std::string(Library::kName) == "LightGBM" ? 0.97 : 1.0;
    AgainstStock("binary, 1 constraint", binary, dataset, SlackLimit(), settings_.trees, target);
    AgainstStock("binary, 1 binding constraint", binary, dataset, BindingLimit(), settings_.trees,
                 target);
    ManyConstraints(binary, dataset);
    WithHeldOut(binary, dataset);
    if (settings_.threads == 2) Lockstep(binary, dataset);
    const SyntheticData seven = MakeSyntheticData(settings_.rows, 7, 2);
    const Dataset seven_dataset =
        Dataset::FromArray(Features(seven), Library::Parameters(settings_.threads));
    AgainstStock("7 classes, 1 constraint", seven, seven_dataset, SlackLimit(),
                 (settings_.trees + 6) / 7, 1.0);
    AgainstStock("7 classes, 1 binding constraint", seven, seven_dataset, BindingLimit(),
                 (settings_.trees + 6) / 7, 1.0);
  }

 private:
  std::unique_ptr<BoostedLearner> Learner(const Dataset& dataset, const Objective& objective,
                                          std::span<const HeldOut<Dataset>> held_out = {}) {
    return Library::Learner(dataset, objective,
                            {.parameters = Library::Parameters(settings_.threads)}, held_out);
  }

  std::optional<Row> Start(const std::string& name, double target) const {
    const std::string full = std::string(Library::kName) + " " + name;
    if (!wanted_(full)) return std::nullopt;
    return Row{.name = full, .settings = settings_, .target = target, .ratios = {}};
  }

  void AgainstStock(const std::string& name, const SyntheticData& data, const Dataset& dataset,
                    const std::vector<Constraint>& limits, std::int64_t rounds, double target) {
    const auto row = Start(name, target);
    if (!row) return;
    const Objective objective(data.rows, {});
    RateConstraints constraints(limits, data.rows);
    std::vector<Times> runs;
    for (int run = 0; run < settings_.repeats; ++run) {
      typename Library::Stock stock(dataset, data.rows, settings_.threads);
      const auto learner = Learner(dataset, objective);
      runs.push_back(Interleave(*learner, constraints, rounds, nullptr, [&] { stock.Round(); }));
    }
    report_.Add(*row, runs);
  }

  // Two of our own trainings: with 1,000 constraints and, as base, with one over the same cells.
  void ManyConstraints(const SyntheticData& data, const Dataset& dataset) {
    const auto row = Start("1,000 constraints / 1", 1.02);
    if (!row) return;
    const Objective objective(data.rows, {});
    RateConstraints many(GroupLimits(1000), data.rows);
    RateConstraints one(GroupLimits(1), data.rows);
    const auto train = [&](RateConstraints& constraints) {
      const auto learner = Learner(dataset, objective);
      return Interleave(*learner, constraints, settings_.trees, nullptr, nullptr).ours;
    };
    std::vector<Times> runs;
    for (int run = 0; run < settings_.repeats; ++run) {
      Times times;
      // Alternate which goes first.
      if (run % 2 == 0) {
        times.stock = train(one);
        times.ours = train(many);
      } else {
        times.ours = train(many);
        times.stock = train(one);
      }
      runs.push_back(times);
    }
    report_.Add(*row, runs);
  }

  void WithHeldOut(const SyntheticData& data, const Dataset& dataset) {
    const auto row = Start("binary, 20% held out", 1.08);
    if (!row) return;
    const Objective objective(data.rows, {});
    RateConstraints constraints(SlackLimit(), data.rows);
    const SyntheticData other = MakeSyntheticData(settings_.rows / 5, 2, 3);
    const Objective other_objective(other.rows, {});
    const RateConstraints other_constraints(SlackLimit(), other.rows);
    const HeldOut<Dataset> held_out{
        .dataset =
            Dataset::FromArray(Features(other), Library::Parameters(settings_.threads), &dataset),
        .objective = &other_objective};
    std::vector<Times> runs;
    for (int run = 0; run < settings_.repeats; ++run) {
      typename Library::Stock stock(dataset, data.rows, settings_.threads);
      const auto learner = Learner(dataset, objective, {&held_out, 1});
      runs.push_back(Interleave(
          *learner, constraints, settings_.trees,
          [&] { learner->EvaluateHeldOut(0, other_constraints); }, [&] { stock.Round(); }));
    }
    report_.Add(*row, runs);
  }

  // Five fold boosters, out-of-fold rates every second round, against one stock booster that has
  // both threads.
  void Lockstep(const SyntheticData& data, const Dataset& dataset) {
    const auto row = Start("5 folds in lockstep", 4.8);
    if (!row) return;
    constexpr std::int64_t kRoundsPerStep = 2;
    const Objective objective(data.rows, {});
    RateConstraints constraints(SlackLimit(), data.rows);
    std::vector<Times> runs;
    for (int run = 0; run < settings_.repeats; ++run) {
      Times times;
      {
        // One after the other: LightGBM's number of threads is the process's, and the booster made
        // last sets it.
        typename Library::Stock stock(dataset, data.rows, settings_.threads);
        const Clock::time_point start = Clock::now();
        for (std::int64_t r = 0; r < settings_.trees; ++r) stock.Round();
        times.stock = Since(start);
      }
      const auto learner =
          Library::Lockstep(dataset, objective, constraints,
                            {.boosting = {.parameters = Library::Parameters(settings_.threads),
                                          .rounds_per_step = kRoundsPerStep}});
      times.ours =
          Interleave(*learner, constraints, settings_.trees / kRoundsPerStep, nullptr, nullptr)
              .ours;
      runs.push_back(times);
    }
    report_.Add(*row, runs);
  }

  Settings settings_;
  Report& report_;
  const std::function<bool(std::string)>& wanted_;
};

// ---- memory

double PeakMib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024.0;
  }
  throw std::runtime_error("no VmHWM in /proc/self/status");
}

// In a child process: one training, then the peak on standard output.
template <class Library>
void TrainForMemory(const std::string& what, const Settings& settings) {
  const SyntheticData data = MakeSyntheticData(settings.rows, 2, 1);
  const auto dataset =
      Library::Dataset::FromArray(Features(data), Library::Parameters(settings.threads));
  if (what == "stock") {
    typename Library::Stock stock(dataset, data.rows, settings.threads);
    for (std::int64_t r = 0; r < settings.trees; ++r) stock.Round();
  } else {
    const Objective objective(data.rows, {});
    RateConstraints constraints(SlackLimit(), data.rows);
    const BoostedOptions boosting{.parameters = Library::Parameters(settings.threads)};
    if (what == "one booster") {
      const auto learner = Library::Learner(dataset, objective, boosting, {});
      Interleave(*learner, constraints, settings.trees, nullptr, nullptr);
    } else {
      const auto learner =
          Library::Lockstep(dataset, objective, constraints, {.boosting = boosting});
      Interleave(*learner, constraints, settings.trees, nullptr, nullptr);
    }
  }
  fmt::print("{}\n", PeakMib());
}

double MemoryOf(const std::string& self, const std::string& library, const std::string& what,
                const Settings& settings) {
  const std::string command =
      fmt::format("'{}' --memory-library {} --memory-case '{}' --rows {} --trees {} --threads {}",
                  self, library, what, settings.rows, settings.trees, settings.threads);
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start " + command);
  char line[64] = {};
  const bool answered = std::fgets(line, sizeof line, pipe) != nullptr;
  if (pclose(pipe) != 0 || !answered) throw std::runtime_error("failed: " + command);
  return std::stod(line);
}

void CompareMemory(const std::string& self, const std::string& library, const Settings& settings,
                   Report& report) {
  const double stock = MemoryOf(self, library, "stock", settings);
  report.AddMemory(library + " peak memory, one booster", settings.rows, 1.15,
                   MemoryOf(self, library, "one booster", settings), stock);
  report.AddMemory(library + " peak memory, lockstep", settings.rows, 2.5,
                   MemoryOf(self, library, "lockstep", settings), stock);
}

int Main(int argc, char** argv) {
  CLI::App app("Training time and memory of constrained boosting against the stock libraries");
  std::vector<std::size_t> rows = {100'000, 1'000'000};
  std::vector<int> threads = {1, 2};
  Settings settings;
  std::string filter;
  std::string json;
  std::string memory_library;
  std::string memory_case;
  bool memory = true;
  app.add_option("--rows", rows, "Numbers of rows");
  app.add_option("--threads", threads, "Numbers of threads");
  app.add_option("--trees", settings.trees, "Trees of one training");
  app.add_option("--repeats", settings.repeats, "Runs of each case");
  app.add_option("--filter", filter, "Only cases whose name has this in it");
  app.add_option("--json", json, "Also write the results here");
  app.add_flag("--memory,!--no-memory", memory, "Compare peak memory as well");
  app.add_option("--memory-library", memory_library)->group("");
  app.add_option("--memory-case", memory_case)->group("");
  CLI11_PARSE(app, argc, argv);
  if (!memory_case.empty()) {
    settings.rows = rows.at(0);
    settings.threads = threads.at(0);
    if (memory_library == LightGbmLibrary::kName) {
      TrainForMemory<LightGbmLibrary>(memory_case, settings);
    } else {
      TrainForMemory<XgboostLibrary>(memory_case, settings);
    }
    return 0;
  }
  Report report;
  const std::function<bool(std::string)> wanted = [&](const std::string& name) {
    return name.find(filter) != std::string::npos;
  };
  Report::Header();
  for (const std::size_t n : rows) {
    settings.rows = n;
    for (const int t : threads) {
      settings.threads = t;
      Cases<LightGbmLibrary>(settings, report, wanted).Run();
      Cases<XgboostLibrary>(settings, report, wanted).Run();
    }
    if (!memory) continue;
    CompareMemory(argv[0], LightGbmLibrary::kName, settings, report);
    CompareMemory(argv[0], XgboostLibrary::kName, settings, report);
  }
  if (!json.empty()) report.Write(json);
  return 0;
}

}  // namespace
}  // namespace bregboost::benchmarks

int main(int argc, char** argv) {
  try {
    return bregboost::benchmarks::Main(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "overhead: {}\n", error.what());
    return 1;
  }
}
