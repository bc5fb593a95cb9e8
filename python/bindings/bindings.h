// What each file of this folder adds to the module; module.cc calls them all.
#pragma once

#include <nanobind/nanobind.h>

namespace bregboost::python {

void BindConstraint(nanobind::module_& module);
void BindConstraintError(nanobind::module_& module);
void BindLibraryError(nanobind::module_& module);
void BindParser(nanobind::module_& module);

}  // namespace bregboost::python
