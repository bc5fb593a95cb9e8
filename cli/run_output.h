// What commands that train write alike.
#pragma once

#include <optional>
#include <string>

#include "bregboost/report/run_document.h"
#include "data_flags.h"
#include "fit_flags.h"
#include "output.h"
#include "trainer.h"

namespace bregboost::cli {

// Without `fit` and what is compared with it.
RunDocument DocumentOf(const DataFlags& data, const FitFlags& fit, const LoadedRows& training,
                       const Trainer& trainer);

// The same learner without limits, judged by them on the same rows: what they cost. Trains once
// more where the fit does not know it, unless there are no limits, or training was interrupted.
std::optional<UnlimitedDecision> WithoutLimits(const FitFlags& flags, const Trainer& trainer,
                                               const AutoFit& fit, bool quiet);

// The model, bregboost.json and report.html; returns the JSON.
std::string WriteRun(const RunDocument& document, const Trainer& trainer, const std::string& model,
                     OutputFolder& folder);

}  // namespace bregboost::cli
