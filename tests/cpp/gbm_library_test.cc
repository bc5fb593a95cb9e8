#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bregboost/learners/library_error.h"
#include "gbm_test_support.h"
#include "learners/detail/lightgbm_api.h"
#include "learners/detail/python_search_path.h"
#include "learners/detail/shared_library.h"
#include "learners/detail/xgboost_api.h"

namespace bregboost::detail {
namespace {

namespace fs = std::filesystem;

::testing::AssertionResult Contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "no \"" << part << "\" in:\n" << text;
}

// Sets an environment variable (or removes it) until the end of the scope.
class ScopedVariable {
 public:
  ScopedVariable(std::string name, const std::optional<std::string>& value)
      : name_(std::move(name)) {
    if (const char* before = std::getenv(name_.c_str())) before_ = before;
    Set(value);
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ~ScopedVariable() { Set(before_); }

 private:
  void Set(const std::optional<std::string>& value) {
    if (value) {
      ::setenv(name_.c_str(), value->c_str(), 1);
    } else {
      ::unsetenv(name_.c_str());
    }
  }

  std::string name_;
  std::optional<std::string> before_;
};

class ScopedFolder {
 public:
  ScopedFolder() {
    std::string name = (fs::temp_directory_path() / "bregboost_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = name;
  }
  ScopedFolder(const ScopedFolder&) = delete;
  ~ScopedFolder() { fs::remove_all(path_); }

  const fs::path& path() const { return path_; }

  // An executable shell script.
  void AddScript(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << "#!/bin/sh\n" << text << "\n";
    fs::permissions(path_ / name, fs::perms::owner_all);
  }

 private:
  fs::path path_;
};

// A library that no machine has.
const LibraryNames kNothing = {
    .title = "Nothing",
    .package = "nothing",
    .file = "libbregboost_nothing.so",
    .environment_variable = "BREGBOOST_NOTHING",
    .oldest_version = "1.2",
};

template <class Action>
std::string LibraryErrorOf(const Action& action) {
  try {
    action();
  } catch (const LibraryError& error) {
    return error.what();
  }
  ADD_FAILURE() << "no LibraryError";
  return "";
}

// The C library's mathematics: a real shared library without a single function of a GBM.
std::string MathLibraryPath() {
  void* const handle = ::dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
  Dl_info info{};
  if (handle == nullptr || ::dladdr(::dlsym(handle, "cos"), &info) == 0) return "";
  return info.dli_fname;
}

TEST(SharedLibrarySearch, TextOfAMissingLibraryNamesEveryPlaceAndTheCure) {
  const ScopedFolder folder;
  fs::create_directories(folder.path() / "venv/lib/python3.11");
  folder.AddScript("python3", "printf '\\0/some/packages\\0/more/packages'");
  const ScopedVariable variable("BREGBOOST_NOTHING", std::nullopt);
  const ScopedVariable environment("VIRTUAL_ENV", folder.path() / "venv");
  const ScopedVariable path("PATH", folder.path());
  const std::string text = LibraryErrorOf([] { SharedLibrary::Find(kNothing, ""); });
  const std::string file = "nothing/lib/libbregboost_nothing.so: no such file\n";
  EXPECT_TRUE(Contains(text, "Nothing (libbregboost_nothing.so) cannot be opened; looked at:\n"));
  EXPECT_TRUE(Contains(text, "venv/lib/python3.11/site-packages/" + file));
  EXPECT_TRUE(Contains(text, "\n  /some/packages/" + file));
  EXPECT_TRUE(Contains(text, "\n  /more/packages/" + file));
  EXPECT_TRUE(Contains(text, "the loader's path: libbregboost_nothing.so: cannot open"));
  EXPECT_TRUE(Contains(text, "pip install 'nothing>=1.2'"));
  EXPECT_TRUE(Contains(text, "set BREGBOOST_NOTHING to the path of libbregboost_nothing.so"));
}

TEST(SharedLibrarySearch, PathsThatAreGivenMustWork) {
  const ScopedFolder folder;
  const std::string missing = folder.path() / "missing.so";
  const std::string by_path = LibraryErrorOf([&] { SharedLibrary::Find(kNothing, missing); });
  EXPECT_TRUE(Contains(by_path, "\n  " + missing + ": no such file\n"));
  EXPECT_FALSE(Contains(by_path, "loader"));
  const ScopedVariable variable("BREGBOOST_NOTHING", missing);
  const std::string by_variable = LibraryErrorOf([] { SharedLibrary::Find(kNothing, ""); });
  EXPECT_TRUE(Contains(by_variable, "\n  BREGBOOST_NOTHING=" + missing + ": no such file\n"));
  EXPECT_FALSE(Contains(by_variable, "loader"));
}

TEST(SharedLibrarySearch, AFileThatIsNoLibraryFailsWithTheLoadersReason) {
  const ScopedFolder folder;
  const fs::path text = folder.path() / "libbregboost_nothing.so";
  std::ofstream(text) << std::string(4096, 'x');
  for (const fs::path& given : {text, folder.path()}) {  // a folder stands for the file in it
    EXPECT_TRUE(Contains(LibraryErrorOf([&] { SharedLibrary::Find(kNothing, given); }),
                         "invalid ELF header"));
  }
}

TEST(SharedLibrarySearch, AGivenPathBeatsTheVariable) {
  const std::string path = MathLibraryPath();
  const ScopedVariable variable("BREGBOOST_NOTHING", "/missing.so");
  const SharedLibrary library = SharedLibrary::Find(kNothing, path);
  EXPECT_EQ(library.path(), fs::canonical(path).string());
  EXPECT_NE(library.Symbol("cos"), nullptr);
  EXPECT_EQ(library.Symbol("LGBM_GetLastError"), nullptr);
}

TEST(SharedLibrarySearch, FindsWheelsOfTheVirtualEnvironmentAndOfPython) {
  const ScopedFolder folder;
  const fs::path packages = folder.path() / "lib/python3.11/site-packages";
  fs::create_directories(packages / "nothing/lib");
  fs::create_symlink(MathLibraryPath(), packages / "nothing/lib/libbregboost_nothing.so");
  const ScopedVariable variable("BREGBOOST_NOTHING", std::nullopt);
  const std::string real_path = fs::canonical(MathLibraryPath());
  {
    const ScopedVariable environment("VIRTUAL_ENV", folder.path());
    EXPECT_EQ(SharedLibrary::Find(kNothing, "").path(), real_path);
  }
  const ScopedVariable environment("VIRTUAL_ENV", std::nullopt);
  folder.AddScript("python3", "printf '\\0" + packages.string() + "'");
  const ScopedVariable path("PATH", folder.path());
  EXPECT_EQ(SharedLibrary::Find(kNothing, "").path(), real_path);
}

TEST(PythonSearchPathTest, HasNothingWithoutPythonOrWhenItFails) {
  const ScopedFolder empty;
  {
    const ScopedVariable path("PATH", empty.path());
    EXPECT_TRUE(PythonSearchPath().empty());
  }
  const ScopedFolder failing;
  failing.AddScript("python3", "echo broken >&2; exit 1");
  const ScopedVariable path("PATH", failing.path());
  EXPECT_TRUE(PythonSearchPath().empty());
}

TEST(PythonSearchPathTest, AsksOnceAndDropsTheWorkingFolder) {
  const ScopedFolder folder;
  folder.AddScript("python3", R"(echo again >> "$0.log"; printf '\0/a b\0/c')");
  const ScopedVariable path("PATH", folder.path());
  EXPECT_EQ(PythonSearchPath(), (std::vector<std::string>{"/a b", "/c"}));
  EXPECT_EQ(PythonSearchPath(), (std::vector<std::string>{"/a b", "/c"}));
  EXPECT_EQ(fs::file_size(folder.path() / "python3.log"), std::string("again\n").size());
}

TEST(GbmLibrary, ALibraryWithoutTheFunctionsIsRefused) {
  const std::string path = MathLibraryPath();
  const std::string place = " at " + fs::canonical(path).string() + " has no function ";
  const std::string lightgbm = LibraryErrorOf([&] { LightGbmApi::Load(path); });
  EXPECT_TRUE(Contains(lightgbm, "LightGBM" + place + "LGBM_DumpParamAliases"));
  EXPECT_TRUE(Contains(lightgbm, "the oldest version that works is 4.0"));
  const std::string xgboost = LibraryErrorOf([&] { XgboostApi::Load(path); });
  EXPECT_TRUE(Contains(xgboost, "XGBoost" + place + "XGBoostVersion"));
  EXPECT_TRUE(Contains(xgboost, "the oldest version that works is 2.1"));
}

// What holds for either library.
template <class Api>
void ExpectOneObjectPerFile(const std::shared_ptr<const Api>& api, const char* variable_name) {
  EXPECT_EQ(Api::Load(), api);
  EXPECT_EQ(Api::Load(api->path()), api);
  const ScopedFolder folder;
  const fs::path link = folder.path() / "link.so";
  fs::create_symlink(api->path(), link);
  EXPECT_EQ(Api::Load(link), api);
  {
    const ScopedVariable variable(variable_name, link);
    EXPECT_EQ(Api::Load(), api);
  }
  const ScopedVariable variable(variable_name, fs::path(api->path()).parent_path());
  EXPECT_EQ(Api::Load(), api);
}

class LightGbmLibrary : public testing::LightGbmTest {};
class XgboostLibrary : public testing::XgboostTest {};

#if !defined(__has_feature)  // under Clang's thread sanitizer nothing is borrowed
TEST_F(LightGbmLibrary, LendsItsThreads) { EXPECT_NE(LightGbmApi::Load()->Region(), nullptr); }
TEST_F(XgboostLibrary, LendsItsThreads) { EXPECT_NE(XgboostApi::Load()->Region(), nullptr); }
#endif

TEST_F(LightGbmLibrary, IsOneObjectPerFile) {
  ExpectOneObjectPerFile(shared_api(), "BREGBOOST_LIGHTGBM");
}

TEST_F(XgboostLibrary, IsOneObjectPerFile) {
  ExpectOneObjectPerFile(shared_api(), "BREGBOOST_XGBOOST");
}

TEST_F(LightGbmLibrary, ReportsTheLibrarysOwnErrors) {
  void* booster = nullptr;
  int rounds = 0;
  const int status = api().BoosterLoadModelFromString("no model", &rounds, &booster);
  ASSERT_NE(status, 0);
  try {
    api().Check(status, "loading a model");
    FAIL() << "no exception";
  } catch (const std::runtime_error& error) {
    EXPECT_TRUE(Contains(error.what(), "LightGBM, loading a model: "));
  }
}

TEST_F(XgboostLibrary, ReportsTheLibrarysOwnErrorsWithoutItsCallStack) {
  EXPECT_GE(api().version(), (XgboostApi::Version{2, 1, 0}));
  void* booster = nullptr;
  api().Check(api().BoosterCreate(nullptr, 0, &booster), "making a booster");
  const int status = api().BoosterLoadModelFromBuffer(booster, "no model", 8);
  ASSERT_NE(status, 0);
  try {
    api().Check(status, "loading a model");
    ADD_FAILURE() << "no exception";
  } catch (const std::runtime_error& error) {
    EXPECT_TRUE(Contains(error.what(), "XGBoost, loading a model: "));
    EXPECT_FALSE(Contains(error.what(), "Stack trace"));
  }
  api().Check(api().BoosterFree(booster), "freeing a booster");
}

}  // namespace
}  // namespace bregboost::detail
