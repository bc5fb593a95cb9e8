#include "bindings.h"

NB_MODULE(_core, module) {
  module.doc() = "The C++ core of bregboost. Private: import from bregboost instead.";
  module.attr("version") = BREGBOOST_VERSION;
  bregboost::python::BindConstraintError(module);
  bregboost::python::BindLibraryError(module);
  bregboost::python::BindConstraint(module);
  bregboost::python::BindParser(module);
  bregboost::python::BindRateProblem(module);
  bregboost::python::BindWorkers(module);
  bregboost::python::BindRowData(module);
  bregboost::python::BindCompiledConstraints(module);
  bregboost::python::BindDatasets(module);
  bregboost::python::BindFit(module);
  bregboost::python::BindPaperFit(module);
  bregboost::python::BindCalibration(module);
  bregboost::python::BindCertificate(module);
  bregboost::python::BindTreeModel(module);
  bregboost::python::BindHtmlReport(module);
}
