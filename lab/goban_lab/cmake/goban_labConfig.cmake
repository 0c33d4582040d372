# The package goban_lab: the header goban_lab.hpp, for policies in shared libraries (docs/lab.md).
#
#   find_package(goban_lab REQUIRED)
#   add_library(mine MODULE SOURCES...)
#   target_link_libraries(mine PRIVATE goban_lab::goban_lab)
if(NOT TARGET goban_lab::goban_lab)
  # Next to this folder in the Python package; in an installed prefix two folders up.
  find_path(goban_lab_INCLUDE_DIR goban_lab.hpp
    HINTS ${CMAKE_CURRENT_LIST_DIR}/../include ${CMAKE_CURRENT_LIST_DIR}/../../../include NO_DEFAULT_PATH)
  if(NOT goban_lab_INCLUDE_DIR)
    set(goban_lab_FOUND FALSE)
    set(goban_lab_NOT_FOUND_MESSAGE "goban_lab.hpp is missing beside ${CMAKE_CURRENT_LIST_DIR}")
    return()
  endif()
  add_library(goban_lab::goban_lab INTERFACE IMPORTED)
  set_target_properties(goban_lab::goban_lab PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${goban_lab_INCLUDE_DIR}" INTERFACE_COMPILE_FEATURES cxx_std_20)
endif()
