// What a fit found out, as JSON: for sidecars of models, logs, and the surfaces that show it.
// Values that are undefined or unbounded are null.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bregboost/calibrate/diagnosis.h"
#include "bregboost/certify/certificate.h"
#include "bregboost/pipeline/fit.h"
#include "bregboost/pipeline/frontier.h"
#include "bregboost/pipeline/paper_fit.h"

namespace bregboost {

// `diagnosis` may be null. Every limit, and every group of one, has the rows that its rate is over,
// an interval where certify/rate_intervals.h has one, and whether its rows are too few.
std::string ToJson(const FitReport& report, const Reachability* diagnosis = nullptr);
std::string ToJson(const UnlimitedDecision& unlimited);
std::string ToJson(const PaperReport& report, const std::vector<Constraint>& constraints);
std::string ToJson(const Certificate& certificate);
std::string ToJson(const Frontier& frontier);
std::string ToJson(const IterationStats& stats);
// An array of the problem's limits as measured by event sums of its rows.
std::string MeasuredJson(const RateProblem& problem, std::span<const double> sums);
// New limits, `problem`'s, on a model that is there; with what each of them costs, if known.
std::string ToJson(const Calibration& calibration, const RateProblem& problem,
                   const std::vector<Price>& prices = {});

}  // namespace bregboost
