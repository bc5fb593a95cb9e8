#include "bregboost/problem/parser.h"

#include <nanobind/stl/string.h>

#include <string>

#include "bindings.h"

namespace bregboost::python {

namespace nb = nanobind;

void BindParser(nb::module_& module) {
  module.def(
      "expression_text", [](const std::string& text) { return ToText(ParseExpression(text)); },
      nb::arg("text"), "The canonical text of a linear expression of rates.");
}

}  // namespace bregboost::python
