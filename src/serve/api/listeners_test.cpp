// The small parts of listening: targets, tokens, callers, rates, addresses.
#include <gmock/gmock.h>
#include <grp.h>
#include <unistd.h>

#include "base/http/http_uri.hpp"
#include "base/sha256.hpp"
#include "serve/api/rate_limit.hpp"
#include "serve/api/test_service.hpp"
#include "serve/api/token_file.hpp"

namespace goban::serve::api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(HttpUri, SplitsAndDecodes) {
  const auto target = base::http::parse_target("/v1/jobs?a=1+2&b=%C3%A9&c&a=3");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/v1/jobs");
  EXPECT_THAT(target->query, ElementsAre(testing::Pair("a", "3"), testing::Pair("b", "\xc3\xa9"),
                                         testing::Pair("c", "")));
  for (const char* wrong : {"/?a=%", "/?a=%1", "/?a=%zz", "/?a=%00", "/?a=%ff", "/?%0a=1",
                            "/?a=%C0%AF", "/?a=%ED%A0%80", "/?a=%C2%80"}) {
    EXPECT_FALSE(base::http::parse_target(wrong)) << wrong;
  }
}

TEST(HttpUri, SegmentsHaveNoWayUp) {
  EXPECT_THAT(*base::http::path_segments("/v1/jobs/7"), ElementsAre("v1", "jobs", "7"));
  EXPECT_THAT(*base::http::path_segments("/"), ElementsAre(""));
  EXPECT_THAT(*base::http::path_segments("/a%20b"), ElementsAre("a b"));
  for (const char* wrong : {"", "a", "/..", "/a/../b", "/%2e%2e", "/a%2fb", "/%00", "/."}) {
    EXPECT_FALSE(base::http::path_segments(wrong)) << wrong;
  }
}

TEST(TokenFile, ReadsLinesAndNamesWhatIsWrong) {
  const std::string sum = base::hex(base::sha256("t"));
  const auto tokens =
      parse_tokens("# comment\n\n" + sum + " account_manager bob a,b # yes\r\n", "f");
  ASSERT_TRUE(tokens);
  ASSERT_EQ(tokens->size(), 1u);
  EXPECT_THAT(tokens->front().accounts, ElementsAre("a", "b"));
  EXPECT_EQ(find_token(*tokens, "t"), &tokens->front());
  EXPECT_EQ(find_token(*tokens, "T"), nullptr);
  EXPECT_EQ(find_token(*tokens, ""), nullptr);
  for (const std::string& wrong : {std::string("t user bob"), sum + " king bob", sum + " user",
                                   sum + " user bob a", sum + " account_manager bob"}) {
    const auto refused = parse_tokens("\n" + wrong, "file");
    ASSERT_FALSE(refused) << wrong;
    EXPECT_THAT(refused.error().text(), testing::StartsWith("file:2: "));
    EXPECT_THAT(refused.error().text(), Not(HasSubstr(sum)));
  }
}

TEST(TokenFile, NewTokensAreLongAndDifferent) {
  const std::string one = make_token().value();
  EXPECT_EQ(one.size(), 43u);
  EXPECT_NE(one, make_token().value());
  EXPECT_TRUE(base::http::is_plain_text(one));
}

TEST_F(ServiceTest, TokenFilesOfEverybodyAreRefused) {
  ::chmod(options.callers.token_file.c_str(), 0622);
  const auto refused = Callers::create(options.callers);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().text(), HasSubstr("chmod 600"));
}

TEST_F(ServiceTest, TokensChangeWhileItRuns) {
  EXPECT_EQ(status(kAlice, "GET", "/v1/stats"), 200);
  std::ofstream(options.callers.token_file) << "# nobody\n";
  EXPECT_EQ(status(kAlice, "GET", "/v1/stats"), 200);
  ASSERT_TRUE(service->reload(options).has_value());
  EXPECT_EQ(status(kAlice, "GET", "/v1/stats"), 401);
  std::ofstream(options.callers.token_file) << "nonsense\n";
  EXPECT_FALSE(service->reload(options).has_value());
}

