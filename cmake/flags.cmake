# Compiler flags of every target. Results must not depend on the machine that built them:
# no -march=native, no fast-math, no fused multiply-add contraction.
add_library(goban_flags INTERFACE)
target_compile_options(goban_flags INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -Werror -ffp-contract=off)
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1")
# Libraries that a program names but does not use are not loaded.
add_link_options(-Wl,--as-needed)

if(GOBAN_SANITIZE)
  target_compile_options(goban_flags INTERFACE
    -fsanitize=${GOBAN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(goban_flags INTERFACE -fsanitize=${GOBAN_SANITIZE})
endif()

# Modules that wait more than they compute (QUICK) are compiled for size: their code has three fifths of its size at
# -O1, in a twelfth more time. Tests are compiled at -O1, in three quarters of the time.
add_library(goban_quick_flags INTERFACE)
target_compile_options(goban_quick_flags INTERFACE $<$<CONFIG:Release>:-Os>)  # fuzz.cmake: -O0

# Further flags of *_test.cpp, which come after those of every target.
add_library(goban_test_flags INTERFACE)
target_compile_options(goban_test_flags INTERFACE $<$<CONFIG:Release>:-O1>)  # fuzz.cmake: -O0

# ccache finds its entries also with precompiled headers, and for checkouts side by side.
find_program(GOBAN_CCACHE ccache)
if(GOBAN_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros ${GOBAN_CCACHE})
endif()
find_program(GOBAN_MOLD mold)
if(GOBAN_MOLD)
  target_link_options(goban_flags INTERFACE -fuse-ld=mold)
endif()

# Precompiled headers: what most sources include. The linter reads the sources without them, so each
# file still includes what it uses. A set of them serves the targets whose libraries define the same
# macros and which are optimised alike: goban, goban_quick, and goban_train for what is made with
# LibTorch. PRODUCT: no tests use it.
#   goban_make_precompiled(<set> [PRODUCT] [LIBS <targets>...] [HEADERS <headers>...])
#   goban_precompiled(<target> <set>)       product code
#   goban_precompiled_test(<target> <set>)  tests
option(GOBAN_PCH "Compile common headers once" ON)
set(goban_common_headers <algorithm> <array> <charconv> <cmath> <cstdint> <functional> <limits> <map>
  <memory> <optional> <set> <span> <string> <string_view> <unordered_map> <utility> <variant> <vector>
  <fmt/format.h> <tl/expected.hpp>)

function(goban_precompiled target set)
  if(GOBAN_PCH)
    target_precompile_headers(${target} REUSE_FROM ${set}_pch)
  endif()
endfunction()
function(goban_precompiled_test target set)
  if(GOBAN_PCH)
    target_precompile_headers(${target} REUSE_FROM ${set}_test_pch)
  endif()
endfunction()

# Defines the targets that hold them; called when the libraries are found.
function(goban_make_precompiled set)
  cmake_parse_arguments(ARG "PRODUCT" "" "LIBS;HEADERS" ${ARGN})
  if(NOT GOBAN_PCH)
    return()
  endif()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/pch.cpp CONTENT "")
  add_library(${set}_pch STATIC ${CMAKE_BINARY_DIR}/pch.cpp)
  target_link_libraries(${set}_pch PRIVATE goban_flags fmt::fmt ${ARG_LIBS})
  target_precompile_headers(${set}_pch PRIVATE ${goban_common_headers} ${ARG_HEADERS})
  if(GOBAN_TESTS AND NOT ARG_PRODUCT)
    add_library(${set}_test_pch STATIC ${CMAKE_BINARY_DIR}/pch.cpp)
    target_link_libraries(${set}_test_pch PRIVATE goban_flags fmt::fmt ${ARG_LIBS} GTest::gmock
      GTest::gtest goban_test_flags)
    target_precompile_headers(${set}_test_pch PRIVATE ${goban_common_headers} ${ARG_HEADERS}
      <gmock/gmock.h> <gtest/gtest.h>)
  endif()
endfunction()

if(GOBAN_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # With precompiled headers g++ 12 warns of what its own library does.
  target_compile_options(goban_flags INTERFACE -fpch-preprocess -Wno-stringop-overflow
    -Wno-stringop-overread -Wno-restrict -Wno-array-bounds)
endif()
