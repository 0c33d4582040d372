# The layer train and the program goban-train. They need MPI and LibTorch; without them the cluster's
# tools are built alone, and the part that reads training data.
find_package(MPI QUIET COMPONENTS CXX)
# PyTorch's package file looks for libtorch in the system before its own folder.
set(prefixes "${CMAKE_PREFIX_PATH}")
foreach(prefix IN LISTS CMAKE_PREFIX_PATH)
  if(EXISTS ${prefix}/Torch/TorchConfig.cmake)
    list(PREPEND CMAKE_PREFIX_PATH ${prefix}/../..)
  endif()
endforeach()
find_package(Torch QUIET)
set(CMAKE_PREFIX_PATH "${prefixes}")
set(mesh_missing "")
# Shards of training data, which need neither: tar by libarchive, images by libjpeg-turbo and libpng.
pkg_check_modules(libarchive QUIET IMPORTED_TARGET libarchive)
pkg_check_modules(libturbojpeg QUIET IMPORTED_TARGET libturbojpeg)
find_package(PNG QUIET)
find_library(GOBAN_ZSTD zstd)
find_path(GOBAN_ZSTD_INCLUDE zstd.h)
if(libarchive_FOUND AND libturbojpeg_FOUND AND PNG_FOUND AND GOBAN_ZSTD AND GOBAN_ZSTD_INCLUDE)
  goban_library(train/data LIBS PkgConfig::libarchive PkgConfig::libturbojpeg PNG::PNG ${GOBAN_ZSTD}
    nlohmann_json::nlohmann_json Threads::Threads)
else()
  list(APPEND mesh_missing "libraries for shards (libarchive-dev libturbojpeg0-dev libpng-dev libzstd-dev)")
endif()
find_library(GOBAN_RE2 re2)
find_path(GOBAN_RE2_INCLUDE re2/re2.h)
if(NOT GOBAN_RE2 OR NOT GOBAN_RE2_INCLUDE)
  list(APPEND mesh_missing "RE2 (libre2-dev)")
endif()
if(NOT MPI_CXX_FOUND)
  list(APPEND mesh_missing "MPI (libopenmpi-dev)")
endif()
if(NOT Torch_FOUND)
  list(APPEND mesh_missing "LibTorch (libtorch-dev)")
endif()
if(mesh_missing)
  set(mesh_default OFF)
else()
  set(mesh_default ON)
endif()
option(GOBAN_MESH "Build the training runtime (needs LibTorch and MPI)" ${mesh_default})
if(NOT GOBAN_MESH)
  message(STATUS "Training runtime (goban-train): not built; missing: ${mesh_missing}")
  return()
endif()
if(mesh_missing)
  message(FATAL_ERROR "GOBAN_MESH is ON, but not found: ${mesh_missing}")
endif()
message(STATUS "Training runtime (goban-train): LibTorch ${Torch_VERSION}, MPI ${MPI_CXX_VERSION}")

# LibTorch's headers are the vendor's: no warnings of ours in them.
add_library(goban_torch INTERFACE)
target_link_libraries(goban_torch INTERFACE ${TORCH_LIBRARIES})
# PyPI's bring headers of another fmt; ours come first.
get_target_property(fmt_include fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
list(GET fmt_include 0 fmt_include)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/own_fmt)
file(CREATE_LINK ${fmt_include}/fmt ${CMAKE_BINARY_DIR}/own_fmt/fmt SYMBOLIC)
target_include_directories(goban_torch SYSTEM INTERFACE ${CMAKE_BINARY_DIR}/own_fmt ${TORCH_INCLUDE_DIRS})
# Its headers then include those operators alone that they need.
target_compile_definitions(goban_torch INTERFACE AT_PER_OPERATOR_HEADERS)
# A LibTorch with CUDA: memory and names of GPUs come through its headers. Debian's has none.
if(TARGET torch_cuda)
  target_compile_definitions(goban_torch INTERFACE GOBAN_CUDA)
