# Second implementations that goban must agree with, and the tests of tools/.
foreach(name pal strict_fifo binning eaco histories)
  goban_script_test(oracle.${name} study tests/oracle/${name}_test.py $<TARGET_FILE:goban>)
endforeach()
goban_script_test(oracle.pal_published study tests/oracle/pal_test.py $<TARGET_FILE:goban> --published)

foreach(tool data_sets ctest_summary dev)
  goban_script_test(architecture.${tool}_selftest tools tools/${tool}_test.py)
endforeach()
