// Based on libmicrohttpd: one daemon per socket, with one polling thread. A request is passed to a
// worker while its connection is suspended, so that thread never waits for a response.
#include "base/http/http_server.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <microhttpd.h>
#include <mutex>
#include <optional>
#include <sys/socket.h>
#include <unistd.h>

#include "base/http/http_uri.hpp"
#include "base/http/peer_socket.hpp"
#include "base/http/reply.hpp"
#include "base/http/stream_feeder.hpp"
#include "base/http/worker_pool.hpp"
#include "base/number.hpp"

namespace goban::base::http {

namespace {
/// Bodies up to this multiple of the limit are read to their end and discarded, so that the client
/// has finished sending when it gets the error. Beyond that the connection is closed.
constexpr size_t kDrainFactor = 8;

Response overload() {
  Response response = refusal(kUnavailable, "the server is busy", "try again in a second");
  response.headers.emplace_back("Retry-After", "1");
  return response;
}
}  // namespace

struct HttpServer::Work {
  Work(TlsIdentity tls_identity, HttpLimits http_limits, Handler handle,
       WaitForUpdates wait_for_updates)
      : tls(std::move(tls_identity)),
        limits(http_limits),
        handler(std::move(handle)),
        streams(limits.streams_max, std::move(wait_for_updates)) {}
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  ~Work();

  base::Result<MHD_Daemon*> listen(const ListenSocket& socket);
  /// Stops accepting connections.
  void quiesce(MHD_Daemon* daemon);
  base::Status renew(const TlsIdentity& other);
  /// Counts a new connection of this user; false if there are too many.
  bool admit(uint32_t uid);
  void leave(uint32_t uid);

  TlsIdentity tls;
  HttpLimits limits;
  Handler handler;
  std::vector<ListenSocket> sockets;
  std::vector<MHD_Daemon*> daemons;  ///< one per socket
  std::vector<MHD_Daemon*> retired;  ///< no longer listening; their connections may continue
  std::vector<int> given_back;       ///< listening sockets of the retired daemons
  std::optional<WorkerPool> workers;

  std::mutex peers_mutex;
  std::map<uint32_t, uint32_t> connections_of;  ///< by uid, on Unix sockets

  StreamFeeder streams;

