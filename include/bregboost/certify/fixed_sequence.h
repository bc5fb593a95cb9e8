// A path of decisions from most to least cautious, certified in that order on one set of rows.
//
// Theorem (fixed-sequence testing; Maurer, Hothorn & Lehmacher 1995; for risks Angelopoulos, Bates,
// Candes, Jordan & Lei 2021). Points are tested in order, each at level delta, up to the first that
// fails. The probability that any point that passed violates a constraint is at most delta, however
// many points there are. For consider the first point in the order that violates one: if there is
// none, nothing can go wrong; else a false point passes only if this one does, and that has a
// probability of at most delta. A point passes if all its constraints do, each tested at delta:
// the one that is violated must err (intersection-union).
//
// Needed: path and order were fixed before anybody looked at the rows, for example computed from
// out-of-fold scores of the training rows; and rows as certificate.h says.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bregboost/certify/certificate.h"

namespace bregboost {

struct PathCertificate {
  std::optional<std::size_t> deployed;  // the last point that passed; none if the first failed
  std::size_t tested = 0;  // points: those that passed and, unless all did, the first that failed
  // Of the deployed point; without one, of the most cautious point, which tells what it lacked.
  Certificate certificate;
  std::optional<Certificate> first_failure;  // of the point at which the testing ended
  std::vector<std::string> warnings;
};

// Predictions of a point of the path for the certification rows; called in order, once for each
// point that is tested.
using PathPredictions = std::function<Predictions(std::size_t point)>;

// Requires num_points >= 1, at least one constraint, and options.joint and .rows_are_separate;
// throws std::invalid_argument otherwise, and whatever Certify throws. The whole path counts as one
// use of the rows in options.log.
PathCertificate CertifyPath(std::size_t num_points, const PathPredictions& predictions,
                            const RowData& rows, const std::vector<Constraint>& constraints,
                            const CertifyOptions& options = {});

}  // namespace bregboost
