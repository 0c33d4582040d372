#include "serve/api/ssh_tunnel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serve/api/api_client.hpp"

namespace goban::serve::api {
namespace {

using testing::ElementsAre;

TEST(SshTunnel, PlacesAreRead) {
  EXPECT_EQ(parse_ssh("ssh://login").value(), (SshPlace{.host = "login", .socket = kSystemSocket}));
  EXPECT_EQ(parse_ssh("ssh://login/").value().socket, kSystemSocket);
  EXPECT_EQ(
      parse_ssh("ssh://ann@login.site.org:2222/run/goban.sock").value(),
      (SshPlace{
          .host = "login.site.org", .user = "ann", .port = "2222", .socket = "/run/goban.sock"}));
  EXPECT_EQ(parse_ssh("ssh://[::1]:22").value(),
            (SshPlace{.host = "::1", .port = "22", .socket = kSystemSocket}));
  for (const char* bad :
       {"ssh://", "ssh:///run/goban.sock", "ssh://-oProxyCommand=x", "ssh://@login",
        "ssh://-l@login", "ssh://login:", "ssh://login:x", "ssh://login:123456", "ssh://[::1",
        "ssh://a b", "http://login", "ssh://login/a:b", "ssh://login;id"}) {
    const auto place = parse_ssh(bad);
    ASSERT_FALSE(place) << bad;
    EXPECT_EQ(place.error().code, base::ErrorCode::Usage) << bad;
  }
}

TEST(SshTunnel, WordsReachTheCommandThereUnchanged) {
  const SshPlace place = {.host = "login", .user = "ann", .port = "22"};
  EXPECT_THAT(ssh_command(place, {"-T"}, {"sbatch", "--comment=it's $HOME"}),
              ElementsAre("ssh", "-T", "-p", "22", "-l", "ann", "--", "login",
                          "'sbatch' '--comment=it'\\''s $HOME'"));
  EXPECT_THAT(ssh_command({.host = "login"}, {"-N"}), ElementsAre("ssh", "-N", "--", "login"));
}

}  // namespace
}  // namespace goban::serve::api
