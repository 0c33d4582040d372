# Batches: several sources of a module are compiled as one, so that what all of them include is read
# once; a cold build takes less than half the time. The linter reads each source by itself. A source
# whose names clash with those of others of its module (file-local helpers of the same name) is listed
# here and compiled alone.
option(GOBAN_UNITY "Compile the sources of a module in batches" ON)
set(GOBAN_UNITY_BATCH 8)

# Relative to src/.
set(GOBAN_COMPILED_ALONE
  base/zone_rule_test.cpp
  cli/admin/pilot_command.cpp
  cli/admin/pilot_plan_options.cpp
  cli/admin/pilot_simulate_command.cpp
  cli/jobs/job_commands_test.cpp
  cli/shell/command_test.cpp
  cli/site/series_import_command.cpp
  core/knowledge/energy/power_file_test.cpp
  core/knowledge/measure/learned_scores_test.cpp
  core/knowledge/scores_file_test.cpp
  core/model/site_rules_file_test.cpp
  core/policy/sharing/eaco_paper_test.cpp
  core/policy/sharing/eaco_test.cpp
  core/policy/sharing/promises_test.cpp
  core/scheduler/reservations_test.cpp
  core/scheduler/resources_test.cpp
  core/scheduler/typed_properties_test.cpp
  live/controller/live_pilot.cpp
  live/controller/pilots.cpp
  live/loop/live_scheduler.cpp
  live/loop/pilot_test.cpp
  live/loop/reservation_test.cpp
  serve/api/api_pilot.cpp
  serve/api/api_pilot_test.cpp
  site/analysis/population_test.cpp
  site/records/formats/generic_csv.cpp
  site/records/formats/philly_json_test.cpp
  site/records/formats/slurm_test.cpp
  site/series/job_values_test.cpp
  site/series/prune_test.cpp
  site/series/store_test.cpp
  site/store/mariadb.cpp
  site/store/postgresql.cpp
  site/store/sqlite_copy.cpp
  site/store/sqlite_faults_test.cpp
  site/telemetry/series_import_test.cpp
  study/history/fillers_test.cpp
  study/history/generate/gavel_test.cpp
  study/history/generate/philly_test.cpp
  study/history/generate/poisson_test.cpp
  study/history/incidents_test.cpp
  study/history/summary.cpp
  study/pilot_report.cpp
  study/pilot_report_test.cpp
  study/pilot_trials.cpp
  study/pilot_trials_test.cpp
  study/results/time_bins_test.cpp
  train/mesh/layers_test.cpp
  train/mesh/loop_memory_test.cpp
  train/mesh/operation_layouts_test.cpp
  train/mesh/optimizer_test.cpp
  train/mesh/test_random_graph.cpp
  train/trainer/models_test.cpp)

# goban_unity(<target>): compiles the sources of the target, which lie under src/, in batches.
function(goban_unity target)
  if(NOT GOBAN_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON
    UNITY_BUILD_BATCH_SIZE ${GOBAN_UNITY_BATCH})
  cmake_path(GET CMAKE_CURRENT_FUNCTION_LIST_DIR PARENT_PATH root)
  list(TRANSFORM GOBAN_COMPILED_ALONE PREPEND ${root}/src/ OUTPUT_VARIABLE alone)
  set_source_files_properties(${alone} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
