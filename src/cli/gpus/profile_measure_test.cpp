// goban profile on virtual GPUs, and on the stand-ins of NVIDIA's libraries.
#include <cstdlib>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "base/test_folder.hpp"
#include "cli/jobs/test_fake_daemon.hpp"
#include "cli/shell/test_shell.hpp"

namespace goban::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

/// Two idle GPUs, of which the second (GPU-a) may be slow.
struct ProfileMeasureTest : testing::Test {
  base::TestFolder folder{"profile"};
  std::string scores = folder.path() + "/scores.csv";
  std::string book = folder.path() + "/scores.profile.json";
  std::string out = " --out " + scores + " ";

  ProfileMeasureTest() {
    set("GOBAN_NVML", GOBAN_FAKE_NVML);
    set("GOBAN_CUDA", GOBAN_FAKE_CUDA);
    set("GOBAN_SOCKET", folder.path() + "/no.sock");
    set("FAKE_NVML_IDLE", "1");
  }
  ~ProfileMeasureTest() override {
    for (const char* name : names_) ::unsetenv(name);
  }
  ProfileMeasureTest(const ProfileMeasureTest&) = delete;
  ProfileMeasureTest& operator=(const ProfileMeasureTest&) = delete;
  void set(const char* name, const std::string& value) {
    ::setenv(name, value.c_str(), 1);
    names_.push_back(name);
  }
  Output run(const std::string& options) const {
    return shell("GOBAN profile" + out + options + " 2>&1");
  }
  json measured(const std::string& options) const {
    const Output output = shell("GOBAN profile --json" + out + options + " 2>/dev/null");
    EXPECT_EQ(output.code, 0) << output.out;
    return json::parse(output.out, nullptr, false);
  }

 private:
  std::vector<const char*> names_{};
};

TEST_F(ProfileMeasureTest, AStragglerIsNamedAndTheTableIsOneForThePolicies) {
  set("FAKE_CUDA_SLOW", "GPU-a");
  const json document = measured("");
  const json& slow = document["gpus"][1];
  EXPECT_EQ(slow["uuid"], "GPU-a");
  EXPECT_EQ(slow["blocks"], 16);
  EXPECT_EQ(slow["driver"], "550.1");
  EXPECT_EQ(slow["firmware"], "96.00.A5.00.01");
  for (const char* kernel : {"compute", "mixed", "memory"}) {
    EXPECT_NEAR(slow["kernels"][kernel]["score"], 2 / 1.5, 1e-6);
    EXPECT_EQ(slow["kernels"][kernel]["straggler"], true);
    EXPECT_EQ(document["gpus"][0]["kernels"][kernel]["straggler"], false);
  }
  EXPECT_THAT(shell("GOBAN profile bins " + scores).out, HasSubstr("class C: "));
  EXPECT_THAT(shell("GOBAN profile check" + out).out,
              HasSubstr("straggler, memory: 33.3 % slower"));
}

TEST_F(ProfileMeasureTest, WhatChangedIsTold) {
  for (int i = 0; i < 4; ++i) static_cast<void>(measured("--quick"));
  set("FAKE_CUDA_SLOW", "GPU-b");
  const json once = measured("--quick");
  EXPECT_NEAR(once["gpus"][0]["kernels"]["compute"]["against_last"], 2, 1e-6);
  EXPECT_FALSE(once["gpus"][0]["kernels"]["compute"].contains("change"));
  const json twice = measured("--quick");
  EXPECT_NEAR(twice["gpus"][0]["kernels"]["compute"]["change"]["ratio"], 2, 1e-6);
  EXPECT_EQ(twice["gpus"][0]["kernels"]["compute"]["change"]["new"], true);
  EXPECT_FALSE(twice["gpus"][1]["kernels"]["compute"].contains("change"));
  EXPECT_THAT(run("--quick").out, HasSubstr("GPU 0: compute: 100.0 % slower since 2"));
  EXPECT_THAT(run("--quick --compare none").out, Not(HasSubstr("slower since")));
}

