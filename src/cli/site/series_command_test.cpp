// goban series, run as a program.
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "base/test_folder.hpp"
#include "cli/shell/test_shell.hpp"

namespace goban::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class SeriesCommand : public testing::Test {
 public:
  SeriesCommand()
      : folder(std::string("series_") +
               testing::UnitTest::GetInstance()->current_test_info()->name()),
        store(folder.path() + "/store") {}
  Output import(const std::string& arguments) const {
    return shell("GOBAN series import --store " + store + " " + arguments + " 2>&1");
  }

  base::TestFolder folder;
  std::string store;
};

const char* const kSmi =
    "timestamp, index, uuid, utilization.gpu [%], power.draw [W]\n"
    "2019/04/05 09:00:30.000, 0, GPU-1, 35 %, 60.50 W\n"
    "2019/04/05 09:00:30.000, 1, GPU-2, [N/A], 61 W\n"
    "2019/04/05 09:01:30.000, 0, GPU-1, 0 %, 60.50 W\n"
    "garbage\n";

TEST_F(SeriesCommand, ImportShowInfoAndRepeat) {
  const std::string csv = folder.write("g0001.log.csv", kSmi);
  const std::string rejects = folder.path() + "/rejects.csv";
  const Output first = import(csv + " --node-from-file --zone Asia/Tokyo --rejects " + rejects);
  EXPECT_EQ(first.code, 0) << first.out;
  EXPECT_THAT(first.out, HasSubstr("4 lines, 6 samples (1 not available, 0 stale)"));
  EXPECT_THAT(first.out, HasSubstr("written  6 to"));
  EXPECT_THAT(first.out, HasSubstr("rejected 1 line"));
  EXPECT_EQ(base::TestFolder::read(rejects),
            "file,line,reason,text\n" + csv +
                ",5,the number of fields differs from the header,garbage\n");

  const Output again = import(csv + " --node-from-file --zone Asia/Tokyo");
  EXPECT_THAT(again.out, HasSubstr("written  0 to"));
  EXPECT_THAT(again.out, HasSubstr("6 already stored"));

  const Output shown = shell("GOBAN series show " + store + " 2>&1");
  EXPECT_EQ(shown.out,
            "node,device,uuid,time_s,gpu_utilization\n"
            "g0001,0,GPU-1,1554422430,35\n"
            "g0001,0,GPU-1,1554422490,0\n"
            "g0001,1,GPU-2,1554422430,N/A\n");
  const auto info = nlohmann::json::parse(shell("GOBAN series info --json " + store).out);
  ASSERT_EQ(info.size(), 2U);
  EXPECT_EQ(info[0]["metric"], "gpu_utilization");
  EXPECT_EQ(info[0]["values"], 2);
  EXPECT_EQ(info[0]["not_available"], 1);
  EXPECT_EQ(info[0]["devices"], 2);
  EXPECT_EQ(info[1]["metric"], "gpu_power");
}

TEST_F(SeriesCommand, StandardInputIsReadTwice) {
  folder.write("m.om",
               "goban_gpu_utilization_percent{gpu=\"0\",instance=\"n\"} 7 1554422430\n"
               "goban_gpu_utilization_percent{gpu=\"0\",instance=\"n\"} 7 1554422490\n"
               "goban_gpu_sample_time_seconds{instance=\"n\"} 5 1554422430\n"
               "goban_gpu_sample_time_seconds{instance=\"n\"} 5 1554422490\n");
  const Output run = shell("gzip -c " + folder.path() + "/m.om | GOBAN series import - --store " +
                           store + " 2>&1");
  EXPECT_EQ(run.code, 0) << run.out;
  EXPECT_THAT(run.out, HasSubstr("2 samples (0 not available, 1 stale)"));
  EXPECT_THAT(shell("GOBAN series show " + store).out, HasSubstr("1554422490,stale"));
}

TEST_F(SeriesCommand, AnImportWithoutASampleFails) {
  const Output other =
      import(folder.write("other.om", "site_gpu_busy{gpu=\"0\",instance=\"n\"} 7 1554422430\n"));
  EXPECT_EQ(other.code, 3) << other.out;
  EXPECT_THAT(other.out, HasSubstr("no sample was read"));
  EXPECT_THAT(other.out, HasSubstr("--adapters"));
  const Output outside =
      import(folder.write("a.csv", kSmi) + " --node n --from 2026-01-01 --to 2026-02-01");
  EXPECT_EQ(outside.code, 3) << outside.out;
  EXPECT_THAT(outside.out, HasSubstr("check --from and --to"));
}

