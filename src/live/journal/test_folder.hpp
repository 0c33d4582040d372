// A temporary folder, removed at the end of the test.
#pragma once

#include <atomic>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <unistd.h>

namespace goban::live::journal {

class TestFolder {
 public:
  TestFolder() {
    static std::atomic<int> number = 0;
    path_ = std::filesystem::temp_directory_path() /
            fmt::format("goban-live-test-{}-{}", ::getpid(), number++);
    std::filesystem::create_directories(path_);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string path() const { return path_.string(); }
  [[nodiscard]] std::string operator/(const std::string& name) const {
    return (path_ / name).string();
  }

 private:
  std::filesystem::path path_;
};

}  // namespace goban::live::journal
