// What it does to rates that the mean of several models is deployed, while unseen rows were scored
// by single ones. The mean has less noise: it errs less, and noise that evened out groups is gone
// from the gaps between them.
//
// No row is unseen by two models, so this is measured where several have scores: on the rows that
// they were trained on, as the change from single models to their mean.
#pragma once

#include <vector>

#include "bregboost/learners/cross_fit.h"
#include "bregboost/problem/rate_constraints.h"

namespace bregboost::detail {

// The change of RateConstraints::ExactSums; empty where one model is deployed.
std::vector<double> AveragingShift(const CrossFitLearner& learner, const RateConstraints& rates);

}  // namespace bregboost::detail
