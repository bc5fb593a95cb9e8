#include "fit_support.h"

#include <nanobind/stl/vector.h>

namespace bregboost::python {
namespace {

namespace nb = nanobind;

nb::dict DictOf(const IterationStats& stats) {
  nb::dict row;
  row["k"] = stats.k;
  row["phase"] = nb::str(Name(stats.phase).data());
  row["outer"] = stats.outer;
  row["objective"] = stats.objective;
  row["exact_violation"] = stats.exact_violation;
  row["max_multiplier"] = stats.max_multiplier;
  row["multipliers"] = stats.multipliers;
  row["values"] = stats.values;
  row["seconds"] = stats.seconds;
  return row;
}

// True if Ctrl-C was pressed; other signals' exceptions are the caller's.
bool Interrupted() {
  if (PyErr_CheckSignals() == 0) return false;
  if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) == 0) throw nb::python_error();
  PyErr_Clear();
  return true;
}

}  // namespace

SolveHooks HooksOf(const nb::object& watch) {
  SolveHooks hooks;
  hooks.on_iteration = [&watch](const IterationStats& stats) {
    const nb::gil_scoped_acquire gil;
    if (Interrupted()) return false;
    return watch.is_none() || nb::cast<bool>(watch(DictOf(stats)));
  };
  return hooks;
}

nb::bytes ToBytes(const std::string& text) { return nb::bytes(text.data(), text.size()); }

nb::tuple ToTuple(const LinearModel& model) {
  const Eigen::MatrixXd& coefficients = model.coefficients;  // column-major: scores one by one
  const std::size_t shape[] = {static_cast<std::size_t>(coefficients.cols()),
                               static_cast<std::size_t>(coefficients.rows())};
  const std::span<const double> values(coefficients.data(),
                                       static_cast<std::size_t>(coefficients.size()));
  const std::span<const double> intercept(model.intercept.data(),
                                          static_cast<std::size_t>(model.intercept.size()));
  return nb::make_tuple(ToNumpy(values, shape), ToNumpy(intercept));
}

}  // namespace bregboost::python
