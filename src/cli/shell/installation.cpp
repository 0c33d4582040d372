#include "cli/shell/installation.hpp"

#include <cstdlib>
#include <filesystem>

namespace goban::cli {

std::string program_path() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

std::string python_folder() {
  if (const char* chosen = std::getenv("GOBAN_PYTHON"); chosen != nullptr && *chosen != '\0') {
    return chosen;
  }
  const auto folder = std::filesystem::path(program_path()).parent_path().parent_path();
  return (folder / "share/goban/python").string();
}

}  // namespace goban::cli
