# What an outside project needs to train models of its own: find_package(goban) gives goban::mesh
# (examples/mesh is one). Component "mesh" of the installation, with the program goban-train.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
install(TARGETS goban-train COMPONENT mesh)
foreach(module base base/reports train/comm train/mesh)
  string(REPLACE "/" "_" name ${module})
  install(TARGETS goban_${name}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT mesh
    FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/goban COMPONENT mesh)
endforeach()
set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/goban)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/gobanConfig.cmake.in
  ${CMAKE_BINARY_DIR}/gobanConfig.cmake INSTALL_DESTINATION ${config_folder}
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/gobanConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/gobanConfig.cmake ${CMAKE_BINARY_DIR}/gobanConfigVersion.cmake
  DESTINATION ${config_folder} COMPONENT mesh)
if(GOBAN_TESTS)
  add_test(NAME examples.mesh_outside_project
    COMMAND bash ${CMAKE_SOURCE_DIR}/tests/examples/outside_project.sh ${CMAKE_COMMAND}
      ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR}/examples/mesh ${CMAKE_CXX_COMPILER}
      ${MPIEXEC_EXECUTABLE})
  set_tests_properties(examples.mesh_outside_project PROPERTIES TIMEOUT 600 LABELS train RUN_SERIAL ON)
endif()
