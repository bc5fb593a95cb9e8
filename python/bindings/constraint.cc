#include "bregboost/problem/constraint.h"

#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "bregboost/problem/group_columns.h"
#include "bregboost/problem/parser.h"

namespace bregboost::python {
namespace {

namespace nb = nanobind;

// None is the label.
using ColumnName = std::optional<std::string>;

Column ColumnOf(const ColumnName& name) { return name ? Column::Group(*name) : Column::Label(); }

nb::str Text(const Constraint& constraint) {
  const std::string text = ToText(constraint);
  PyObject* decoded = PyUnicode_DecodeUTF8(text.data(), std::ssize(text), /*errors=*/nullptr);
  if (decoded == nullptr) throw nb::python_error();
  return nb::steal<nb::str>(decoded);
}

// Throws UnicodeDecodeError, a ValueError, for bytes of an escape \xHH that are no text: whatever
// Python holds can be shown.
Constraint Parsed(const std::string& text) {
  Constraint constraint = ParseConstraint(text);
  Text(constraint);
  return constraint;
}

std::string RateText(const std::string& name,
                     const std::vector<std::pair<ColumnName, std::string>>& where,
                     const std::optional<std::string>& predicted) {
  Rate rate = ParseExpression(name).terms.front().rate;
  for (const auto& [column, value] : where) rate.where.push_back({ColumnOf(column), value});
  rate.predicted = predicted;
  return ToText(rate);
}

constexpr const char* kConstraintDoc = R"doc(A limit on rates, as :func:`bregboost.parse` reads it.

Parameters
----------
text : str
    The constraint, such as ``"fnr <= 5%"``.

Notes
-----
``str`` and ``repr`` are the text in canonical form, which reads back as an equal constraint.

Examples
--------
>>> from bregboost import Constraint
>>> limit = Constraint("5% >= error(sex=F)")
>>> limit
error(sex=F) <= 5%
>>> limit.bound, limit.relation, limit.group_columns
(0.05, '<=', ['sex'])
>>> limit == Constraint("error(sex=F) <= 0.05")
True
)doc";

constexpr const char* kNoTruthValue =
    "a constraint is neither true nor false; allowed: one comparison each, as in "
    "[rate.fnr() >= 0.1, rate.fnr() <= 0.2] in place of 0.1 <= rate.fnr() <= 0.2";

}  // namespace

void BindConstraint(nb::module_& module) {
  nb::class_<Constraint>(module, "Constraint", kConstraintDoc)
      .def(
          "__init__",
          [](Constraint* self, const std::string& text) { new (self) Constraint(Parsed(text)); },
          nb::arg("text"))
      .def_prop_ro("text", Text, "The canonical text.")
      .def_ro("bound", &Constraint::bound, "The number on the right: 0.05 in ``fnr <= 5%``.")
      .def_prop_ro(
          "relation",
          [](const Constraint& self) { return self.relation == Relation::kAtMost ? "<=" : ">="; },
          "``'<='`` or ``'>='``.")
      .def_prop_ro(
          "group_columns", [](const Constraint& self) { return GroupColumns({self}); },
          "Columns that the constraint names, the label apart, each once.")
      .def(
          "with_bound",
          [](const Constraint& self, double bound) {
            if (std::isnan(bound)) throw nb::value_error("bound: nan; allowed: a number");
            Constraint moved = self;
            moved.bound = bound;
            return Parsed(ToText(moved));  // refuses what no text could say
          },
          nb::arg("bound"), "The same constraint with another bound.")
      .def("__repr__", Text)
      .def("__str__", Text)
      .def(nb::self == nb::self, nb::sig("def __eq__(self, arg: object, /) -> bool"))
      .def("__hash__", [](const Constraint& self) { return nb::hash(Text(self)); })
      .def("__bool__", [](const Constraint&) -> bool { throw nb::type_error(kNoTruthValue); })
      .def(
          "__reduce__",
          [](nb::handle_t<Constraint> self) {
            return nb::make_tuple(self.type(), nb::make_tuple(self.attr("text")));
          },
          nb::sig("def __reduce__(self) -> tuple[type[Constraint], tuple[str]]"));

  module.def(
      "column_text", [](const ColumnName& name) { return ToText(ColumnOf(name)); },
      nb::arg("name").none(), "A column as the grammar writes it; None is the label.");
  module.def("rate_text", RateText, nb::arg("name"), nb::arg("where"),
             nb::arg("predicted").none() = nb::none(),
             "A rate as the grammar writes it. Its arguments are checked when the text is parsed.");
}

}  // namespace bregboost::python
