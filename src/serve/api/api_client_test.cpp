#include "serve/api/api_client.hpp"

#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "base/http/http_client.hpp"

namespace goban::serve::api {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Answers every connection with one text (the first with `first`, if given), and records the
/// requests.
class CannedServer {
 public:
  explicit CannedServer(std::string answer, std::string first = {})
      : answer_(std::move(answer)), first_(std::move(first)) {
    char pattern[] = "/tmp/goban_client_XXXXXX";
    folder_ = ::mkdtemp(pattern);
    path = folder_ + "/s";
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_, 4), 0);
    thread_ = std::thread([this] { serve(); });
  }
  CannedServer(const CannedServer&) = delete;
  CannedServer& operator=(const CannedServer&) = delete;
  ~CannedServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
    std::filesystem::remove_all(folder_);
  }
  /// The recorded requests; ends the service.
  std::string asked() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    thread_ = std::thread([] {});
    return asked_;
  }

  std::string path;

 private:
  void serve() {
    for (int peer = 0; (peer = ::accept(listener_, nullptr, nullptr)) >= 0; ::close(peer)) {
      char text[4096];
      const ssize_t got = ::read(peer, text, sizeof text);
      if (got > 0) asked_.append(text, static_cast<size_t>(got));
      const std::string out = first_.empty() ? answer_ : std::exchange(first_, {});
      [[maybe_unused]] const ssize_t put = ::write(peer, out.data(), out.size());
    }
  }
  std::string answer_;
  std::string first_;
  std::string asked_;
  std::string folder_;
  int listener_ = -1;
  std::thread thread_;
};

std::string http(const std::string& status, const std::string& body) {
  return "HTTP/1.1 " + status +
         "\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         body;
}

TEST(ApiClient, SendsMethodPathAndBody) {
  CannedServer server(http("200 OK", R"({"job":7})"));
  ApiClient client({.socket = server.path});
  EXPECT_EQ(client.post("/v1/jobs?a=1", R"({"name":"x"})").value(), R"({"job":7})");
  EXPECT_EQ(client.last_status(), 200);
  const std::string asked = server.asked();
  EXPECT_THAT(asked, testing::StartsWith("POST /v1/jobs?a=1 HTTP/1.1\r\n"));
  EXPECT_THAT(asked, HasSubstr(R"({"name":"x"})"));
  EXPECT_THAT(asked, Not(HasSubstr("Authorization")));
}

TEST(ApiClient, RemoveIsDelete) {
  CannedServer server(http("200 OK", "{}"));
  ApiClient client({.socket = server.path});
  EXPECT_TRUE(client.remove("/v1/jobs/7").has_value());
  EXPECT_THAT(server.asked(), testing::StartsWith("DELETE /v1/jobs/7 HTTP/1.1\r\n"));
}

TEST(ApiClient, RefusalsBecomeErrors) {
  CannedServer server(http(
      "400 Bad Request", R"({"error":{"message":"too many","field":"num_gpus","remedy":"less"}})"));
  ApiClient client({.socket = server.path});
  const auto answer = client.get("/v1/jobs");
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, base::ErrorCode::BadData);
  EXPECT_EQ(answer.error().text(), "num_gpus: too many (less)");
  EXPECT_EQ(client.last_status(), 400);
}

TEST(ApiClient, WaitsWhereTheServerSaysForHowLong) {
  CannedServer busy(http("200 OK", "{}"), http("429 Busy\r\nRetry-After: 1", "no"));
  ApiClient client({.socket = busy.path});
  EXPECT_EQ(client.remove("/v1/jobs/7").value(), "{}");
  const std::string asked = busy.asked();
  EXPECT_NE(asked.find("DELETE"), asked.rfind("DELETE")) << "sent again";
  const CannedServer long_busy(http("429 Busy\r\nRetry-After: 3600", "no"));
  ApiClient other({.socket = long_busy.path});
  EXPECT_FALSE(other.get("/v1/jobs"));
  EXPECT_EQ(other.last_status(), 429);
  EXPECT_EQ(other.last_header("Retry-After"), "3600");
  EXPECT_EQ(other.last_header("X-Goban-Size"), "");
}

TEST(ApiClient, AnswersOfOthersAreNamed) {
  CannedServer server(http("404 Not Found", "<html>"));
  ApiClient client({.socket = server.path});
  const auto answer = client.get("/");
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, base::ErrorCode::Failed);
  EXPECT_THAT(answer.error().text(), HasSubstr("HTTP status 404"));
}

