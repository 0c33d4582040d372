// The contract that scripts rely on, tested on the program itself.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "base/test_data.hpp"
#include "base/test_folder.hpp"
#include "base/text_file.hpp"
#include "cli/shell/test_shell.hpp"

namespace goban::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class CommandTest : public testing::Test {
 protected:
  CommandTest()
      : folder_(std::string("command_") +
                testing::UnitTest::GetInstance()->current_test_info()->name()),
        dir_(folder_.path()) {}

  std::string write(const std::string& name, const std::string& text) const {
    return folder_.write(name, text);
  }
  static std::string read(const std::string& path) { return base::TestFolder::read(path); }
  base::TestFolder folder_;
  std::string dir_;
};

const char* const kJobs =
    "job_id,submit_time,duration,num_gpus,user,model\n"
    "a,0,100,4,u1,m1\n"
    "b,10,50,2,u2,m1\n"
    "c,20,50,2,u1,m2\n";

TEST_F(CommandTest, JsonHasEveryFieldAndStandsAlone) {
  const std::string jobs = write("jobs.csv", kJobs);
  const Output run =
      shell("GOBAN simulate --cluster 1x4 --jobs " + jobs + " --policy fifo+packed,las+pal --json");
  ASSERT_EQ(run.code, 0);
  const auto document = nlohmann::json::parse(run.out);
  ASSERT_EQ(document["runs"].size(), 2u);
  const auto& first = document["runs"][0];
  EXPECT_EQ(first["policy"], "fifo+packed");
  EXPECT_EQ(document["runs"][1]["policy"], "las+pal");
  for (const char* field : {"jobs", "rejected", "avg_jct_s", "p50_jct_s", "p99_jct_s", "avg_wait_s",
                            "makespan_s", "gpu_occupancy", "gpu_hours_consumed", "gpu_hours_ideal",
                            "goodput", "preemptions", "wall_s"}) {
    EXPECT_TRUE(first.contains(field)) << field;
  }
  // a runs 0-100; b and c run 100-150.
  EXPECT_EQ(first["jobs"], 3);
  EXPECT_EQ(first["avg_jct_s"], (100.0 + 140.0 + 130.0) / 3);
  EXPECT_EQ(first["p50_jct_s"], 130.0);
  EXPECT_EQ(first["avg_wait_s"], (0.0 + 90.0 + 80.0) / 3);
  EXPECT_EQ(first["makespan_s"], 150.0);
  EXPECT_EQ(first["gpu_occupancy"], 1.0);
  EXPECT_EQ(first["goodput"], 1.0);
  EXPECT_EQ(first["gpu_hours_consumed"], 600.0 / 3600);
  EXPECT_EQ(first["gpu_hours_ideal"], 600.0 / 3600);
}

TEST_F(CommandTest, WritesPerJobResultsAndDecisions) {
  const std::string jobs = write("jobs.csv", kJobs);
  const Output run = shell("GOBAN simulate --cluster 1x4 --jobs " + jobs +
                           " --policy fifo+packed --out " + dir_ + "/out --decisions");
  ASSERT_EQ(run.code, 0);
  EXPECT_EQ(read(dir_ + "/out/fifo+packed/jobs.csv"),
            "job_id,submit_s,start_s,finish_s,jct_s,wait_s,num_gpus,preemptions\n"
            "a,0,0,100,100,0,4,0\n"
            "b,10,100,150,140,90,2,0\n"
            "c,20,100,150,130,80,2,0\n");
  EXPECT_EQ(read(dir_ + "/out/fifo+packed/decisions.jsonl"),
            "[0,[[0,[0,1,2,3]]],[]]\n[10,[],[]]\n[20,[],[]]\n[100,[[1,[0,1]],[2,[2,3]]],[]]\n");
}

TEST_F(CommandTest, TheDecisionLogSaysWhichLaunchesDisturbedNobody) {
  const std::string jobs = write("jobs.csv",
                                 "job_id,submit_time,duration,num_gpus,user\n"
                                 "a,0,100,2,u\nb,10,100,1,u\nc,30,10,1,u\n");
  const Output run =
      shell("GOBAN simulate --cluster 1x4 --jobs " + jobs +
            " --policy fifo+packed+non-sticky --round 0 --out " + dir_ + "/out --decisions");
  ASSERT_EQ(run.code, 0);
  EXPECT_EQ(read(dir_ + "/out/fifo+packed+non-sticky/decisions.jsonl"),
            "[0,[[0,[0,1]]],[],[]]\n"
            "[10,[[0,[0,1]],[1,[2]]],[],[0]]\n"
            "[30,[[0,[0,1]],[1,[2]],[2,[3]]],[],[0,1]]\n"
            "[40,[[0,[0,1]],[1,[2]]],[],[0,1]]\n"
            "[100,[[1,[0]]],[1],[]]\n");
}