endif()
# oneDNN itself, for products of matrices (x86-64: elsewhere it has only slow code for them).
find_library(GOBAN_DNNL dnnl)
find_path(GOBAN_DNNL_INCLUDE dnnl.h)
if(GOBAN_DNNL AND GOBAN_DNNL_INCLUDE AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(goban_dnnl ${GOBAN_DNNL})
  target_link_libraries(goban_torch INTERFACE ${goban_dnnl})
  target_compile_definitions(goban_torch INTERFACE GOBAN_ONEDNN)
endif()
add_library(goban_mpi INTERFACE)
target_include_directories(goban_mpi SYSTEM INTERFACE ${MPI_CXX_INCLUDE_DIRS})
target_link_libraries(goban_mpi INTERFACE ${MPI_CXX_LIBRARIES})

goban_library(train/comm LIBS goban_mpi Threads::Threads ${CMAKE_DL_LIBS})
if(GOBAN_TESTS)
  # NCCL and CUDA are loaded at run time; the tests load a stand-in.
  add_library(goban_fake_nccl MODULE ${CMAKE_SOURCE_DIR}/tests/fake_nccl/fake_nccl.cpp)
  add_dependencies(train_comm_test goban_fake_nccl)
  target_compile_definitions(train_comm_test PRIVATE
    GOBAN_FAKE_NCCL="$<TARGET_FILE:goban_fake_nccl>")
endif()
set(mesh_test_libs rapidcheck)
if(GOBAN_TESTS)
  # A device that is not the processor, for tests without a GPU.
  add_library(goban_standin_device SHARED
    ${CMAKE_SOURCE_DIR}/tests/standin_device/standin_device.cpp)
  target_link_libraries(goban_standin_device PRIVATE goban_torch goban_flags)
  list(APPEND mesh_test_libs goban_standin_device)
endif()
goban_make_precompiled(goban_train LIBS goban_torch HEADERS <ATen/core/Tensor.h>)
goban_library(train/mesh LIBS goban_torch ${GOBAN_RE2} TEST_LIBS ${mesh_test_libs} PRECOMPILED goban_train)
if(GOBAN_TESTS)
  add_dependencies(train_mesh_test goban_fake_nccl)
  target_compile_definitions(train_mesh_test PRIVATE
    GOBAN_FAKE_NCCL="$<TARGET_FILE:goban_fake_nccl>")
endif()
# Its inner loops are compiled for several processors; vectors of floats cross no interface.
set_property(SOURCE ${CMAKE_SOURCE_DIR}/src/train/mesh/fft_conv.cpp TARGET_DIRECTORY goban_train_mesh
  PROPERTY COMPILE_OPTIONS -O3 -ffp-contract=fast -Wno-psabi -Wno-ignored-attributes)
# The root of a vector needs no errno. No fused multiply-add: the same bits on every processor.
set_property(SOURCE ${CMAKE_SOURCE_DIR}/src/train/mesh/adam_kernel.cpp TARGET_DIRECTORY goban_train_mesh
  PROPERTY COMPILE_OPTIONS -O3 -fno-math-errno -ffp-contract=off)
set_property(SOURCE ${CMAKE_SOURCE_DIR}/src/train/mesh/adam_kernel.cpp TARGET_DIRECTORY goban_train_mesh
  PROPERTY SKIP_PRECOMPILE_HEADERS ON)  # which were compiled with errno
goban_library(train/trainer LIBS nlohmann_json::nlohmann_json TEST_LIBS ${mesh_test_libs}
  PRECOMPILED goban_train)
set_property(SOURCE ${CMAKE_SOURCE_DIR}/src/train/trainer/same_on_ranks.cpp TARGET_DIRECTORY goban_train_trainer
  PROPERTY COMPILE_DEFINITIONS GOBAN_VERSION="${PROJECT_VERSION}")
if(GOBAN_TESTS)
  add_dependencies(train_trainer_test goban_fake_nccl)
  target_compile_definitions(train_trainer_test PRIVATE
    GOBAN_FAKE_NCCL="$<TARGET_FILE:goban_fake_nccl>")
endif()

add_executable(goban-train ${CMAKE_SOURCE_DIR}/src/train/trainer/main.cpp)
set_property(SOURCE ${CMAKE_SOURCE_DIR}/src/train/trainer/main.cpp
  PROPERTY COMPILE_DEFINITIONS GOBAN_VERSION="${PROJECT_VERSION}")
target_link_libraries(goban-train PRIVATE goban_train_trainer)

# goban_mpi_test(<name> <ranks> <target> [arguments...]): runs a program under mpirun. Ranks that wait
# give their core away: on a busy machine one that spins keeps it from the rank it waits for.
function(goban_mpi_test name ranks target)
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E env OMP_NUM_THREADS=1
    OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} $<TARGET_FILE:${target}> ${ARGN})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 LABELS train RUN_SERIAL ON)
endfunction()

