#include "base/check.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace goban::base {
namespace {
thread_local std::string check_context;
}

void set_check_context(std::string context) { check_context = std::move(context); }

void check_failed(const char* condition, const char* file, int line, const std::string& detail) {
  std::fprintf(stderr, "%s:%d: internal error: check failed: %s. %s %s\n", file, line, condition,
               detail.c_str(), check_context.c_str());
  std::abort();
}

}  // namespace goban::base