TEST_F(CommandTest, HtmlGoesTogetherWithTheOtherOutputs) {
  const std::string jobs = write("jobs.csv", kJobs);
  const Output run = shell("cd " + dir_ + " && GOBAN simulate --cluster 1x4 --jobs " + jobs +
                           " --policy fifo+packed,las+pal --json --out out --decisions" +
                           " --html report.html 2>err");
  if (run.code == 1) {
    EXPECT_THAT(read(dir_ + "/err"), HasSubstr("-DGOBAN_WEB=ON"));
    EXPECT_FALSE(std::filesystem::exists(dir_ + "/report.html"));
    return;
  }
  ASSERT_EQ(run.code, 0);
  EXPECT_EQ(nlohmann::json::parse(run.out)["runs"].size(), 2U);
  EXPECT_NE(read(dir_ + "/out/fifo+packed/decisions.jsonl"), "");
  const std::string page = read(dir_ + "/report.html");
  const std::string element = "<script type=\"application/json\" id=\"goban-report\">";
  const size_t begin = page.find(element) + element.size();
  const size_t end = page.find("</script>", begin);
  const auto document = nlohmann::json::parse(page.substr(begin, end - begin));
  EXPECT_EQ(document["runs"][1]["policy"], "las+pal");
  EXPECT_EQ(document["runs"][0]["figures"]["avg_jct_s"], (100.0 + 140.0 + 130.0) / 3);
  EXPECT_THAT(page.substr(end), HasSubstr("</html>"));
}

TEST_F(CommandTest, HtmlShowsEnergyAndWhoWasTogether) {
  const std::string jobs = write("jobs.csv",
                                 "job_id,submit_time,duration,num_gpus,user,model,gpu_mem_bytes\n"
                                 "a,0,3600,4,ann,A,1000000000\nb,10,3600,4,bob,B,1000000000\n");
  const std::string pairs =
      write("h.csv", "gpu_type,members,slowdowns\nV100,A,\nV100,B,\nV100,A + B,1.1 + 1.2\n");
  const Output run = shell("cd " + dir_ + " && GOBAN simulate --cluster 1x4:V100 --jobs " + jobs +
                           " --policy fifo+packed,best-pair --energy v100 --colocation " + pairs +
                           " --deadlines gavel --html report.html 2>err");
  if (run.code == 1) return;  // built without the HTML report
  ASSERT_EQ(run.code, 0) << read(dir_ + "/err");
  EXPECT_THAT(run.out, HasSubstr("HTML report: report.html"));
  const std::string page = read(dir_ + "/report.html");
  const std::string element = "<script type=\"application/json\" id=\"goban-report\">";
  const size_t begin = page.find(element) + element.size();
  const auto document =
      nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin));
  EXPECT_EQ(document["energy"]["runs"].size(), 2U);
  EXPECT_EQ(document["colocation"]["apps"], nlohmann::json({"A", "B"}));
  EXPECT_EQ(document["colocation"]["gpu_types"][0]["together_h"].size(), 2U);
  EXPECT_EQ(document["runs"][1]["figures"]["prediction_levels"]["measured"], 1);
  EXPECT_GT(document["runs"][0]["figures"]["energy_kwh"]["D"], 0);
  EXPECT_LT(page.size(), 300'000U);
}

TEST_F(CommandTest, RejectedRecordsAreKeptWithTheirReasons) {
  const std::string jobs =
      write("jobs.csv", std::string(kJobs) + "d,30,50,99,u1,m1\ne,x,1,1,u,m\n");
  const Output run = shell("cd " + dir_ + " && GOBAN simulate --cluster 1x4 --jobs " + jobs +
                           " --policy fifo+packed --out out --json 2>err");
  ASSERT_EQ(run.code, 3);
  EXPECT_EQ(nlohmann::json::parse(run.out)["runs"][0]["rejected"], 2);
  EXPECT_THAT(read(dir_ + "/err"), HasSubstr("2 of 5 records were rejected"));
  const std::string rejects = read(dir_ + "/out/rejected.csv");
  EXPECT_THAT(rejects, HasSubstr("d,30,50,99,u1,m1"));
  EXPECT_THAT(rejects, HasSubstr("99"));
  EXPECT_THAT(rejects, HasSubstr("e,x,1,1,u,m"));
}

