// XGBoost's public C functions, found at run time in an unmodified shared library. Signatures are
// those of its C API from 2.1 on. The library's log is the process's: nothing redirects it, and
// quietness is a matter of the parameter `verbosity`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "learners/detail/shared_library.h"

namespace bregboost::detail {

class XgboostApi {
 public:
  using Handle = void*;
  using Unsigned = std::uint64_t;  // bst_ulong

  struct Version {
    int major = 0;
    int minor = 0;
    int patch = 0;

    auto operator<=>(const Version&) const = default;
  };

  // As LightGbmApi::Load.
  static std::shared_ptr<const XgboostApi> Load(const std::string& explicit_path = "");

  const std::string& path() const { return library_.path(); }
  ParallelRegion* Region() const { return library_.Region(); }
  const Version& version() const { return version_; }

  // Throws std::runtime_error with the library's own message unless `status` is 0.
  void Check(int status, const char* doing) const;

  void (*BoostVersion)(int* major, int* minor, int* patch) = nullptr;  // XGBoostVersion
  const char* (*GetLastError)() = nullptr;                             // XGBGetLastError

  // Arrays are described by the JSON of NumPy's array interface.
  int (*DMatrixCreateFromDense)(const char* data, const char* config, Handle* out) = nullptr;
  int (*DMatrixCreateFromCSR)(const char* offsets, const char* indices, const char* data,
                              Unsigned num_columns, const char* config, Handle* out) = nullptr;
  int (*QuantileDMatrixCreateFromCallback)(void* iterator, Handle proxy, Handle reference,
                                           void (*reset)(void*), int (*next)(void*),
                                           const char* config, Handle* out) = nullptr;
  int (*ProxyDMatrixCreate)(Handle* out) = nullptr;
  int (*ProxyDMatrixSetDataDense)(Handle proxy, const char* data) = nullptr;
  int (*ProxyDMatrixSetDataCSR)(Handle proxy, const char* offsets, const char* indices,
                                const char* data, Unsigned num_columns) = nullptr;
  int (*DMatrixSetInfoFromInterface)(Handle matrix, const char* field, const char* data) = nullptr;
  int (*DMatrixSetStrFeatureInfo)(Handle matrix, const char* field, const char** values,
                                  Unsigned size) = nullptr;
  int (*DMatrixGetStrFeatureInfo)(Handle matrix, const char* field, Unsigned* size,
                                  const char*** out) = nullptr;
  int (*DMatrixGetFloatInfo)(const Handle matrix, const char* field, Unsigned* out_length,
                             const float** out) = nullptr;
  int (*DMatrixNumRow)(Handle matrix, Unsigned* out) = nullptr;
  int (*DMatrixNumCol)(Handle matrix, Unsigned* out) = nullptr;
  int (*DMatrixFree)(Handle matrix) = nullptr;

  int (*BoosterCreate)(const Handle* matrices, Unsigned size, Handle* out) = nullptr;
  int (*BoosterFree)(Handle booster) = nullptr;
  int (*BoosterSetStrFeatureInfo)(Handle booster, const char* field, const char** values,
                                  Unsigned size) = nullptr;
  int (*BoosterSetParam)(Handle booster, const char* name, const char* value) = nullptr;
  int (*BoosterUpdateOneIter)(Handle booster, int iteration, Handle train) = nullptr;
  int (*BoosterTrainOneIter)(Handle booster, Handle train, int iteration, const char* gradient,
                             const char* hessian) = nullptr;
  int (*BoosterPredictFromDMatrix)(Handle booster, Handle matrix, const char* config,
                                   const Unsigned** out_shape, Unsigned* out_dimensions,
                                   const float** out) = nullptr;
  int (*BoosterSlice)(Handle booster, int begin, int end, int step, Handle* out) = nullptr;
  int (*BoosterDumpModelEx)(Handle booster, const char* feature_map, int with_statistics,
                            const char* format, Unsigned* out_size, const char*** out) = nullptr;
  int (*BoosterSaveModelToBuffer)(Handle booster, const char* config, Unsigned* out_length,
                                  const char** out) = nullptr;
  int (*BoosterLoadModelFromBuffer)(Handle booster, const void* buffer, Unsigned length) = nullptr;
  int (*BoosterGetNumFeature)(Handle booster, Unsigned* out) = nullptr;
  int (*BoosterSaveJsonConfig)(Handle booster, Unsigned* out_length, const char** out) = nullptr;

 private:
  explicit XgboostApi(SharedLibrary library);

  SharedLibrary library_;
  Version version_;
};

}  // namespace bregboost::detail
