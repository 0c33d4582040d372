// A daemon for tests of commands: answers by request line and records the requests.
#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace goban::cli {

class FakeDaemon {
 public:
  /// `answers`: from "GET /v1/jobs" (without the query, except "?past=1") to a body, which is sent
  /// from `offset=` on;
  /// "!403 ..." is an error with that status, "..." its message or its JSON object.
  FakeDaemon(std::string path, std::map<std::string, std::string> answers)
      : path_(std::move(path)), answers_(std::move(answers)) {
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    ::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address);
    ::listen(listener_, 8);
    thread_ = std::thread([this] { serve(); });
  }
  ~FakeDaemon() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  FakeDaemon(const FakeDaemon&) = delete;
  FakeDaemon& operator=(const FakeDaemon&) = delete;

  /// Request lines such as "GET /v1/jobs?all=1".
  std::vector<std::string> asked() {
    const std::scoped_lock lock(mutex_);
    return asked_;
  }
  /// The body of the last request that had one.
  std::string last_body() {
    const std::scoped_lock lock(mutex_);
    return last_body_;
  }

 private:
  static std::string read_request(int peer) {
    std::string text;
    char buffer[65536];
    size_t wanted = std::string::npos;
    while (text.size() < wanted) {
      const ssize_t got = ::read(peer, buffer, sizeof buffer);
      if (got <= 0) break;
      text.append(buffer, static_cast<size_t>(got));
      const size_t head = text.find("\r\n\r\n");
      if (head == std::string::npos) continue;
      const size_t length = text.find("Content-Length: ");
      wanted = head + 4 + (length < head ? std::stoul(text.substr(length + 16)) : 0);
    }
    return text;
  }
  std::string answer(const std::string& request) {
    const std::string line = request.substr(0, request.find(" HTTP/"));
    const std::string body = request.substr(std::min(request.find("\r\n\r\n") + 4, request.size()));
    const std::scoped_lock lock(mutex_);
    asked_.push_back(line);
    if (!body.empty()) last_body_ = body;
    const std::string path = line.substr(0, line.find('?'));
    auto found = answers_.find(path + "?past=1");
    if (line.find("past=1") == std::string::npos || found == answers_.end()) {
      found = answers_.find(path);
    }
    std::string status = "200";
    std::string text = found == answers_.end() ? "!404 nothing there" : found->second;
    if (text.starts_with('!')) {
      status = text.substr(1, 3);
      text = text.substr(5);
      if (!text.starts_with('{')) text = R"({"message":")" + text + R"("})";
      text = R"({"error":)" + text + "}";
    } else if (const size_t at = line.find("offset="); at != std::string::npos) {
      const long offset = std::stol(line.substr(at + 7));
      const auto size = static_cast<long>(text.size());
      text.erase(0, static_cast<size_t>(offset < 0 ? std::max(0L, size + offset)
                                                   : std::min(offset, size)));
    }
    return "HTTP/1.1 " + status +
           " X\r\nConnection: close\r\nContent-Length: " + std::to_string(text.size()) +
           "\r\n\r\n" + text;
  }
  void serve() {
    for (int peer = 0; (peer = ::accept(listener_, nullptr, nullptr)) >= 0; ::close(peer)) {
      const std::string out = answer(read_request(peer));
      [[maybe_unused]] const ssize_t put = ::write(peer, out.data(), out.size());
    }
  }

  std::string path_;
  std::map<std::string, std::string> answers_;
  std::mutex mutex_;
  std::vector<std::string> asked_;
  std::string last_body_;
  int listener_ = -1;
  std::thread thread_;
};

}  // namespace goban::cli
