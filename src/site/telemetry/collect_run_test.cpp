// Collecting without nvidia-smi: the file and the page report it.
#include <gmock/gmock.h>

#include "base/test_folder.hpp"
#include "site/telemetry/collect.hpp"

namespace goban::site::telemetry {
namespace {

using testing::HasSubstr;

CollectOptions without_gpus(std::vector<std::string>& warnings) {
  return {.program = "/nonexistent/nvidia-smi",
          .warn = [&warnings](const std::string& problem) { warnings.push_back(problem); }};
}

TEST(CollectRuns, AFileThatSaysWhatFailed) {
  const base::TestFolder folder("collect");
  std::vector<std::string> warnings;
  const auto good = collect_to_file(without_gpus(warnings), folder.path(), base::Progress());
  ASSERT_TRUE(good) << good.error().text();
  EXPECT_FALSE(*good);
  EXPECT_EQ(warnings.size(), 1U);
  EXPECT_THAT(base::TestFolder::read(folder / "goban_gpu.prom"),
              HasSubstr("goban_gpu_collect_success 0\n"));
  EXPECT_FALSE(collect_to_file(without_gpus(warnings), "/proc/nothing", base::Progress()));
}

TEST(CollectRuns, ServesUntilCancelled) {
  std::atomic<bool> cancel = false;
  std::vector<std::string> warnings;
  CollectOptions options = without_gpus(warnings);
  options.interval_s = 0.2;
  std::string url;
  const auto served =
      collect_over_http(options, "127.0.0.1:0", base::Progress(cancel), [&](const std::string& at) {
        url = at;
        cancel = true;
      });
  ASSERT_TRUE(served) << served.error().text();
  EXPECT_THAT(url, testing::MatchesRegex("http://127.0.0.1:[0-9]+/metrics"));
  EXPECT_FALSE(
      collect_over_http(options, "nonsense", base::Progress(cancel), [](const std::string&) {}));
}

}  // namespace
}  // namespace goban::site::telemetry
