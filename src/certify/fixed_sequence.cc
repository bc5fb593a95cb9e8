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
  PathCertificate path;
  for (std::size_t point = 0; point < num_points; ++point) {
    path.trace.push_back(detail::CertifyRows(predictions(point), rows, constraints, options));
    if (!path.trace.back().all_certified) break;
    path.deployed = point;
  }
  path.warnings = detail::RememberUse(rows, options);
  for (Certificate& certificate : path.trace) certificate.warnings = path.warnings;
  return path;
}

}  // namespace bregboost
