// For tests: background processes, free ports, a real Prometheus.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <netinet/in.h>
#include <optional>
#include <spawn.h>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "base/http/http_client.hpp"

namespace goban::site::telemetry {

/// A process that is stopped with the object.
class TestProcess {
 public:
  explicit TestProcess(const std::vector<std::string>& arguments, const std::string& log) {
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (const std::string& one : arguments) argv.push_back(const_cast<char*>(one.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0644);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    if (posix_spawnp(&pid_, argv[0], &actions, nullptr, argv.data(), environ) != 0) pid_ = -1;
    posix_spawn_file_actions_destroy(&actions);
  }
  TestProcess(const TestProcess&) = delete;
  TestProcess& operator=(const TestProcess&) = delete;
  ~TestProcess() { (void)stop(); }
  /// Requests termination; returns the exit code, -1 if a signal ended the process.
  int stop() {
    if (pid_ <= 0) return code_;
    kill(pid_, SIGTERM);
    int status = 0;
    waitpid(std::exchange(pid_, -1), &status, 0);
    code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return code_;
  }

 private:
  pid_t pid_ = -1;
  int code_ = -1;
};

inline int free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ::bind(socket, reinterpret_cast<sockaddr*>(&address), size);
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(socket);
  return ntohs(address.sin_port);
}

inline bool have_program(const std::string& name) {
  return std::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0;
}

/// Waits up to 20 s until an address returns 200.
inline bool wait_for(const std::string& url) {
  base::http::HttpClient client;
  for (int i = 0; i < 200; ++i) {
    if (client.send({.url = url, .timeout_s = 2}).status == 200) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return false;
}

/// A Prometheus server on the data of a folder; `config` (YAML) defines what to scrape.
class TestPrometheus {
 public:
  TestPrometheus(const std::string& folder, const std::string& config)
      : port_(free_port()),
        process_({"prometheus", "--config.file=" + config, "--storage.tsdb.path=" + folder,
                  "--storage.tsdb.retention.time=100y", "--log.level=warn",
                  "--web.listen-address=127.0.0.1:" + std::to_string(port_)},
                 folder + ".log") {}
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] bool ready() const { return wait_for(url() + "/-/ready"); }

 private:
  int port_;
  TestProcess process_;
};

}  // namespace goban::site::telemetry
