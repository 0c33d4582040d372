// For tests that run the program itself: shell lines.
#pragma once

#include <array>
#include <cstdio>
#include <string>
#include <sys/wait.h>

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

}  // namespace goban::cli
