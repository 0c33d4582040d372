// For tests: files of the shared data folder beside the checkout, which may be absent.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace goban::base {

/// Path of `relative` in the shared folder ($GOBAN_SHARED, else ../shared beside the sources), if
/// it is there. A test without its data skips with a message:
///     const auto path = base::shared_path("data/x.csv");
///     if (!path) GTEST_SKIP() << "no shared data folder";
[[nodiscard]] inline std::optional<std::string> shared_path(std::string_view relative) {
  const char* set = std::getenv("GOBAN_SHARED");
  std::filesystem::path root = set != nullptr && *set != '\0' ? set : GOBAN_SOURCE_DIR "/../shared";
  std::filesystem::path path = root / relative;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  return path.string();
}

}  // namespace goban::base