if(GOBAN_TESTS)
  add_executable(comm_mpi_check ${CMAKE_SOURCE_DIR}/tests/mpi/comm_mpi_check.cpp)
  target_link_libraries(comm_mpi_check PRIVATE goban_train_comm_testing)
  goban_mpi_test(mpi.collectives 4 comm_mpi_check)
  goban_mpi_test(mpi.collectives_fixed_order 3 comm_mpi_check --fixed-order)
  goban_mpi_test(mpi.collectives_in_pieces 4 comm_mpi_check --pieces)
  goban_mpi_test(mpi.collectives_fixed_order_in_pieces 3 comm_mpi_check --fixed-order-pieces)
  goban_mpi_test(mpi.divergence 3 comm_mpi_check --diverge)
  goban_mpi_test(mpi.missing_rank 3 comm_mpi_check --missing)
  set_tests_properties(mpi.divergence PROPERTIES PASS_REGULAR_EXPRESSION
    "ranks diverged: rank 0 is in all-reduce 'loss' .* rank 2 is in barrier 'save'")
  set_tests_properties(mpi.missing_rank PROPERTIES PASS_REGULAR_EXPRESSION
    "rank 2 did not arrive .last seen in all-reduce 'step0'")
  goban_mpi_test(mpi.stopped_rank 2 comm_mpi_check --stop)
  set_tests_properties(mpi.stopped_rank PROPERTIES PASS_REGULAR_EXPRESSION
    "rank 0 waited [0-9.]+ s in all-reduce 'large'.*(its peers have arrived|rank 1 did not arrive)")
  add_executable(mesh_mpi_check ${CMAKE_SOURCE_DIR}/tests/mpi/mesh_mpi_check.cpp)
  target_link_libraries(mesh_mpi_check PRIVATE goban_train_mesh_testing)
  goban_mpi_test(mpi.layouts_on_1 1 mesh_mpi_check x:1)
  goban_mpi_test(mpi.layouts_on_2 2 mesh_mpi_check x:2)
  foreach(signal KILL STOP)
    string(TOLOWER "mpi.rank_gets_sig${signal}" name)
    add_test(NAME ${name} COMMAND bash ${CMAKE_SOURCE_DIR}/tests/mpi/killed_rank.sh
      $<TARGET_FILE:goban-train> ${MPIEXEC_EXECUTABLE} ${signal})
    set_tests_properties(${name} PROPERTIES TIMEOUT 120 LABELS train RUN_SERIAL ON)
  endforeach()
  add_test(NAME mpi.interrupted COMMAND bash ${CMAKE_SOURCE_DIR}/tests/mpi/interrupted_mpi.sh
    $<TARGET_FILE:goban-train> ${MPIEXEC_EXECUTABLE})
  set_tests_properties(mpi.interrupted PROPERTIES TIMEOUT 180 LABELS train RUN_SERIAL ON)
  add_test(NAME mpi.interrupted_sweep COMMAND bash ${CMAKE_SOURCE_DIR}/tests/mpi/interrupted_sweep.sh
    $<TARGET_FILE:goban-train> ${MPIEXEC_EXECUTABLE})
  set_tests_properties(mpi.interrupted_sweep PROPERTIES TIMEOUT 300 LABELS train RUN_SERIAL ON)
  add_test(NAME mpi.ranks_that_differ COMMAND bash ${CMAKE_SOURCE_DIR}/tests/mpi/ranks_that_differ.sh
    $<TARGET_FILE:goban-train> ${MPIEXEC_EXECUTABLE})
  set_tests_properties(mpi.ranks_that_differ PROPERTIES TIMEOUT 180 LABELS train RUN_SERIAL ON)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  # Short forms of what ./dev attack does for minutes.
  foreach(attack damaged_files full_disk wrong_ranks)
    add_test(NAME train.${attack} COMMAND ${Python3_EXECUTABLE}
      ${CMAKE_SOURCE_DIR}/tests/train/${attack}.py $<TARGET_FILE:goban-train>
      "$<$<STREQUAL:${attack},wrong_ranks>:${MPIEXEC_EXECUTABLE}>" COMMAND_EXPAND_LISTS)
    set_tests_properties(train.${attack} PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77 LABELS train)
  endforeach()
  set_tests_properties(train.wrong_ranks PROPERTIES RUN_SERIAL ON)
  add_test(NAME live.mesh_jobs COMMAND ${Python3_EXECUTABLE}
    ${CMAKE_SOURCE_DIR}/tests/live/mesh_jobs.py $<TARGET_FILE:goban>
    $<TARGET_FILE:goban-train> ${MPIEXEC_EXECUTABLE})
  set_tests_properties(live.mesh_jobs PROPERTIES TIMEOUT 300 LABELS live RUN_SERIAL ON)
  add_test(NAME demo.live COMMAND bash ${CMAKE_SOURCE_DIR}/tests/demo_live.sh
    $<TARGET_FILE:goban> $<TARGET_FILE:goban-train> ${CMAKE_BINARY_DIR}/demo_live)
  set_tests_properties(demo.live PROPERTIES TIMEOUT 900 RUN_SERIAL ON LABELS live)
  # The program in docs/mesh.md memorises its random data.
  add_executable(mesh_tutorial ${CMAKE_SOURCE_DIR}/tests/examples/mesh_tutorial.cpp)
  target_link_libraries(mesh_tutorial PRIVATE goban_train_mesh)
  add_test(NAME docs.mesh_tutorial COMMAND mesh_tutorial)
  set_tests_properties(docs.mesh_tutorial PROPERTIES LABELS train PASS_REGULAR_EXPRESSION
    "step 0 loss 2[.].*step 19 loss [01][.]")
  # The stand-in of NCCL, and the error without NCCL.
  set(small_lm lm --threads 2 --mesh x:2 --layout batch:x --train-limit 32 --test-limit 16
    --length 16 --blocks 1 --collectives nccl)
  add_test(NAME train.nccl COMMAND goban-train ${small_lm})
  set_tests_properties(train.nccl PROPERTIES LABELS train PASS_REGULAR_EXPRESSION "epoch 1 step 2 train_loss"
    ENVIRONMENT
    "GOBAN_NCCL=$<TARGET_FILE:goban_fake_nccl>;GOBAN_CUDART=$<TARGET_FILE:goban_fake_nccl>")
  add_test(NAME train.no_nccl COMMAND goban-train ${small_lm})
  set_tests_properties(train.no_nccl PROPERTIES LABELS train ENVIRONMENT "GOBAN_CUDART=none.so"
    PASS_REGULAR_EXPRESSION "the CUDA runtime cannot be loaded: none.so.*--collectives host")
  add_test(NAME train.rate_that_is_no_number COMMAND goban-train mnist --learning-rate nan)
  set_tests_properties(train.rate_that_is_no_number PROPERTIES LABELS train PASS_REGULAR_EXPRESSION
    "--learning-rate: must be a finite number >= 0, not nan")
  # Numbers below the least that makes sense are refused by the name of their option.
  foreach(option blocks:-1:1 seed:-1:0 train-limit:-5:0 test-limit:-1:0 micro-batches:0:1 length:0:1)
    string(REPLACE ":" ";" option ${option})
    list(GET option 0 name)
    list(GET option 1 value)
    list(GET option 2 least)
    add_test(NAME train.refuses_${name} COMMAND goban-train lm --${name} ${value})
    set(refusal "must be an integer of at least ${least}, not ${value}")
    if(name STREQUAL seed)  # has no sign, and is refused before its own check
      set(refusal "'${value}' is not an integer of at least ${least}")
    endif()
    set_tests_properties(train.refuses_${name} PROPERTIES LABELS train PASS_REGULAR_EXPRESSION
      "--${name}: ${refusal}")
  endforeach()
  # So are numbers that make no sense at either end, before anything is read.
  foreach(option "bucket-mb|0|must be a finite number > 0, not 0"
      "bucket-mb|-1|must be a finite number > 0, not -1" "bucket-mb|1e300|must be at most 1e[+]09"
      "timeout-s|0|must be a finite number > 0, not 0" "timeout-s|inf|must be a finite number > 0"
      "delay-ms-per-mb|1e300|must be at most 1e[+]06" "memory-limit-mb|nan|must be a finite number >= 0"
      "memory-limit-mb|1e300|must be at most 1e[+]09" "learning-rate|1e300|must be at most 1e[+]30"
      "train-limit|18446744073709551615|must be at most 9223372036854775807"
      "threads|100000|'100000' is not" "epochs|9000000000000000000|'9000000000000000000' is not"
      "ranks|1,100000|must be at most 1024, not 100000")
    string(REGEX MATCH "^([^|]*)[|]([^|]*)[|](.*)$" whole "${option}")
    string(MAKE_C_IDENTIFIER "${CMAKE_MATCH_2}" value)
    add_test(NAME train.refuses_${CMAKE_MATCH_1}_of_${value} COMMAND goban-train mnist
      --data none --${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
    set_tests_properties(train.refuses_${CMAKE_MATCH_1}_of_${value} PROPERTIES LABELS train
      PASS_REGULAR_EXPRESSION "--${CMAKE_MATCH_1}: ${CMAKE_MATCH_3}")
  endforeach()
  # Precisions of a language model, whose options are those of goban-train lm.
  add_test(NAME train.accuracy_of_lm COMMAND goban-train accuracy lm --precisions bf16 --seeds 2
    --train-limit 32 --test-limit 16 --length 16 --blocks 1 --d-model 16 --d-ff 32)
  set_tests_properties(train.accuracy_of_lm PROPERTIES LABELS train PASS_REGULAR_EXPRESSION
    "bf16 +0[.][0-9]+ +[-+][0-9.]+ [+]- [0-9.]+")
  add_test(NAME train.accuracy_of_lm_has_no_hidden COMMAND goban-train accuracy lm --hidden 8)
  set_tests_properties(train.accuracy_of_lm_has_no_hidden PROPERTIES LABELS train
    PASS_REGULAR_EXPRESSION "--hidden is an option of image models, not of lm")
  # The batch is split over the ranks by default; the help shows defaults.
  goban_mpi_test(mpi.default_layout 2 goban-train lm --epochs 1 --train-limit 32 --test-limit 16
    --length 16 --blocks 1)
  set_tests_properties(mpi.default_layout PROPERTIES PASS_REGULAR_EXPRESSION
    "the batch is split over the 2 ranks.*epoch 1 step 2 train_loss")
  add_test(NAME train.version COMMAND goban-train --version)
  set_tests_properties(train.version PROPERTIES LABELS train PASS_REGULAR_EXPRESSION
    "goban-train ${PROJECT_VERSION}")
  add_test(NAME train.help_of_mnist COMMAND goban-train mnist --help)
  set_tests_properties(train.help_of_mnist PROPERTIES LABELS train PASS_REGULAR_EXPRESSION
    "--optimizer [^\n]*default adafactor.*--seed [^\n]*default 1[)].*--batch-size [^\n]*default 200")
  add_test(NAME train.help_of_lm COMMAND goban-train lm --help)
  set_tests_properties(train.help_of_lm PROPERTIES LABELS train PASS_REGULAR_EXPRESSION
    "--optimizer [^\n]*default adamw.*--batch-size [^\n]*default 16.*--dropout [^\n]*default 0")
  add_test(NAME train.interrupted
    COMMAND bash ${CMAKE_SOURCE_DIR}/tests/interrupted.sh $<TARGET_FILE:goban-train>)
  goban_label(train train.interrupted)
  add_test(NAME train.batch_size_study COMMAND bash ${CMAKE_SOURCE_DIR}/tests/batch_size_study.sh
    $<TARGET_FILE:goban-train> ${CMAKE_SOURCE_DIR}/bench/batch_size_study)
  set_tests_properties(train.batch_size_study PROPERTIES LABELS train TIMEOUT 300)
  # One epoch of full MNIST on two seeds. Fetches the data if need be, and skips where it cannot.
  if(NOT GOBAN_SANITIZE)
    add_test(NAME train.accuracy_of_full_mnist
      COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/bench/mnist_accuracy
        $<TARGET_FILE:goban-train> --seeds 2 --jobs 2 --fetch-to ${CMAKE_BINARY_DIR}/data)
    set_tests_properties(train.accuracy_of_full_mnist PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 1800
      PROCESSORS 2 LABELS train)
  endif()
  goban_mpi_test(mpi.layouts_on_2x2 4 mesh_mpi_check "x:2 y:2")
  goban_mpi_test(mpi.layouts_on_4 4 mesh_mpi_check x:4)
  goban_mpi_test(mpi.same_bits_as_threads 4 mesh_mpi_check "x:2 y:2" 29 --fixed-order)
  set_tests_properties(mpi.layouts_on_2x2 mpi.layouts_on_4 PROPERTIES TIMEOUT 900)
  add_dependencies(tests_live goban-train)
  add_dependencies(tests_train goban-train comm_mpi_check mesh_mpi_check mesh_tutorial)
endif()

include(${CMAKE_SOURCE_DIR}/cmake/train_install.cmake)
