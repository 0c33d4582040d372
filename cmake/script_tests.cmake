# Tests of the tools, which are Python scripts.

foreach(tool data_sets)
  add_test(NAME architecture.${tool}_selftest
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/${tool}_test.py)
endforeach()
