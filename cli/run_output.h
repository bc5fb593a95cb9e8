// The parts of bregboost.json that all commands fill alike.
#pragma once

#include "bregboost/report/run_document.h"
#include "data_flags.h"
#include "fit_flags.h"
#include "trainer.h"

namespace bregboost::cli {

// Without `fit` and what is compared with it.
RunDocument DocumentOf(const DataFlags& data, const FitFlags& fit, const LoadedRows& training,
                       const Trainer& trainer);

}  // namespace bregboost::cli
