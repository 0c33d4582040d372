// Invariants that are checked in every build. A violation is a bug and aborts the program.
#pragma once

#include <string>

namespace goban::base {

/// Prints the violated condition, its location and the detail, then aborts.
[[noreturn]] void check_failed(const char* condition, const char* file, int line,
                               const std::string& detail);

}  // namespace goban::base

#define GOBAN_CHECK(condition, ...) \
  (static_cast<bool>(condition)     \
       ? void(0)                    \
       : ::goban::base::check_failed(#condition, __FILE__, __LINE__, std::string{__VA_ARGS__}))