  std::atomic<int64_t> num_requests = 0;
  std::atomic<int64_t> num_refused = 0;
  std::atomic<int64_t> num_connections = 0;
};

namespace {
/// State of a connection, with the same lifetime.
struct Connection {
  Peer peer{};
  bool admitted = false;
};

/// A request in progress; exists until it is answered or its connection is closed.
template <typename Work>
struct Exchange {
  Work* work = nullptr;
  std::string target{};
  Request request{};
  size_t skipped = 0;  ///< bytes of a body that is too large
  bool begun = false;
  bool handed = false;
  Response response{};
};

template <typename Work>
MHD_Result send(MHD_Connection* connection, Work& work, Response& response);

ssize_t read_stream(void* closure, uint64_t, char* out, size_t size) {
  auto& state = *static_cast<std::pair<MHD_Connection*, std::shared_ptr<LiveStream>>*>(closure);
  MHD_Connection* const connection = state.first;
  const int64_t count = state.second->take(out, size, [connection] {
    MHD_suspend_connection(connection);
    return [connection] { MHD_resume_connection(connection); };
  });
  if (count == LiveStream::kLost) return MHD_CONTENT_READER_END_WITH_ERROR;
  return count < 0 ? MHD_CONTENT_READER_END_OF_STREAM : static_cast<ssize_t>(count);
}

void close_stream(void* closure) {
  auto* const state =
      static_cast<std::pair<MHD_Connection*, std::shared_ptr<LiveStream>>*>(closure);
  state->second->leave();
  delete state;
}

int socket_of(MHD_Connection* connection) {
  const MHD_ConnectionInfo* const info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info == nullptr ? -1 : info->connect_fd;
}

template <typename Work>
MHD_Response* make_response(MHD_Connection* connection, Work& work, Response& response) {
  if (response.stream != nullptr) {
    auto stream = std::make_shared<LiveStream>(std::move(response.stream), std::move(response.body),
                                               work.limits.stream_bytes_max, socket_of(connection));
    if (work.streams.add(stream)) {
      constexpr size_t kBlock = 16 << 10;
      auto* const state = new std::pair{connection, std::move(stream)};
      return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, kBlock, &read_stream, state,
                                               &close_stream);
    }
    response = overload();
    ++work.num_refused;
  }
  return MHD_create_response_from_buffer(response.body.size(), response.body.data(),
                                         MHD_RESPMEM_MUST_COPY);
}

template <typename Work>
MHD_Result send(MHD_Connection* connection, Work& work, Response& response) {
  MHD_Response* const out = make_response(connection, work, response);
  if (out == nullptr) return MHD_NO;
  MHD_add_response_header(out, "Content-Type", response.content_type.c_str());
  MHD_add_response_header(out, "Cache-Control", "no-store");
  MHD_add_response_header(out, "X-Content-Type-Options", "nosniff");
  for (const auto& [name, value] : response.headers) {
    MHD_add_response_header(out, name.c_str(), value.c_str());
  }
  const MHD_Result queued =
      MHD_queue_response(connection, static_cast<unsigned>(response.status), out);
  MHD_destroy_response(out);
  return queued;
}

template <typename Work>
MHD_Result refuse(MHD_Connection* connection, Work& work, Response response) {
  ++work.num_refused;
  return send(connection, work, response);
}

std::string bearer_token(MHD_Connection* connection) {
  constexpr std::string_view kScheme = "bearer ";
  const char* const header =
      MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization");
  if (header == nullptr) return {};
  const std::string_view value = header;
  if (value.size() <= kScheme.size()) return {};
  const bool is_bearer = std::equal(kScheme.begin(), kScheme.end(), value.begin(),
                                    [](char wanted, char c) { return wanted == (c | 0x20); });
  return is_bearer ? std::string(value.substr(kScheme.size())) : std::string{};
}

/// The first call for a request: its headers have arrived.
template <typename Work>
MHD_Result begin(MHD_Connection* connection, Work& work, Exchange<Work>& exchange,
                 const char* method) {
  exchange.begun = true;
  ++work.num_requests;
  std::optional<Target> target = parse_target(exchange.target);
  if (!target) {
    return refuse(connection, work,
                  refusal(kBadRequest, "the URL contains an invalid escape",
                          "percent-encode UTF-8 without control characters"));
  }
  exchange.request.method = method;
  exchange.request.path = std::move(target->path);
  exchange.request.query = std::move(target->query);
  exchange.request.token = bearer_token(connection);
  if (exchange.request.method != "GET" && exchange.request.method != "POST" &&
      exchange.request.method != "DELETE") {
    return refuse(connection, work,
                  refusal(kMethodNotAllowed, "method not allowed", "use GET, POST or DELETE"));
  }
  const char* const length =
      MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length");
  if (length == nullptr) return MHD_YES;
  const auto bytes = base::parse_int(length);
  const auto most = static_cast<int64_t>(work.limits.body_bytes_max * kDrainFactor);
  if (bytes && *bytes <= most) return MHD_YES;
  return refuse(connection, work, refusal(kTooLarge, "the request body is too large"));
}

template <typename Work>
MHD_Result take_body(Exchange<Work>& exchange, const char* data, size_t size) {
  const HttpLimits& limits = exchange.work->limits;
  std::string& body = exchange.request.body;
  if (exchange.skipped == 0 && body.size() + size <= limits.body_bytes_max) {
    body.append(data, size);
    return MHD_YES;
  }
  exchange.skipped += body.size() + size;
  body.clear();
  body.shrink_to_fit();
  return exchange.skipped <= limits.body_bytes_max * kDrainFactor ? MHD_YES : MHD_NO;
}

/// The complete request has arrived: passes it to a worker.
template <typename Work>
MHD_Result hand_over(MHD_Connection* connection, Work& work, Exchange<Work>& exchange) {
  if (exchange.skipped > 0) {
    return refuse(connection, work,
                  refusal(kTooLarge, "the request body is too large",
                          "at most " + std::to_string(work.limits.body_bytes_max) + " bytes"));
  }
  const MHD_ConnectionInfo* const info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  if (info != nullptr && info->socket_context != nullptr) {
    exchange.request.peer = static_cast<Connection*>(info->socket_context)->peer;
  }
  exchange.handed = true;
  MHD_suspend_connection(connection);
  const bool taken = work.workers->add([connection, &work, &exchange] {
    exchange.response = work.handler(exchange.request);
    MHD_resume_connection(connection);
  });
  if (!taken) {
    ++work.num_refused;
    exchange.response = overload();
    MHD_resume_connection(connection);
  }
  return MHD_YES;
}

template <typename Work>
MHD_Result answer(void* closure, MHD_Connection* connection, const char*, const char* method,
                  const char*, const char* data, size_t* data_size, void** context) {
  Work& work = *static_cast<Work*>(closure);
  if (*context == nullptr) return MHD_NO;
  auto& exchange = *static_cast<Exchange<Work>*>(*context);
  if (!exchange.begun) return begin(connection, work, exchange, method);
  if (*data_size > 0) {
    const size_t size = std::exchange(*data_size, 0);
    return take_body(exchange, data, size);
  }
  if (!exchange.handed) return hand_over(connection, work, exchange);
  return send(connection, work, exchange.response);
}

template <typename Work>
void* remember_target(void* closure, const char* target, MHD_Connection*) {
  return new Exchange<Work>{.work = static_cast<Work*>(closure), .target = target};
}

template <typename Work>
void forget(void*, MHD_Connection*, void** context, MHD_RequestTerminationCode) {
  delete static_cast<Exchange<Work>*>(*context);
  *context = nullptr;
}

template <typename Work>
void follow_connection(void* closure, MHD_Connection* connection, void** context,
                       MHD_ConnectionNotificationCode what) {
  Work& work = *static_cast<Work*>(closure);
  if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
    const std::unique_ptr<Connection> gone(static_cast<Connection*>(*context));
    *context = nullptr;
    --work.num_connections;
    if (gone != nullptr && gone->admitted) work.leave(gone->peer.uid);
    return;
  }
  ++work.num_connections;
  auto known = std::make_unique<Connection>();
  if (const int descriptor = socket_of(connection); descriptor >= 0) {
    known->peer = peer_of(descriptor);
    if (known->peer.is_local) {
      known->admitted = work.admit(known->peer.uid);
      if (!known->admitted) {
        ++work.num_refused;
        ::shutdown(descriptor, SHUT_RDWR);
      }
    } else {
      probe_when_silent(descriptor);
    }
  }
  *context = known.release();
}
}  // namespace

