// Where refused records go: a count, the first few, and a file of all.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace goban::history {

/// Writes CSV `line,reason,record`. Nothing is written if the path is empty.
class RejectsFile {
 public:
  /// Errors: Failed if the file cannot be made.
  [[nodiscard]] base::Status open(const std::string& path);
  void add(int64_t line, std::string_view reason, std::string_view record);
  /// Errors: Failed if not everything could be written.
  [[nodiscard]] base::Status close();

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Closer> file_;
  std::string path_;
  std::string row_;
};

}  // namespace goban::history
