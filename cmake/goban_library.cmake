# goban_library(<module> [QUICK | UNHURRIED] [LIBS <third-party targets>...] [TEST_LIBS ...]
#   [TEST_USES <modules>...] [PRECOMPILED <set of precompiled headers>]):
# up to three targets from the module's folder. QUICK: it waits more than it computes (flags.cmake).
# UNHURRIED: its tests compute so little that it is not optimised under sanitizers (fuzz.cmake).
#   goban_<module>          static library: the product's sources
#   goban_<module>_testing  test_*.cpp: what several tests share, here or in the modules above. It
#                           links the product and the test material of the modules that it may use
#   <module>_test           *_test.cpp: the test program, whose tests are registered one by one with
#                           ctest under the label of their module
# The target tests_<layer> builds all that the tests of a layer need. TEST_USES: modules that only
# its tests may include.
function(goban_library module)
  cmake_parse_arguments(ARG "QUICK;UNHURRIED" "PRECOMPILED" "LIBS;TEST_LIBS;TEST_USES" ${ARGN})
  if(NOT ARG_PRECOMPILED)
    set(ARG_PRECOMPILED goban)
  endif()
  if(ARG_UNHURRIED AND GOBAN_FUZZ)
    set(ARG_QUICK TRUE)
  endif()
  string(REGEX REPLACE "/.*" "" layer ${module})
  string(REPLACE "/" "_" name ${module})
  set(folder ${CMAKE_SOURCE_DIR}/src/${module})
  file(GLOB_RECURSE all CONFIGURE_DEPENDS ${folder}/*.cpp ${folder}/*.hpp)
  # Modules inside the module's folder have libraries of their own.
  foreach(other ${GOBAN_MODULES})
    if(other MATCHES "^${module}/")
      list(FILTER all EXCLUDE REGEX "/src/${other}/")
    endif()
  endforeach()
  set(tests ${all})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  set(material ${all})
  list(FILTER material INCLUDE REGEX "/test_[^/]*\\.cpp$")
  list(FILTER all EXCLUDE REGEX "_test\\.cpp$|_fuzz\\.cpp$|/main\\.cpp$|/test_[^/]*$")
  set(headers ${all})
  list(FILTER headers INCLUDE REGEX "\\.hpp$")
  set(sources ${all})
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  set(uses "")
  foreach(used ${GOBAN_MODULE_USES_${module}})
    string(REPLACE "/" "_" used ${used})
    list(APPEND uses goban_${used})
  endforeach()
  foreach(used ${GOBAN_LAYER_USES_${layer}})
    list(APPEND uses goban_layer_${used})
  endforeach()

  if(sources)
    add_library(goban_${name} STATIC ${sources})
    set(scope PUBLIC)
    goban_unity(goban_${name})
    if(ARG_QUICK)
      target_link_libraries(goban_${name} PRIVATE goban_quick_flags)
      goban_precompiled(goban_${name} goban_quick)
    else()
      goban_precompiled(goban_${name} ${ARG_PRECOMPILED})
    endif()
  else()
    add_library(goban_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(goban_${name} ${scope} ${CMAKE_SOURCE_DIR}/src)
  target_sources(goban_${name} ${scope} FILE_SET HEADERS BASE_DIRS ${CMAKE_SOURCE_DIR}/src
    FILES ${headers})
  target_link_libraries(goban_${name} ${scope} goban_flags ${uses} ${ARG_LIBS})
  if(GOBAN_FUZZ AND sources)
    # Before the objects of a test, so that of an inline function in both, the linker (mold) takes the
    # product's copy, which is optimised.
    target_link_options(goban_${name} INTERFACE $<TARGET_FILE:goban_${name}>)
  endif()
  goban_tests_target(${layer})
  # All modules of a layer, for the layers above it.
  foreach(suffix "" _testing)
    if(NOT TARGET goban_layer_${layer}${suffix})
      add_library(goban_layer_${layer}${suffix} INTERFACE)
    endif()
    target_link_libraries(goban_layer_${layer}${suffix} INTERFACE goban_${name}${suffix})
  endforeach()

  if(NOT (GOBAN_TESTS OR GOBAN_BENCH OR GOBAN_FUZZ))
    return()
  endif()
  list(TRANSFORM uses APPEND _testing)
  if(material)
    add_library(goban_${name}_testing STATIC ${material})
    set(scope PUBLIC)
    goban_precompiled(goban_${name}_testing ${ARG_PRECOMPILED})
    goban_unity(goban_${name}_testing)
  else()
    add_library(goban_${name}_testing INTERFACE)
    set(scope INTERFACE)
  endif()
  target_link_libraries(goban_${name}_testing ${scope} goban_${name} ${uses})

  if(GOBAN_TESTS AND tests)
    set(test_uses "")
    foreach(used ${ARG_TEST_USES})
      string(REPLACE "/" "_" used ${used})
      list(APPEND test_uses goban_${used}_testing)
    endforeach()
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE goban_${name}_testing ${test_uses} GTest::gmock
      GTest::gtest_main ${ARG_TEST_LIBS} goban_test_flags)
    target_compile_definitions(${name}_test PRIVATE GOBAN_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
      GOBAN_BINARY_DIR="${CMAKE_BINARY_DIR}")
    goban_precompiled_test(${name}_test ${ARG_PRECOMPILED})
    goban_unity(${name}_test)
    if(GOBAN_FUZZ)
      goban_sanitized_test(${name}_test ${module})
    else()
      # Names without the printed parameters, which may contain addresses and paths.
      gtest_discover_tests(${name}_test NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60
        PROPERTIES TIMEOUT 600 LABELS ${module})
    endif()
    add_dependencies(tests_${layer} ${name}_test)
  endif()
endfunction()

# goban_sanitized_test(<program> <label>): with sanitizers a test program takes a tenth of a second and more to start,
# so its tests run in two processes and not in one each. Left out is what gains nothing from sanitizers: tests
# that kill processes for minutes, and a measurement of this machine's cores.
function(goban_sanitized_test program label)
  foreach(half 0 1)
    add_test(NAME ${program}.${half}
      COMMAND ${CMAKE_SOURCE_DIR}/tools/before_deadline.sh $<TARGET_FILE:${program}> --gtest_brief=1 --gtest_filter=-SqliteFaults*:ServerFaults*:*VirtualGpusWorkOnTheirCores*)
    set_tests_properties(${program}.${half} PROPERTIES TIMEOUT 1200 LABELS ${label} SKIP_RETURN_CODE 77
      ENVIRONMENT "GTEST_TOTAL_SHARDS=2;GTEST_SHARD_INDEX=${half}")
  endforeach()
endfunction()

# goban_tests_target(<layer>): the target tests_<layer>, made once.
function(goban_tests_target layer)
  if(NOT TARGET tests_${layer})
    add_custom_target(tests_${layer})
  endif()
endfunction()

# goban_label(<label> <tests>...): tests that are no *_test.cpp belong to this layer or module.
function(goban_label label)
  foreach(test ${ARGN})
    set_property(TEST ${test} APPEND PROPERTY LABELS ${label})
  endforeach()
endfunction()
