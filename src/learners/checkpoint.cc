#include "bregboost/learners/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <typeindex>

#include "detail/bytes.h"
#include "detail/option_checks.h"
#include "learners/detail/checkpoint_file.h"
#include "learners/detail/journal_reader.h"

namespace bregboost {
namespace {

using detail::ByteReader;
using detail::ByteWriter;

// What a file says, for a message: files that are not ours hold anything.
std::string Shown(const std::string& text) {
  const bool plain =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  if (plain) return text;
  return nlohmann::json(text).dump(/*indent=*/-1, /*indent_char=*/' ', /*ensure_ascii=*/false,
                                   nlohmann::json::error_handler_t::replace);
}

// ---- answers of a learner as bytes

void Write(const std::vector<double>& values, ByteWriter& out) { out.Put(values); }
void Write(double value, ByteWriter& out) { out.Put(value); }
void Write(const StepOutcome& outcome, ByteWriter& out) {
  out.Put(outcome.distance);
  out.Put(outcome.suboptimality);
  out.Put(outcome.residual);
  out.Put(outcome.evaluations);
  out.Put(std::string_view(outcome.stalled));
  out.Put(std::string_view(outcome.stopped));
}
void Write(const LearnerValues& values, ByteWriter& out) {
  out.Put(values.objective);
  out.Put(values.constraints.surrogate);
  out.Put(values.constraints.exact);
  out.Put(values.constraints.worst_exact_violation);
  out.Put(values.constraints.measured);
}

void Read(ByteReader& in, std::vector<double>& values) { values = in.Numbers<double>(); }
void Read(ByteReader& in, double& value) { value = in.Real(); }
void Read(ByteReader& in, StepOutcome& outcome) {
  outcome.distance = in.Real();
  outcome.suboptimality = in.Real();
  outcome.residual = in.Real();
  outcome.evaluations = in.Integer();
  outcome.stalled = in.Text();
  outcome.stopped = in.Text();
}
void Read(ByteReader& in, LearnerValues& values) {
  values.objective = in.Real();
  values.constraints.surrogate = in.Numbers<double>();
  values.constraints.exact = in.Numbers<double>();
  values.constraints.worst_exact_violation = in.Real();
  values.constraints.measured = in.Numbers<double>();
}

// ---- whether an answer may be one to the question: solvers rely on its form

bool Fits(const LearnerValues& values, const ConstraintSet& constraints) {
  return values.constraints.surrogate.size() == constraints.size() &&
         values.constraints.exact.size() == constraints.size();
}
bool Fits(const StepOutcome& outcome) {
  constexpr std::int64_t kMostEvaluations = 1'000'000'000;  // which solvers add up
  return outcome.evaluations >= 0 && outcome.evaluations <= kMostEvaluations;
}

// ---- the file's contents

struct Contents {
  TrainingIdentity identity;
  std::int64_t pauses = 0;              // of the solver until then
  std::string journal;                  // of its questions, the answers
  std::vector<std::int64_t> state_ids;  // that were kept
  std::string learner;
};

std::string Packed(const Contents& contents) {
  ByteWriter out;
  out.Put(static_cast<std::int64_t>(contents.identity.size()));
  for (const auto& [name, value] : contents.identity) {
    out.Put(std::string_view(name));
    out.Put(std::string_view(value));
  }
  out.Put(contents.pauses);
  out.Put(std::string_view(contents.journal));
  out.Put(contents.state_ids);
  out.Put(std::string_view(contents.learner));
  return out.bytes();
}

Contents Unpacked(const std::string& bytes) {
  ByteReader in(bytes);
  Contents contents;
  contents.identity.resize(in.Count(2 * sizeof(std::int64_t)));
  for (auto& [name, value] : contents.identity) {
    name = in.Text();
    value = in.Text();
  }
  contents.pauses = in.Integer();
  contents.journal = in.Text();
  contents.state_ids = in.Numbers<std::int64_t>();
  contents.learner = in.Text();
  in.RequireEnd();
  return contents;
}

void CheckIdentity(const TrainingIdentity& written, const TrainingIdentity& now,
                   const std::string& path) {
  const auto value_of = [](const TrainingIdentity& identity, const std::string& name) {
    for (const auto& [its_name, value] : identity) {
      if (its_name == name) return value;
    }
    return std::string("nothing");
  };
  for (const auto& [name, value] : now) {
    const std::string before = value_of(written, name);
    if (before == value) continue;
    throw CheckpointError(
        fmt::format("checkpoint '{}': of a training with another {}: {}; allowed: {}", path, name,
                    Shown(before), value));
  }
}

// A state of the learner, or the place of one while the journal is read.
struct Held {
  std::int64_t id = 0;
  std::unique_ptr<ModelState> state;
};
struct HeldState final : ModelState {
  std::shared_ptr<Held> held;
};

// Of either kind of learner.
template <class Learner>
class Checkpointed : public Learner, public detail::JournalReader {
 public:
  using ScoreReading = ProximalLearner::ScoreReading;

