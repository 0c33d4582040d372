// The server over real sockets: limits, streams, slow clients, TLS, shutdown.
#include <arpa/inet.h>
#include <chrono>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

#include "serve/api/api_client.hpp"
#include "serve/api/test_service.hpp"

namespace goban::serve::api {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// A connection that sends the bytes of a test, in any portions.
class RawClient {
 public:
  explicit RawClient(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  ~RawClient() { ::close(socket_); }
  void send(const std::string& text) {
    [[maybe_unused]] const ssize_t sent = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
  }
  /// The bytes received until they contain `wanted`, the connection ends, or 5 s have passed.
  std::string receive(const std::string& wanted) {
    constexpr int kPatience_ms = 5000;
    std::string got;
    char room[4096];
    while (got.find(wanted) == std::string::npos) {
      pollfd ready{.fd = socket_, .events = POLLIN, .revents = 0};
      if (::poll(&ready, 1, kPatience_ms) <= 0) break;
      const ssize_t count = ::recv(socket_, room, sizeof room, 0);
      if (count <= 0) return got + "<end>";
      got.append(room, static_cast<size_t>(count));
    }
    return got;
  }

 private:
  int socket_;
};

class HttpServerTest : public ServiceTest {
 public:
  HttpServerTest() {
    options.socket = folder + "/sock";
    options.many_users = false;
  }
  ApiClient client() { return ApiClient({.socket = options.socket}); }
};

TEST_F(HttpServerTest, KnowsWhoAsksByTheSocket) {
  start();
  ApiClient me = client();
  EXPECT_EQ(me.post("/v1/jobs", R"({"script":"x"})").value(), R"({"job":1,"jobs":[1]})");
  scheduler.edit(
      1, [](live::controller::LiveJob& job) { EXPECT_EQ(job.spec.owner.uid, ::geteuid()); });
  EXPECT_TRUE(me.post("/v1/nodes/n0/drain", R"({"reason":"fan"})").has_value());
  EXPECT_EQ(me.get("/v1/jobs/9").error().message, "there is no job 9");
  EXPECT_EQ(me.last_status(), 404);
  EXPECT_THAT(me.get("/v1/jobs?state=no%20such").error().text(), HasSubstr("state: unknown state"));
}

TEST_F(HttpServerTest, LargeBodiesAreRefused) {
  options.limits.body_bytes_max = 10'000;
  start();
  ApiClient me = client();
  const auto answer = me.post("/v1/jobs", std::string(20'000, ' '));
  EXPECT_EQ(me.last_status(), 413);
  EXPECT_EQ(answer.error().code, base::ErrorCode::BadData);
  // Too large to be read to its end.
  RawClient raw(options.socket);
  raw.send("POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n");
  EXPECT_THAT(raw.receive("\r\n"), StartsWith("HTTP/1.1 413"));
  RawClient chunks(options.socket);
  chunks.send("POST /v1/jobs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 40; ++i) chunks.send("1000\r\n" + std::string(0x1000, 'x') + "\r\n");
  EXPECT_THAT(chunks.receive("<never>"), HasSubstr("<end>"));
  EXPECT_EQ(scheduler.num_asked, 0);
}

TEST_F(HttpServerTest, LargeHeadersAreRefused) {
  start();
  RawClient raw(options.socket);
  raw.send("GET /v1/stats HTTP/1.1\r\nHost: x\r\nX-Large: " + std::string(100'000, 'x') +
           "\r\n\r\n");
  EXPECT_THAT(raw.receive("\r\n"), testing::AnyOf(HasSubstr("HTTP/1.1 4"), StartsWith("<end>")));
}

TEST_F(HttpServerTest, NonsenseEndsNothing) {
  start();
  for (const char* text : {"\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\x16\x03\x01\x02",
                           "GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n",
                           "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n"}) {
    RawClient raw(options.socket);
    raw.send(text);
  }
  RawClient raw(options.socket);
  raw.send("BREW /v1/jobs HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(raw.receive("\r\n"), StartsWith("HTTP/1.1 405"));
  EXPECT_TRUE(client().get("/v1/stats").has_value());
}

TEST_F(HttpServerTest, SlowClientsDelayNobody) {
  options.limits.workers = 2;
  start();
  std::vector<std::unique_ptr<RawClient>> slow;
  for (int i = 0; i < 50; ++i) {
    slow.push_back(std::make_unique<RawClient>(options.socket));
    slow.back()->send("POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{");
  }
  for (int i = 0; i < 20; ++i) {
    slow.push_back(std::make_unique<RawClient>(options.socket));
    slow.back()->send("GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n");
  }
  ApiClient me = client();
  const auto before = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(me.get("/v1/stats").has_value());
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(5));
}

TEST_F(HttpServerTest, OneUserHasSoManyConnections) {
  options.limits.connections_peer_max = 3;
  start();
  {
    std::vector<std::unique_ptr<RawClient>> mine;
    for (int i = 0; i < 3; ++i) mine.push_back(std::make_unique<RawClient>(options.socket));
    for (const auto& each : mine) {
      each->send("GET /v1/stats HTTP/1.1\r\nHost: x\r\n\r\n");
      EXPECT_THAT(each->receive("\r\n\r\n"), StartsWith("HTTP/1.1 200"));
    }
    RawClient more(options.socket);
    more.send("GET /v1/stats HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(more.receive("\r\n"), "<end>");
  }
  // Closed connections no longer count; the server may need a moment to notice them.
  ApiClient me = client();
  bool served = false;
  for (int i = 0; i < 100 && !served; ++i) {
    served = me.get("/v1/stats").has_value();
    if (!served) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_TRUE(served);
}

TEST_F(HttpServerTest, EventsComeAsTheyHappen) {
  start();
  RawClient listener(options.socket);
  listener.send("GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::string hello = listener.receive("event: hello");
  EXPECT_THAT(hello, HasSubstr("text/event-stream"));
  EXPECT_THAT(hello, HasSubstr("event: hello"));
  ASSERT_TRUE(client().post("/v1/jobs", R"({"script":"x"})").has_value());
  EXPECT_THAT(listener.receive("event: change"), HasSubstr("event: change"));
  EXPECT_EQ(service->stats().streams, 1);
  service.reset();
  EXPECT_THAT(listener.receive("<never>"), HasSubstr("<end>"));
}

TEST_F(HttpServerTest, LogsAreFollowed) {
  start();
  const std::string body = R"({"script":"x","work_folder":")" + folder + R"("})";
  ASSERT_TRUE(client().post("/v1/jobs", body).has_value());
  std::thread job([&] {
    std::ofstream(folder + "/goban-1.out") << "one\n";
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    std::ofstream(folder + "/goban-1.out", std::ios::app) << "two\n";
    scheduler.edit(
        1, [](live::controller::LiveJob& each) { each.stage = live::controller::JobStage::Done; });
  });
  std::string got;
  ApiClient me = client();
  const base::Status done = me.stream("/v1/jobs/1/log?follow=1", [&](std::string_view part) {
    got += part;
    return true;
  });
  job.join();
  EXPECT_TRUE(done.has_value());
  EXPECT_EQ(got, "one\ntwo\n");
}

/// Waits until the server has this many connections and streams; false after 5 s.
bool comes_to(const Service& service, int64_t connections, int64_t streams) {
  for (int i = 0; i < 250; ++i) {
    const base::http::HttpStats stats = service.stats();
    if (stats.connections == connections && stats.streams == streams) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

TEST_F(HttpServerTest, FollowersOfASilentJobThatLeaveAreForgotten) {
  options.listen = "127.0.0.1:0";
  options.limits.connections_address_max = 4;
  start();
  const std::string body = R"({"script":"x","work_folder":")" + folder + R"("})";
  ASSERT_TRUE(client().post("/v1/jobs", body).has_value());
  std::ofstream(folder + "/goban-1.out") << "one\n";
  const std::string url = "http://127.0.0.1:" + std::to_string(service->port());
  const std::string path = "/v1/jobs/1/log?follow=1";
  for (int round = 0; round < 3; ++round) {
    std::vector<std::unique_ptr<ApiClient>> far;
    std::vector<std::unique_ptr<RawClient>> near;
    for (int i = 0; i < 4; ++i) {
      far.push_back(std::make_unique<ApiClient>(ServerAddress{.url = url, .token = kOperator}));
      std::string got;
      const base::Status followed = far.back()->stream(path, [&](std::string_view part) {
        got += part;
        return got != "one\n";  // hangs up in the middle of the stream
      });
      EXPECT_EQ(got, "one\n") << "round " << round << ": "
                              << (followed ? std::string() : followed.error().text());
      near.push_back(std::make_unique<RawClient>(options.socket));
      near.back()->send("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n");
      EXPECT_THAT(near.back()->receive("one\n"), HasSubstr("one\n"));
    }
    far.clear();
    near.clear();
    EXPECT_TRUE(comes_to(*service, 0, 0)) << service->stats().connections << " connections";
  }
}

TEST_F(HttpServerTest, TooManyStreamsAreRefused) {
  options.limits.streams_max = 2;
  start();
  std::vector<std::unique_ptr<RawClient>> listeners;
  for (int i = 0; i < 3; ++i) {
    listeners.push_back(std::make_unique<RawClient>(options.socket));
    listeners.back()->send("GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_THAT(listeners.back()->receive("\r\n"),
                StartsWith(i < 2 ? "HTTP/1.1 200" : "HTTP/1.1 503"));
  }
}

TEST_F(HttpServerTest, TcpAsksForAToken) {
  options.listen = "127.0.0.1:0";
  start();
  const std::string url = "http://127.0.0.1:" + std::to_string(service->port());
  ApiClient unknown({.url = url});
  EXPECT_FALSE(unknown.get("/v1/stats").has_value());
  EXPECT_EQ(unknown.last_status(), 401);
  EXPECT_TRUE(unknown.get("/v1/openapi.json").has_value());
  ApiClient bob({.url = url, .token = kBob});
  EXPECT_TRUE(bob.get("/v1/stats").has_value());
  EXPECT_FALSE(bob.post("/v1/nodes/n0/drain").has_value());
  EXPECT_EQ(bob.last_status(), 403);
}

TEST_F(HttpServerTest, TcpElsewhereNeedsTls) {
  options.listen = "0.0.0.0:0";
  payloads =
      std::make_unique<stores::PayloadStore>(stores::PayloadStore::open(folder + "/jobs").value());
  const auto refused = Service::start(options, scheduler, *payloads);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().text(), HasSubstr("unencrypted"));
}

/// False without openssl.
bool make_certificate(const std::string& key, const std::string& certificate) {
  const std::string make =
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes "
      "-days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout " +
      key + " -out " + certificate + " 2>/dev/null";
  return std::system(make.c_str()) == 0;
}

TEST_F(HttpServerTest, ACertificateIsRenewedWhileItRuns) {
  const std::string key = folder + "/key";
  const std::string certificate = folder + "/cert";
  if (!make_certificate(key, certificate)) GTEST_SKIP() << "openssl is not installed";
  options.listen = "127.0.0.1:0";
  options.certificate_file = certificate;
  options.key_file = key;
  start();
  const std::string url = "https://localhost:" + std::to_string(service->port());
  ApiClient before({.url = url, .token = kBob, .ca_file = certificate});
  ASSERT_TRUE(before.get("/v1/stats").has_value());
  std::filesystem::copy_file(certificate, folder + "/first");
  ASSERT_TRUE(service->reload(options).has_value()) << "nothing changed";
  ASSERT_TRUE(make_certificate(folder + "/other-key", certificate));
  EXPECT_FALSE(service->reload(options).has_value()) << "certificate and key do not match";
  EXPECT_TRUE(ApiClient({.url = url, .token = kBob, .ca_file = folder + "/first"})
                  .get("/v1/stats")
                  .has_value());
  std::filesystem::rename(folder + "/other-key", key);
  ASSERT_TRUE(service->reload(options).has_value());
  for (int i = 0; i < 8; ++i) {
    ApiClient after({.url = url, .token = kBob, .ca_file = certificate});
    const auto answer = after.get("/v1/stats");
    EXPECT_TRUE(answer.has_value()) << answer.error().text();
  }
  EXPECT_TRUE(before.get("/v1/stats").has_value()) << "its connection is still open";
}

TEST_F(HttpServerTest, SpeaksTls) {
  if (!make_certificate(folder + "/key", folder + "/cert")) {
    GTEST_SKIP() << "openssl is not installed";
  }
  options.listen = "127.0.0.1:0";
  options.certificate_file = folder + "/cert";
  options.key_file = folder + "/key";
  start();
  const std::string url = "https://localhost:" + std::to_string(service->port());
  ApiClient bob({.url = url, .token = kBob, .ca_file = folder + "/cert"});
  const auto answer = bob.get("/v1/stats");
  EXPECT_TRUE(answer.has_value()) << answer.error().text();
  ApiClient careless({.url = url, .token = kBob});
  const auto distrusted = careless.get("/v1/stats");
  ASSERT_FALSE(distrusted.has_value());
  EXPECT_THAT(distrusted.error().text(), HasSubstr("not trusted"));
  ::setenv("SSL_CERT_FILE", (folder + "/cert").c_str(), 1);
  const auto trusted = ApiClient({.url = url, .token = kBob}).get("/v1/stats");
  ::unsetenv("SSL_CERT_FILE");
  EXPECT_TRUE(trusted.has_value()) << trusted.error().text();
}

TEST_F(HttpServerTest, OneDaemonASocket) {
  start();
  const auto second = base::http::ListenSocket::unix_at(options.socket, 0600);
  ASSERT_FALSE(second.has_value());
  EXPECT_THAT(second.error().text(), HasSubstr("another daemon listens"));
  std::ofstream(folder + "/file") << "text";
  EXPECT_FALSE(base::http::ListenSocket::unix_at(folder + "/file", 0600).has_value());
  service.reset();
  EXPECT_FALSE(std::filesystem::exists(options.socket));
  // A socket that a killed daemon left behind is replaced.
  const int left = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  options.socket.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(left, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ::close(left);
  start();
  EXPECT_TRUE(client().get("/v1/stats").has_value());
}

}  // namespace
}  // namespace goban::serve::api
