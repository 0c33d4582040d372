# Fuzzing: each src/<module>/**/X_fuzz.cpp defines LLVMFuzzerTestOneInput; its seeds lie in
# tests/corpus/X. With GOBAN_FUZZ (clang) it becomes the fuzzer fuzz_X, and everything is built with
# sanitizers and instrumented. In every build with tests, corpus.X runs it once over each of its seeds.
if(GOBAN_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "GOBAN_FUZZ needs clang: -DCMAKE_CXX_COMPILER=clang++-19")
  endif()
  # Warnings are g++'s business: clang reads -Wconversion more strictly.
  target_compile_options(goban_flags INTERFACE -Wno-error -Wno-sign-conversion
    -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(goban_flags INTERFACE -fsanitize=address,undefined)
  # Test sources are most of the work of this tree: not optimised they take a third of the time. They
  # keep the sanitizers; only fuzzers, which link no test, need coverage.
  target_compile_options(goban_test_flags INTERFACE -O0 -fno-sanitize=fuzzer-no-link)
  target_compile_options(goban_quick_flags INTERFACE -O0)
endif()

# Defines the programs; called when the modules exist.
function(goban_fuzz_targets)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/*_fuzz.cpp)
  if(GOBAN_FUZZ)
    add_custom_target(fuzzers)
  endif()
  foreach(source ${sources})
    cmake_path(GET source STEM name)
    string(REGEX REPLACE "_fuzz$" "" name ${name})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_SOURCE_DIR}/src OUTPUT_VARIABLE path)
    # The deepest folder that is a module.
    cmake_path(GET path PARENT_PATH module)
    while(NOT module IN_LIST GOBAN_MODULES)
      cmake_path(GET module PARENT_PATH module)
    endwhile()
    string(REGEX REPLACE "/.*" "" layer ${module})
    string(REPLACE "/" "_" library ${module})
    if(NOT TARGET goban_${library})
      continue()  # what the module needs is absent
    endif()
    if(GOBAN_FUZZ)
      add_executable(fuzz_${name} ${source})
      target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
      add_dependencies(fuzzers fuzz_${name})
      set(once -runs=0)
    elseif(GOBAN_TESTS)
      add_executable(fuzz_${name} ${source} ${CMAKE_SOURCE_DIR}/tests/replay_corpus.cpp)
      set(once "")
    else()
      continue()
    endif()
    target_link_libraries(fuzz_${name} PRIVATE goban_${library}_testing)
    if(GOBAN_TESTS)
      add_test(NAME corpus.${name}
        COMMAND fuzz_${name} ${once} ${CMAKE_SOURCE_DIR}/tests/corpus/${name})
      set_tests_properties(corpus.${name} PROPERTIES TIMEOUT 120 LABELS ${module})
      goban_tests_target(${layer})
      add_dependencies(tests_${layer} fuzz_${name})
    endif()
  endforeach()
endfunction()
