#include "bregboost/learners/library_error.h"

#include "bindings.h"

namespace bregboost::python {

namespace nb = nanobind;

void BindLibraryError(nb::module_&) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const LibraryError& error) {
      // Imported here: the package, which defines the class, imports this module first.
      const nb::object type = nb::module_::import_("bregboost._errors").attr("LibraryError");
      PyErr_SetString(type.ptr(), error.what());
    }
  });
}

}  // namespace bregboost::python
