// Features where they are: data sets of the official packages by their handles, matrices as views.
#include <nanobind/stl/string.h>

#include "arrays.h"
#include "bindings.h"
#include "bregboost/data/feature_matrix.h"
#include "bregboost/learners/lightgbm_dataset.h"
#include "bregboost/learners/xgboost_dataset.h"

namespace bregboost::python {
namespace {

namespace nb = nanobind;

using RowMajor = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using ColumnMajor = nb::ndarray<const double, nb::ndim<2>, nb::f_contig, nb::device::cpu>;

// The package that owns the handle is an argument, so that it is kept alive.
template <class Dataset>
void BindDataset(nb::module_& module, const char* name) {
  nb::class_<Dataset>(module, name, "A data set of the official package, by its handle.")
      .def(
          "__init__",
          [](Dataset* dataset, nb::handle /*owner*/, std::uintptr_t handle,
             const std::string& library) {
            // NOLINTNEXTLINE: the handle is a number in Python
            new (dataset) Dataset(Dataset::Adopt(reinterpret_cast<void*>(handle), library));
          },
          nb::keep_alive<1, 2>(), nb::arg("owner"), nb::arg("handle"), nb::arg("library"))
      .def_prop_ro("num_rows", &Dataset::num_rows);
}

}  // namespace

void BindDatasets(nb::module_& module) {
  BindDataset<LightGbmDataset>(module, "LightGbmDataset");
  BindDataset<XgboostDataset>(module, "XgboostDataset");
  // Nothing is converted: a copy would be gone after the call, and the matrix is a view.
  nb::class_<FeatureMatrix>(module, "FeatureMatrix", "A view of a dense or sparse matrix.")
      .def_static(
          "dense",
          [](const RowMajor& values) {
            return FeatureMatrix::DenseRowMajor({values.data(), values.size()}, values.shape(0),
                                                values.shape(1));
          },
          nb::keep_alive<0, 1>(), nb::arg("values").noconvert())
      .def_static(
          "dense",
          [](const ColumnMajor& values) {
            return FeatureMatrix::DenseColumnMajor({values.data(), values.size()}, values.shape(0),
                                                   values.shape(1));
          },
          nb::keep_alive<0, 1>(), nb::arg("values").noconvert())
      .def_static(
          "csr",
          [](const Array<std::int32_t>& row_offsets, const Array<std::int32_t>& column_indices,
             const Array<double>& values, std::size_t columns) {
            return FeatureMatrix::Csr(View(row_offsets), View(column_indices), View(values),
                                      columns);
          },
          nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>(),
          nb::arg("row_offsets").noconvert(), nb::arg("column_indices").noconvert(),
          nb::arg("values").noconvert(), nb::arg("columns"))
      .def_prop_ro("num_rows", &FeatureMatrix::rows);
}

}  // namespace bregboost::python
