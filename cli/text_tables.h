// Results in words, for terminals.
#pragma once

#include <string>
#include <vector>

#include "bregboost/calibrate/diagnosis.h"
#include "bregboost/certify/certificate.h"
#include "bregboost/pipeline/fit.h"
#include "bregboost/pipeline/paper_fit.h"
#include "bregboost/problem/compiled_constraints.h"

namespace bregboost::cli {

// Columns as wide as their longest cell; the first is set left, others right.
std::string AlignedTable(const std::vector<std::vector<std::string>>& rows);

// "4.77%" for rates, "0.1234" for losses.
std::string Amount(const Constraint& constraint, double value);

// Pointers may be null.
std::string TextOf(const FitReport& report, const UnlimitedDecision* unlimited,
                   const Reachability* diagnosis);
std::string TextOf(const PaperReport& report, const std::vector<Constraint>& constraints);
std::string TextOf(const Certificate& certificate, const std::vector<Constraint>& constraints);
std::string TextOf(const std::vector<Measurement>& measured,
                   const std::vector<Constraint>& constraints);

}  // namespace bregboost::cli