TEST_F(CommandTest, ReadsGzipAndStandardInput) {
  const std::string jobs = write("jobs.csv", kJobs);
  const std::string args = " --cluster 1x4 --policy fifo+packed --json";
  auto strip_wall = [](const std::string& text) {
    auto document = nlohmann::json::parse(text);
    document["runs"][0].erase("wall_s");
    return document;
  };
  const auto plain = strip_wall(shell("GOBAN simulate --jobs " + jobs + args).out);
  EXPECT_EQ(strip_wall(shell("GOBAN simulate --jobs - <" + jobs + args).out), plain);
  ASSERT_EQ(shell("gzip -k " + jobs).code, 0);
  EXPECT_EQ(strip_wall(shell("GOBAN simulate --jobs " + jobs + ".gz" + args).out), plain);
}

TEST_F(CommandTest, ErrorsNameThePlaceAndTheRemedyAndSetTheExitCode) {
  const std::string jobs = write("jobs.csv", kJobs);
  const std::string bad = write("bad.csv", "job,gpus\n1,2\n");
  struct Case {
    std::string line;
    int code;
    std::string says;
  };
  for (const Case& c : std::vector<Case>{
           {"GOBAN simulate --cluster 1x4 --jobs " + jobs + " --policy nonsense", 2, "nonsense"},
           {"GOBAN simulate --cluster 1x4 --jobs " + jobs + " --policy fifo+las", 2,
            "names several of"},
           {"GOBAN simulate --cluster 1x4 --jobs " + jobs + " --policy fifo,fifo", 2, "twice"},
           {"GOBAN simulate --cluster mars --jobs " + jobs + " --policy fifo", 2, "abci"},
           {"GOBAN simulate --cluster 1x4 --jobs /nowhere.csv --policy fifo", 1, "/nowhere.csv"},
           {"GOBAN simulate --cluster 1x4 --jobs " + bad + " --policy fifo", 3, "--format"},
           {"GOBAN simulate --cluster 1x4 --jobs " + jobs + " --policy fifo --order x", 2, "srtf"},
           {"GOBAN simulate --cluster 1x4 --jobs " + jobs + " --policy fifo --decisions", 2,
            "--out"},
           {"GOBAN simulate --cluster 1x4 --jobs " + jobs + " --policy pal-artifact --round 0", 2,
            "--round"},
           {"GOBAN simulate", 2, "required"},
           {"GOBAN nonsense", 2, "--help"},
           {"GOBAN simulate --cluster 1x4 --jobs " + jobs +
                " --policy conservative-backfill+consolidated",
            2, "packed"},
       }) {
    const Output run = shell(c.line + " 2>&1");
    EXPECT_EQ(run.code, c.code) << c.line << "\n" << run.out;
    EXPECT_THAT(run.out, HasSubstr(c.says)) << c.line;
  }
}

TEST_F(CommandTest, GeneratedHistoriesDependOnTheSeedAlone) {
  const std::string line = "GOBAN trace generate --like poisson --jobs 200 --gpus 16 --seed ";
  const Output first = shell(line + "1");
  ASSERT_EQ(first.code, 0);
  EXPECT_EQ(first.out, shell(line + "1").out);
  EXPECT_NE(first.out, shell(line + "2").out);
  EXPECT_EQ(shell(line + "1 | GOBAN simulate --cluster 4x4 --jobs - --policy fifo+packed").code, 0);
}

TEST_F(CommandTest, ThreadsChangeNothing) {
  const std::string jobs = dir_ + "/jobs.csv";
  ASSERT_EQ(shell("GOBAN trace generate --like poisson --jobs 500 --gpus 16 --out " + jobs).code,
            0);
  const std::string line = "GOBAN simulate --cluster 4x4 --jobs " + jobs +
                           " --policy fifo+packed,las+pal,srtf+skip,easy-backfill+spread,"
                           "random-nonsticky-artifact --decisions --threads ";
  ASSERT_EQ(shell(line + "1 --out " + dir_ + "/one").code, 0);
  ASSERT_EQ(shell(line + "4 --out " + dir_ + "/four").code, 0);
  EXPECT_EQ(shell("diff -r " + dir_ + "/one " + dir_ + "/four").code, 0);
}

TEST_F(CommandTest, PoliciesAreListed) {
  const Output text = shell("GOBAN policies");
  ASSERT_EQ(text.code, 0);
  for (const char* name : {"pal-artifact", "fifo-packed-strict", "conservative-backfill",
                           "pm-first", "las", "exclusive"}) {
    EXPECT_THAT(text.out, HasSubstr(name));
  }
  const auto document = nlohmann::json::parse(shell("GOBAN policies --json").out);
  EXPECT_GE(document["parts"].size(), 18u);
}