  Checkpointed(Learner& learner, const CheckpointOptions& options, TrainingIdentity identity)
      : learner_(learner),
        every_(options.every),
        path_(CheckpointPath(options)),
        identity_(std::move(identity)) {
    std::error_code error;
    std::filesystem::create_directories(options.directory, error);
    if (error) {
      throw CheckpointWriteError(fmt::format("checkpoint directory '{}': cannot be made: {}",
                                             options.directory, error.message()));
    }
    if (!options.resume) return;
    const std::optional<std::string> bytes = detail::ReadCheckpoint(path_);
    if (!bytes) return;
    Guarded([&] { written_ = Unpacked(*bytes); });
    CheckIdentity(written_->identity, identity_, path_);
    answers_.emplace(written_->journal);
  }

  // ---- what a solver asks

  std::span<const double> scores() const override { return learner_.scores(); }
  double objective() const override {
    return Ask<double>([&] { return learner_.objective(); });
  }
  LearnerValues Evaluate(const ConstraintSet& constraints) const override {
    return Ask<LearnerValues>(
        [&] { return learner_.Evaluate(constraints); },
        [&](const LearnerValues& values) { return Fits(values, constraints); });
  }
  std::vector<double> Read(const ScoreReading& reading) const override {
    return Ask<std::vector<double>>(
        [&] { return learner_.Read(reading); },
        [&](const std::vector<double>& numbers) { return numbers.size() == CountOf(reading); });
  }
  StepOutcome Step(const ProximalStep& step) override {
    return AskForStep([&] { return learner_.Step(step); });
  }
  double AnchorDistance() const override {
    return Ask<double>([&] { return learner_.AnchorDistance(); });
  }
  double StationarityResidual(const ConstraintSet& constraints, std::span<const double> multipliers,
                              double objective_weight) const override {
    return Ask<double>(
        [&] { return learner_.StationarityResidual(constraints, multipliers, objective_weight); });
  }

  // ---- what changes the model: it has happened already while the journal is read

  void SetAnchor() override {
    if (!reading()) learner_.SetAnchor();
  }
  void AccumulateAverage(double weight) override {
    if (!reading()) learner_.AccumulateAverage(weight);
  }
  void ResetAverage() override {
    if (!reading()) learner_.ResetAverage();
  }
  void UseAverage() override {
    if (!reading()) learner_.UseAverage();
  }
  void ReturnToBest() override {
    if (!reading()) learner_.ReturnToBest();
  }
  std::unique_ptr<ModelState> Save() const override {
    auto state = std::make_unique<HeldState>();
    state->held = std::make_shared<Held>();
    state->held->id = next_id_++;
    if (!reading()) state->held->state = learner_.Save();
    held_[state->held->id] = state->held;
    return state;
  }
  void Restore(const ModelState& state) override {
    const auto* held = dynamic_cast<const HeldState*>(&state);
    if (held == nullptr) throw std::logic_error("the state is another learner's");
    if (reading()) return;
    if (held->held->state == nullptr) throw std::logic_error("the state has not been taken up");
    learner_.Restore(*held->held->state);
  }

  void Pause() override {
    ++pauses_;
    if (reading()) {
      if (pauses_ == written_->pauses) LeaveJournal();
    } else if (rounds_ >= every_) {
      WriteDown();
    }
  }

  // ---- what does not change

  void RequireTakenUp() const final {
    if (!reading()) return;
    throw CheckpointError(Named("the training was ended before it could go on; nothing is fitted"));
  }
  std::int64_t rounds_per_step() const override { return learner_.rounds_per_step(); }
  double ScoreSensitivity() const override { return learner_.ScoreSensitivity(); }
  double StrongConvexity() const override { return learner_.StrongConvexity(); }

 protected:
  Learner& learner() { return learner_; }
  const Learner& learner() const { return learner_; }
  template <class Question>
  StepOutcome AskForStep(const Question& question) {
    rounds_ += learner_.rounds_per_step();
    return Ask<StepOutcome>(question, [](const StepOutcome& outcome) { return Fits(outcome); });
  }

 private:
  bool reading() const { return written_.has_value(); }

  std::string Named(std::string_view what) const {
    return fmt::format("checkpoint '{}': {}", path_, what);
  }

  // Bytes that make no sense although their checksum is right.
  template <class Function>
  void Guarded(const Function& read) const {
    try {
      read();
    } catch (const std::exception& error) {
      throw CheckpointError(Named(fmt::format("cannot be understood: {}", Shown(error.what()))));
    }
  }

  // A place in a solver reads as many numbers each time. How many these are, the learner says when
  // the place first asks: it is not what was written, but has as many scores.
  std::size_t CountOf(const ScoreReading& reading) const {
    const auto [count, is_new] = counts_.try_emplace(reading.target_type(), 0);
    if (is_new) count->second = learner_.Read(reading).size();
    return count->second;
  }