TEST(ApiClient, NobodyListens) {
  ApiClient client({.socket = "/nowhere/goban.sock"});
  const auto answer = client.get("/v1/jobs");
  ASSERT_FALSE(answer.has_value());
  EXPECT_THAT(answer.error().text(), HasSubstr("/nowhere/goban.sock: no daemon is listening"));
  EXPECT_THAT(answer.error().remedy, HasSubstr("goban serve"));
  EXPECT_EQ(client.last_status(), 0);
}

TEST(ApiClient, StreamsUntilToldToStop) {
  CannedServer server(http("200 OK", "one\ntwo\n"));
  ApiClient client({.socket = server.path});
  std::string all;
  ASSERT_TRUE(client.stream("/v1/events", [&](std::string_view part) {
    all += part;
    return true;
  }));
  EXPECT_EQ(all, "one\ntwo\n");
  EXPECT_TRUE(client.stream("/v1/events", [](std::string_view) { return false; }));
}

// `goban logs -f` decides by the status whether the daemon had responded before the connection
// broke.
TEST(ApiClient, AStreamThatBreaksOffHadAStatus) {
  CannedServer server("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n");
  ApiClient client({.socket = server.path});
  std::string all;
  const base::Status done = client.stream("/v1/jobs/1/log", [&](std::string_view part) {
    all += part;
    return true;
  });
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().message,
            server.path + ": the connection closed before the end of the response");
  EXPECT_EQ(all, "one\n");
  EXPECT_EQ(client.last_status(), 200);
}

TEST(ApiClient, RefusedStreamsAreErrors) {
  CannedServer server(http("403 Forbidden", R"({"error":{"message":"not yours"}})"));
  ApiClient client({.socket = server.path});
  const base::Status done = client.stream("/v1/jobs/1/log", [](std::string_view part) {
    EXPECT_TRUE(part.empty());
    return true;
  });
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().message, "not yours");
}

class FindServer : public testing::Test {
 public:
  void SetUp() override {
    for (const char* name : {"GOBAN_SERVER", "GOBAN_SOCKET", "GOBAN_TOKEN", "GOBAN_TOKEN_FILE"}) {
      ::unsetenv(name);
    }
    ::setenv("GOBAN_STATE", "/some/state", 1);
  }
  void TearDown() override {
    ::unsetenv("GOBAN_STATE");
    ::unsetenv("GOBAN_TOKEN");
    ::unsetenv("GOBAN_SOCKET");
  }
};

TEST_F(FindServer, ByPathUrlAndEnvironment) {
  // Even where a system's daemon listens: another daemon's jobs are not those of this folder.
  EXPECT_EQ(find_server().value().socket, "/some/state/goban.sock");
  EXPECT_EQ(find_server("./s").value().socket, "./s");
  EXPECT_EQ(find_server("unix:/a/b").value().socket, "/a/b");
  ::setenv("GOBAN_SOCKET", "/env/sock", 1);
  EXPECT_EQ(find_server().value().socket, "/env/sock");
  ::setenv("GOBAN_TOKEN", "secret\n", 1);
  const ServerAddress far = find_server("https://host:1/").value();
  EXPECT_EQ(far.url, "https://host:1");
  EXPECT_EQ(far.token, "secret");
  EXPECT_EQ(find_server("http://127.0.0.1:1").value().url, "http://127.0.0.1:1");
}

TEST_F(FindServer, TokensDoNotTravelUnencrypted) {
  ::setenv("GOBAN_TOKEN", "secret", 1);
  for (const char* url : {"http://host:1", "http://127.0.0.1.evil.org", "http://localhost.evil.org",
                          "http://127.0.0.1@evil.org", "http://127.evil"}) {
    const auto server = find_server(url);
    ASSERT_FALSE(server.has_value()) << url;
    EXPECT_THAT(server.error().text(), Not(HasSubstr("secret")));
  }
  EXPECT_FALSE(find_server("nonsense").has_value());
}

TEST(UrlPart, EscapesAllButPlainLetters) {
  EXPECT_EQ(base::http::url_part("a-Z.0_~"), "a-Z.0_~");
  EXPECT_EQ(base::http::url_part("a/b c&\xc3\xa9"), "a%2Fb%20c%26%C3%A9");
  EXPECT_EQ(base::http::url_part(std::string_view("\0", 1)), "%00");
}

}  // namespace
}  // namespace goban::serve::api