TEST_F(CommandTest, EveryCommandHelpsWithExamples) {
  for (const char* command : {"", "simulate", "trace generate", "cluster", "profile scores"}) {
    const Output run = shell(std::string("GOBAN ") + command + " --help");
    EXPECT_EQ(run.code, 0) << command;
    EXPECT_THAT(run.out, HasSubstr("Example")) << command;
  }
}

TEST_F(CommandTest, HelpStartsWithTheMainCommandsAndGroupsTheOthers) {
  const std::string help = shell("GOBAN --help").out;
  size_t at = 0;
  for (const char* part :
       {"Main commands:\n  submit ", "  serve ", "  simulate ", "  analyze ", "\nJobs:\n  run ",
        "\nSimulation:\n  explain ", "\nHistory:\n  history ", "\nGPUs:\n  profile ",
        "\nAdministration:\n  nodes ", "Examples:\n  goban submit ", "\n  goban serve ",
        "\n  goban simulate ", "\n  goban analyze "}) {
    const size_t found = help.find(part, at);
    ASSERT_NE(found, std::string::npos) << part << "\n" << help;
    at = found;
  }
  EXPECT_THAT(help, Not(HasSubstr("Subcommands:"))) << "every command has its group";
  EXPECT_THAT(help, Not(HasSubstr("supervise")));
}

TEST_F(CommandTest, HelpAndVersionAreFoundHoweverOneAsks) {
  const std::string help = shell("GOBAN --help").out;
  for (const char* line : {"GOBAN", "GOBAN help", "GOBAN -h"}) {
    const Output run = shell(line);
    EXPECT_EQ(run.code, 0) << line;
    EXPECT_EQ(run.out, help) << line;
  }
  EXPECT_EQ(shell("GOBAN help trace generate").out, shell("GOBAN trace generate --help").out);
  EXPECT_EQ(shell("GOBAN help submit").out, shell("GOBAN submit --help").out);
  const Output mistyped = shell("GOBAN help trce 2>&1");
  EXPECT_EQ(mistyped.code, 2);
  EXPECT_THAT(mistyped.out, HasSubstr("did you mean trace?"));
  const std::string version = shell("GOBAN --version").out;
  EXPECT_THAT(version, testing::MatchesRegex("goban [0-9.]+ \\(commit [0-9a-z+]+, [A-Z].*\\)\n"));
  EXPECT_EQ(shell("GOBAN -V").out, version);
  EXPECT_EQ(shell("GOBAN version").out, version);
  EXPECT_THAT(shell("GOBAN man submit").out, testing::Not(HasSubstr("commit")));
  EXPECT_THAT(shell("GOBAN squeue 2>&1").out, HasSubstr("did you mean goban queue?"));
}

TEST_F(CommandTest, DataIsPrintedAsJsonToo) {
  const auto document = [&](const std::string& words) {
    const Output run = shell("cd " + dir_ + " && GOBAN " + words + " --json");
    EXPECT_EQ(run.code, 0) << words;
    return nlohmann::json::parse(run.out, nullptr, false);
  };
  EXPECT_GE(document("cluster list").size(), 3U);
  const auto abci = document("cluster show abci");
  EXPECT_EQ(abci["gpus"], 4352);
  EXPECT_EQ(abci["resource_types"][0]["name"], "Full");
  EXPECT_GE(document("energy show").size(), 2U);
  EXPECT_EQ(document("energy show v100")[0]["num_gpus"], 8);
  const auto tables = document("energy replay-tables");
  EXPECT_EQ(tables["sets"].size(), 10U);
  EXPECT_EQ(tables["sets"][0]["measured"]["node_w"], tables["sets"][0]["lookup"]["node_w"]);
  EXPECT_EQ(document("series info")[0]["metric"], "gpu_utilization");
  write("apps.csv", "model,dram_pct,fu_pct\nslow,5,80\nfast,80,5\n");
  EXPECT_EQ(document("profile classify --classes 2 apps.csv")[0]["model"], "slow");
  ASSERT_EQ(shell("cd " + dir_ + " && GOBAN profile generate --cluster 4x4 --out s.csv").code, 0);
  const auto classes = document("profile bins s.csv");
  int gpus = 0;
  for (const auto& bin : classes[0]["bins"]) gpus += bin["gpus"].get<int>();
  EXPECT_EQ(gpus, 16);
  write("pairs.csv", "gpu_type,members,slowdowns\nV100,A,\nV100,B,\nV100,A + B,1.1 + 1.2\n");
  const auto pair = document("colocation predict pairs.csv 'A + B'");
  EXPECT_EQ(pair["jobs"][1]["slowdown"], 1.2);
  write("jobs.csv", kJobs);
  ASSERT_EQ(shell("cd " + dir_ + " && GOBAN history import jobs.csv --store jobs.db").code, 0);
  EXPECT_EQ(document("history status --store jobs.db --check")["jobs"], 3);
  const auto sums = document("history sums --store jobs.db --plain");
  int jobs = 0;
  for (const auto& row : sums) jobs += row["jobs"].get<int>();
  EXPECT_EQ(jobs, 3);
  EXPECT_TRUE(sums[0]["day"].is_string());
  const auto empty = shell("GOBAN series show /nowhere --json 2>&1");
  EXPECT_EQ(empty.code, 1);
}