TEST_F(SeriesCommand, Refusals) {
  const Output garbage = import(folder.write("x", "\x01\x02\x03 hello\n"));
  EXPECT_EQ(garbage.code, 3);
  EXPECT_THAT(garbage.out, HasSubstr("neither OpenMetrics nor nvidia-smi"));
  const Output absent = import(folder.path() + "/absent");
  EXPECT_EQ(absent.code, 1);
  const std::string csv = folder.write("a.csv", kSmi);
  EXPECT_THAT(import(csv).out, HasSubstr("--node NAME"));
  EXPECT_EQ(import(csv + " --node n --metrics gpu_utilisation").code, 2);
  EXPECT_EQ(import(csv + " --node n --zone Nowhere/X").code, 2);
  EXPECT_EQ(import(csv + " --node n --from yesterday").code, 2);
  const std::string all_bad = folder.write(
      "b.om", "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\"} 1 1\nDCGM_FI_DEV_GPU_UTIL{gpu=\"0\"} 1 1\n");
  const Output nothing = import(all_bad);
  EXPECT_EQ(nothing.code, 3);
  EXPECT_THAT(nothing.out, HasSubstr("no label names the node"));
  EXPECT_EQ(shell("GOBAN series info " + folder.path() + "/none 2>&1").code, 1);
  EXPECT_EQ(shell("GOBAN series show " + store + " --node nobody 2>&1").code, 1);
}

TEST_F(SeriesCommand, CutGzipIsAClearErrorAndWhatWasReadStays) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) {
    text += "goban_gpu_utilization_percent{gpu=\"0\",instance=\"n\"} " + std::to_string(i % 101) +
            " " + std::to_string(1554422400 + 60 * i) + "\n";
  }
  const std::string file = folder.write("big.om", text);
  ASSERT_EQ(shell("gzip -f " + file + " && head -c 300000 " + file + ".gz > " + file + ".cut").code,
            0);
  const Output cut = import(file + ".cut");
  EXPECT_NE(cut.code, 0);
  EXPECT_THAT(cut.out, HasSubstr("gzip"));
  const Output whole = import(file + ".gz");
  EXPECT_EQ(whole.code, 0) << whole.out;
  const auto info = nlohmann::json::parse(shell("GOBAN series info --json " + store).out);
  EXPECT_EQ(info[0]["values"], 200'000);
}

TEST_F(SeriesCommand, ServersNeedATimeAndAnAnswer) {
  EXPECT_EQ(import("").code, 2);
  EXPECT_THAT(import("--prometheus http://127.0.0.1:1").out, HasSubstr("add --from and --to"));
  const Output nobody = import(
      "--prometheus http://u:secret@127.0.0.1:1 --from 2019-04-05 --to 2019-04-06 --retries 0");
  EXPECT_EQ(nobody.code, 1);
  EXPECT_THAT(nobody.out, HasSubstr("http://127.0.0.1:1 does not list its series"));
  EXPECT_THAT(nobody.out, Not(HasSubstr("secret")));
}

TEST_F(SeriesCommand, FromAndToAreClipped) {
  const std::string csv = folder.write("a.csv", kSmi);
  const Output run = import(csv + " --node n --metrics gpu_utilization --to 2019-04-05T09:01:00");
  EXPECT_THAT(run.out, HasSubstr("2 samples (1 not available"));
  EXPECT_THAT(run.out, HasSubstr("outside  1 sample"));
}

TEST_F(SeriesCommand, PruneMakesOldMonthsHourlyThenRemovesThem) {
  std::string text = "# TYPE nvidia_gpu_duty_cycle gauge\n";
  for (int i = 0; i < 120; ++i) {
    text += fmt::format(R"(nvidia_gpu_duty_cycle{{node="g1",minor_number="0"}} {} {})"
                        "\n",
                        i % 2 * 80, 1'554'076'800 + 60 * i);
  }
  ASSERT_EQ(import(folder.write("gpus.txt", text + "# EOF\n")).code, 0);
  Output out = shell("GOBAN series prune " + store + " --hourly-before 2019-05 2>&1");
  EXPECT_EQ(out.code, 0);
  EXPECT_THAT(out.out,
              HasSubstr("gpu_utilization: 1 month downsampled to hourly means, 0 removed"));
  EXPECT_THAT(shell("GOBAN series show " + store + " 2>&1").out,
              HasSubstr("1554078600,40\ng1,0,,1554082200,40\n"));
  out = shell("GOBAN series prune " + store + " --before 2019-05 2>&1");
  EXPECT_THAT(out.out, HasSubstr("0 months downsampled to hourly means, 1 removed"));
  EXPECT_EQ(shell("GOBAN series prune " + store + " --before 2019-5 2>&1").code, 2);
  EXPECT_EQ(shell("GOBAN series prune " + store + " 2>&1").code, 2);
}

}  // namespace
}  // namespace goban::cli
