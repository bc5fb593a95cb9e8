// The two halves of Certify: a path of decisions tests many times and counts as one use.
#pragma once

#include <string>
#include <vector>

#include "bregboost/certify/certificate.h"

namespace bregboost::detail {

// Does not touch options.log.
Certificate CertifyRows(const Predictions& predictions, const RowData& rows,
                        const std::vector<Constraint>& constraints, const CertifyOptions& options);

// Whether every constraint would be certified, each at options.delta; cheaper.
bool RowsPass(const Predictions& predictions, const RowData& rows,
              const std::vector<Constraint>& constraints, const CertifyOptions& options);

// Notes in options.log that the rows were used, and returns what is to be said about that.
std::vector<std::string> RememberUse(const RowData& rows, const CertifyOptions& options);

}  // namespace bregboost::detail
