#include "serve/api/service.hpp"

#include <cmath>
#include <fmt/format.h>
#include <mutex>
#include <utility>

#include "base/clock.hpp"
#include "base/http/reply.hpp"
#include "base/number.hpp"
#include "base/text_file.hpp"
#include "serve/api/event_feed.hpp"
#include "serve/api/openapi.hpp"
#include "serve/api/rate_limit.hpp"
#include "serve/api/router.hpp"

namespace goban::serve::api {

namespace {
constexpr double kOperatorFactor = 10;
constexpr double kBytesPerRequest = 64 << 10;  ///< a longer reply counts as several requests
constexpr size_t kPemBytesMax = 1 << 20;

struct HostPort {
  std::string address;
  uint16_t port = 0;
};

base::Result<HostPort> parse_listen(const std::string& text) {
  const size_t colon = text.rfind(':');
  const int64_t port = colon == std::string::npos
                           ? -1
                           : base::parse_int(std::string_view(text).substr(colon + 1)).value_or(-1);
  if (port < 0 || port > UINT16_MAX) {
    return base::usage_error(fmt::format("'{}' is not a valid ADDRESS:PORT", text),
                             "such as 127.0.0.1:6818 or [::1]:6818");
  }
  std::string address = text.substr(0, colon);
  if (address.starts_with('[') && address.ends_with(']')) {
    address = address.substr(1, address.size() - 2);
  }
  return HostPort{std::move(address), static_cast<uint16_t>(port)};
}

base::Result<std::vector<base::http::ListenSocket>> open_sockets(const ServiceOptions& options) {
  std::vector<base::http::ListenSocket> sockets;
  if (!options.socket.empty()) {
    base::Result<base::http::ListenSocket> local = base::http::ListenSocket::unix_at(
        options.socket, options.socket_mode, options.replaces_socket);
    if (!local) return base::failure(std::move(local.error()));
    sockets.push_back(std::move(*local));
  }
  if (!options.listen.empty()) {
    const base::Result<HostPort> where = parse_listen(options.listen);
    if (!where) return base::failure(where.error());
    if (!base::http::is_loopback_address(where->address) && options.key_file.empty()) {
      return base::usage_error(
          fmt::format("{}: tokens would be sent unencrypted", options.listen),
          "set certificate and key in [service], or listen on 127.0.0.1 or ::1");
    }
    base::Result<base::http::ListenSocket> tcp =
        base::http::ListenSocket::tcp_at(where->address, where->port);
    if (!tcp) return base::failure(std::move(tcp.error()));
    sockets.push_back(std::move(*tcp));
  }
  return sockets;
}

base::Result<base::http::TlsIdentity> read_tls(const ServiceOptions& options) {
  base::http::TlsIdentity tls;
  if (options.certificate_file.empty() != options.key_file.empty()) {
    return base::usage_error("certificate and key must be set together", "set both in [service]");
  }
  if (options.key_file.empty()) return tls;
  base::Result<std::string> certificate =
      base::read_text_file(options.certificate_file, kPemBytesMax);
  if (!certificate) return base::failure(std::move(certificate.error()));
  base::Result<std::string> key = base::read_text_file(options.key_file, kPemBytesMax);
  if (!key) return base::failure(std::move(key.error()));
  return base::http::TlsIdentity{.certificate = std::move(*certificate), .key = std::move(*key)};
}

/// The callers; with the token of the daemon's own user if no tokens are configured.
base::Result<std::unique_ptr<Callers>> make_callers(const ServiceOptions& options,
                                                    std::string& token) {
  CallerOptions callers = options.callers;
  const auto where = options.listen.empty() ? HostPort{} : parse_listen(options.listen);
  if (!where) return base::failure(where.error());
  const bool has_own = callers.token_file.empty() && !options.own_token_folder.empty() &&
                       base::http::is_loopback_address(where->address);
  if (has_own) {
    auto own = own_token(options.own_token_folder);
    if (!own) return base::failure(std::move(own.error()));
    callers.own_token = std::move(*own);
  }
  token = callers.own_token;
  return Callers::create(std::move(callers));
}

void add_page(Router& router, const std::string& path, StaticPage page) {
  router.add("GET", path, Access::Public, {}, [page = std::move(page)](const Call&) {
    base::http::Response response{.content_type = page.content_type, .body = page.body};
    // The page contains everything it needs; it may connect only to this server.
    response.headers = {
        {"Content-Security-Policy",
         "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
         "img-src data:; font-src data:; connect-src 'self'; base-uri 'none'; "
         "form-action 'none'; frame-ancestors 'none'"},
        {"Referrer-Policy", "no-referrer"},
        {"X-Frame-Options", "DENY"}};
    return response;
  });
}
}  // namespace

struct Service::Parts {
  Parts(const ServiceOptions& options, live::loop::SchedulerClient& scheduler,
        const stores::PayloadStore& payloads, DaemonParts parts,
        std::map<std::string, StaticPage> pages)
      : limit(options.requests_per_s, options.requests_burst),
        operator_limit(options.requests_per_s * kOperatorFactor,
                       options.requests_burst * kOperatorFactor),
        feed(scheduler),
        files(options.files),
        context{.scheduler = scheduler,
                .payloads = payloads,
                .files = files,
                .limits = options.submissions,
                .many_users = options.many_users,
                .parts = parts} {
    add_submit_route(router, context);
    add_job_routes(router, context);
    add_job_change_routes(router, context);
    add_log_routes(router, context);
    add_node_routes(router, context);
    add_agent_route(router, context);
    add_forecast_route(router, context);
    add_pilot_routes(router, context);
    add_reservation_routes(router, context);
    add_series_route(router, context);
    add_overview_route(router, context);
    add_metrics_route(router, context);
    router.add("GET", "/v1/openapi.json", Access::Public, {}, [](const Call&) {
      return base::http::Response{.body = std::string(openapi_document())};
    });
    router.add("GET", "/v1/events", Access::Known, {}, [this](const Call&) {
      base::http::Response response{.content_type = "text/event-stream"};
      response.stream = feed.listen();
      return response;
    });
    for (auto& [path, page] : pages) add_page(router, path, std::move(page));
  }

