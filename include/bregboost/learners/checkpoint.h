// Checkpoints: a training that was interrupted is taken up where it was last written down, and ends
// with the model that it would have had.
//
// What is written is the learner (its trees, and what it needs to grow more of them) and a journal
// of every number that the solver was given. A training that is taken up runs the solver from the
// start and gives it those numbers, without growing a tree, until the journal ends; there the
// learner is what was written, and the training goes on. So no solver has a state to write.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bregboost/learners/cross_fit.h"

namespace bregboost {

// What stands in the way of a checkpoint: a file that is damaged, or of another training, or cannot
// be written.
class CheckpointError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
class CheckpointWriteError : public CheckpointError {
 public:
  using CheckpointError::CheckpointError;
};

struct CheckpointOptions {
  std::string directory = {};  // made if it is not there; empty: no checkpoints
  // Rounds of boosting between two of them, at least. It is part of what is computed: where the
  // library draws rows or features, it draws by other seeds after each.
  std::int64_t every = 50;
  bool resume = false;  // goes on from the checkpoint in the directory, if there is one
  // Of the features, which data sets of the libraries do not show; the caller's own.
  std::string data_digest = {};
};
void Validate(const CheckpointOptions& options);

// What a training is, as names and values: a checkpoint of another one is refused.
using TrainingIdentity = std::vector<std::pair<std::string, std::string>>;

// The file within the directory.
std::string CheckpointPath(const CheckpointOptions& options);

// The same learner, as far as a solver can tell; `learner` outlives it. Throws CheckpointError, and
// std::invalid_argument for a learner without segments.
std::unique_ptr<CrossFitLearner> WithCheckpoints(CrossFitLearner& learner,
                                                 const CheckpointOptions& options,
                                                 const TrainingIdentity& identity);
std::unique_ptr<ProximalLearner> WithCheckpoints(ProximalLearner& learner,
                                                 const CheckpointOptions& options,
                                                 const TrainingIdentity& identity);

}  // namespace bregboost
