// For tests: an empty folder, removed at the end.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/check.hpp"

namespace goban::base {

/// A new folder, which others may read, with a name that contains `name`; removed with the object.
class TestFolder {
 public:
  explicit TestFolder(const std::string& name = "test")
      : path_((std::filesystem::temp_directory_path() / ("goban_" + name + "_XXXXXX")).string()) {
    GOBAN_CHECK(::mkdtemp(path_.data()) != nullptr);
    std::filesystem::permissions(path_, std::filesystem::perms(0755));
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  /// Writes a file; returns its path.
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(*this / name, std::ios::binary) << text;
    return *this / name;
  }
  [[nodiscard]] static std::string read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

 private:
  std::string path_;
};

}  // namespace goban::base
