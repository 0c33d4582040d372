// The commit that the program was built from; its source is written by cmake/write_commit.cmake.
#pragma once

namespace goban::cli {

/// Abbreviated; ends with "+" if the sources were changed since. "unknown" without a repository.
const char* build_commit();

}  // namespace goban::cli