TEST_F(ProfileMeasureTest, ANewDriverExpiresTheScores) {
  EXPECT_EQ(shell("GOBAN profile check" + out).code, 1);
  static_cast<void>(measured("--quick"));
  EXPECT_EQ(shell("GOBAN profile check" + out).code, 0);
  set("FAKE_NVML_DRIVER", "560.2");
  const Output stale = shell("GOBAN profile check" + out);
  EXPECT_EQ(stale.code, 1);
  EXPECT_THAT(stale.out, HasSubstr("1 earlier measurement(s) expired"));
  static_cast<void>(measured("--quick --gpus 1"));
  const json again = json::parse(shell("GOBAN profile check --json" + out).out);
  EXPECT_EQ(again["gpus"][0]["expired"], true);
  EXPECT_EQ(again["gpus"][1]["expired"], false);
  EXPECT_EQ(again["gpus"][1]["driver"], "560.2");
}

TEST_F(ProfileMeasureTest, ABusyGpuIsRefused) {
  ::unsetenv("FAKE_NVML_IDLE");
  const Output refused = run("--quick");
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.out, HasSubstr("GPU 0 is busy: it is 40 % busy"));
  EXPECT_FALSE(std::filesystem::exists(scores));
  EXPECT_THAT(run("--quick --skip-busy").out, HasSubstr("No GPU is idle"));
  EXPECT_FALSE(std::filesystem::exists(scores));
  const json forced = measured("--quick --force");
  EXPECT_EQ(forced["gpus"][0]["forced"], true);
  EXPECT_EQ(forced["gpus"][0]["neighbours"], 1);
}

TEST_F(ProfileMeasureTest, ADaemonIsAskedWhichGpusAreIdle) {
  const std::string socket = folder.path() + "/d.sock";
  const auto cluster = [](int num_gpus) {
    return json{
        {"num_gpus", num_gpus},
        {"racks",
         {{{"nodes",
            {{{"gpus", {{{"gpu", 0}, {"jobs", json::array()}}, {{"gpu", 1}, {"jobs", {7}}}}}}}}}}}}
        .dump();
  };
  set("GOBAN_SOCKET", socket);
  {
    FakeDaemon daemon(socket, {{"GET /v1/cluster", cluster(2)},
                               {"POST /v1/scores", R"({"num_gpus": 2, "bins": [1, 1, 1]})"}});
    EXPECT_THAT(run("--quick").out, HasSubstr("GPU 1 is busy: job 7 of the daemon runs on it"));
    const json idle = measured("--quick --skip-busy --send");
    EXPECT_EQ(daemon.last_body(), base::TestFolder::read(scores));
    EXPECT_EQ(idle["gpus"][0]["measured_now"], true);
    EXPECT_EQ(idle["gpus"][0]["neighbours"], 1);
    EXPECT_EQ(idle["gpus"][1]["measured_now"], false);
  }
  std::filesystem::remove(socket);
  {
    const FakeDaemon other(socket, {{"GET /v1/cluster", cluster(4)}});
    EXPECT_THAT(run("--quick").out, HasSubstr("the daemon manages 4 GPUs, not 2, and runs jobs"));
  }
  std::filesystem::remove(socket);
  const FakeDaemon silent(socket, {{"GET /v1/cluster", "!403 not for you"}});
  EXPECT_EQ(run("--quick").code, 1);
}

TEST_F(ProfileMeasureTest, ADaemonThatRefusesTheScoresIsAnError) {
  const std::string socket = folder.path() + "/d.sock";
  set("GOBAN_SOCKET", socket);
  const FakeDaemon daemon(socket, {{"GET /v1/cluster", R"({"num_gpus": 2, "racks": []})"},
                                   {"POST /v1/scores", "!403 operators only"}});
  EXPECT_EQ(run("--quick --send").code, 1);
  EXPECT_TRUE(std::filesystem::exists(scores));
}

TEST_F(ProfileMeasureTest, AGpuThatCrashesKeepsItsScore) {
  set("FAKE_CUDA_CRASH", "1");
  const Output crashed = run("--quick");
  EXPECT_EQ(crashed.code, 1);
  EXPECT_THAT(crashed.out, HasSubstr("GPU 0 (GPU-b): the kernels were killed by signal 9"));
  EXPECT_THAT(crashed.out, HasSubstr("not measured; its score in the table is 1"));
}