void HttpServer::Work::quiesce(MHD_Daemon* daemon) {
  const MHD_socket descriptor = MHD_quiesce_daemon(daemon);
  if (descriptor != MHD_INVALID_SOCKET) given_back.push_back(descriptor);
}

base::Result<MHD_Daemon*> HttpServer::Work::listen(const ListenSocket& socket) {
  // A duplicate, because the library closes the descriptor if it cannot start.
  const int descriptor = ::fcntl(socket.descriptor(), F_DUPFD_CLOEXEC, 0);
  if (descriptor < 0) return base::failed("no file descriptors left for a listening socket");
  unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
  std::vector<MHD_OptionItem> options = {
      {MHD_OPTION_LISTEN_SOCKET, descriptor, nullptr},
      {MHD_OPTION_CONNECTION_LIMIT, static_cast<intptr_t>(limits.connections_max), nullptr},
      {MHD_OPTION_CONNECTION_TIMEOUT, static_cast<intptr_t>(limits.idle_s), nullptr},
      {MHD_OPTION_CONNECTION_MEMORY_LIMIT, static_cast<intptr_t>(limits.header_bytes_max), nullptr},
      {MHD_OPTION_STRICT_FOR_CLIENT, 1, nullptr},
      {MHD_OPTION_URI_LOG_CALLBACK, reinterpret_cast<intptr_t>(&remember_target<Work>), this},
      {MHD_OPTION_NOTIFY_COMPLETED, reinterpret_cast<intptr_t>(&forget<Work>), this},
      {MHD_OPTION_NOTIFY_CONNECTION, reinterpret_cast<intptr_t>(&follow_connection<Work>), this},
  };
  if (!socket.is_unix()) {
    options.push_back({MHD_OPTION_PER_IP_CONNECTION_LIMIT,
                       static_cast<intptr_t>(limits.connections_address_max), nullptr});
    if (!tls.key.empty()) {
      flags |= MHD_USE_TLS;
      options.push_back({MHD_OPTION_HTTPS_MEM_KEY, 0, tls.key.data()});
      options.push_back({MHD_OPTION_HTTPS_MEM_CERT, 0, tls.certificate.data()});
      // GnuTLS: TLS 1.2 and 1.3 only.
      static char priorities[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";
      options.push_back({MHD_OPTION_HTTPS_PRIORITIES, 0, priorities});
    }
  }
  options.push_back({MHD_OPTION_END, 0, nullptr});
  MHD_Daemon* const daemon = MHD_start_daemon(flags, 0, nullptr, nullptr, &answer<Work>, this,
                                              MHD_OPTION_ARRAY, options.data(), MHD_OPTION_END);
  if (daemon == nullptr) {
    return base::failed("cannot start the HTTP server",
                        !socket.is_unix() && !tls.key.empty()
                            ? "check that the certificate and its key are PEM files and match"
                            : "check the limits of threads and file descriptors");
  }
  return daemon;
}

base::Status HttpServer::Work::renew(const TlsIdentity& other) {
  if (other == tls) return {};
  if (other.key.empty() != tls.key.empty()) {
    return base::usage_error("TLS cannot be switched on or off while the daemon runs",
                             "restart the daemon");
  }
  TlsIdentity before = std::exchange(tls, other);
  for (size_t i = 0; i < sockets.size(); ++i) {
    if (sockets[i].is_unix()) continue;
    const auto next = listen(sockets[i]);
    if (!next) {
      tls = std::move(before);
      return base::failure(next.error());
    }
    quiesce(daemons[i]);
    retired.push_back(std::exchange(daemons[i], *next));
  }
  return {};
}

bool HttpServer::Work::admit(uint32_t uid) {
  const std::scoped_lock lock(peers_mutex);
  uint32_t& count = connections_of[uid];
  if (count >= limits.connections_peer_max) return false;
  ++count;
  return true;
}

void HttpServer::Work::leave(uint32_t uid) {
  const std::scoped_lock lock(peers_mutex);
  const auto found = connections_of.find(uid);
  if (found != connections_of.end() && --found->second == 0) connections_of.erase(found);
}

HttpServer::Work::~Work() {
  // Stop listening but keep the sockets. After that no connection may be suspended.
  for (MHD_Daemon* const daemon : daemons) quiesce(daemon);
  streams.stop();
  if (workers) workers->stop();
  for (MHD_Daemon* const daemon : retired) MHD_stop_daemon(daemon);
  for (MHD_Daemon* const daemon : daemons) MHD_stop_daemon(daemon);
  for (const int descriptor : given_back) ::close(descriptor);
}

HttpServer::HttpServer(std::unique_ptr<Work> work) : work_(std::move(work)) {}
HttpServer::~HttpServer() = default;

base::Result<std::unique_ptr<HttpServer>> HttpServer::start(std::vector<ListenSocket> sockets,
                                                            TlsIdentity tls, HttpLimits limits,
                                                            Handler handler,
                                                            WaitForUpdates wait_for_updates) {
  auto work = std::make_unique<Work>(std::move(tls), limits, std::move(handler),
                                     std::move(wait_for_updates));
  work->sockets = std::move(sockets);
  work->workers.emplace(limits.workers, limits.waiting_max);
  for (ListenSocket& socket : work->sockets) {
    const auto listening = work->listen(socket);
    if (!listening) return base::failure(listening.error());
    work->daemons.push_back(*listening);
  }
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(work)));
}

base::Status HttpServer::renew(const TlsIdentity& tls) { return work_->renew(tls); }

HttpStats HttpServer::stats() const {
  return {.requests = work_->num_requests,
          .refused = work_->num_refused,
          .connections = work_->num_connections,
          .streams = work_->streams.size()};
}

}  // namespace goban::base::http
