// A learner whose scores are of unseen rows: rows that the model behind each score was not trained
// on. Multipliers that move on their rates, offsets fitted to them and iterates chosen by them are
// not misled by what the model knows by heart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bregboost/problem/rate_constraints.h"
#include "bregboost/solve/proximal_learner.h"

namespace bregboost {

class CrossFitLearner : public ProximalLearner {
 public:
  // The limits on the rows that scores() belong to, and on the rows that are trained on; the same
  // object where every row is both (folds).
  virtual const RateConstraints& unseen() const = 0;
  virtual const RateConstraints& training() const = 0;

  // The cost-sensitive form of a step: a training row of cell a, a cell of training(), minimises
  // the sum over classes k of costs[a * K + k] times its cross-entropy towards k, plus
  // D_W(x, x_k) / tau. Costs are at least 0; two classes have K = 2. Its outcome need not say how
  // far it went.
  virtual StepOutcome StepOnCosts(std::span<const double> costs, double tau) = 0;

  // Scores of rows that were set aside for certification, by the model that would be deployed now;
  // class-major, empty if there are none.
  virtual std::span<const double> ReservedScores() const = 0;

  // Models that grow together are deployed as their mean, while scores() are those of single ones.
  // How many of them were trained on a row, the same number for every row, and the scores of all
  // rows by the m-th that was, class-major. 0: one model is deployed, and nothing can be asked.
  virtual std::size_t models_per_row() const { return 0; }
  virtual std::vector<double> TrainedScores(std::size_t /*m*/) const { return {}; }

  // True if a step ends at the optimum of what it was asked for, so that another of the same kind
  // changes nothing.
  virtual bool solves_steps() const { return false; }

  // True if the learner watches the loss of its unseen rows by itself, so that ReturnToBest() says
  // how many rounds are kept.
  virtual bool stops_early() const { return false; }

  virtual std::int64_t requested_rounds() const = 0;
  // Of the steps to come; >= 1. Learners that do not boost take one round per step, always.
  virtual void SetRoundsPerStep(std::int64_t /*rounds*/) {}
  // Of the model as it is now; where several models grow together, of each.
  virtual std::int64_t rounds_done() const = 0;
};

}  // namespace bregboost
