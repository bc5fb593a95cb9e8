// Owners of XGBoost's handles.
#pragma once

#include <memory>

#include "learners/detail/xgboost_api.h"

namespace bregboost::detail {

struct FreeXgboostBooster {
  const XgboostApi* api = nullptr;
  void operator()(void* booster) const { api->BoosterFree(booster); }
};
struct FreeXgboostMatrix {
  const XgboostApi* api = nullptr;
  void operator()(void* matrix) const { api->DMatrixFree(matrix); }
};
using XgboostBoosterHandle = std::unique_ptr<void, FreeXgboostBooster>;
using XgboostMatrixHandle = std::unique_ptr<void, FreeXgboostMatrix>;

}  // namespace bregboost::detail
