// A linear model apart from the learner that trained it.
#pragma once

#include <Eigen/Core>

#include "bregboost/model/model_adjustment.h"

namespace bregboost {

// y = argmax of intercept_k + x' coefficients_k (two classes: the sign).
struct LinearModel {
  Eigen::MatrixXd coefficients;  // one column per score
  Eigen::VectorXd intercept;
};

// The model whose scores are adjusted. Throws std::invalid_argument.
LinearModel Adjusted(LinearModel model, const ModelAdjustment& adjustment);

}  // namespace bregboost
