// For tests that need LightGBM or XGBoost: the library is found as users' programs find it. A
// machine without one fails them loudly, unless it says BREGBOOST_TEST_WITHOUT_GBM=1.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "bregboost/learners/library_error.h"
#include "learners/detail/lightgbm_api.h"
#include "learners/detail/xgboost_api.h"

namespace bregboost::testing {

inline bool TestsWithoutGbm() {
  const char* value = std::getenv("BREGBOOST_TEST_WITHOUT_GBM");
  return value != nullptr && std::string(value) == "1";
}

template <class Api>
class GbmTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (TestsWithoutGbm()) GTEST_SKIP() << "BREGBOOST_TEST_WITHOUT_GBM=1";
    try {
      api_ = Api::Load();
    } catch (const LibraryError& error) {
      FAIL() << error.what() << "\n(BREGBOOST_TEST_WITHOUT_GBM=1 skips this test)";
    }
  }

  const Api& api() const { return *api_; }
  const std::shared_ptr<const Api>& shared_api() const { return api_; }

 private:
  std::shared_ptr<const Api> api_;
};

using LightGbmTest = GbmTest<detail::LightGbmApi>;
using XgboostTest = GbmTest<detail::XgboostApi>;

}  // namespace bregboost::testing