  template <class Answer, class Question, class Fit>
  Answer Ask(const Question& question, const Fit& fits) const {
    Answer answer{};
    if (reading()) {
      Guarded([&] {
        ::bregboost::Read(*answers_, answer);
        if (!fits(answer)) throw std::runtime_error("an answer to another question");
      });
    } else {
      answer = question();
    }
    Write(answer, journal_);
    return answer;
  }
  template <class Answer, class Question>
  Answer Ask(const Question& question) const {
    return Ask<Answer>(question, [](const Answer& /*answer*/) { return true; });
  }

  void WriteDown() {
    Contents contents{.identity = identity_, .pauses = pauses_, .journal = journal_.bytes()};
    std::vector<ModelState*> kept;
    std::erase_if(held_, [](const auto& entry) { return entry.second.expired(); });
    for (const auto& [id, weak] : held_) {
      contents.state_ids.push_back(id);
      kept.push_back(weak.lock()->state.get());
    }
    ByteWriter learner;
    learner_.EndSegment(kept, learner);
    contents.learner = learner.bytes();
    detail::WriteCheckpoint(path_, Packed(contents));
    rounds_ = 0;
  }

  void LeaveJournal() {
    const Contents contents = *std::exchange(written_, std::nullopt);
    Guarded([&] {
      answers_->RequireEnd();
      ByteReader learner(contents.learner);
      std::vector<std::unique_ptr<ModelState>> states = learner_.TakeUp(learner);
      learner.RequireEnd();
      if (states.size() != contents.state_ids.size()) throw std::runtime_error("states are lost");
      for (std::size_t i = 0; i < states.size(); ++i) {
        const auto found = held_.find(contents.state_ids[i]);
        const auto held = found == held_.end() ? nullptr : found->second.lock();
        if (held != nullptr) held->state = std::move(states[i]);
      }
      for (const auto& [id, weak] : held_) {
        const auto held = weak.lock();
        if (held != nullptr && held->state == nullptr) throw std::runtime_error("states are lost");
      }
    });
    rounds_ = 0;
  }

  Learner& learner_;
  std::int64_t every_;
  std::string path_;
  TrainingIdentity identity_;

  std::optional<Contents> written_;  // while its journal is read
  mutable std::optional<ByteReader> answers_;
  mutable std::map<std::type_index, std::size_t> counts_;  // of numbers, by the reading's place
  mutable ByteWriter journal_;
  std::int64_t pauses_ = 0;
  std::int64_t rounds_ = 0;  // since the last checkpoint
  mutable std::int64_t next_id_ = 0;
  mutable std::map<std::int64_t, std::weak_ptr<Held>> held_;
};

class CheckpointedCrossFit final : public Checkpointed<CrossFitLearner> {
 public:
  using Checkpointed::Checkpointed;

  StepOutcome StepOnCosts(std::span<const double> costs, double tau) override {
    return AskForStep([&] { return learner().StepOnCosts(costs, tau); });
  }
  const RateConstraints& unseen() const override { return learner().unseen(); }
  const RateConstraints& training() const override { return learner().training(); }
  std::span<const double> ReservedScores() const override { return learner().ReservedScores(); }
  std::size_t models_per_row() const override { return learner().models_per_row(); }
  // As scores(): within a Read(), also while its answer is only to be counted.
  std::vector<double> TrainedScores(std::size_t m) const override {
    return learner().TrainedScores(m);
  }
  bool solves_steps() const override { return learner().solves_steps(); }
  bool stops_early() const override { return learner().stops_early(); }
  std::int64_t requested_rounds() const override { return learner().requested_rounds(); }
  void SetRoundsPerStep(std::int64_t rounds) override { learner().SetRoundsPerStep(rounds); }
  std::int64_t rounds_done() const override {
    RequireTakenUp();
    return learner().rounds_done();
  }
};

void Check(const ProximalLearner& learner, const CheckpointOptions& options) {
  Validate(options);
  if (learner.has_segments()) return;
  throw std::invalid_argument(
      "checkpoint_dir: set; allowed for this learner, which trains in one go: none");
}

}  // namespace

void Validate(const CheckpointOptions& options) {
  detail::RequireAtLeast<std::int64_t>("checkpoint_every", options.every, 1);
  if (options.resume && options.directory.empty()) {
    throw std::invalid_argument("resume: true; allowed without a checkpoint directory: false");
  }
}

std::string CheckpointPath(const CheckpointOptions& options) {
  return (std::filesystem::path(options.directory) / "training.checkpoint").string();
}

std::unique_ptr<CrossFitLearner> WithCheckpoints(CrossFitLearner& learner,
                                                 const CheckpointOptions& options,
                                                 const TrainingIdentity& identity) {
  Check(learner, options);
  return std::make_unique<CheckpointedCrossFit>(learner, options, identity);
}

std::unique_ptr<ProximalLearner> WithCheckpoints(ProximalLearner& learner,
                                                 const CheckpointOptions& options,
                                                 const TrainingIdentity& identity) {
  Check(learner, options);
  return std::make_unique<Checkpointed<ProximalLearner>>(learner, options, identity);
}

void detail::RequireTakenUp(const ProximalLearner& learner) {
  if (const auto* reader = dynamic_cast<const JournalReader*>(&learner)) reader->RequireTakenUp();
}

}  // namespace bregboost
