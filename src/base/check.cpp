#include "base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace goban::base {

void check_failed(const char* condition, const char* file, int line, const std::string& detail) {
  std::fprintf(stderr, "%s:%d: internal error: check failed: %s. %s\n", file, line, condition,
               detail.c_str());
  std::abort();
}

}  // namespace goban::base
