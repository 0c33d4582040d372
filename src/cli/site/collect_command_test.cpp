// goban collect, run as a program.
#include <filesystem>
#include <gmock/gmock.h>

#include "base/test_folder.hpp"
#include "cli/shell/test_shell.hpp"

namespace goban::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A fake nvidia-smi with one GPU, or one that fails.
std::string fake(const base::TestFolder& folder, bool good) {
  const std::string path = folder.write(
      good ? "good" : "bad",
      std::string("#!/bin/sh\n") +
          (good ? "case \"$1\" in --query-gpu=*) echo '0, GPU-a, V100, [N/A], 5, 1, 9, 50, 30, "
                  "100, 200';; esac\n"
                : "echo 'Driver/library version mismatch'; exit 18\n"));
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

TEST(CollectCommand, TextFileIsReplacedAndLosesItsValuesOnFailure) {
  const base::TestFolder folder("collect");
  const std::string dir = folder.path() + "/text";
  const auto run = [&](bool good) {
    return shell("GOBAN collect textfile --dir " + dir + " --nvidia-smi " + fake(folder, good) +
                 " 2>&1");
  };
  EXPECT_EQ(run(true).code, 0);
  EXPECT_THAT(base::TestFolder::read(dir + "/goban_gpu.prom"),
              HasSubstr("\ngoban_gpu_utilization_percent{gpu=\"0\",uuid=\"GPU-a\"} 5\n"));
  const Output failed = run(false);
  EXPECT_EQ(failed.code, 1);
  EXPECT_THAT(failed.out, HasSubstr("exited with code 18: Driver/library version mismatch"));
  const std::string text = base::TestFolder::read(dir + "/goban_gpu.prom");
  EXPECT_THAT(text, HasSubstr("\ngoban_gpu_collect_success 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("GPU-a")));
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir)) files += entry.exists();
  EXPECT_EQ(files, 1U);
  EXPECT_EQ(shell("GOBAN collect textfile --dir /proc/nowhere --nvidia-smi " + fake(folder, true) +
                  " 2>&1")
                .code,
            1);
}

TEST(CollectCommand, ExporterServesUntilItIsTold) {
  const base::TestFolder folder("exporter");
  const std::string log = folder.path() + "/log";
  const Output run = shell(
      "GOBAN collect exporter --listen 127.0.0.1:0 --interval 0.2 --nvidia-smi " +
      fake(folder, true) + " 2> " + log +
      " & for i in $(seq 100); do url=$(sed -n 's/^goban: serving //p' " + log +
      "); [ -n \"$url\" ] && page=$(python3 -c \"import urllib.request as u; "
      "print(u.urlopen('$url').read().decode())\") && case \"$page\" in *'uuid=\"GPU-a\"} 5'*) "
      "break;; esac; sleep 0.1; done; echo \"$page\"; kill -TERM $!; wait $!; echo code $?");
  EXPECT_THAT(run.out, HasSubstr("goban_gpu_utilization_percent{gpu=\"0\",uuid=\"GPU-a\"} 5"));
  EXPECT_THAT(run.out, HasSubstr("code 0"));
  EXPECT_EQ(shell("GOBAN collect exporter --listen nowhere 2>&1").code, 2);
}

}  // namespace
}  // namespace goban::cli
