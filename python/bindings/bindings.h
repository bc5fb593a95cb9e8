// What each file of this folder adds to the module; module.cc calls them all.
#pragma once

#include <nanobind/nanobind.h>

namespace bregboost::python {

void BindCalibration(nanobind::module_& module);
void BindCertificate(nanobind::module_& module);
void BindCompiledConstraints(nanobind::module_& module);
void BindConstraint(nanobind::module_& module);
void BindConstraintError(nanobind::module_& module);
void BindDatasets(nanobind::module_& module);
void BindFit(nanobind::module_& module);
void BindHtmlReport(nanobind::module_& module);
void BindLibraryError(nanobind::module_& module);
void BindPaperFit(nanobind::module_& module);
void BindParser(nanobind::module_& module);
void BindRateProblem(nanobind::module_& module);
void BindRowData(nanobind::module_& module);
void BindWorkers(nanobind::module_& module);
void BindTreeModel(nanobind::module_& module);

}  // namespace bregboost::python
