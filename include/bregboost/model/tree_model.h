// Trained trees as plain models of the stock libraries: text in, text out, no library needed.
//
// Everything that training adds around the trees (starting scores, averages of iterates, means of
// fold models, a temperature, class offsets) is folded into leaf values, so that the result
// predicts the same wherever a stock model of its kind is read.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bregboost {

// How scores become predictions in the finished model, and what continued training minimises.
enum class ModelObjective {
  kBinary,      // one log-odds; predicts the probability of class 1
  kMulticlass,  // K scores; predicts softmax probabilities
  kRegression,  // one value, squared loss
  kHuber,       // one value, Huber loss; XGBoost, which has none, gets its pseudo-Huber loss
};
std::string_view Name(ModelObjective objective);

// One trained ensemble, as its library wrote it.
struct ModelPart {
  std::string_view text;  // LightGBM: model text; XGBoost: JSON or UBJSON, the same in all parts
  double weight = 1.0;    // of this part in the mean of the parts; > 0
  // Of each round's trees, finite and >= 0; rounds of weight 0 are left out. An average of iterates
  // gives a round the share of the averaged iterates that contain it. Empty: every round counts 1.
  std::vector<double> round_weights = {};
  // The score of each class that the training started from and the trees do not hold. XGBoost's own
  // `base_score` is not read: a training that started from it says so here. Empty: zeros.
  std::vector<double> start = {};
};

// The finished model's score k is
//
//   F_k(x) = inverse_temperature * mean_p [ start_pk + sum_t round_weights_pt tree_ptk(x) ] +
//   offset_k
//
// where mean_p is the mean over the parts under their weights; one part is the plain case.
struct ExportSpec {
  ModelObjective objective = ModelObjective::kBinary;
  std::size_t num_scores = 1;        // K >= 2 for kMulticlass, else 1
  double inverse_temperature = 1.0;  // finite, > 0
  std::vector<double> offsets = {};  // one per score; empty: zeros
  double huber_delta = 1.0;          // kHuber: where the loss turns linear; > 0
};

// One model of all parts. Rounds are interleaved: round 0 of every part, round 1 of every part,
// ...; the first n * parts rounds are then the mean of the parts after n rounds, which keeps
// predictions from the first rounds meaningful. The constants go to the leaves of each class's
// first tree; a model that would have no trees gets one single-leaf tree per class. Features must
// be the same in all parts.
//
// Throw std::invalid_argument that says what and where: for a field out of range, for text that is
// malformed or cut short, and for models that leaves cannot express (linear leaves, random forests;
// XGBoost's multi-output trees, dart and gblinear).

// Text that LightGBM 4 loads.
std::string ExportLightGbm(std::span<const ModelPart> parts, const ExportSpec& spec);

// What XGBoost 2.1 and newer load, JSON or UBJSON as the parts are. Leaves are rounded to float
// once, from double.
std::string ExportXgboost(std::span<const ModelPart> parts, const ExportSpec& spec);

// A model that one of the above wrote, with its scores under a temperature and offsets. What is
// trained and adjusted in two goes rounds twice: all who deploy a model do it so.
std::string AdjustLightGbm(std::string_view model, const ExportSpec& spec);
std::string AdjustXgboost(std::string_view model, const ExportSpec& spec);

}  // namespace bregboost
