#include "bregboost/learners/xgboost_dataset.h"

#include <fmt/format.h>

#include <stdexcept>

#include "learners/detail/array_interface.h"
#include "learners/detail/xgboost_api.h"
#include "learners/detail/xgboost_parameters.h"

namespace bregboost {

class XgboostDataset::Impl {
 public:
  Impl(std::shared_ptr<const detail::XgboostApi> library, void* matrix, bool is_ours)
      : api(std::move(library)), handle(matrix), owned(is_ours) {}
  ~Impl() {
    if (owned) api->DMatrixFree(handle);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  std::shared_ptr<const detail::XgboostApi> api;
  void* handle;
  bool owned;
};

namespace {

using detail::ArrayInterface;
using detail::XgboostApi;

template <class T>
std::string DenseInterface(const FeatureArray& features) {
  const bool row_major = features.layout == FeatureArray::Layout::kRowMajor;
  return ArrayInterface(static_cast<const T*>(features.values), features.rows, features.columns,
                        row_major ? features.columns : 1, row_major ? 1 : features.rows);
}

// The arrays of `features` in XGBoost's words.
struct Interfaces {
  explicit Interfaces(const FeatureArray& features)
      : is_sparse(features.layout == FeatureArray::Layout::kCsr) {
    if (is_sparse) {
      offsets = ArrayInterface(features.row_offsets.data(), features.row_offsets.size());
      indices = ArrayInterface(features.column_indices.data(), features.column_indices.size());
      values =
          features.is_float32
              ? ArrayInterface(static_cast<const float*>(features.values), features.num_values)
              : ArrayInterface(static_cast<const double*>(features.values), features.num_values);
    } else {
      values =
          features.is_float32 ? DenseInterface<float>(features) : DenseInterface<double>(features);
    }
  }

  bool is_sparse;
  std::string offsets;
  std::string indices;
  std::string values;
};

// Names and categorical columns, into a DMatrix or a proxy. Returns the library's status.
int Describe(const XgboostApi& api, const FeatureArray& features, void* matrix) {
  const auto set = [&](const char* field, std::vector<const char*>& values) {
    return api.DMatrixSetStrFeatureInfo(matrix, field, values.data(), values.size());
  };
  int status = 0;
  if (!features.names.empty()) {
    std::vector<const char*> names;
    for (const std::string& name : features.names) names.push_back(name.c_str());
    status = set("feature_name", names);
  }
  if (status == 0 && !features.categorical.empty()) {
    std::vector<const char*> types(features.columns, "q");  // quantitative
    for (const std::size_t column : features.categorical) types[column] = "c";
    status = set("feature_type", types);
  }
  return status;
}

// Hands XGBoost one batch, all of the rows, whenever it starts a pass over the data.
class SingleBatch {
 public:
  SingleBatch(const XgboostApi& api, const FeatureArray& features)
      : api_(api), features_(features), interfaces_(features) {
    api_.Check(api_.ProxyDMatrixCreate(&proxy_), "making a data set");
  }
  ~SingleBatch() { api_.DMatrixFree(proxy_); }
  SingleBatch(const SingleBatch&) = delete;
  SingleBatch& operator=(const SingleBatch&) = delete;

  void* MakeQuantileMatrix(void* reference, const std::string& config) {
    void* matrix = nullptr;
    const int status = api_.QuantileDMatrixCreateFromCallback(this, proxy_, reference, &Reset,
                                                              &Next, config.c_str(), &matrix);
    // A batch that was refused ends the data early; that error comes first.
    if (!batch_error_.empty()) throw std::runtime_error(batch_error_);
    api_.Check(status, "making a data set");
    return matrix;
  }

 private:
  static void Reset(void* self) { static_cast<SingleBatch*>(self)->given_ = false; }

  // Called from C: nothing may be thrown.
  static int Next(void* self) { return static_cast<SingleBatch*>(self)->Give() ? 1 : 0; }

  bool Give() noexcept {
    if (given_ || !batch_error_.empty()) return false;
    given_ = true;
    int status = Describe(api_, features_, proxy_);
    if (status == 0) {
      status = interfaces_.is_sparse
                   ? api_.ProxyDMatrixSetDataCSR(proxy_, interfaces_.offsets.c_str(),
                                                 interfaces_.indices.c_str(),
                                                 interfaces_.values.c_str(), features_.columns)
                   : api_.ProxyDMatrixSetDataDense(proxy_, interfaces_.values.c_str());
    }
    try {
      api_.Check(status, "reading the features");
    } catch (const std::exception& error) {
      batch_error_ = error.what();
    }
    return status == 0;
  }

