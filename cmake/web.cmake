# The web application: npm builds web/ into one HTML page, which is embedded in the program. npm runs again
# only if web/ changed. With GOBAN_WEB=OFF, `goban simulate --html` reports that the page is missing.
find_program(GOBAN_NPM npm)
find_program(GOBAN_NODE NAMES node nodejs)
set(web_default OFF)
if(GOBAN_NPM AND GOBAN_NODE)
  execute_process(COMMAND ${GOBAN_NODE} --version OUTPUT_VARIABLE node_version
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  string(REGEX REPLACE "^v" "" node_version "${node_version}")
  if(node_version VERSION_GREATER_EQUAL 18)
    set(web_default ON)
  endif()
endif()
if(web_default OR DEFINED GOBAN_WEB)
  option(GOBAN_WEB "Build the web page of reports and dashboard (requires npm and Node.js 18)" ON)
else()
  set(GOBAN_WEB OFF)  # not cached, so that the next run looks for npm again
endif()
if(GOBAN_WEB)
  enable_language(ASM)
endif()

# Links <target> with the embedded page: goban_web_page(<target>).
function(goban_web_page target)
  if(NOT GOBAN_WEB)
    message(STATUS "HTML reports and the dashboard are disabled: GOBAN_WEB is OFF")
    return()
  endif()
  if(NOT web_default)
    message(FATAL_ERROR "GOBAN_WEB requires npm and Node.js 18 or later (Debian packages nodejs and "
      "npm); -DGOBAN_WEB=OFF builds without HTML reports and dashboard")
  endif()
  set(web ${CMAKE_SOURCE_DIR}/web)
  set(page ${CMAKE_BINARY_DIR}/web/index.html)
  # npm writes this file last.
  set(installed ${web}/node_modules/.package-lock.json)
  add_custom_command(OUTPUT ${installed}
    COMMAND ${GOBAN_NPM} ci --ignore-scripts --no-audit --no-fund --loglevel=error
    COMMAND ${CMAKE_COMMAND} -E touch ${installed}
    DEPENDS ${web}/package.json ${web}/package-lock.json
    WORKING_DIRECTORY ${web}
    COMMENT "Installing the npm packages of web/" VERBATIM)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${web}/src/*)
  list(FILTER sources EXCLUDE REGEX "\\.test\\.tsx?$")
  add_custom_command(OUTPUT ${page}
    COMMAND ${GOBAN_NPM} run --silent build -- --outDir ${CMAKE_BINARY_DIR}/web --emptyOutDir
      --logLevel warn
    DEPENDS ${installed} ${sources} ${web}/index.html ${web}/vite.config.ts ${web}/tsconfig.json
    WORKING_DIRECTORY ${web}
    COMMENT "Building the page of web/" VERBATIM)
  add_custom_target(goban_web DEPENDS ${page})

  set(assembly ${CMAKE_SOURCE_DIR}/cmake/report_page.S)
  set_source_files_properties(${assembly} PROPERTIES
    COMPILE_DEFINITIONS "GOBAN_REPORT_PAGE=\"${page}\"" OBJECT_DEPENDS ${page})
  add_library(goban_report_page STATIC ${assembly})
  add_dependencies(goban_report_page goban_web)
  target_link_libraries(${target} PUBLIC goban_report_page)
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/site/page/report_page.cpp PROPERTIES
    COMPILE_DEFINITIONS GOBAN_WEB)
endfunction()

# Tests of the page: unit tests in Node.js, reports and dashboard in headless Chromium.
function(goban_web_tests)
  if(NOT GOBAN_WEB)
    return()
  endif()
  add_test(NAME web_unit_test COMMAND ${GOBAN_NPM} run --silent test
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/web)
  set_tests_properties(web_unit_test PROPERTIES TIMEOUT 120 LABELS web)
  goban_tests_target(web)
  add_dependencies(tests_web goban_web)
  find_program(GOBAN_CHROMIUM NAMES chromium chromium-browser google-chrome)
  if(NOT GOBAN_CHROMIUM)
    message(STATUS "web_report_test and web_live_test are skipped: no Chromium (Debian package chromium)")
    return()
  endif()
  add_test(NAME web_report_test COMMAND ${CMAKE_COMMAND} -E env GOBAN=$<TARGET_FILE:goban>
    CHROMIUM=${GOBAN_CHROMIUM} ${GOBAN_NPM} run --silent test:browser
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/web)
  add_dependencies(tests_web goban)
  set_tests_properties(web_report_test PROPERTIES TIMEOUT 300 LABELS web RUN_SERIAL ON)
  add_test(NAME web_live_test COMMAND ${CMAKE_COMMAND} -E env GOBAN=$<TARGET_FILE:goban>
    GOBAN_PAGE=${CMAKE_BINARY_DIR}/web/index.html CHROMIUM=${GOBAN_CHROMIUM}
    ${GOBAN_NPM} run --silent test:live
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/web)
  set_tests_properties(web_live_test PROPERTIES TIMEOUT 300 LABELS web RUN_SERIAL ON)
endfunction()
