#include "bregboost/pipeline/paper_fit.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "bregboost/learners/lightgbm_dataset.h"
#include "bregboost/learners/xgboost_dataset.h"
#include "bregboost/report/fit_json.h"
#include "fit_support.h"

namespace bregboost::python {
namespace {

namespace nb = nanobind;

void BindOptions(nb::module_& module) {
  nb::class_<PaperOptions> bound(module, "PaperOptions", "Options of the solvers abpp and cbpr.");
  BindLoss(bound);
  BindCheckpoint(bound);
  bound.def(nb::init<>())
      .def_rw("primal_step", &PaperOptions::primal_step)
      .def_rw("dual_step", &PaperOptions::dual_step)
      .def_rw("use_average", &PaperOptions::use_average)
      .def_rw("inner_steps", &PaperOptions::inner_steps)
      .def_prop_rw(
          "solver", [](const PaperOptions& options) { return Name(options.solver).data(); },
          [](PaperOptions& options, const std::string& name) {
            options.solver = Choose("solver", name, {PaperSolver::kAbpp, PaperSolver::kCbpr});
          })
      .def_prop_rw(
          "form", [](const PaperOptions& options) { return Name(options.form).data(); },
          [](PaperOptions& options, const std::string& name) {
            options.form = Choose("form", name, {CbprForm::kProximal, CbprForm::kLinearized});
          })
      .def_prop_rw(
          "surrogate",
          [](const PaperOptions& options) { return Name(options.surrogate.kind).data(); },
          [](PaperOptions& options, const std::string& name) {
            options.surrogate.kind =
                Choose("surrogate", name,
                       {SurrogateKind::kCrossEntropy, SurrogateKind::kLogisticBase2,
                        SurrogateKind::kHingeSquared, SurrogateKind::kHuberisedHinge,
                        SurrogateKind::kSigmoid});
          })
      .def_prop_rw(
          "bound_rule",
          [](const PaperOptions& options) { return Name(options.surrogate.bound_rule).data(); },
          [](PaperOptions& options, const std::string& name) {
            options.surrogate.bound_rule =
                Choose("bound_rule", name,
                       {SurrogateBoundRule::kSame, SurrogateBoundRule::kUniformThenCurrent,
                        SurrogateBoundRule::kNegativeLog});
          });
}

template <class Features, class Learner, class Fit>
void Bind(nb::module_& module, const char* name, const char* learner_name, Fit fit) {
  module.def(
      name,
      [fit](const Features& features, const RowData& rows,
            const std::vector<Constraint>& constraints, const Learner& learner,
            const PaperOptions& options, const nb::object& watch, const Features* evaluation,
            const RowData* evaluation_rows) {
        const SolveHooks hooks = HooksOf(watch);
        const nb::gil_scoped_release release;
        return fit(DataOf<Features>(features, rows, evaluation, evaluation_rows, nullptr, nullptr),
                   constraints, learner, options, hooks);
      },
      nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), nb::keep_alive<0, 7>(), nb::arg("features"),
      nb::arg("rows"), nb::arg("constraints"), nb::arg(learner_name), nb::arg("options"),
      nb::arg("watch").none() = nb::none(), nb::arg("evaluation").none() = nb::none(),
      nb::arg("evaluation_rows").none() = nb::none());
}

}  // namespace

void BindPaperFit(nb::module_& module) {
  BindOptions(module);
  nb::class_<PaperFit>(module, "PaperFit", "A finished fit of the solver abpp or cbpr.")
      .def(
          "report_json",
          [](const PaperFit& fit, const std::vector<Constraint>& constraints) {
            return ToJson(fit.report(), constraints);
          },
          nb::arg("constraints"))
      .def("model", [](const PaperFit& fit) { return ToBytes(fit.Model()); })
      .def("coefficients", [](const PaperFit& fit) { return ToTuple(fit.Coefficients()); })
      .def("training_scores", [](const PaperFit& fit) { return ToNumpy(fit.TrainingScores()); });
  Bind<LightGbmDataset, BoostedOptions>(module, "paper_lightgbm", "boosting", &PaperFit::LightGbm);
  Bind<XgboostDataset, BoostedOptions>(module, "paper_xgboost", "boosting", &PaperFit::Xgboost);
  Bind<FeatureMatrix, LinearOptions>(module, "paper_linear", "linear", &PaperFit::Linear);
}

}  // namespace bregboost::python
