// Standard output and standard error that cannot be written: a full disk, a closed pipe.
#include <csignal>
#include <gmock/gmock.h>
#include <string>
#include <unistd.h>
#include <vector>

#include "base/test_folder.hpp"
#include "cli/jobs/test_fake_daemon.hpp"
#include "cli/shell/test_shell.hpp"

namespace goban::cli {
namespace {

using testing::HasSubstr;

/// A pipe without a reader; shell lines use its file descriptor number.
class DeadPipe {
 public:
  DeadPipe() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe(ends), 0);
    ::close(ends[0]);
    writing_ = ends[1];
  }
  ~DeadPipe() { ::close(writing_); }
  DeadPipe(const DeadPipe&) = delete;
  DeadPipe& operator=(const DeadPipe&) = delete;

  [[nodiscard]] std::string name() const { return std::to_string(writing_); }

 private:
  int writing_ = -1;
};

TEST(OutputErrors, AreSaidAndAreNoSuccess) {
  const base::TestFolder folder("output_errors");
  const FakeDaemon daemon(folder.path() + "/s", {{"GET /v1/jobs", R"({"jobs": []})"}});
  const std::string queue = "queue --json --server " + folder.path() + "/s";
  for (const std::string& command :
       std::vector<std::string>{"policies", queue, "--help", "man serve"}) {
    const Output run = shell("GOBAN " + command + " 2>&1 >/dev/full");
    EXPECT_EQ(run.code, 1) << command;
    // Long texts are written before the end: then the reason is lost.
    EXPECT_THAT(run.out, testing::StartsWith("goban: error: cannot write standard output"))
        << command;
  }
}

TEST(OutputErrors, AReaderThatIsGoneIsNone) {
  const DeadPipe pipe;
  constexpr int kBroken = 128 + SIGPIPE;
  const Output killed = shell("GOBAN policies 2>&1 >&" + pipe.name() + "; echo $?");
  EXPECT_EQ(killed.out, std::to_string(kBroken) + "\n");
  const Output ignored = shell("trap '' PIPE; GOBAN policies 2>&1 >&" + pipe.name());
  EXPECT_EQ(ignored.code, 1);
  EXPECT_EQ(ignored.out, "");
}

}  // namespace
}  // namespace goban::cli
