#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve/api/caller.hpp"
#include "serve/api/log_file.hpp"
#include "serve/api/test_service.hpp"

namespace goban::serve::api {
namespace {

using testing::HasSubstr;
using testing::Not;

live::job::Owner myself() { return {.uid = ::geteuid(), .gid = ::getegid(), .user = "me"}; }

class ApiLogs : public ServiceTest {
 public:
  /// Job 1, owned by the user who runs the test.
  void SetUp() override {
    start();
    live::job::JobSpec spec;
    spec.owner = myself();
    spec.work_folder = folder;
    ASSERT_TRUE(scheduler.ask(live::controller::Submit{.jobs = {spec}}));
    log = folder + "/goban-1.out";
  }
  void write(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::app) << text;
  }
  void point_at(const std::string& path) {
    scheduler.edit(1, [&](live::controller::LiveJob& job) { job.spec.stdout_path = path; });
  }
  base::http::Response read(std::map<std::string, std::string> query = {}) {
    return ask(kOperator, "GET", "/v1/jobs/1/log", "", std::move(query));
  }
  std::string header(const base::http::Response& response, const std::string& name) {
    for (const auto& [each, value] : response.headers) {
      if (each == name) return value;
    }
    return {};
  }
  std::string log;
};

TEST_F(ApiLogs, ReadsFromAnOffset) {
  EXPECT_EQ(read().status, 404);
  write(log, "one\ntwo\nthree\n");
  EXPECT_EQ(read().body, "one\ntwo\nthree\n");
  const base::http::Response part = read({{"offset", "4"}, {"limit", "4"}});
  EXPECT_EQ(part.body, "two\n");
  EXPECT_EQ(header(part, "X-Goban-Offset"), "8");
  EXPECT_EQ(header(part, "X-Goban-Size"), "14");
  EXPECT_EQ(read({{"offset", "-6"}}).body, "three\n");
  EXPECT_EQ(read({{"offset", "-600"}}).body, "one\ntwo\nthree\n");
  EXPECT_EQ(read({{"offset", "600"}}).body, "");
  for (const char* wrong : {"x", "1e9", "9999999999999999999"}) {
    EXPECT_EQ(read({{"offset", wrong}}).status, 400) << wrong;
  }
  EXPECT_EQ(read({{"stream", "stdin"}}).status, 400);
  EXPECT_EQ(read({{"stream", "../../etc/passwd"}}).status, 400);
}

TEST_F(ApiLogs, StderrHasItsOwnFile) {
  scheduler.edit(1, [&](live::controller::LiveJob& job) { job.spec.stderr_path = "err-%j"; });
  write(folder + "/err-1", "broken\n");
  EXPECT_EQ(read({{"stream", "stderr"}}).body, "broken\n");
}

TEST_F(ApiLogs, LinksAreNotFollowed) {
  write(folder + "/target", "secret\n");
  ASSERT_EQ(::symlink((folder + "/target").c_str(), log.c_str()), 0);
  const base::http::Response response = read();
  EXPECT_EQ(response.status, 403);
  EXPECT_THAT(response.body, Not(HasSubstr("secret")));
}

TEST_F(ApiLogs, FilesOfOthersAreNotShown) {
  point_at("/etc/passwd");
  scheduler.edit(
      1, [](live::controller::LiveJob& job) { job.spec.owner = find_user("nobody").value(); });
  EXPECT_EQ(read().status, 403);
  // Only the file's owner may read it; the job's owner is a different user.
  write(log, "secret\n");
  point_at(log);
  ASSERT_EQ(::chmod(log.c_str(), 0600), 0);
  const base::http::Response response = read();
  EXPECT_EQ(response.status, 403);
  EXPECT_THAT(response.body, Not(HasSubstr("secret")));
  // Also through a folder that is a link.
  ASSERT_EQ(::symlink(folder.c_str(), (folder + "/link").c_str()), 0);
  point_at(folder + "/link/goban-1.out");
  EXPECT_EQ(read().status, 403);
}

TEST_F(ApiLogs, DevicesAndPipesDoNotHang) {
  point_at("/dev/zero");
  EXPECT_EQ(read().status, 403);
  ASSERT_EQ(::mkfifo((folder + "/pipe").c_str(), 0600), 0);
  point_at("pipe");
  EXPECT_EQ(read().status, 403);
  point_at(folder);
  EXPECT_EQ(read().status, 403);
  EXPECT_EQ(read({{"follow", "1"}}).status, 403);
}

TEST_F(ApiLogs, OtherUsersReadNothing) {
  write(log, "secret\n");
  EXPECT_EQ(status(kBob, "GET", "/v1/jobs/1/log"), 403);
  EXPECT_EQ(status(kManager, "GET", "/v1/jobs/1/log"), 403);
  EXPECT_EQ(status(kViewer, "GET", "/v1/jobs/1/log"), 200);
}

TEST_F(ApiLogs, FollowsUntilTheJobIsOver) {
  const base::http::Response response = read({{"follow", "1"}});
  ASSERT_NE(response.stream, nullptr);
  std::string got;
  EXPECT_TRUE(response.stream->fill(got, 100));
  EXPECT_EQ(got, "");
  write(log, "one\n");
  EXPECT_TRUE(response.stream->fill(got, 2));
  EXPECT_TRUE(response.stream->fill(got, 100));
  EXPECT_EQ(got, "one\n");
  write(log, "two\n");
  scheduler.edit(
      1, [](live::controller::LiveJob& job) { job.stage = live::controller::JobStage::Done; });
  EXPECT_TRUE(response.stream->fill(got, 100));
  EXPECT_FALSE(response.stream->fill(got, 100));
  EXPECT_EQ(got, "one\ntwo\n");
}

TEST_F(ApiLogs, PathsOfTheApiHaveNoWayUp) {
  for (const char* path : {"/v1/jobs/../../etc/passwd", "/v1/jobs/%2e%2e/log", "/../etc/passwd",
                           "/v1/jobs/..%2f1/log", "//etc/passwd", "/v1/jobs/1%00/log", "", "x"}) {
    const int got = status(kOperator, "GET", path);
    EXPECT_TRUE(got == 400 || got == 404) << path << ' ' << got;
  }
}

TEST(LogFile, RootReadsWithTheOwnersRights) {
  if (::geteuid() != 0) GTEST_SKIP() << "requires root";
  char pattern[] = "/tmp/goban_log_XXXXXX";
  const std::string folder = ::mkdtemp(pattern);
  const live::job::Owner nobody = find_user("nobody").value();
  const std::string path = folder + "/log";
  std::ofstream(path) << "text\n";
  ASSERT_EQ(::chown(path.c_str(), nobody.uid, nobody.gid), 0);
  // Only root may enter the folder, so the job's owner could not read the file either.
  EXPECT_FALSE(LogFile::open(nobody, path).has_value());
  ASSERT_EQ(::chmod(folder.c_str(), 0755), 0);
  const auto opened = LogFile::open(nobody, path);
  ASSERT_TRUE(opened.has_value()) << opened.error().text();
  EXPECT_EQ(opened->size(), 5);
  // This thread is root again.
  EXPECT_EQ(::access("/root", R_OK), 0);
  std::ofstream again(folder + "/mine");
  EXPECT_TRUE(again.good());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace goban::serve::api