TEST_F(CommandTest, HistoriesLikeSitesFitTheirClusters) {
  const std::string line = "GOBAN trace generate --like abci-2019 --jobs 3000 --seed 5 --out ";
  const std::string jobs = dir_ + "/abci.csv";
  ASSERT_EQ(shell(line + jobs).code, 0);
  const Output run =
      shell("GOBAN simulate --json --policy fifo+packed --cluster abci --jobs " + jobs + " 2>&1");
  EXPECT_EQ(run.code, 0) << run.out;
  EXPECT_THAT(run.out, Not(HasSubstr("refused")));
  const std::string all = shell(line + "- --population all --days 20").out;
  EXPECT_THAT(all, HasSubstr(",population\n"));
  EXPECT_THAT(shell("GOBAN trace generate --like philly --jobs 10").out,
              HasSubstr("job_id,submit_time,duration,num_gpus,user,account,model,state\n"));
}

TEST_F(CommandTest, OptionsOfOtherKindsOfHistoryAreRefused) {
  const Output load = shell("GOBAN trace generate --like philly --load 0.5 2>&1");
  EXPECT_EQ(load.code, 2);
  EXPECT_THAT(load.out, HasSubstr("--load does not apply to --like philly"));
  EXPECT_THAT(load.out, HasSubstr("it applies to --like gavel, poisson"));
  const Output days = shell("GOBAN trace generate --like poisson --days 3 2>&1");
  EXPECT_EQ(days.code, 2);
  EXPECT_THAT(days.out, HasSubstr("it applies to --like abci-2019, philly"));
  const Output kind = shell("GOBAN trace generate --like helios 2>&1");
  EXPECT_EQ(kind.code, 2);
  EXPECT_THAT(kind.out, HasSubstr("known: abci-2019, gavel, philly, poisson"));
  EXPECT_EQ(shell("GOBAN trace generate --like abci-2019 --population some 2>&1").code, 2);
  EXPECT_EQ(shell("GOBAN trace generate --like philly --days 76 2>&1").code, 2);
}

TEST_F(CommandTest, ClustersArePrintedAndReadBack) {
  const std::string mine = dir_ + "/mine.toml";
  ASSERT_EQ(shell("GOBAN cluster toml abci >" + mine).code, 0);
  EXPECT_EQ(shell("GOBAN cluster show " + mine).out, shell("GOBAN cluster show abci").out);
  write("bad.toml", "name = \"x\"\n[[nodes]]\ncount = 2\ngpus = 4\nmemroy = \"1 GiB\"\n");
  const Output bad = shell("GOBAN cluster show " + dir_ + "/bad.toml 2>&1");
  EXPECT_EQ(bad.code, 3);
  EXPECT_THAT(bad.out, HasSubstr("bad.toml:5:"));
  EXPECT_THAT(bad.out, HasSubstr("memory"));
}

TEST_F(CommandTest, InterruptedRunsLeaveNoHalfWrittenFiles) {
  const std::string jobs = dir_ + "/jobs.csv";
  ASSERT_EQ(
      shell("GOBAN trace generate --like poisson --jobs 400000 --gpus 64 --load 3 --out " + jobs)
          .code,
      0);
  // The signal is sent after the run has begun to write, and twice, as timeout(1) sends it.
  const std::string out = dir_ + "/out";
  const Output run =
      shell("GOBAN simulate --cluster sia-64 --jobs " + jobs +
            " --policy las+pal+non-sticky --out " + out + " --decisions 2>&1 & pid=$!;" +
            " until [ -n \"$(find " + out + " -type f 2>/dev/null)\" ]; do sleep 0.05; done;" +
            " kill -INT $pid; kill -INT $pid; wait $pid");
  EXPECT_EQ(run.code, 130) << run.out;
  EXPECT_THAT(run.out, HasSubstr("interrupted"));
  EXPECT_EQ(shell("find " + out + " -type f").out, "");
}

