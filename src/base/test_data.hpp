// For tests: files of the public data sets, which may be absent.
#pragma once

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace goban::base {

/// Path of a file or folder of the data sets, if it exists: in $GOBAN_DATA (default
/// ~/.cache/goban/data), which `./dev data` fills, or in data/ of $GOBAN_SHARED (default: shared/
/// next to the source folder). A test without its data skips; the summary of `./dev test` states
/// how to get it:
///     const auto path = base::test_data("pal/traces/workload-1.csv");
///     if (!path) GTEST_SKIP() << path.error().text();
[[nodiscard]] inline Result<std::string> test_data(std::string_view relative) {
  const auto variable = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  std::filesystem::path data = variable("GOBAN_DATA");
  if (data.empty()) data = variable("HOME") + "/.cache/goban/data";
  std::filesystem::path shared = variable("GOBAN_SHARED");
  if (shared.empty()) shared = GOBAN_SOURCE_DIR "/../shared";
  for (const std::filesystem::path& folder : std::array{data, shared / "data"}) {
    std::error_code ignored;
    if (std::filesystem::exists(folder / relative, ignored)) return (folder / relative).string();
  }
  return failed(fmt::format("data file {} is absent", relative), "./dev data");
}

}  // namespace goban::base
