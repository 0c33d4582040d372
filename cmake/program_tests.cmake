# Tests of whole programs: scripts under tests/ and tools/ that run goban. (Those of goban-train are in
# train.cmake, those of the page in web.cmake.)
add_dependencies(cli_test goban)
add_executable(progress_example ${CMAKE_SOURCE_DIR}/examples/progress/progress.cpp)
add_library(goban_fake_nvml MODULE ${CMAKE_SOURCE_DIR}/tests/fake_nvml/fake_nvml.cpp)
add_library(goban_fake_cuda MODULE ${CMAKE_SOURCE_DIR}/tests/fake_cuda/fake_cuda.cpp)
add_library(goban_fake_clock MODULE ${CMAKE_SOURCE_DIR}/tests/fake_clock/fake_clock.cpp)
add_dependencies(live_engine_local_test goban progress_example)
add_dependencies(live_machine_test goban)
foreach(test live_engine_local_test live_machine_test site_telemetry_test cli_test)
  add_dependencies(${test} goban_fake_nvml goban_fake_cuda)
  target_compile_definitions(${test} PRIVATE GOBAN_FAKE_NVML="$<TARGET_FILE:goban_fake_nvml>"
    GOBAN_FAKE_CUDA="$<TARGET_FILE:goban_fake_cuda>")
endforeach()
foreach(layer ${GOBAN_LAYERS} web tools)
  goban_tests_target(${layer})  # also where nothing of it is built, as train without LibTorch
endforeach()
add_dependencies(tests_cli goban)
add_dependencies(tests_study goban)
add_dependencies(tests_live goban progress_example goban_fake_nvml goban_fake_cuda goban_fake_clock)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# goban_script_test(<name> <label> <script> [arguments...]): a Python script; 77 means skipped.
set(GOBAN_SCRIPT_RUNNER ${Python3_EXECUTABLE})
if(GOBAN_FUZZ)  # with sanitizers, in what time is left
  list(PREPEND GOBAN_SCRIPT_RUNNER ${CMAKE_SOURCE_DIR}/tools/before_deadline.sh)
endif()
function(goban_script_test name label script)
  add_test(NAME ${name} COMMAND ${GOBAN_SCRIPT_RUNNER} ${CMAKE_SOURCE_DIR}/${script} ${ARGN})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77 LABELS ${label})
  if(label STREQUAL live)  # they take longest, and mostly wait: first, so that short ones fill the gaps
    set_tests_properties(${name} PROPERTIES COST 100)
  endif()
endfunction()

foreach(part alter backup cpu_jobs full_disk hung_files isolation job_choices kills past_jobs profiles replay_inputs
    reservations resource_types run_and_logs sbatch_scripts secret_leaks shared_gpu shims ssh_host staging standby start_errors state_space stops terminal
    users wait wrap)
  goban_script_test(live.${part} live tests/live/${part}.py $<TARGET_FILE:goban>)
endforeach()
goban_script_test(live.scores live tests/live/scores.py
  $<TARGET_FILE:goban> $<TARGET_FILE:goban_fake_nvml> $<TARGET_FILE:goban_fake_cuda>)
goban_script_test(live.clock live tests/live/clock.py
  $<TARGET_FILE:goban> $<TARGET_FILE:goban_fake_clock>)
goban_script_test(live.wrap_training live tests/live/wrap_training_test.py
  ${CMAKE_SOURCE_DIR}/python)
goban_script_test(live.srun_tasks live tests/live/srun_tasks_test.py ${CMAKE_SOURCE_DIR}/python)
goban_script_test(live.slurm_fixture live tests/slurm/fixture.py)
goban_script_test(live.slurm_setup live tests/slurm/setup.py $<TARGET_FILE:goban>)
goban_script_test(live.slurm_documented live tests/slurm/documented.py $<TARGET_FILE:goban>)
goban_script_test(live.slurm_serve live tests/slurm/serve.py $<TARGET_FILE:goban>)
goban_script_test(live.slurm_shapes live tests/slurm/shapes.py $<TARGET_FILE:goban>)
goban_script_test(live.slurm_sharing live tests/slurm/sharing.py $<TARGET_FILE:goban>)
goban_script_test(live.slurm_task_prolog live tests/slurm/task_prolog.py $<TARGET_FILE:goban>)
goban_script_test(live.slurm_accounting live tests/slurm/accounting.py $<TARGET_FILE:goban>)
foreach(engine local slurm kubernetes)
  goban_script_test(live.engines_${engine} live tests/engines/conformance.py $<TARGET_FILE:goban> ${engine})