TEST_F(CommandTest, ANamedPipeIsReadOnce) {
  const std::string jobs = write("jobs.csv", kJobs);
  const std::string pipe = dir_ + "/pipe";
  const auto simulate = [&](const std::string& input, const std::string& out) {
    return "timeout 20 GOBAN simulate --cluster 1x4 --policy fifo+packed --jobs " + input +
           " --out " + dir_ + out;
  };
  ASSERT_EQ(shell(simulate(jobs, "/file")).code, 0);
  const Output piped = shell("mkfifo " + pipe + "; timeout 20 cat " + jobs + " > " + pipe + " & " +
                             simulate(pipe, "/piped"));
  EXPECT_EQ(piped.code, 0) << piped.out;
  EXPECT_NE(read(dir_ + "/file/fifo+packed/jobs.csv"), "");
  EXPECT_EQ(read(dir_ + "/piped/fifo+packed/jobs.csv"), read(dir_ + "/file/fifo+packed/jobs.csv"));
}

TEST_F(CommandTest, AnInterruptEndsTheWaitForAPipe) {
  // Nobody writes to the pipe. The signal is sent once, when it is caught.
  const std::string pipe = dir_ + "/pipe";
  for (const std::string& command :
       {"simulate --cluster 1x4 --policy fifo+packed --jobs " + pipe, "analyze " + pipe}) {
    const Output run =
        shell("[ -e " + pipe + " ] || mkfifo " + pipe + "; cd " + dir_ + "; GOBAN " + command +
              " 2>&1 & pid=$!; until [ $((0x$(sed -n 's/^SigCgt:[^0-9a-f]*//p' /proc/$pid/status) &"
              " 0x4000)) -ne 0 ]; do sleep 0.05; done; sleep 0.2; kill -TERM $pid;"
              " (sleep 20; kill -KILL $pid) >/dev/null 2>&1 & guard=$!; wait $pid; code=$?;"
              " kill $guard; exit $code");
    EXPECT_EQ(run.code, 130) << run.out;
    EXPECT_THAT(run.out, HasSubstr("interrupted"));
  }
}

TEST_F(CommandTest, ScoresAreDrawnBinnedAndUsed) {
  std::string runs = "uuid,perf\n";
  for (int gpu = 0; gpu < 12; ++gpu) {
    for (int i = 0; i < 4; ++i)
      runs += "g" + std::to_string(gpu) + "," + std::to_string(100 + gpu % 3 * 20 + i) + "\n";
  }
  const std::string profile = write("runs.csv", runs);
  const std::string scores = dir_ + "/scores.csv";
  ASSERT_EQ(
      shell("GOBAN profile scores --cluster 3x4 --profile A=" + profile + " --out " + scores).code,
      0);
  EXPECT_THAT(shell("GOBAN profile bins " + scores).out, HasSubstr("class A: "));
  const std::string jobs = write("jobs.csv", kJobs);
  const std::string line =
      "GOBAN simulate --cluster 3x4 --jobs " + jobs + " --policy fifo+pal --json";
  const auto ideal = nlohmann::json::parse(shell(line).out)["runs"][0];
  const auto real = nlohmann::json::parse(shell(line + " --scores " + scores).out)["runs"][0];
  EXPECT_NE(ideal["avg_jct_s"], real["avg_jct_s"]);
  const Output wrong = shell("GOBAN simulate --cluster 4x4 --jobs " + jobs +
                             " --policy fifo+pal --scores " + scores + " 2>&1");
  EXPECT_EQ(wrong.code, 3);
}

TEST_F(CommandTest, IncidentsAndArraysAndLimitsAreHonoured) {
  // The array's three tasks run one at a time; node0000 fails at 50 s, which costs task 0 its work
  // since the start (checkpoints every 1,800 s) and a restart of 30 s on the other node.
  const std::string jobs = write("jobs.csv",
                                 "job_id,submit_time,duration,num_gpus,user,model,walltime_s,"
                                 "array_tasks,array_limit\n"
                                 "t,0,100,1,u,m,,3,1\n"
                                 "k,0,500,1,u,m,60,,\n");
  const std::string incidents = write("incidents.toml",
                                      "[[failure]]\nnode = \"node0000\"\nat = \"50s\"\n"
                                      "repair_after = \"1h\"\n");
  const Output run = shell("GOBAN simulate --cluster 2x1 --jobs " + jobs + " --incidents " +
                           incidents + " --policy fifo+packed --out " + dir_ + "/out --json");
  ASSERT_EQ(run.code, 0);
  const auto result = nlohmann::json::parse(run.out)["runs"][0];
  EXPECT_EQ(result["timed_out"], 1);
  EXPECT_EQ(result["preemptions"], 1);
  EXPECT_EQ(result["gpu_hours_lost"], 50.0 / 3600);
  EXPECT_EQ(read(dir_ + "/out/fifo+packed/jobs.csv"),
            "job_id,submit_s,start_s,finish_s,jct_s,wait_s,num_gpus,preemptions\n"
            "t_0,0,0,190,190,10,1,1\n"
            "t_1,0,190,290,290,190,1,0\n"
            "t_2,0,290,390,390,290,1,0\n"
            "k,0,0,60,60,0,1,0\n");
}

