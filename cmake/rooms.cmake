# The rooms under src/ and the rooms each may include. This table is the architecture:
# CMake links by it and tools/check_includes.py refuses an include that is not in it.
# goban_room_uses(<room> <rooms it may include>...), lowest room first.
set(GOBAN_ROOMS "")
macro(goban_room_uses room)
  list(APPEND GOBAN_ROOMS ${room})
  set(GOBAN_USES_${room} ${ARGN})
endmacro()

goban_room_uses(base)
goban_room_uses(statistics base)
goban_room_uses(wire base)
goban_room_uses(model base wire)
goban_room_uses(profile base wire model)
goban_room_uses(policy base model profile)
goban_room_uses(scheduler base model profile policy)
goban_room_uses(live base wire model profile policy scheduler)
goban_room_uses(records base wire model profile)
goban_room_uses(history base wire model profile records)
goban_room_uses(store base wire model profile records)
goban_room_uses(series base statistics)
goban_room_uses(telemetry base series)
goban_room_uses(synthetic base wire model profile records history series)
goban_room_uses(analysis base statistics wire model profile records series)
goban_room_uses(engine base wire model profile policy scheduler live history)
goban_room_uses(report base wire model profile policy history engine)
# The daemon's doors: HTTP, authentication, metrics, its start and its end.
goban_room_uses(service base wire model profile policy scheduler live records store series telemetry
                        engine report)
goban_room_uses(cli base statistics wire model profile policy scheduler records history store series
                    analysis live engine report service telemetry synthetic)
# The training runtime: apart from the cluster's rooms (mesh_rooms.cmake builds it).
goban_room_uses(comm base)
goban_room_uses(mesh base wire comm)
goban_room_uses(data base wire comm)
goban_room_uses(train base wire comm mesh data)

# goban_room(<room> [LIBS <third-party targets>...]): one static library from the room's sources
# and one test binary from its *_test.cpp files, registered test by test with ctest.
function(goban_room room)
  cmake_parse_arguments(ARG "" "" "LIBS;TEST_LIBS" ${ARGN})
  file(GLOB_RECURSE all CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${room}/*.cpp)
  set(sources ${all})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$|_fuzz\\.cpp$|/main\\.cpp$")
  set(tests ${all})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  set(uses "")
  foreach(used ${GOBAN_USES_${room}})
    list(APPEND uses goban_${used})
  endforeach()
  if(sources)
    add_library(goban_${room} STATIC ${sources})
    target_include_directories(goban_${room} PUBLIC ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(goban_${room} PUBLIC goban_flags ${uses} ${ARG_LIBS})
  else()
    add_library(goban_${room} INTERFACE)
    target_include_directories(goban_${room} INTERFACE ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(goban_${room} INTERFACE goban_flags ${uses} ${ARG_LIBS})
  endif()
  if(GOBAN_TESTS AND tests)
    add_executable(${room}_test ${tests})
    target_link_libraries(${room}_test PRIVATE goban_${room} GTest::gmock GTest::gtest_main
      ${ARG_TEST_LIBS})
    target_compile_definitions(${room}_test PRIVATE GOBAN_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
      GOBAN_BINARY_DIR="${CMAKE_BINARY_DIR}")
    gtest_discover_tests(${room}_test DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 600)
  endif()
endfunction()
