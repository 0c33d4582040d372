# Writes OUT, a source that names the commit of SOURCE_DIR; run in each build. Left alone if nothing
# changed. GIVEN: the commit of a source archive, which has no repository.
set(commit "${GIVEN}")
if(NOT commit)
  execute_process(
    COMMAND git -c safe.directory=* -C ${SOURCE_DIR} describe --always --dirty=+ --abbrev=12 --exclude *
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUT} @ONLY CONTENT [[
#include "cli/shell/build_commit.hpp"

const char* goban::cli::build_commit() { return "@commit@"; }
]])