TEST_F(CommandTest, PenaltiesComeByClassByModelByLevelAndFromJobProfiles) {
  const std::string jobs = write("jobs.csv",
                                 "job_id,submit_time,duration,num_gpus,user,model,class\n"
                                 "a,0,100,8,u,m1,B\n");
  const auto jct = [&](const std::string& options) {
    const Output run = shell("GOBAN simulate --cluster abci --jobs " + jobs +
                             " --policy fifo+packed --json " + options);
    EXPECT_EQ(run.code, 0) << options;
    return nlohmann::json::parse(run.out)["runs"][0]["avg_jct_s"].get<double>();
  };
  EXPECT_EQ(jct(""), 100.0);
  EXPECT_EQ(jct("--locality-penalty 1.7"), 170.0);
  EXPECT_EQ(jct("--penalty class:B=1.5"), 150.0);
  EXPECT_EQ(jct("--penalty class:A=1.5"), 100.0);
  EXPECT_EQ(jct("--penalty level:rack=1.2"), 120.0);
  EXPECT_EQ(jct("--penalty model:m1@8=1.25"), 125.0);
  EXPECT_EQ(jct("--penalty model:m1@16=1.25"), 100.0);
  const std::string profile =
      write("profile.json",
            R"({"version": 1, "model": "m1", "source": "test", "bytes_per_step": {"value": 1e9},
          "sync_interval_s": {"value": 0.1}})");
  const double derived = jct("--job-profile " + profile);
  EXPECT_GT(derived, 101.0);
  EXPECT_LT(derived, 400.0);
  EXPECT_EQ(shell("GOBAN simulate --cluster abci --jobs " + jobs +
                  " --policy fifo --penalty level:moon=2 2>/dev/null")
                .code,
            2);
}

TEST_F(CommandTest, ArtifactContractOnTheRealTrace) {
  const auto reference = base::test_data("pal/reference");
  const auto trace = base::test_data("pal/traces/workload-1.csv");
  if (!reference) GTEST_SKIP() << reference.error().text();
  if (!trace) GTEST_SKIP() << trace.error().text();
  const Output run =
      shell("GOBAN simulate --cluster sia-64 --jobs " + *trace + " --scores " + *reference +
            "/gpu_scores_16x4_binned_code_K2.csv --filler-interarrivals " + *reference +
            "/replay_interarrivals_seed1_load2.csv --policy "
            "pal-artifact,packed-sticky-artifact --json");
  ASSERT_EQ(run.code, 0);
  const auto runs = nlohmann::json::parse(run.out)["runs"];
  const auto summary = nlohmann::json::parse(
      base::read_text_file(*reference + "/workload-1_Fifo_PAL_lp1.7.summary.json").value());
  EXPECT_EQ(runs[0]["avg_jct_s"], summary["avg_jct"]);
  EXPECT_EQ(runs[0]["p99_jct_s"], summary["p99_jct"]);
  EXPECT_EQ(runs[0]["makespan_s"], summary["makespan"]);
  EXPECT_EQ(runs[0]["avg_wait_s"], summary["avg_wait"]);
  EXPECT_NEAR(runs[0]["goodput"].get<double>(), summary["goodput_utilisation"].get<double>(),
              1e-12);
  EXPECT_NEAR(runs[0]["gpu_hours_consumed"].get<double>() * 3600,
              summary["attained_gpu_seconds"].get<double>(), 1e-3);
}

