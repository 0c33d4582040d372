#include "base/spawn.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace goban::base {
namespace {

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

void redirect(posix_spawn_file_actions_t& files, int from, int to, int mode) {
  if (from >= 0) {
    posix_spawn_file_actions_adddup2(&files, from, to);
  } else {
    posix_spawn_file_actions_addopen(&files, to, "/dev/null", mode, 0);
  }
}

void set_group(posix_spawnattr_t& attributes, SpawnGroup group) {
  if (group == SpawnGroup::Own) {
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
  } else if (group == SpawnGroup::OwnSession) {
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
}

}  // namespace

pid_t spawn(std::vector<std::string> words, SpawnOptions options) {
  const std::vector<char*> argv = pointers(words);
  std::vector<char*> own;
  if (options.environment) own = pointers(*options.environment);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  redirect(files, options.in, STDIN_FILENO, O_RDONLY);
  redirect(files, options.out, STDOUT_FILENO, O_WRONLY);
  redirect(files, options.err, STDERR_FILENO, O_WRONLY);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  set_group(attributes, options.group);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, argv[0], &files, &attributes, argv.data(),
                                 options.environment ? own.data() : environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  errno = error;
  return error == 0 ? pid : 0;
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace goban::base