  [[nodiscard]] base::http::Response answer(const base::http::Request& request) {
    bool is_operator = false;
    std::string user;
    base::http::Response response = router.answer(
        request,
        [&](const base::http::Request& asked) {
          base::Result<Identity> who = known_callers()->identify(asked);
          is_operator = who.has_value() && who->is_operator();
          return who;
        },
        [&](const std::string& name) {
          user = name;
          return (is_operator ? operator_limit : limit).take(user, base::steady_s());
        });
    const double more = std::floor(static_cast<double>(response.body.size()) / kBytesPerRequest);
    if (more > 0 && !user.empty()) (is_operator ? operator_limit : limit).charge(user, more);
    return response;
  }

  [[nodiscard]] std::shared_ptr<Callers> known_callers() const {
    const std::scoped_lock lock(callers_mutex);
    return callers;
  }
  void replace(std::shared_ptr<Callers> others, const std::string& token) {
    const std::scoped_lock lock(callers_mutex);
    callers.swap(others);
    own_token = token;
  }

  mutable std::mutex callers_mutex;
  std::shared_ptr<Callers> callers;  ///< guarded by callers_mutex
  std::string own_token;             ///< guarded by callers_mutex
  RateLimit limit;
  RateLimit operator_limit;
  EventFeed feed;
  FileWork files;
  ApiContext context;
  Router router;
  uint16_t port = 0;
  std::unique_ptr<base::http::HttpServer> http;  ///< last: stopped before the parts it calls
};

ServiceOptions read_service_options(base::TableReader& table, ServiceOptions defaults) {
  ServiceOptions out = std::move(defaults);
  out.socket = table.text("socket", out.socket);
  if (const std::string mode = table.text("socket_access", ""); mode == "everybody") {
    out.socket_mode = 0666;
  } else if (mode == "group") {
    out.socket_mode = 0660;
  } else if (mode == "owner") {
    out.socket_mode = 0600;
  } else if (!mode.empty()) {
    table.refuse("socket_access", "unknown value", "must be owner, group or everybody");
  }
  out.listen = table.text("listen", out.listen);
  out.certificate_file = table.text("certificate", out.certificate_file);
  out.key_file = table.text("key", out.key_file);
  out.callers.token_file = table.text("tokens", out.callers.token_file);
  out.callers.operators = table.texts("operators");
  out.callers.operator_groups = table.texts("operator_groups");
  out.callers.viewers = table.texts("viewers");
  out.callers.agents = table.texts("agents");
  for (base::TableReader& each : table.tables("account_managers")) {
    each.require("user", "name the user who manages the accounts");
    const std::string user = each.text("user");
    out.callers.account_managers[user] = each.texts("accounts");
    each.finish();
  }
  if (auto most = table.table("priority_max")) {
    PriorityMax& limits = out.callers.priority_max;
    const auto read = [&](const char* role, int32_t& value) {
      value = static_cast<int32_t>(most->whole(role, -INT32_MAX, INT32_MAX, value));
    };
    read("user", limits.user);
    read("account_manager", limits.account_manager);
    read("operator", limits.an_operator);
    most->finish();
  }
  out.files.timeout_ns = table.duration("file_timeout", out.files.timeout_ns);
  if (out.files.timeout_ns < base::kSecond) {
    table.refuse("file_timeout", "must be at least 1 s", "such as 10s");
  }
  constexpr double kRateMax = 1e6;
  out.requests_per_s = table.number("requests_per_s", 0.1, kRateMax, out.requests_per_s);
  out.requests_burst = table.number("requests_burst", 1, kRateMax, out.requests_burst);
  const auto count = [&](const char* key, int64_t most, uint32_t value) {
    return static_cast<uint32_t>(table.whole(key, 1, most, value));
  };
  out.limits.connections_max = count("connections_max", 100'000, out.limits.connections_max);
  out.limits.connections_peer_max =
      count("connections_per_user", 100'000, out.limits.connections_peer_max);
  out.limits.connections_address_max =
      count("connections_per_address", 100'000, out.limits.connections_address_max);
  out.limits.streams_max = count("streams_max", 100'000, out.limits.streams_max);
  out.limits.workers = count("workers", 1024, out.limits.workers);
  return out;
}

Service::Service(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Service::~Service() { stop(); }

size_t Service::stop() {
  // First, as workers of the server may wait for files.
  const size_t hanging = parts_->files.stop();
  parts_->context.server = nullptr;
  parts_->http.reset();
  return hanging;
}

base::Result<std::unique_ptr<Service>> Service::start(const ServiceOptions& options,
                                                      live::loop::SchedulerClient& scheduler,
                                                      const stores::PayloadStore& payloads,
                                                      DaemonParts daemon_parts,
                                                      std::map<std::string, StaticPage> pages) {
  auto parts =
      std::make_unique<Parts>(options, scheduler, payloads, daemon_parts, std::move(pages));
  std::string token;
  base::Result<std::unique_ptr<Callers>> callers = make_callers(options, token);
  if (!callers) return base::failure(std::move(callers.error()));
  parts->replace(std::move(*callers), token);
  base::Result<base::http::TlsIdentity> tls = read_tls(options);
  if (!tls) return base::failure(std::move(tls.error()));
  base::Result<std::vector<base::http::ListenSocket>> sockets = open_sockets(options);
  if (!sockets) return base::failure(std::move(sockets.error()));
  for (const base::http::ListenSocket& socket : *sockets) {
    if (!socket.is_unix()) parts->port = socket.port();
  }
  Parts* const raw = parts.get();
  auto http = base::http::HttpServer::start(
      std::move(*sockets), std::move(*tls), options.limits,
      [raw](const base::http::Request& request) { return raw->answer(request); },
      [raw] { raw->feed.wait(); });
  if (!http) return base::failure(std::move(http.error()));
  parts->http = std::move(*http);
  parts->context.server = parts->http.get();
  return std::unique_ptr<Service>(new Service(std::move(parts)));
}

uint16_t Service::port() const { return parts_->port; }
std::string Service::own_token() const {
  const std::scoped_lock lock(parts_->callers_mutex);
  return parts_->own_token;
}
base::http::HttpStats Service::stats() const {
  return parts_->http != nullptr ? parts_->http->stats() : base::http::HttpStats{};
}
base::Status Service::reload(const ServiceOptions& options) {
  std::string token;
  base::Result<std::unique_ptr<Callers>> callers = make_callers(options, token);
  if (!callers) return base::failure(std::move(callers.error()));
  const base::Result<base::http::TlsIdentity> tls = read_tls(options);
  if (!tls) return base::failure(tls.error());
  if (base::Status renewed = parts_->http->renew(*tls); !renewed) return renewed;
  parts_->replace(std::move(*callers), token);
  return {};
}
base::http::Response Service::answer(const base::http::Request& request) const {
  return parts_->answer(request);
}

std::vector<std::string> Service::routes() const { return parts_->router.routes(); }

}  // namespace goban::serve::api
