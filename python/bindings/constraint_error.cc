#include "bregboost/problem/constraint_error.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "bindings.h"

namespace bregboost::python {

namespace nb = nanobind;

void BindConstraintError(nb::module_&) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const ConstraintError& error) {
      // Imported here: the package, which defines the class, imports this module first.
      const nb::object type = nb::module_::import_("bregboost._errors").attr("ConstraintError");
      const nb::object exception =
          type(error.what(), nb::arg("code") = Name(error.code()), nb::arg("text") = error.text(),
               nb::arg("position") = error.position());
      PyErr_SetObject(type.ptr(), exception.ptr());
    }
  });
}

}  // namespace bregboost::python
