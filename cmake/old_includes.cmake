# For one commit: the includes still name the files by the places that they had before.
file(STRINGS ${CMAKE_SOURCE_DIR}/cmake/moves.txt moves)
foreach(move ${moves})
  string(REPLACE " " ";" move ${move})
  list(GET move 0 old)
  list(GET move 1 new)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/old/${old}
    CONTENT "#include \"${CMAKE_SOURCE_DIR}/src/${new}\"\n")
endforeach()
target_include_directories(goban_flags INTERFACE ${CMAKE_BINARY_DIR}/old)
