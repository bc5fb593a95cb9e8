# Everything comes from the system's packages; nothing is downloaded. docs/dependencies.md says what
# each one is for, scripts/debian-packages.txt which Debian package has it.

find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(fmt 9 REQUIRED)
find_package(hwy 1.0 REQUIRED)
find_package(LibLZMA 5.2 REQUIRED)
find_package(ZLIB 1.2 REQUIRED)
find_package(zstd 1.4 REQUIRED)

# Header-only, used inside src/ alone: none reaches the installed package.
find_package(Boost 1.74 REQUIRED)
find_package(FastFloat 3.4 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(pegtl 3.2 REQUIRED)
find_path(LBFGSPP_INCLUDE_DIR NAMES LBFGSB.h REQUIRED)
mark_as_advanced(LBFGSPP_INCLUDE_DIR)
add_library(LBFGSpp::LBFGSpp INTERFACE IMPORTED)
target_include_directories(LBFGSpp::LBFGSpp INTERFACE ${LBFGSPP_INCLUDE_DIR})

if(BREGBOOST_BUILD_TESTS)
  find_package(GTest 1.12 REQUIRED)
endif()
if(BREGBOOST_BUILD_BENCHMARKS)
  find_package(benchmark 1.7 REQUIRED)
endif()
if(BREGBOOST_BUILD_CLI OR BREGBOOST_BUILD_EXAMPLES OR BREGBOOST_BUILD_BENCHMARKS)
  find_package(CLI11 2.1 REQUIRED)
endif()
