// LightGBM's public C functions, found at run time in an unmodified shared library. Signatures are
// those of its C API from 4.0 on. The library's log is the process's: nothing redirects it, and
// quietness is a matter of the parameter `verbosity`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "learners/detail/shared_library.h"

namespace bregboost::detail {

class LightGbmApi {
 public:
  using Handle = void*;

  // Finds (SharedLibrary::Find says where), opens and checks the library, or gives back the one
  // that is open already from the same file. Throws LibraryError if there is none or it is too old.
  static std::shared_ptr<const LightGbmApi> Load(const std::string& explicit_path = "");

  const std::string& path() const { return library_.path(); }
  ParallelRegion* Region() const { return library_.Region(); }

  // Throws std::runtime_error with the library's own message unless `status` is 0.
  void Check(int status, const char* doing) const;

  const char* (*GetLastError)() = nullptr;
  // JSON: the aliases of every parameter.
  int (*DumpParamAliases)(std::int64_t buffer_length, std::int64_t* out_length,
                          char* out) = nullptr;

  int (*DatasetCreateFromMat)(const void* data, int data_type, std::int32_t num_rows,
                              std::int32_t num_columns, int is_row_major, const char* parameters,
                              Handle reference, Handle* out) = nullptr;
  int (*DatasetCreateFromCSR)(const void* offsets, int offsets_type, const std::int32_t* indices,
                              const void* data, int data_type, std::int64_t num_offsets,
                              std::int64_t num_elements, std::int64_t num_columns,
                              const char* parameters, Handle reference, Handle* out) = nullptr;
  int (*DatasetGetSubset)(Handle dataset, const std::int32_t* rows, std::int32_t num_rows,
                          const char* parameters, Handle* out) = nullptr;
  int (*DatasetSetField)(Handle dataset, const char* field, const void* data, int num_elements,
                         int type) = nullptr;
  int (*DatasetGetField)(Handle dataset, const char* field, int* num_elements, const void** data,
                         int* type) = nullptr;
  int (*DatasetGetNumData)(Handle dataset, std::int32_t* out) = nullptr;
  int (*DatasetGetNumFeature)(Handle dataset, std::int32_t* out) = nullptr;
  int (*DatasetSetFeatureNames)(Handle dataset, const char** names, int num_names) = nullptr;
  int (*DatasetFree)(Handle dataset) = nullptr;

  int (*BoosterCreate)(Handle train_data, const char* parameters, Handle* out) = nullptr;
  int (*BoosterFree)(Handle booster) = nullptr;
  int (*BoosterAddValidData)(Handle booster, Handle valid_data) = nullptr;
  int (*BoosterUpdateOneIter)(Handle booster, int* is_finished) = nullptr;
  int (*BoosterUpdateOneIterCustom)(Handle booster, const float* gradient, const float* hessian,
                                    int* is_finished) = nullptr;
  int (*BoosterMerge)(Handle booster, Handle other) = nullptr;
  int (*BoosterRollbackOneIter)(Handle booster) = nullptr;
  int (*BoosterGetCurrentIteration)(Handle booster, int* out) = nullptr;
  int (*BoosterGetNumPredict)(Handle booster, int data_index, std::int64_t* out) = nullptr;
  int (*BoosterGetPredict)(Handle booster, int data_index, std::int64_t* out_length,
                           double* out) = nullptr;
  int (*BoosterSaveModelToString)(Handle booster, int start_iteration, int num_iterations,
                                  int importance_type, std::int64_t buffer_length,
                                  std::int64_t* out_length, char* out) = nullptr;
  int (*BoosterLoadModelFromString)(const char* model, int* out_num_iterations,
                                    Handle* out) = nullptr;
  int (*BoosterPredictForMat)(Handle booster, const void* data, int data_type,
                              std::int32_t num_rows, std::int32_t num_columns, int is_row_major,
                              int predict_type, int start_iteration, int num_iterations,
                              const char* parameters, std::int64_t* out_length,
                              double* out) = nullptr;
  int (*BoosterPredictForCsr)(Handle booster, const void* offsets, int offsets_type,
                              const std::int32_t* indices, const void* data, int data_type,
                              std::int64_t num_offsets, std::int64_t num_elements,
                              std::int64_t num_columns, int predict_type, int start_iteration,
                              int num_iterations, const char* parameters, std::int64_t* out_length,
                              double* out) = nullptr;
  int (*BoosterGetNumFeature)(Handle booster, int* out) = nullptr;
  int (*BoosterGetNumClasses)(Handle booster, int* out) = nullptr;

 private:
  explicit LightGbmApi(SharedLibrary library);

  SharedLibrary library_;
};

// C_API_DTYPE_*
inline constexpr int kLgbFloat32 = 0;
inline constexpr int kLgbFloat64 = 1;
inline constexpr int kLgbInt32 = 2;
inline constexpr int kLgbInt64 = 3;

}  // namespace bregboost::detail
