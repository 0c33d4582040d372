#include "cli/shell/exec_command.hpp"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/shell/command.hpp"

namespace goban::cli {

int exec_command(std::vector<std::string> words) {
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execvp(argv.front(), argv.data());
  return report_error({base::ErrorCode::Failed,
                       fmt::format("cannot run {}: {}", words.front(), std::strerror(errno)),
                       {},
                       {}});
}

}  // namespace goban::cli
