# Tests of whole programs: scripts under tests/ and tools/ that run goban. (Those of goban-train are in
# train.cmake, those of the page in web.cmake.)
add_dependencies(cli_test goban)
add_executable(progress_example ${CMAKE_SOURCE_DIR}/examples/progress/progress.cpp)
add_library(goban_fake_nvml MODULE ${CMAKE_SOURCE_DIR}/tests/fake_nvml/fake_nvml.cpp)
add_library(goban_fake_cuda MODULE ${CMAKE_SOURCE_DIR}/tests/fake_cuda/fake_cuda.cpp)
add_dependencies(live_engine_local_test goban progress_example)
add_dependencies(live_machine_test goban)
foreach(test live_engine_local_test live_machine_test site_telemetry_test cli_test)
  add_dependencies(${test} goban_fake_nvml goban_fake_cuda)
  target_compile_definitions(${test} PRIVATE GOBAN_FAKE_NVML="$<TARGET_FILE:goban_fake_nvml>"
    GOBAN_FAKE_CUDA="$<TARGET_FILE:goban_fake_cuda>")
endforeach()
foreach(layer cli live study tools)
  goban_tests_target(${layer})
endforeach()
add_dependencies(tests_cli goban)
add_dependencies(tests_study goban)
add_dependencies(tests_live goban progress_example goban_fake_nvml goban_fake_cuda)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# goban_script_test(<name> <label> <script> [arguments...]): a Python script; 77 means skipped.
function(goban_script_test name label script)
  add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/${script} ${ARGN})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77 LABELS ${label})
endfunction()

foreach(part backup cpu_jobs kills profiles replay_inputs reservations resource_types run_and_logs
    secret_leaks shared_gpu standby start_errors terminal wrap)
  goban_script_test(live.${part} live tests/live/${part}.py $<TARGET_FILE:goban>)
endforeach()
goban_script_test(live.scores live tests/live/scores.py
  $<TARGET_FILE:goban> $<TARGET_FILE:goban_fake_nvml> $<TARGET_FILE:goban_fake_cuda>)
goban_script_test(live.wrap_training live tests/live/wrap_training_test.py
  ${CMAKE_SOURCE_DIR}/python)
find_program(GOBAN_PROMTOOL promtool)
if(GOBAN_PROMTOOL)
  goban_script_test(monitoring.rules live tests/monitoring/check.py ${GOBAN_PROMTOOL})
endif()
find_program(GOBAN_SYSTEMD_ANALYZE systemd-analyze)
if(GOBAN_SYSTEMD_ANALYZE)
  add_test(NAME examples.systemd_unit COMMAND ${CMAKE_SOURCE_DIR}/tests/systemd_unit.sh
    ${GOBAN_SYSTEMD_ANALYZE} ${CMAKE_SOURCE_DIR}/examples/systemd/goban.service)
  goban_label(live examples.systemd_unit)
endif()
add_test(NAME install.pages COMMAND ${CMAKE_SOURCE_DIR}/tests/install_pages.sh
  ${CMAKE_COMMAND} ${CMAKE_BINARY_DIR})
goban_label(cli install.pages)

foreach(check comments docs includes)
  goban_script_test(architecture.${check} tools tools/check_${check}.py)
  goban_script_test(architecture.${check}_selftest tools tools/check_${check}_test.py)
endforeach()
goban_script_test(architecture.golden_selftest tools tools/golden_test.py)
goban_script_test(architecture.test_selection_selftest tools tools/test_selection_test.py)

include(${CMAKE_SOURCE_DIR}/cmake/script_tests.cmake)

# Transcripts of commands; ./dev bless rewrites them.
file(GLOB transcripts CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/golden/*.golden)
foreach(transcript ${transcripts})
  cmake_path(GET transcript STEM name)
  goban_script_test(golden.${name} cli tools/golden.py $<TARGET_FILE:goban> ${transcript})
endforeach()
goban_web_tests()
