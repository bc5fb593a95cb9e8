// What a learner with checkpoints is beside a learner: see learners/checkpoint.h.
#pragma once

#include "bregboost/solve/proximal_learner.h"

namespace bregboost::detail {

class JournalReader {
 public:
  // Throws CheckpointError while the journal is read. Whoever ends a training by then has no model
  // yet: the learner is as it was made.
  virtual void RequireTakenUp() const = 0;

 protected:
  ~JournalReader() = default;
};

// The same of any learner; one without checkpoints is what it is.
void RequireTakenUp(const ProximalLearner& learner);

}  // namespace bregboost::detail