endforeach()
goban_script_test(live.slurm_kills live tests/slurm/kills.py $<TARGET_FILE:goban>)
goban_script_test(live.kube_fixture live tests/kubelab/fixture.py)
add_executable(kube_engine_check ${CMAKE_SOURCE_DIR}/tests/kubelab/engine_check.cpp)
target_link_libraries(kube_engine_check PRIVATE goban_live_engine_kubernetes goban_live_controller)
add_dependencies(tests_live kube_engine_check)
goban_script_test(live.kube_engine live tests/kubelab/engine.py $<TARGET_FILE:kube_engine_check>
  $<TARGET_FILE:goban>)
goban_script_test(live.kube_serve live tests/kubelab/serve.py $<TARGET_FILE:goban>)
goban_script_test(live.kube_record live tests/kubelab/record_test.py)
goban_script_test(live.kube_kills live tests/kubelab/kills.py $<TARGET_FILE:goban>)
goban_script_test(live.kube_manifests live tests/kubelab/manifests.py $<TARGET_FILE:goban>)
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

set(train_program)
if(TARGET goban-train)
  set(train_program $<TARGET_FILE:goban-train>)
endif()
goban_script_test(docs.others cli tests/docs_others.py $<TARGET_FILE:goban> ${train_program})
if(train_program)
  add_dependencies(tests_cli goban-train)
  goban_script_test(live.several_nodes live tests/slurm/several_nodes.py $<TARGET_FILE:goban> ${train_program})
endif()
if(GOBAN_WEB)  # they write HTML reports
  goban_script_test(docs.commands cli tests/docs_commands.py $<TARGET_FILE:goban>
    README.md docs/operators.md docs/one-gpu-box.md docs/from-slurm.md docs/recipes.md docs/compare.md
    docs/file-formats.md docs/install.md docs/staging.md docs/elastic.md)
  goban_script_test(docs.lines cli tests/docs_lines.py $<TARGET_FILE:goban>)
  goban_script_test(demo.quick cli tests/demo_quick.py $<TARGET_FILE:goban>)
endif()
goban_script_test(release.packages cli tests/release_packages.py ${CMAKE_BINARY_DIR})
set_tests_properties(release.packages PROPERTIES TIMEOUT 1200)  # it builds static libraries where there are none
goban_script_test(docs.site tools tests/docs_site.py)
goban_script_test(release.portable_link tools tests/portable_link.py ${CMAKE_CXX_COMPILER})
goban_script_test(help_pages.goban cli tests/help_pages.py $<TARGET_FILE:goban>)
goban_script_test(command_contract cli tests/command_contract.py $<TARGET_FILE:goban>)
if(TARGET goban-train)
  goban_script_test(help_pages.goban-train train tests/help_pages.py $<TARGET_FILE:goban-train>)
endif()

# The Python package, installed as users install it. Its sanitized builds are those of study/lab.
if(NOT GOBAN_SANITIZE AND NOT GOBAN_FUZZ)
  goban_script_test(lab.wheel study tests/lab/wheel.py ${CMAKE_BINARY_DIR} $<TARGET_FILE:goban>)
  set_tests_properties(lab.wheel PROPERTIES TIMEOUT 900 COST 100)  # it compiles the simulator
endif()

# The default policy is still ahead of what sites run, on generated jobs.
goban_script_test(studies.ahead tools tools/studies/ahead.py --short)
set_tests_properties(studies.ahead PROPERTIES ENVIRONMENT GOBAN=$<TARGET_FILE:goban>)

# Profiles of real runs make the simulator share with those that wait for their input.
if(TARGET goban-train)
  goban_script_test(studies.starved train tools/studies/starved.py --short)
  set_tests_properties(studies.starved PROPERTIES ENVIRONMENT
    "GOBAN=$<TARGET_FILE:goban>;GOBAN_TRAIN=$<TARGET_FILE:goban-train>")
endif()

foreach(check comments docs includes)
  goban_script_test(architecture.${check} tools tools/check_${check}.py)
  goban_script_test(architecture.${check}_selftest tools tools/check_${check}_test.py)
endforeach()
goban_script_test(architecture.golden_selftest tools tools/golden_test.py)
goban_script_test(architecture.test_selection_selftest tools tools/test_selection_test.py)
set_tests_properties(architecture.test_selection_selftest PROPERTIES
  ENVIRONMENT GOBAN_BUILD=${CMAKE_BINARY_DIR})

include(${CMAKE_SOURCE_DIR}/cmake/script_tests.cmake)

# Transcripts of commands; ./dev bless rewrites them.
file(GLOB transcripts CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/golden/*.golden)
foreach(transcript ${transcripts})
  cmake_path(GET transcript STEM name)
  goban_script_test(golden.${name} cli tools/golden.py $<TARGET_FILE:goban> ${transcript})
endforeach()
goban_web_tests()
