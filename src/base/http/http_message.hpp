// Requests and responses of the HTTP server, independent of the library.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace goban::base::http {

// Status codes that this server uses; 503 also if the scheduler does not respond in time.
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
inline constexpr int kNoAnswer = 504;  ///< of something behind this server, such as a file system

/// Credentials of the peer of a connection, from the kernel.
struct Peer {
  bool is_local = false;  ///< Unix socket: uid, gid and pid are valid
  uint32_t uid = 0;
  uint32_t gid = 0;
  int32_t pid = 0;
};

struct Request {
  std::string method{};                        ///< GET, POST, DELETE
  std::string path{};                          ///< as sent, without the query, not decoded
  std::map<std::string, std::string> query{};  ///< decoded; the last one of equal names
  std::string token{};                         ///< of "Authorization: Bearer"; must not be logged
  std::string body{};
  Peer peer{};
};

/// A streamed response body: lines of a log, events. Filled by one thread, sent by another.
class BodyStream {
 public:
  virtual ~BodyStream() = default;
  /// Appends new data to `out`, at most `bytes_max` bytes; called a few times per second, and
  /// after a commit cycle. Must not block. Returns false at the end.
  [[nodiscard]] virtual bool fill(std::string& out, size_t bytes_max) = 0;
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body{};
  std::vector<std::pair<std::string, std::string>> headers{};
  std::unique_ptr<BodyStream> stream{};  ///< sent after `body`; null: none
};

}  // namespace goban::base::http