TEST_F(CommandTest, TraceInspectSumsUp) {
  const std::string log = write("log.swf",
                                "; UnixStartTime: 1600000000\n"
                                "1 0 10 3600 4 -1 -1 4 7200 -1 1 7 3 -1 2 -1 -1 -1\n"
                                "2 3600 0 -1 4 -1 -1 4 7200 -1 5 7 3 -1 2 -1 -1 -1\n"
                                "3 7200 0 7200 8 -1 -1 8 7200 -1 0 8 3 -1 2 -1 -1 -1\n");
  const Output json =
      shell("GOBAN trace inspect " + log + " --cluster 1x4 --json --procs-per-gpu 2 " +
            "--rejects " + dir_ + "/bad.csv 2>/dev/null");
  EXPECT_EQ(json.code, 3);
  const auto document = nlohmann::json::parse(json.out);
  EXPECT_EQ(document["format"], "swf");
  EXPECT_EQ(document["records"], 3);
  EXPECT_EQ(document["rejected"], 1);
  EXPECT_EQ(document["first_rejections"][0]["reason"], "the run time is unknown");
  EXPECT_EQ(document["gpu_hours"], 10);
  EXPECT_EQ(document["users"]["top"][0]["name"], "8");
  EXPECT_EQ(document["ends"]["failed"], 1);
  EXPECT_EQ(document["wait_s"]["p100"], 10);
  EXPECT_EQ(document["offered_load"], 5. / 4);
  EXPECT_THAT(read(dir_ + "/bad.csv"), HasSubstr("the run time is unknown"));

  const Output text = shell("GOBAN trace inspect " + log + " --max-rejects 40 2>&1");
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.out, HasSubstr("2020-09-13 12:26:40 to 2020-09-13 14:26:40 UTC"));
  EXPECT_THAT(text.out, HasSubstr("each processor was read as one GPU"));
  EXPECT_EQ(shell("GOBAN trace inspect " + dir_ + "/nowhere 2>&1").code, 1);
  EXPECT_EQ(shell("GOBAN trace inspect " + log + " --format nonsense 2>&1").code, 2);
}

TEST_F(CommandTest, TraceConvertGivesWhatSimulateTakes) {
  const std::string table = write("philly.csv",
                                  ",run_time,wait_time,submit_time,gpu_num\n"
                                  "0,100,5,1502114581,1\n1,60,0,1502114500,2\n");
  const Output converted =
      shell("GOBAN trace convert " + table + " --out " + dir_ + "/jobs.csv 2>&1");
  EXPECT_EQ(converted.code, 0);
  EXPECT_EQ(read(dir_ + "/jobs.csv"),
            "job_id,submit_time,duration,num_gpus,user,start_time\n"
            "1,1502114500,60,2,,1502114500\n0,1502114581,100,1,,1502114586\n");
  EXPECT_EQ(shell("GOBAN trace convert " + table + " 2>/dev/null").out, read(dir_ + "/jobs.csv"));
  const std::string typed = write(
      "typed.csv", "job_id,submit_time,duration,num_gpus,user,resource_type\na,0,1,1,u,Full\n");
  const Output none = shell("GOBAN trace convert " + typed + " 2>&1");
  EXPECT_EQ(none.code, 3);
  EXPECT_THAT(none.out, HasSubstr("no valid job among 1 record"));
  const std::string simulate = "GOBAN simulate --cluster 1x2 --policy fifo+packed --json --jobs ";
  auto direct = nlohmann::json::parse(shell(simulate + table + " 2>/dev/null").out)["runs"][0];
  auto again =
      nlohmann::json::parse(shell(simulate + dir_ + "/jobs.csv 2>/dev/null").out)["runs"][0];
  direct.erase("wall_s");
  again.erase("wall_s");
  EXPECT_EQ(direct, again);
}

TEST_F(CommandTest, JobsWithoutGpusAreNotedNotRefused) {
  const std::string jobs = write("jobs.csv",
                                 "job_id,submit_time,duration,num_gpus,user\n"
                                 "a,0,60,0,ann\nb,0,60,1,ann\n");
  const Output run =
      shell("cd " + dir_ + " && GOBAN simulate --cluster 1x2 --policy fifo+packed --jobs " + jobs +
            " 2>&1");
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.out, HasSubstr("1 job without GPUs is excluded (the cluster has no resource "
                                 "type for them)"));
  EXPECT_THAT(run.out, HasSubstr("\n1 job, "));
  EXPECT_FALSE(std::filesystem::exists(dir_ + "/rejected.csv"));
  const std::string cpu_only =
      write("cpu.csv", "job_id,submit_time,duration,num_gpus,user\na,0,60,0,ann\n");
  EXPECT_THAT(
      shell("cd " + dir_ + " && GOBAN simulate --cluster 1x2 --policy fifo+packed --jobs " +
            cpu_only + " 2>&1")
          .out,
      HasSubstr("all jobs are CPU-only, and the cluster has no resource type without GPUs"));
}

}  // namespace
}  // namespace goban::cli
