// Requests and answers of the HTTP interface, free of the library that carries them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace goban::base::http {

// Status codes that this server gives; 503 also for a scheduler that cannot answer now.
inline constexpr int kCreated = 201;
inline constexpr int kBadRequest = 400;
inline constexpr int kUnauthorized = 401;
inline constexpr int kForbidden = 403;
inline constexpr int kNotFound = 404;
inline constexpr int kMethodNotAllowed = 405;
inline constexpr int kConflict = 409;
inline constexpr int kTooLarge = 413;
inline constexpr int kTooManyRequests = 429;
inline constexpr int kBroken = 500;
inline constexpr int kUnavailable = 503;

/// Who is at the other end of a connection, as the kernel says.
struct Peer {
  bool is_local = false;  ///< over a Unix socket: uid, gid and pid count
  uint32_t uid = 0;
  uint32_t gid = 0;
  int32_t pid = 0;
};

struct Request {
  std::string method{};                        ///< GET, POST, DELETE
  std::string path{};                          ///< as sent, without the query, not decoded
  std::map<std::string, std::string> query{};  ///< decoded; of several alike the last
  std::string token{};                         ///< of "Authorization: Bearer"; never to be logged
  std::string body{};
  Peer peer{};
};

/// A body that goes on: lines of a log, events. Filled by one thread, taken by another.
class BodyStream {
 public:
  virtual ~BodyStream() = default;
  /// Appends what is new to `out`, at most `bytes_max` of it; called a few times a second, and
  /// after a turn of the scheduler. Must not block. Returns false at the end.
  [[nodiscard]] virtual bool fill(std::string& out, size_t bytes_max) = 0;
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body{};
  std::vector<std::pair<std::string, std::string>> headers{};
  std::unique_ptr<BodyStream> stream{};  ///< the body after `body`, if there is one
};

}  // namespace goban::base::http
