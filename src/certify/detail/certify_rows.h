// The parts of Certify: a path of decisions tests many times and counts as one use.
#pragma once

#include <string>
#include <vector>

#include "bregboost/certify/certificate.h"
#include "bregboost/problem/compiled_constraints.h"

namespace bregboost::detail {

// Rows and constraints that are certified for one model after another. Refers to its arguments.
class RowsCertifier {
 public:
  RowsCertifier(const RowData& rows, const std::vector<Constraint>& constraints,
                const CertifyOptions& options);

  // Does not touch options.log.
  Certificate Certify(const Predictions& predictions) const;
  // Whether every constraint would be certified, each at options.delta; cheaper.
  bool Passes(const Predictions& predictions) const;

 private:
  const RowData& rows_;
  const CertifyOptions& options_;
  CompiledConstraints compiled_;
};

// For one model.
Certificate CertifyRows(const Predictions& predictions, const RowData& rows,
                        const std::vector<Constraint>& constraints, const CertifyOptions& options);

bool RowsPass(const Predictions& predictions, const RowData& rows,
              const std::vector<Constraint>& constraints, const CertifyOptions& options);

// Notes in options.log that the rows were used, and returns what is to be said about that.
std::vector<std::string> RememberUse(const RowData& rows, const CertifyOptions& options);

}  // namespace bregboost::detail
