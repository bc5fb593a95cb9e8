#include "bregboost/report/html_report.h"

#include <nanobind/stl/string.h>

#include "bindings.h"

namespace bregboost::python {

namespace nb = nanobind;

void BindHtmlReport(nb::module_& module) {
  module.def(
      "html_report", [](const std::string& run_document) { return HtmlReport(run_document); },
      "A run document, JSON, as one HTML file.", nb::arg("run_document"));
}

}  // namespace bregboost::python
