# Tests that are Python scripts: second implementations that goban must agree with, and the tools.

foreach(name pal strict_fifo binning eaco histories)
  add_test(NAME oracle.${name} COMMAND ${Python3_EXECUTABLE}
    ${CMAKE_SOURCE_DIR}/tests/oracle/${name}_test.py $<TARGET_FILE:goban>)
  list(APPEND oracles oracle.${name})
endforeach()
add_test(NAME oracle.pal_published COMMAND ${Python3_EXECUTABLE}
  ${CMAKE_SOURCE_DIR}/tests/oracle/pal_test.py $<TARGET_FILE:goban> --published)
set_tests_properties(${oracles} oracle.pal_published PROPERTIES TIMEOUT 300 LABELS study
  SKIP_RETURN_CODE 77)

foreach(tool data_sets ctest_summary)
  add_test(NAME architecture.${tool}_selftest
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/${tool}_test.py)
endforeach()
