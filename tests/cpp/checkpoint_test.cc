// A training that is interrupted and taken up again against one that is not.
#include "bregboost/learners/checkpoint.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>

#include "boosted_kits.h"
#include "bregboost/learners/linear.h"
#include "bregboost/pipeline/fit.h"
#include "bregboost/pipeline/paper_fit.h"
#include "bregboost/problem/parser.h"
#include "detail/bytes.h"
#include "error_text.h"
#include "learners/detail/checkpoint_file.h"

namespace bregboost {
namespace {

using namespace testing;  // NOLINT: the kits

struct Interrupted {};

std::string Refusal(const std::function<void()>& run) {
  try {
    run();
  } catch (const CheckpointError& error) {
    return error.what();
  }
  return "no error";
}

void ExpectSays(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

template <class Kit>
class CheckpointTest : public GbmTest<typename Kit::Api> {
 protected:
  struct Task {
    GeneratedData data;
    std::vector<std::string> limits;
    FitOptions options = {};
    GbmParameters extra = {};
    std::int64_t early_stopping_rounds = 0;
  };

  void SetUp() override {
    GbmTest<typename Kit::Api>::SetUp();
    directory_ = std::filesystem::temp_directory_path() /
                 fmt::format("bregboost_checkpoints_{}_{}", getpid(),
                             ::testing::UnitTest::GetInstance()->random_seed());
    std::filesystem::remove_all(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  static GbmParameters Parameters(const Task& task) {
    GbmParameters parameters = Kit::Parameters();
    parameters.emplace(Kit::kNumTrees, "40");
    for (const auto& [name, value] : task.extra) parameters.insert_or_assign(name, value);
    return parameters;
  }

  static typename Kit::Dataset MakeDataset(const Task& task) {
    return Kit::Dataset::FromArray(
        FeatureArray::RowMajor(std::span<const double>(task.data.features),
                               task.data.rows.num_rows(), task.data.num_features),
        Parameters(task));
  }
  static std::vector<Constraint> Limits(const Task& task) {
    std::vector<Constraint> limits;
    for (const std::string& text : task.limits) limits.push_back(ParseConstraint(text));
    return limits;
  }

  // Ends with Interrupted at iteration `stop_at`, if there is one.
  AutoFit Fit(const Task& task, const FitOptions& options, std::int64_t stop_at = -1,
              const SolveHooks* own_hooks = nullptr) {
    datasets_.push_back(MakeDataset(task));
    const std::vector<Constraint> limits = Limits(task);
    const BoostedOptions boosting{.parameters = Parameters(task),
                                  .rounds_per_step = 2,
                                  .early_stopping_rounds = task.early_stopping_rounds};
    const SolveHooks stopping{.on_iteration = [stop_at](const IterationStats& stats) {
      if (stats.k == stop_at) throw Interrupted();
      return true;
    }};
    const SolveHooks& hooks = own_hooks == nullptr ? stopping : *own_hooks;
    if constexpr (std::is_same_v<Kit, LightGbmKit>) {
      return AutoFit::LightGbm({.training = {datasets_.back(), task.data.rows}}, limits, boosting,
                               options, hooks);
    } else {
      return AutoFit::Xgboost({.training = {datasets_.back(), task.data.rows}}, limits, boosting,
                              options, hooks);
    }
  }

  // Ends with Interrupted at the call of the hook `stop_at`, or in an orderly way at `end_at`, if
  // there is one.
  PaperFit FitByPaper(const Task& task, const PaperOptions& options, std::int64_t stop_at = -1,
                      std::int64_t end_at = -1) {
    datasets_.push_back(MakeDataset(task));
    std::int64_t calls = 0;
    const SolveHooks hooks{.on_iteration = [&](const IterationStats&) {
      if (++calls == stop_at) throw Interrupted();
      return calls != end_at;
    }};
    const BoostedOptions boosting{.parameters = Parameters(task), .rounds_per_step = 1};
    if constexpr (std::is_same_v<Kit, LightGbmKit>) {
      return PaperFit::LightGbm({.training = {datasets_.back(), task.data.rows}}, Limits(task),
                                boosting, options, hooks);
    } else {
      return PaperFit::Xgboost({.training = {datasets_.back(), task.data.rows}}, Limits(task),
                               boosting, options, hooks);
    }
  }

  void ExpectPaperResumesToTheSame(const Task& task, PaperOptions options) {
    const auto with = [&](bool resume, const std::string& name) {
      options.checkpoint = {
          .directory = (directory_ / name).string(), .every = 10, .resume = resume};
      return options;
    };
    std::filesystem::remove_all(directory_);
    const PaperFit whole = FitByPaper(task, with(false, "whole"));
    EXPECT_TRUE(std::filesystem::exists(CheckpointPath(with(false, "whole").checkpoint)));
    for (const std::int64_t stop : {5, 18, 27}) {
      const std::string name = fmt::format("stop_{}", stop);
      EXPECT_THROW(FitByPaper(task, with(false, name), stop), Interrupted);
      const PaperFit resumed = FitByPaper(task, with(true, name));
      EXPECT_EQ(resumed.Model(), whole.Model());
      EXPECT_EQ(resumed.report().multipliers, whole.report().multipliers);
      EXPECT_EQ(resumed.report().loss, whole.report().loss);
      EXPECT_EQ(resumed.report().history.size(), whole.report().history.size());
    }
  }

  FitOptions With(const Task& task, bool resume, const std::string& name = "a") const {
    FitOptions options = task.options;
    options.checkpoint = {.directory = (directory_ / name).string(), .every = 10, .resume = resume};
    return options;
  }

  static void ExpectSame(const AutoFit& a, const AutoFit& b) {
    EXPECT_EQ(a.Model(), b.Model());
    EXPECT_EQ(a.report().unseen.training.multipliers, b.report().unseen.training.multipliers);
    EXPECT_EQ(a.report().unseen.training.steps_kept, b.report().unseen.training.steps_kept);
    EXPECT_EQ(a.report().adjustment.offsets, b.report().adjustment.offsets);
    EXPECT_EQ(a.report().objective_value, b.report().objective_value);
    EXPECT_EQ(a.report().unseen.training.history.size(), b.report().unseen.training.history.size());
    EXPECT_TRUE(std::equal(a.UnseenScores().begin(), a.UnseenScores().end(),
                           b.UnseenScores().begin(), b.UnseenScores().end()));
  }

  // Interrupted once, and once more after it was taken up.
  void ExpectResumesToTheSame(const Task& task) {
    std::filesystem::remove_all(directory_);
    const AutoFit whole = Fit(task, With(task, false));
    for (const std::int64_t stop : {4, 8, 14, 19}) {
      const std::string name = fmt::format("stop_{}", stop);
      EXPECT_THROW(Fit(task, With(task, false, name), stop), Interrupted);
      EXPECT_EQ(std::filesystem::exists(CheckpointPath(With(task, true, name).checkpoint)),
                stop > 5);
      if (stop < 14) {
        EXPECT_THROW(Fit(task, With(task, true, name), stop + 6), Interrupted);
      }
      ExpectSame(Fit(task, With(task, true, name)), whole);
    }
  }

  std::filesystem::path directory_;
  std::deque<typename Kit::Dataset> datasets_;
};

using Kits = ::testing::Types<LightGbmKit, XgboostKit>;
TYPED_TEST_SUITE(CheckpointTest, Kits);

const std::vector<std::string> kGap = {"gap(selection_rate, by=group) <= 5%", "fnr <= 30%"};

TYPED_TEST(CheckpointTest, FoldsUnderLimits) {
  this->ExpectResumesToTheSame({.data = TwoGroups(600, 1), .limits = kGap});
}

TYPED_TEST(CheckpointTest, AveragesOfIterates) {
  this->ExpectResumesToTheSame(
      {.data = TwoGroups(600, 2),
       .limits = {"gap(fnr, by=group) <= 5%", "gap(fpr, by=group) <= 5%"}});
}

TYPED_TEST(CheckpointTest, PlainTrainingThatStopsEarly) {
  this->ExpectResumesToTheSame({.data = TwoGroups(600, 3),
                                .limits = {"fnr <= 10%"},
                                .extra = {{"learning_rate", "0.3"}},
                                .early_stopping_rounds = 30});
}

TYPED_TEST(CheckpointTest, HoldOut) {
  FitOptions options;
  options.validation = Validation::kHoldOut;
  this->ExpectResumesToTheSame({.data = TwoGroups(800, 4), .limits = kGap, .options = options});
  this->ExpectResumesToTheSame({.data = TwoGroups(800, 4),
                                .limits = {"fnr <= 10%"},
                                .options = options,
                                .extra = {{"learning_rate", "0.3"}},
                                .early_stopping_rounds = 30});
}

TYPED_TEST(CheckpointTest, ReservedRowsAndRefit) {
  FitOptions options;
  options.certify = 0.3;
  options.deploy = Deploy::kRefit;
  this->ExpectResumesToTheSame({.data = TwoGroups(900, 5), .limits = kGap, .options = options});
}

TYPED_TEST(CheckpointTest, ThreeClasses) {
  FitOptions options;
  options.solver.path = TrainingPath::kConstrained;
  this->ExpectResumesToTheSame(
      {.data = ThreeClasses(600, 6), .limits = {"error <= 10%"}, .options = options});
}

TYPED_TEST(CheckpointTest, NumericTarget) {
  FitOptions options;
  options.loss.kind = LossKind::kSquared;
  this->ExpectResumesToTheSame(
      {.data = NoisyLine(600, 7), .limits = {"loss <= 0.5"}, .options = options});
}

TYPED_TEST(CheckpointTest, Abpp) {
  const typename TestFixture::Task task{.data = TwoGroups(600, 14), .limits = {"fnr <= 10%"}};
  this->ExpectPaperResumesToTheSame(task, {});
  this->ExpectPaperResumesToTheSame(task, {.use_average = true});
  SurrogateOptions scheduled{.bound_rule = SurrogateBoundRule::kUniformThenCurrent};
  this->ExpectPaperResumesToTheSame(task, {.surrogate = scheduled});
}

TYPED_TEST(CheckpointTest, Cbpr) {
  const typename TestFixture::Task task{.data = TwoGroups(600, 15),
                                        .limits = {"gap(error, by=group) <= 5%"}};
  for (const CbprForm form : {CbprForm::kProximal, CbprForm::kLinearized}) {
    this->ExpectPaperResumesToTheSame(
        task, {.solver = PaperSolver::kCbpr, .form = form, .inner_steps = 5});
  }
}

// Every segment draws by seeds of its own, so the process that draws does not matter.
TYPED_TEST(CheckpointTest, SampledRows) {
  const bool lightgbm = std::is_same_v<TypeParam, LightGbmKit>;
  const GbmParameters sampled =
      lightgbm ? GbmParameters{{"bagging_fraction", "0.7"}, {"bagging_freq", "1"}, {"seed", "5"}}
               : GbmParameters{{"subsample", "0.7"}, {"seed", "5"}};
  this->ExpectResumesToTheSame({.data = TwoGroups(600, 8), .limits = kGap, .extra = sampled});
}

// Without draws checkpoints change nothing but for the rounding of scores.
TYPED_TEST(CheckpointTest, ModelIsThatOfATrainingWithoutCheckpoints) {
  const typename TestFixture::Task task{.data = TwoGroups(600, 9), .limits = {"fnr <= 10%"}};
  const AutoFit with = this->Fit(task, this->With(task, false));
  const AutoFit without = this->Fit(task, task.options);
  EXPECT_LE(LargestDifference(with.UnseenScores(), without.UnseenScores()), 1e-6);
}

TYPED_TEST(CheckpointTest, ATrainingThatEndsWithinTheJournalHasNoModel) {
  const typename TestFixture::Task task{.data = TwoGroups(400, 16), .limits = kGap};
  this->Fit(task, this->With(task, false));
  const SolveHooks early{.on_iteration = [](const IterationStats& stats) { return stats.k < 8; }};
  ExpectSays(Refusal([&] { this->Fit(task, this->With(task, true), -1, &early); }),
             "the training was ended before it could go on; nothing is fitted");
}

TYPED_TEST(CheckpointTest, NothingToTakeUpIsABeginning) {
  const typename TestFixture::Task task{.data = TwoGroups(400, 10), .limits = kGap};
  this->ExpectSame(this->Fit(task, this->With(task, true)),
                   this->Fit(task, this->With(task, false)));
}

TYPED_TEST(CheckpointTest, AnotherTrainingIsRefused) {
  const typename TestFixture::Task task{.data = TwoGroups(400, 11), .limits = kGap};
  this->Fit(task, this->With(task, false));
  const auto refusal = [&](const typename TestFixture::Task& other, const FitOptions& options) {
    return Refusal([&] { this->Fit(other, options); });
  };
  auto other = task;
  other.limits = {"fnr <= 20%"};
  ExpectSays(refusal(other, this->With(other, true)),
             "of a training with another list of constraints: "
             "gap(selection_rate, by=group) <= 5%; fnr <= 30%; allowed: "
             "fnr <= 20%");
  other = task;
  other.data.rows.labels.codes[7] ^= 1;
  ExpectSays(refusal(other, this->With(other, true)), "another set of training rows");
  other = task;
  other.extra = {{"learning_rate", "0.2"}};
  ExpectSays(refusal(other, this->With(other, true)), "another list of parameters");
  FitOptions options = this->With(task, true);
  options.seed = 3;
  ExpectSays(refusal(task, options), "another list of settings");
  options = this->With(task, true);
  options.checkpoint.data_digest = "others";
  ExpectSays(refusal(task, options), "another set of features");
}

// Its arithmetic may be another, so that the model would be neither version's.
TYPED_TEST(CheckpointTest, AnotherVersionOfBregboostIsRefused) {
  const typename TestFixture::Task task{.data = TwoGroups(400, 17), .limits = kGap};
  this->Fit(task, this->With(task, false));
  const std::string path = CheckpointPath(this->With(task, true).checkpoint);
  std::string contents = detail::ReadCheckpoint(path).value();
  const std::string name = "version of bregboost";
  const std::size_t version = contents.find(name) + name.size() + sizeof(std::int64_t);
  ASSERT_LT(version, contents.size());
  contents[version] = '9';  // 9.1.0
  detail::WriteCheckpoint(path, contents);
  ExpectSays(Refusal([&] { this->Fit(task, this->With(task, true)); }),
             "of a training with another version of bregboost: 9.");
}

// A file that holds what no training writes, although its checksum is right.
TYPED_TEST(CheckpointTest, ContentsThatFitNoTrainingAreRefused) {
  const typename TestFixture::Task task{.data = TwoGroups(400, 18), .limits = kGap};
  this->Fit(task, this->With(task, false));
  const std::string path = CheckpointPath(this->With(task, true).checkpoint);
  const std::string whole = detail::ReadCheckpoint(path).value();
  const auto refusal = [&](const std::string& contents) {
    detail::WriteCheckpoint(path, contents);
    return Refusal([&] { this->Fit(task, this->With(task, true)); });
  };
  for (std::size_t at = 1; at < whole.size(); at += whole.size() / 40) {
    ExpectSays(refusal(whole.substr(0, at)), "cannot be understood");
  }
  ExpectSays(refusal(whole + "x"), "cannot be understood: more bytes than there should be");
  // Trees of a model of more than 4 features.
  const std::string mark =
      std::is_same_v<TypeParam, LightGbmKit> ? "max_feature_idx=" : "num_feature";
  std::string other = whole;
  other[other.find_first_of("34", other.rfind(mark) + mark.size())] = '9';
  ExpectSays(refusal(other), "cannot be understood");
  EXPECT_EQ(refusal(whole), "no error");
}

// What a file holds, in its order.
struct Forgery {
  explicit Forgery(const std::string& contents) {
    detail::ByteReader in(contents);
    identity.resize(2 * in.Count(2 * sizeof(std::int64_t)));
    for (std::string& text : identity) text = in.Text();
    pauses = in.Integer();
    journal = in.Text();
    state_ids = in.Numbers<std::int64_t>();
    detail::ByteReader of_learner(rest = in.Text());
    num_kept = of_learner.Integer();
    num_states = of_learner.Integer();
    bests = of_learner.Text();
    rest = rest.substr(3 * sizeof(std::int64_t) + bests.size());
  }

  std::string Contents() const {
    detail::ByteWriter learner;
    learner.Put(num_kept);
    learner.Put(num_states);
    learner.Put(std::string_view(bests));
    detail::ByteWriter out;
    out.Put(static_cast<std::int64_t>(identity.size() / 2));
    for (const std::string& text : identity) out.Put(std::string_view(text));
    out.Put(pauses);
    out.Put(std::string_view(journal));
    out.Put(state_ids);
    out.Put(std::string_view(learner.bytes() + rest));
    return out.bytes();
  }

  std::vector<std::string> identity;  // names and values in turn
  std::int64_t pauses = 0;
  std::string journal;
  std::vector<std::int64_t> state_ids;
  // Of folds in lockstep: how many states the solver keeps and how many there are, the best round
  // of the learner and of each, and what the folds wrote.
  std::int64_t num_kept = 0, num_states = 0;
  std::string bests, rest;
};

TYPED_TEST(CheckpointTest, StatesThatAreNotThereAreMissed) {
  const typename TestFixture::Task task{
      .data = TwoGroups(400, 20), .limits = kGap, .options = {.validation = Validation::kFolds}};
  this->Fit(task, this->With(task, false));
  const std::string path = CheckpointPath(this->With(task, true).checkpoint);
  const Forgery original(detail::ReadCheckpoint(path).value());
  const auto refusal = [&](const std::function<void(Forgery&)>& change) {
    Forgery forgery = original;
    change(forgery);
    detail::WriteCheckpoint(path, forgery.Contents());
    return Refusal([&] { this->Fit(task, this->With(task, true)); });
  };
  EXPECT_EQ(refusal([](Forgery& /*as it is*/) {}), "no error");
  const std::string said = fmt::format("checkpoint '{}': cannot be understood: ", path);
  EXPECT_EQ(refusal([](Forgery& one) { one.state_ids.push_back(99); }), said + "states are lost");
  EXPECT_EQ(refusal([](Forgery& one) { one.num_kept = one.num_states + 1; }),
            said + "fewer states than were kept");
  EXPECT_EQ(refusal([](Forgery& one) {
              detail::ByteWriter best;  // loss, round, its state, rounds done
              best.Put(0.0);
              for (const std::int64_t number : {0, -1, 0}) best.Put(number);
              one.bests += best.bytes();
              ++one.num_states;
            }),
            said + "states of some folds only");
}

TYPED_TEST(CheckpointTest, APaperTrainingThatEndsWithinTheJournalHasNoModel) {
  const typename TestFixture::Task task{.data = TwoGroups(400, 19), .limits = {"fnr <= 10%"}};
  PaperOptions options;
  options.checkpoint = {.directory = (this->directory_ / "a").string(), .every = 10};
  this->FitByPaper(task, options);
  options.checkpoint.resume = true;
  ExpectSays(Refusal([&] { this->FitByPaper(task, options, -1, /*end_at=*/3); }),
             "the training was ended before it could go on; nothing is fitted");
}

TYPED_TEST(CheckpointTest, DamageIsFoundAndNamed) {
  const typename TestFixture::Task task{.data = TwoGroups(400, 12), .limits = kGap};
  this->Fit(task, this->With(task, false));
  const std::string path = CheckpointPath(this->With(task, true).checkpoint);
  const auto read = [&] {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const auto write = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  };
  const std::string whole = read();
  const auto refusal = [&] { return Refusal([&] { this->Fit(task, this->With(task, true)); }); };
  for (const double share : {0.0, 0.00001, 0.1, 0.5, 0.99}) {
    write(whole.substr(0, static_cast<std::size_t>(share * static_cast<double>(whole.size()))));
    ExpectSays(refusal(), path);
  }
  for (const std::size_t at : {std::size_t{3}, std::size_t{25}, whole.size() / 2}) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 4);
    write(flipped);
    ExpectSays(refusal(), path);
  }
  write(whole);
  EXPECT_NO_THROW(this->Fit(task, this->With(task, true)));
}

TYPED_TEST(CheckpointTest, DirectoryThatCannotBeIsAnError) {
  const typename TestFixture::Task task{.data = TwoGroups(400, 13), .limits = kGap};
  FitOptions options = task.options;
  options.checkpoint.directory = "/dev/null/inside";
  ExpectSays(Refusal([&] { this->Fit(task, options); }),
             "checkpoint directory '/dev/null/inside': cannot be made");
  options.checkpoint = {.resume = true};
  EXPECT_THROW(this->Fit(task, options), std::invalid_argument);
  options.checkpoint = {.directory = "somewhere", .every = 0};
  EXPECT_THROW(this->Fit(task, options), std::invalid_argument);
}

TEST(CheckpointFile, WhatIsNoFileIsAnError) {
  namespace fs = std::filesystem;
  const fs::path folder =
      fs::temp_directory_path() / fmt::format("bregboost_no_checkpoint_{}", getpid());
  fs::create_directories(folder / "inside");
  const std::string path = (folder / "it").string();
  const auto refusal = [&](const std::string& of) {
    return Refusal([&] { detail::ReadCheckpoint(of); });
  };
  const std::string is_no_file = "is not a file; allowed: what a training wrote";
  ExpectSays(refusal((folder / "inside").string()), is_no_file);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);  // that nobody writes to
  ExpectSays(refusal(path), is_no_file);
  fs::remove(path);
  fs::create_symlink(path, path);
  EXPECT_EQ(
      refusal(path),
      fmt::format("checkpoint '{}': cannot be read: Too many levels of symbolic links", path));
  fs::remove_all(folder);
}

TEST(WithCheckpoints, NeedsALearnerOfSeveralSegments) {
  const GeneratedData data = TwoGroups(50, 21);
  const Objective objective(data.rows, {});
  LinearLearner learner(
      FeatureMatrix::DenseRowMajor(data.features, data.rows.num_rows(), data.num_features),
      objective, {});
  EXPECT_EQ(ErrorOf([&] { WithCheckpoints(learner, {.directory = "somewhere"}, {}); }),
            "checkpoint_dir: set; allowed for this learner, which trains in one go: none");
}

}  // namespace
}  // namespace bregboost
