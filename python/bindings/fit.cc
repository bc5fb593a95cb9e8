#include "bregboost/pipeline/fit.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "bregboost/learners/lightgbm_dataset.h"
#include "bregboost/learners/xgboost_dataset.h"
#include "bregboost/pipeline/frontier.h"
#include "bregboost/report/fit_json.h"
#include "fit_support.h"

namespace bregboost::python {
namespace {

namespace nb = nanobind;

using Range = std::pair<double, double>;

void BindOptions(nb::module_& module) {
  nb::class_<FitOptions> bound(module, "FitOptions", "Options of a fit with the solver auto.");
  BindLoss(bound);
  BindCheckpoint(bound);
  bound.def(nb::init<>())
      .def_rw("objective", &FitOptions::objective)
      .def_rw("num_folds", &FitOptions::num_folds)
      .def_rw("hold_out_share", &FitOptions::hold_out_share)
      .def_rw("certify", &FitOptions::certify)
      .def_rw("seed", &FitOptions::seed)
      .def_prop_rw(
          "rho", [](const FitOptions& options) { return options.solver.rho; },
          [](FitOptions& options, std::optional<double> rho) { options.solver.rho = rho; })
      .def_prop_rw(
          "all_rounds", [](const FitOptions& options) { return options.solver.all_rounds; },
          [](FitOptions& options, bool all) { options.solver.all_rounds = all; })
      .def_prop_rw(
          "margin", [](const FitOptions& options) { return options.solver.training.margin; },
          [](FitOptions& options, double margin) { options.solver.training.margin = margin; })
      .def_prop_rw(
          "initial_multipliers",
          [](const FitOptions& options) { return options.solver.training.initial_multipliers; },
          [](FitOptions& options, const std::vector<double>& multipliers) {
            options.solver.training.initial_multipliers = multipliers;
          })
      .def_prop_rw(
          "path", [](const FitOptions& options) { return Name(options.solver.path).data(); },
          [](FitOptions& options, const std::string& name) {
            options.solver.path = Choose("path", name,
                                         {TrainingPath::kByConstraints, TrainingPath::kCalibration,
                                          TrainingPath::kConstrained});
          })
      .def_prop_rw(
          "validation", [](const FitOptions& options) { return Name(options.validation).data(); },
          [](FitOptions& options, const std::string& name) {
            options.validation = Choose("validation", name,
                                        {Validation::kByCells, Validation::kFolds,
                                         Validation::kHoldOut, Validation::kOwnRows});
          })
      .def_prop_rw(
          "deploy", [](const FitOptions& options) { return Name(options.deploy).data(); },
          [](FitOptions& options, const std::string& name) {
            options.deploy = Choose("deploy", name, {Deploy::kFoldMean, Deploy::kRefit});
          })
      .def_prop_rw(
          "delta", [](const FitOptions& options) { return options.certification.delta; },
          [](FitOptions& options, double delta) { options.certification.delta = delta; })
      .def_prop_rw(
          "max_weight", [](const FitOptions& options) { return options.certification.max_weight; },
          [](FitOptions& options, std::optional<double> weight) {
            options.certification.max_weight = weight;
          })
      .def_prop_rw(
          "loss_range",
          [](const FitOptions& options) -> std::optional<Range> {
            const auto& range = options.certification.loss_range;
            if (!range) return std::nullopt;
            return Range(range->low, range->high);
          },
          [](FitOptions& options, std::optional<Range> range) {
            options.certification.loss_range.reset();
            if (range) options.certification.loss_range = {range->first, range->second};
          });
}

void BindAutoFit(nb::module_& module) {
  nb::class_<AutoFit>(module, "AutoFit", "A finished fit of the solver auto.")
      .def(
          "report_json",
          [](const AutoFit& fit, bool diagnose) {
            const bool wanted = diagnose && fit.report().unseen.calibration &&
                                fit.report().unseen.total_violation > 0.0;
            std::optional<Reachability> reach;
            if (wanted) {
              const nb::gil_scoped_release release;
              reach = fit.Diagnose();
            }
            return ToJson(fit.report(), reach ? &*reach : nullptr);
          },
          nb::arg("diagnose"))
      .def("unlimited_json",
           [](const AutoFit& fit) -> std::optional<std::string> {
             if (!fit.report().unlimited) return std::nullopt;
             return ToJson(*fit.report().unlimited);
           })
      .def(
          "model",
          [](const AutoFit& fit, double temperature, const std::vector<double>& offsets) {
            return ToBytes(fit.Model(AdjustmentOf(temperature, offsets)));
          },
          nb::arg("temperature"), nb::arg("offsets"))
      .def(
          "coefficients",
          [](const AutoFit& fit, double temperature, const std::vector<double>& offsets) {
            return ToTuple(fit.Coefficients(AdjustmentOf(temperature, offsets)));
          },
          nb::arg("temperature"), nb::arg("offsets"))
      .def("unseen_scores", [](const AutoFit& fit) { return ToNumpy(fit.UnseenScores()); })
      .def("unseen_rows", [](const AutoFit& fit) { return RowData(fit.unseen_rows()); });
}

// One function per library, of the same arguments.
template <class Features, class Learner, class Fit>
void BindFit(nb::module_& module, const char* name, const char* learner_name, Fit fit) {
  module.def(
      name,
      [fit](const Features& features, const RowData& rows,
            const std::vector<Constraint>& constraints, const Learner& learner,
            const FitOptions& options, const nb::object& watch, const Features* evaluation,
            const RowData* evaluation_rows, const Features* certification,
            const RowData* certification_rows) {
        const SolveHooks hooks = HooksOf(watch);
        const nb::gil_scoped_release release;
        return fit(
            DataOf(features, rows, evaluation, evaluation_rows, certification, certification_rows),
            constraints, learner, options, hooks, ScoreObserver());
      },
      // Data sets of the libraries, which boosters look at.
      nb::keep_alive<0, 1>(), nb::keep_alive<0, 7>(), nb::keep_alive<0, 9>(), nb::arg("features"),
      nb::arg("rows"), nb::arg("constraints"), nb::arg(learner_name), nb::arg("options"),
      nb::arg("watch").none() = nb::none(), nb::arg("evaluation").none() = nb::none(),
      nb::arg("evaluation_rows").none() = nb::none(), nb::arg("certification").none() = nb::none(),
      nb::arg("certification_rows").none() = nb::none());
}

template <class Features, class Learner, class Sweep>
void BindSweep(nb::module_& module, const char* name, const char* learner_name, Sweep sweep) {
  module.def(
      name,
      [sweep](const Features& features, const RowData& rows,
              const std::vector<Constraint>& constraints, const Learner& learner,
              const FitOptions& options, std::size_t constraint, const std::vector<double>& bounds,
              const std::vector<double>& rhos, std::size_t trainings, const nb::object& watch,
              const Features* evaluation, const RowData* evaluation_rows) {
        const SolveHooks hooks = HooksOf(watch);
        const nb::gil_scoped_release release;
        return ToJson(sweep(
            DataOf<Features>(features, rows, evaluation, evaluation_rows, nullptr, nullptr),
            constraints, learner, options,
            FrontierOptions{
                .constraint = constraint, .bounds = bounds, .rhos = rhos, .trainings = trainings},
            hooks));
      },
      nb::arg("features"), nb::arg("rows"), nb::arg("constraints"), nb::arg(learner_name),
      nb::arg("options"), nb::arg("constraint"), nb::arg("bounds"), nb::arg("rhos"),
      nb::arg("trainings"), nb::arg("watch").none() = nb::none(),
      nb::arg("evaluation").none() = nb::none(), nb::arg("evaluation_rows").none() = nb::none());
}

}  // namespace

void BindFit(nb::module_& module) {
  BindOptions(module);
  nb::class_<BoostedOptions>(module, "BoostedOptions", "Parameters of the library, as text.")
      .def(
          "__init__",
          [](BoostedOptions* options, const GbmParameters& parameters, std::int64_t rounds_per_step,
             std::int64_t early_stopping_rounds) {
            new (options) BoostedOptions{.parameters = parameters,
                                         .rounds_per_step = rounds_per_step,
                                         .early_stopping_rounds = early_stopping_rounds};
          },
          nb::arg("parameters"), nb::arg("rounds_per_step") = 1,
          nb::arg("early_stopping_rounds") = 0);
  nb::class_<LinearOptions>(module, "LinearOptions", "Of a linear model.")
      .def(
          "__init__",
          [](LinearOptions* options, double l2, bool fit_intercept) {
            new (options) LinearOptions{.l2 = l2, .fit_intercept = fit_intercept};
          },
          nb::arg("l2") = 0.0, nb::arg("fit_intercept") = true);
  BindAutoFit(module);
  BindFit<LightGbmDataset, BoostedOptions>(module, "fit_lightgbm", "boosting", &AutoFit::LightGbm);
  BindFit<XgboostDataset, BoostedOptions>(module, "fit_xgboost", "boosting", &AutoFit::Xgboost);
  BindFit<FeatureMatrix, LinearOptions>(module, "fit_linear", "linear", &AutoFit::Linear);
  module.def(
      "find_dominated",
      [](const std::vector<double>& costs, const std::vector<double>& violations,
         const std::vector<double>& tightness, bool sweeps_rho) {
        std::vector<PointValue> points;
        for (std::size_t p = 0; p < costs.size(); ++p) {
          points.push_back(
              {.cost = costs[p], .violation = violations.at(p), .tightness = tightness.at(p)});
        }
        return FindDominated(points, sweeps_rho);
      },
      "Which points of a frontier are not worth choosing.", nb::arg("costs"), nb::arg("violations"),
      nb::arg("tightness"), nb::kw_only(), nb::arg("sweeps_rho"));
  BindSweep<LightGbmDataset, BoostedOptions>(module, "sweep_lightgbm", "boosting", &SweepLightGbm);
  BindSweep<XgboostDataset, BoostedOptions>(module, "sweep_xgboost", "boosting", &SweepXgboost);
  BindSweep<FeatureMatrix, LinearOptions>(module, "sweep_linear", "linear", &SweepLinear);
}

}  // namespace bregboost::python
