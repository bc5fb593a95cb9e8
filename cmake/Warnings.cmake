# bregboost_set_warnings(<target>): our warnings, for our own targets only. Headers of other projects
# come in through imported targets, which CMake passes as system headers.
function(bregboost_set_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall
    -Wextra
    -Wpedantic
    -Wcast-align
    -Wcast-qual
    -Wconversion
    -Wsign-conversion  # part of -Wconversion for Clang, not for GCC
    -Wdouble-promotion
    -Wextra-semi
    -Wformat=2
    -Wnon-virtual-dtor
    -Wold-style-cast
    -Woverloaded-virtual
    -Wshadow
    $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond -Wlogical-op>
    -Wno-missing-field-initializers  # designated initialisers name the fields that matter
    $<$<BOOL:${BREGBOOST_WARNINGS_AS_ERRORS}>:-Werror>)
endfunction()