  const XgboostApi& api_;
  const FeatureArray& features_;
  Interfaces interfaces_;
  void* proxy_ = nullptr;
  bool given_ = false;
  std::string batch_error_;
};

void* MakePlainMatrix(const XgboostApi& api, const FeatureArray& features,
                      const std::string& config) {
  const Interfaces interfaces(features);
  void* matrix = nullptr;
  api.Check(interfaces.is_sparse
                ? api.DMatrixCreateFromCSR(interfaces.offsets.c_str(), interfaces.indices.c_str(),
                                           interfaces.values.c_str(), features.columns,
                                           config.c_str(), &matrix)
                : api.DMatrixCreateFromDense(interfaces.values.c_str(), config.c_str(), &matrix),
            "making a data set");
  return matrix;
}

}  // namespace

XgboostDataset XgboostDataset::FromArray(const FeatureArray& features,
                                         const GbmParameters& parameters,
                                         const XgboostDataset* reference,
                                         const std::string& library) {
  Validate(features);
  const detail::XgboostBinning binning = detail::ReadXgboostBinning(parameters);
  const auto api = reference != nullptr ? reference->api() : XgboostApi::Load(library);
  if (!binning.has_bins) {
    void* handle = MakePlainMatrix(
        *api, features, fmt::format(R"({{"missing":NaN,"nthread":{}}})", binning.num_threads));
    XgboostDataset dataset(std::make_shared<Impl>(api, handle, /*is_ours=*/true));
    api->Check(Describe(*api, features, handle), "describing the features");
    return dataset;
  }
  SingleBatch batch(*api, features);
  void* handle =
      batch.MakeQuantileMatrix(reference == nullptr ? nullptr : reference->handle(),
                               fmt::format(R"({{"missing":NaN,"nthread":{},"max_bin":{}}})",
                                           binning.num_threads, binning.max_bin));
  return XgboostDataset(std::make_shared<Impl>(api, handle, /*is_ours=*/true));
}

XgboostDataset XgboostDataset::Adopt(void* handle, const std::string& library) {
  if (handle == nullptr) throw std::invalid_argument("handle: null; allowed: an XGBoost DMatrix");
  return XgboostDataset(
      std::make_shared<Impl>(XgboostApi::Load(library), handle, /*is_ours=*/false));
}

void XgboostDataset::SetBaseMargin(std::span<const double> margins) {
  const std::size_t rows = num_rows();
  if (margins.empty() || margins.size() % rows != 0) {
    throw std::invalid_argument(
        fmt::format("base margins: {}; allowed: a multiple of the {} rows", margins.size(), rows));
  }
  const std::size_t scores = margins.size() / rows;
  std::vector<float> row_major(margins.size());
  for (std::size_t k = 0; k < scores; ++k) {
    for (std::size_t i = 0; i < rows; ++i) {
      row_major[i * scores + k] = static_cast<float>(margins[k * rows + i]);
    }
  }
  api()->Check(api()->DMatrixSetInfoFromInterface(
                   impl_->handle, "base_margin",
                   ArrayInterface(row_major.data(), rows, scores, scores, std::size_t{1}).c_str()),
               "setting base margins");
}

std::vector<double> XgboostDataset::BaseMargin() const {
  detail::XgboostApi::Unsigned size = 0;
  const float* row_major = nullptr;
  api()->Check(api()->DMatrixGetFloatInfo(impl_->handle, "base_margin", &size, &row_major),
               "reading base margins");
  const std::size_t rows = num_rows();
  const std::size_t scores = size / rows;
  std::vector<double> margins(size);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t k = 0; k < scores; ++k) {
      margins[k * rows + i] = static_cast<double>(row_major[i * scores + k]);
    }
  }
  return margins;
}

std::size_t XgboostDataset::num_rows() const {
  detail::XgboostApi::Unsigned rows = 0;
  api()->Check(api()->DMatrixNumRow(impl_->handle, &rows), "counting rows");
  return rows;
}

std::size_t XgboostDataset::num_columns() const {
  detail::XgboostApi::Unsigned columns = 0;
  api()->Check(api()->DMatrixNumCol(impl_->handle, &columns), "counting columns");
  return columns;
}

void* XgboostDataset::handle() const { return impl_->handle; }

const std::shared_ptr<const detail::XgboostApi>& XgboostDataset::api() const { return impl_->api; }

}  // namespace bregboost
