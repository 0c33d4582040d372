// For tests that run the program itself: shell lines and temporary folders.
#pragma once

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace goban::cli {

struct Output {
  int code = 0;
  std::string out;
};

/// Runs a shell line in which GOBAN is replaced by the path of the program.
inline Output shell(std::string line) {
  for (size_t at = line.find("GOBAN"); at != std::string::npos; at = line.find("GOBAN", at)) {
    line.replace(at, 5, GOBAN_BINARY_DIR "/bin/goban");
  }
  Output output;
  std::FILE* pipe = popen(line.c_str(), "r");
  std::array<char, 4096> buffer{};
  for (size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    output.out.append(buffer.data(), n);
  }
  const int status = pclose(pipe);
  output.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return output;
}

/// An empty temporary folder, removed by the destructor.
class TestFolder {
 public:
  explicit TestFolder(const std::string& name)
      : path_(std::filesystem::temp_directory_path() /
              ("goban_" + name + "_" + std::to_string(getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Writes a file; returns its path.
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ + "/" + name) << text;
    return path_ + "/" + name;
  }
  static std::string read(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

 private:
  std::string path_;
};

}  // namespace goban::cli
