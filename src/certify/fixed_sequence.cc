#include "bregboost/certify/fixed_sequence.h"

#include <stdexcept>

#include "certify/detail/certify_rows.h"

namespace bregboost {

PathCertificate CertifyPath(std::size_t num_points, const PathPredictions& predictions,
                            const RowData& rows, const std::vector<Constraint>& constraints,
                            const CertifyOptions& options) {
  if (num_points == 0) throw std::invalid_argument("num_points: 0; allowed: at least 1");
  if (constraints.empty()) throw std::invalid_argument("constraints: none; allowed: at least 1");
  if (!options.joint) {
    throw std::invalid_argument("joint: false; allowed: true, a point passes as a whole");
  }
  if (!options.rows_are_separate) {
    throw std::invalid_argument(
        "rows_are_separate: false; allowed: true, a path is tested on rows of its own");
  }
  const detail::RowsCertifier certifier(rows, constraints, options);
  PathCertificate path;
  std::vector<Predictions> passed;  // the last point that did
  std::optional<Predictions> failed;
  for (std::size_t point = 0; point < num_points && !failed; ++point) {
    Predictions here = predictions(point);
    ++path.tested;
    // The bounds of a whole certificate are dear; most points need the test alone.
    if (certifier.Passes(here)) {
      path.deployed = point;
      passed = {std::move(here)};
    } else {
      failed = std::move(here);
    }
  }
  if (failed) path.first_failure = certifier.Certify(*failed);
  path.certificate = path.deployed ? certifier.Certify(passed.front()) : *path.first_failure;
  path.warnings = detail::RememberUse(rows, options);
  for (std::string& warning : path.certificate.warnings) path.warnings.push_back(warning);
  return path;
}

}  // namespace bregboost
