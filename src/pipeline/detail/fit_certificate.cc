#include "pipeline/detail/fit_certificate.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "bregboost/calibrate/calibration.h"
#include "bregboost/calibrate/gathered_problem.h"
#include "bregboost/certify/certificate.h"
#include "bregboost/data/folds.h"
#include "certify/detail/certify_rows.h"
#include "detail/stop_watch.h"
#include "pipeline/detail/row_outcomes.h"

namespace bregboost::detail {
namespace {

// One number per row of the data that certification rows are of, of which those of the certificate
// are taken; by default the row's place.
std::vector<double> DigestsOfReserved(const FitSplit& split, const RowData& data,
                                      const std::vector<double>& digests) {
  const bool own = split.reserved_in_data().empty();
  const std::size_t allowed = own ? split.reserved_rows().num_rows() : data.num_rows();
  if (!digests.empty() && digests.size() != allowed) {
    throw std::invalid_argument(
        fmt::format("certification.row_digests: {} values; allowed: none or one per row, {}",
                    digests.size(), allowed));
  }
  std::vector<double> of_reserved;
  for (std::size_t i = 0; i < split.reserved_rows().num_rows(); ++i) {
    const std::size_t place = own ? i : static_cast<std::size_t>(split.reserved_in_data()[i]);
    of_reserved.push_back(digests.empty() ? static_cast<double>(place) : digests[place]);
  }
  return of_reserved;
}

// The path's first point did not pass, so nothing behind it may be called certified.
void Withdraw(Certificate& certificate) {
  certificate.all_certified = false;
  for (ConstraintVerdict& verdict : certificate.constraints) {
    if (verdict.verdict == Verdict::kCertified) verdict.verdict = Verdict::kNotCertified;
  }
  certificate.warnings.emplace_back(
      "the most cautious decision did not pass, so no other was tested: the estimated one is "
      "deployed, uncertified");
}

}  // namespace

FitCertificate::FitCertificate(const FitSplit& split, const RowData& data,
                               const FitOptions& options)
    : split_(split), options_(options) {
  if (!split.reserves() || split.constraints().empty()) return;
  CertifyOptions& how = options_.certification;
  if (!how.joint || !how.rows_are_separate) {
    throw std::invalid_argument(
        "certification: joint or rows_are_separate is false; allowed in a fit: both true");
  }
  how.expected_groups = split.num_groups();
  how.row_digests = DigestsOfReserved(split, data, how.row_digests);
  const RowData& rows = split.reserved_rows();
  Predictions nothing;
  if (rows.task() != Task::kRegression) nothing.classes.assign(rows.num_rows(), 0);
  nothing.losses.assign(rows.num_rows(), how.loss_range ? how.loss_range->low : 0.0);
  CertifyRows(nothing, rows, split.constraints(), how);  // throws, or is forgotten
}

void FitCertificate::Run(const CrossFitLearner& learner, std::span<const double> scores,
                         FitReport& report) const {
  if (split_.constraints().empty()) return;
  StopWatch clock;
  try {
    FindVerdicts(learner, scores, report);
  } catch (const std::invalid_argument& error) {
    // Such as a loss out of its range: the model is there all the same.
    FindEstimates(learner, report);
    report.warnings.push_back(fmt::format("nothing is certified: {}", error.what()));
  }
  report.certification_seconds = clock.Lap();
  report.warnings.insert(report.warnings.end(), report.certificate.warnings.begin(),
                         report.certificate.warnings.end());
}

void FitCertificate::FindVerdicts(const CrossFitLearner& learner, std::span<const double> scores,
                                  FitReport& report) const {
  if (!split_.reserves()) return FindEstimates(learner, report);
  const RowData& rows = split_.reserved_rows();
  report.path = {
      {.caution = 0.0, .adjustment = report.adjustment, .objective = report.unseen.objective}};
  if (report.unseen.calibration) {
    const GatheredProblem gathered(learner.scores(), split_.unseen().problem);
    const Calibrator calibrator(gathered.scores(), gathered.rows());
    report.path = MakeCautiousPath(calibrator, gathered.problem(), *report.unseen.calibration,
                                   {.seed = options_.seed});
  }
  report.path = WithoutHopelessStart(std::move(report.path), options_.certification.delta,
                                     RehearsalOnUnseenRows(learner));
  report.tested = CertifyPath(
      report.path.size(),
      [&](std::size_t point) {
        return OutcomesOf(scores, rows, report.path[point].adjustment, split_.loss());
      },
      rows, split_.constraints(), options_.certification);
  if (report.tested->deployed) {
    report.adjustment = report.path[*report.tested->deployed].adjustment;
    report.certificate = report.tested->certificate;
    const RateProblem& unseen = split_.unseen().problem;
    const std::vector<double> sums = unseen.rates().ExactSums(
        AdjustedScores(learner.scores(), unseen.rows().num_rows(), report.adjustment));
    report.objective_value = unseen.ObjectiveValue(sums);
    report.measurements = unseen.Measure(sums);
    report.total_violation = unseen.TotalViolation(sums);
    return;
  }
  // The estimated decision is deployed; its own verdicts say what it lacks.
  CertifyOptions again = options_.certification;
  again.log = nullptr;  // the same look at the rows
  report.certificate = Certify(OutcomesOf(scores, rows, report.adjustment, split_.loss()), rows,
                               split_.constraints(), again);
  for (const std::string& warning : report.tested->warnings) {
    report.certificate.warnings.push_back(warning);
  }
  Withdraw(report.certificate);
}

void FitCertificate::FindEstimates(const CrossFitLearner& learner, FitReport& report) const {
  CertifyOptions estimate = options_.certification;
  estimate.rows_are_separate = false;
  estimate.expected_groups.clear();
  estimate.row_digests.clear();
  const RowData& rows = split_.unseen().rows;
  report.certificate = Certify(OutcomesOf(learner.scores(), rows, report.adjustment, split_.loss()),
                               rows, split_.constraints(), estimate);
  report.certificate.warnings.clear();  // they are about claims
}

// As many unseen rows as are kept, drawn alike: what a point of the path would show there.
std::function<bool(const CautiousDecision&, double)> FitCertificate::RehearsalOnUnseenRows(
    const CrossFitLearner& learner) const {
  const FitPart& unseen = split_.unseen();
  const std::size_t n = unseen.rows.num_rows();
  const double share = std::min(
      0.999, static_cast<double>(split_.reserved_rows().num_rows()) / static_cast<double>(n));
  const Places drawn = PlacesWhere(
      DrawShare(unseen.problem.compiled().cells.cell_of_row, share, options_.seed + 3), 1);
  std::vector<double> scores;
  for (std::size_t k = 0; k < unseen.rows.num_scores(); ++k) {
    for (const std::int32_t row : drawn) {
      scores.push_back(learner.scores()[k * n + static_cast<std::size_t>(row)]);
    }
  }
  return [this, scores = std::move(scores), stand_in = TakeRows(unseen.rows, drawn)](
             const CautiousDecision& point, double delta) {
    CertifyOptions rehearsal = options_.certification;
    rehearsal.delta = delta;
    rehearsal.log = nullptr;
    rehearsal.row_digests.clear();
    return RowsPass(OutcomesOf(scores, stand_in, point.adjustment, split_.loss()), stand_in,
                    split_.constraints(), rehearsal);
  };
}

}  // namespace bregboost::detail
