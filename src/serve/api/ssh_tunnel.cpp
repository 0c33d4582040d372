#include "serve/api/ssh_tunnel.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "base/shell_word.hpp"
#include "base/spawn.hpp"
#include "base/text.hpp"
#include "serve/api/api_client.hpp"

namespace goban::serve::api {

namespace {

constexpr std::string_view kScheme = "ssh://";
constexpr const char* kForm = "use ssh://HOST, or ssh://USER@HOST:PORT/PATH/OF/THE/SOCKET";

/// Of a host, user or port: nothing that ssh takes for an option.
bool is_word(std::string_view text) {
  return !text.empty() && text.front() != '-' && std::ranges::all_of(text, [](char c) {
    const char low = base::lowered(c);
    return (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.' || c == ':' || c == '%';
  });
}

bool is_port(std::string_view text) {
  constexpr size_t kDigits = 5;
  return text.size() <= kDigits &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Starts ssh with nothing to read; it ends when this process does, however that ends.
pid_t start(std::vector<std::string> words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  const int nothing = ::open("/dev/null", O_RDWR);
  if (::getppid() != parent || nothing < 0) ::_exit(1);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(nothing, STDOUT_FILENO);
  ::unsetenv("GOBAN_TOKEN");  // ssh may pass variables on
  ::execvp(pointers.front(), pointers.data());
  constexpr int kNotFound = 127;
  ::_exit(kNotFound);
}

/// ssh 9.2 may note a signal and then wait for minutes: it is told again.
void end(pid_t ssh) {
  constexpr int kLooksPerSignal = 20, kSignals = 20;
  for (int look = 0; look < kLooksPerSignal * kSignals; ++look) {
    if (look % kLooksPerSignal == 0) ::kill(ssh, SIGTERM);
    int status = 0;
    const pid_t ended = ::waitpid(ssh, &status, WNOHANG);
    if (ended == ssh || (ended < 0 && errno != EINTR)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ::kill(ssh, SIGKILL);
  (void)base::wait_for(ssh);
}

bool exists(const std::string& path) {
  struct stat facts{};
  return ::stat(path.c_str(), &facts) == 0;
}

}  // namespace

bool is_ssh(std::string_view address) { return address.starts_with(kScheme); }

base::Result<SshPlace> parse_ssh(const std::string& address) {
  const auto refuse = [&] {
    return base::usage_error(fmt::format("'{}' names no machine for ssh", address), kForm);
  };
  std::string_view rest = address;
  if (!is_ssh(rest)) return refuse();
  rest.remove_prefix(kScheme.size());
  SshPlace place{.socket = kSystemSocket};
  if (const size_t slash = rest.find('/'); slash != rest.npos) {
    if (slash + 1 < rest.size()) place.socket = rest.substr(slash);
    rest = rest.substr(0, slash);
  }
  if (const size_t at = rest.rfind('@'); at != rest.npos) {
    place.user = rest.substr(0, at);
    rest.remove_prefix(at + 1);
    if (!is_word(place.user)) return refuse();
  }
  const bool is_bracketed = rest.starts_with('[');  // [::1]:22
  const size_t end = is_bracketed ? rest.find(']') : rest.find(':');
  if (is_bracketed && end == rest.npos) return refuse();
  place.host = is_bracketed ? rest.substr(1, end - 1) : rest.substr(0, end);
  std::string_view port = end == rest.npos ? "" : rest.substr(is_bracketed ? end + 1 : end);
  if (!port.empty()) {
    if (port.front() != ':' || port.size() < 2 || !is_port(port.substr(1))) return refuse();
    place.port = port.substr(1);
  }
  // ssh separates the two sockets by a colon.
  const bool is_path = place.socket.find_first_of(":\n\r") == std::string::npos;
  if (!is_word(place.host) || !is_path) return refuse();
  return place;
}

std::vector<std::string> ssh_command(const SshPlace& place, const std::vector<std::string>& options,
                                     const std::vector<std::string>& words) {
  std::vector<std::string> all = {"ssh"};
  all.insert(all.end(), options.begin(), options.end());
  if (!place.port.empty()) all.insert(all.end(), {"-p", place.port});
  if (!place.user.empty()) all.insert(all.end(), {"-l", place.user});
  all.insert(all.end(), {"--", place.host});
  if (words.empty()) return all;
  std::string line;
  for (const std::string& word : words)
    line += (line.empty() ? "" : " ") + base::shell_quoted(word);
  all.push_back(std::move(line));
  return all;
}

base::Result<std::shared_ptr<SshTunnel>> SshTunnel::open(const SshPlace& place) {
  // The name of a socket is short, so not in $TMPDIR, which may be long.
  std::array<char, 32> folder{"/tmp/goban-ssh-XXXXXX"};
  if (::mkdtemp(folder.data()) == nullptr) {
    return base::failed(fmt::format("cannot create a folder in /tmp: {}", std::strerror(errno)));
  }
  std::shared_ptr<SshTunnel> tunnel(new SshTunnel(folder.data()));
  tunnel->ssh_ = start(ssh_command(
      place, {"-N", "-T", "-o", "ExitOnForwardFailure=yes", "-o", "StreamLocalBindUnlink=yes", "-L",
              fmt::format("{}:{}", tunnel->socket(), place.socket)}));
  if (tunnel->ssh_ < 0)
    return base::failed(fmt::format("cannot start ssh: {}", std::strerror(errno)));
  // ssh creates the socket once it is logged in, and listens a moment later. It may wait for the
  // user until then.
  for (bool is_there = false; !is_there;) {
    is_there = exists(tunnel->socket());
    int status = 0;
    if (::waitpid(tunnel->ssh_, &status, WNOHANG) == tunnel->ssh_) {
      tunnel->ssh_ = 0;
      constexpr int kNotFound = 127;
      if (WIFEXITED(status) && WEXITSTATUS(status) == kNotFound) {
        return base::failed("cannot run ssh", "install an ssh client");
      }
      return base::failed(fmt::format("ssh could not connect to {}", place.host),
                          fmt::format("see what ssh said above; try: ssh {}", place.host));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return tunnel;
}

SshTunnel::~SshTunnel() {
  if (ssh_ > 0) end(ssh_);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace goban::serve::api
