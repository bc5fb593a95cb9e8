#include "bregboost/data/workers.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>

#include "arrays.h"
#include "bindings.h"

namespace bregboost::python {
namespace {

namespace nb = nanobind;

// Python functions reduce and gather; fits run without the GIL, which is taken for each call.
class PythonWorkers final : public Workers {
 public:
  PythonWorkers(std::size_t rank, std::size_t size, nb::callable sum, nb::callable maximum,
                nb::callable gather)
      : rank_(rank),
        size_(size),
        sum_(std::move(sum)),
        maximum_(std::move(maximum)),
        gather_(std::move(gather)) {}
  ~PythonWorkers() override {
    const nb::gil_scoped_acquire acquire;
    sum_.reset();
    maximum_.reset();
    gather_.reset();
  }

  std::size_t rank() const override { return rank_; }
  std::size_t size() const override { return size_; }
  void Sum(std::span<double> values) const override { Reduce(sum_, values); }
  void Max(std::span<double> values) const override { Reduce(maximum_, values); }
  std::vector<std::string> Gather(const std::string& mine) const override {
    const nb::gil_scoped_acquire acquire;
    std::vector<std::string> all;
    for (const nb::handle theirs : gather_(nb::bytes(mine.data(), mine.size()))) {
      const auto bytes = nb::cast<nb::bytes>(theirs);
      all.emplace_back(bytes.c_str(), bytes.size());
    }
    return all;
  }

 private:
  static void Reduce(const nb::callable& reduce, std::span<double> values) {
    const nb::gil_scoped_acquire acquire;
    const auto reduced = nb::cast<Array<double>>(reduce(ToNumpy(std::span<const double>(values))));
    if (reduced.size() != values.size()) {
      throw std::runtime_error("workers: " + std::to_string(reduced.size()) +
                               " values came back; allowed: as many as were given, " +
                               std::to_string(values.size()));
    }
    std::copy_n(reduced.data(), values.size(), values.begin());
  }

  std::size_t rank_, size_;
  nb::callable sum_, maximum_, gather_;
};

}  // namespace

void BindWorkers(nb::module_& module) {
  nb::class_<Workers>(module, "Workers", "Processes that have the rows of a training between them.")
      .def_static(
          "from_functions",
          [](std::size_t rank, std::size_t size, nb::callable sum, nb::callable maximum,
             nb::callable gather) -> std::shared_ptr<Workers> {
            return std::make_shared<PythonWorkers>(rank, size, std::move(sum), std::move(maximum),
                                                   std::move(gather));
          },
          nb::kw_only(), nb::arg("rank"), nb::arg("size"), nb::arg("sum"), nb::arg("maximum"),
          nb::arg("gather"))
      .def_prop_ro("rank", &Workers::rank)
      .def_prop_ro("size", &Workers::size);
}

}  // namespace bregboost::python