TEST_F(ProfileMeasureTest, VirtualGpusWorkOnTheirCores) {
  const std::string config =
      folder.write("goban.toml", "virtual_gpus = 3\nvirtual_slowness = [1, 1, 4]\n");
  const json document = measured("--quick --force --config " + config);
  EXPECT_EQ(document["gpus"].size(), 3U);
  EXPECT_GT(document["gpus"][2]["kernels"]["compute"]["score"], 1.3);
  EXPECT_EQ(shell("GOBAN profile check --config " + config + out).code, 0);
  // The configuration names its table.
  EXPECT_EQ(shell("GOBAN profile check --config " + folder.write("with.toml", R"(virtual_gpus = 3
scores = "scores.csv")"))
                .code,
            0);
  // Virtual GPUs with other cores are other GPUs.
  EXPECT_EQ(shell("GOBAN profile check --virtual-gpus 1" + out).code,
            std::thread::hardware_concurrency() > 1 ? 1 : 0);
}

TEST_F(ProfileMeasureTest, ASecondBudgetStillMeasuresEachOnce) {
  const json document = measured("--seconds 0.1");
  EXPECT_GE(document["gpus"][1]["blocks"], 1);
  EXPECT_LT(document["gpus"][1]["blocks"], 16);
}

TEST_F(ProfileMeasureTest, CtrlCLeavesTheFilesAsTheyWere) {
  folder.write("scores.csv", "mine");
  const Output stopped = shell(
      "timeout --preserve-status -s INT 1 GOBAN profile --virtual-gpus 2 --force" + out + "2>&1");
  EXPECT_EQ(stopped.code, 130) << stopped.out;
  EXPECT_EQ(base::TestFolder::read(scores), "mine");
  EXPECT_FALSE(std::filesystem::exists(book));
}

TEST_F(ProfileMeasureTest, RefreshKeepsToItsBudget) {
  EXPECT_THAT(run("--refresh").out, HasSubstr("No idle GPU is due within 0.1 % of GPU time"));
  json begun = json::parse(base::TestFolder::read(book));
  EXPECT_EQ(begun["spent_s"], 0);
  // As if the measurement log had begun two hours ago: 2 GPUs x 7200 s x 0.1 % = 14 s, one
  // measurement.
  begun["since_unix_s"] = begun["since_unix_s"].get<int64_t>() - 7200;
  folder.write("scores.profile.json", begun.dump());
  const json first = measured("--refresh --quick");
  EXPECT_EQ(first["gpus"][0]["measured_now"], true);
  EXPECT_EQ(first["gpus"][1]["measured_now"], false);
}

TEST_F(ProfileMeasureTest, WhatIsWrongIsSaid) {
  EXPECT_EQ(run("--gpus 5").code, 2);
  EXPECT_EQ(run("--compare yesterday").code, 2);
  folder.write("scores.profile.json", "{");
  const Output bad = run("--quick");
  EXPECT_EQ(bad.code, 3);
  EXPECT_THAT(bad.out, HasSubstr("scores.profile.json: is not a valid JSON document"));
  ::setenv("GOBAN_NVML", "/nowhere.so", 1);
  EXPECT_THAT(run("--quick").out, HasSubstr("try --virtual-gpus 4"));
}

TEST_F(ProfileMeasureTest, ApplicationsAreClassifiedFromTheirJobProfiles) {
  const auto application = [&](const char* name, int dram_pct, int fu_pct) {
    return " " + folder.write(std::string(name) + ".json",
                              json{{"version", 1},
                                   {"model", name},
                                   {"dram_utilisation_pct", {{"value", dram_pct}}},
                                   {"fu_utilisation_pct", {{"value", fu_pct}}}}
                                  .dump());
  };
  const std::string files =
      application("resnet", 40, 85) + application("dlrm", 80, 20) + application("vgg", 45, 88);
  EXPECT_EQ(shell("GOBAN profile classify --classes 2" + files).out, "resnet,A\ndlrm,B\nvgg,A\n");
  const std::string unknown = folder.write("x.json", R"({"version": 1, "model": "x"})");
  const Output refused = shell("GOBAN profile classify " + unknown + " 2>&1");
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.out, HasSubstr("contains no GPU utilisation"));
}

}  // namespace
}  // namespace goban::cli