TEST(Callers, CredentialsOfTheConnectionCount) {
  const auto who = [](CallerOptions options, uint32_t uid) {
    auto callers = Callers::create(std::move(options)).value();
    return callers->identify({.peer = {.is_local = true, .uid = uid}});
  };
  EXPECT_EQ(who({}, ::geteuid())->role, Role::Operator);
  EXPECT_EQ(who({}, 0)->role, Role::Operator);
  const live::job::Owner daemon = find_user("daemon").value();
  if (daemon.uid == ::geteuid()) GTEST_SKIP();
  EXPECT_EQ(who({}, daemon.uid)->owner, daemon);
  EXPECT_EQ(who({}, daemon.uid)->role, Role::User);
  EXPECT_EQ(who({.operators = {"daemon"}}, daemon.uid)->role, Role::Operator);
  EXPECT_EQ(who({.viewers = {"daemon"}}, daemon.uid)->role, Role::Viewer);
  EXPECT_EQ(who({.account_managers = {{"daemon", {"a"}}}}, daemon.uid)->accounts.front(), "a");
  const group* const entry = ::getgrgid(daemon.gid);
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(who({.operator_groups = {entry->gr_name}}, daemon.uid)->role, Role::Operator);
  EXPECT_EQ(who({.operator_groups = {"no-such-group"}}, daemon.uid)->role, Role::User);
  EXPECT_FALSE(who({}, 3'999'999'999).has_value());
}

TEST(Callers, NamesAloneOwnNothing) {
  const Identity one{.owner = {.uid = UINT32_MAX, .gid = 0, .user = "prometheus"}};
  EXPECT_FALSE(one.may_touch({.uid = UINT32_MAX, .gid = 0, .user = "other"}, ""));
  const Identity manager{.owner = {.uid = 1, .gid = 1, .user = "m"},
                         .role = Role::AccountManager,
                         .accounts = {"a", ""}};
  EXPECT_TRUE(manager.may_touch({.uid = 2, .gid = 2, .user = "x"}, "a"));
  EXPECT_FALSE(manager.may_touch({.uid = 2, .gid = 2, .user = "x"}, ""));
}

TEST(RateLimit, FillsAgain) {
  RateLimit limit(2, 3);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(limit.take("a", 10), 0);
  EXPECT_DOUBLE_EQ(limit.take("a", 10), 0.5);
  EXPECT_EQ(limit.take("b", 10), 0);
  EXPECT_EQ(limit.take("a", 10.5), 0);
  EXPECT_GT(limit.take("a", 10.5), 0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(limit.take("a", 1000), 0);
  EXPECT_GT(limit.take("a", 1000), 0);
}

TEST(RateLimit, LongRepliesCountAsSeveralRequests) {
  RateLimit limit(2, 3);
  EXPECT_EQ(limit.take("a", 10), 0);
  limit.charge("a", 6);  // 4 below empty
  EXPECT_DOUBLE_EQ(limit.take("a", 10), 2.5);
  EXPECT_EQ(limit.take("b", 10), 0);
  EXPECT_GT(limit.take("a", 12.4), 0);
  EXPECT_EQ(limit.take("a", 12.5), 0);
}

TEST(ListenSocket, KnowsLoopback) {
  for (const char* near : {"127.0.0.1", "127.8.9.1", "::1"})
    EXPECT_TRUE(base::http::is_loopback_address(near));
  for (const char* far : {"0.0.0.0", "::", "128.0.0.1", "localhost", "10.0.0.1"}) {
    EXPECT_FALSE(base::http::is_loopback_address(far)) << far;
  }
  EXPECT_FALSE(base::http::ListenSocket::tcp_at("localhost", 0).has_value());
  EXPECT_FALSE(base::http::ListenSocket::unix_at("/" + std::string(200, 'x'), 0600).has_value());
}

TEST(ServiceOptions, AreReadFromTheConfiguration) {
  const auto read = [](const char* text) {
    const auto document = base::parse_config(text, "goban.toml").value();
    base::ConfigProblems problems("goban.toml");
    base::TableReader table(document, "", problems);
    ServiceOptions options = read_service_options(table, {.socket = "/run/s"});
    table.finish();
    return std::pair{std::move(options), problems.status()};
  };
  const auto [options, status] = read(R"(
listen = "127.0.0.1:6818"
socket_access = "everybody"
operators = ["ann"]
requests_per_s = 5
connections_per_address = 5000
connections_per_user = 50
[[account_managers]]
user = "bob"
accounts = ["vision"]
)");
  EXPECT_TRUE(status.has_value());
  EXPECT_EQ(options.socket, "/run/s");
  EXPECT_EQ(options.socket_mode, 0666u);
  EXPECT_EQ(options.listen, "127.0.0.1:6818");
  EXPECT_EQ(options.callers.account_managers.at("bob").front(), "vision");
  EXPECT_EQ(options.requests_per_s, 5);
  EXPECT_EQ(options.limits.connections_address_max, 5000u);
  EXPECT_EQ(options.limits.connections_peer_max, 50u);
  EXPECT_FALSE(read("socket_access = \"all\"").second.has_value());
  EXPECT_FALSE(read("token = \"x\"").second.has_value());
}

}  // namespace
}  // namespace goban::serve::api
