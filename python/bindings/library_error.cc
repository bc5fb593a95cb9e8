#include "bregboost/learners/library_error.h"

#include "bindings.h"
#include "bregboost/learners/checkpoint.h"

namespace bregboost::python {

namespace nb = nanobind;

namespace {

// Imported here: the package, which defines the classes, imports this module first.
void Raise(const char* name, const std::exception& error) {
  const nb::object type = nb::module_::import_("bregboost._errors").attr(name);
  PyErr_SetString(type.ptr(), error.what());
}

}  // namespace

void BindLibraryError(nb::module_&) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const LibraryError& error) {
      Raise("LibraryError", error);
    } catch (const CheckpointError& error) {
      Raise("CheckpointError", error);
    }
  });
}

}  // namespace bregboost::python
