// The job commands against a daemon that answers from a table.
#include <cstdlib>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "base/test_folder.hpp"
#include "cli/jobs/job_row.hpp"
#include "cli/jobs/test_fake_daemon.hpp"
#include "cli/shell/test_shell.hpp"

namespace goban::cli {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const char* const kJobs = R"({"jobs": [
  {"job": 3, "id": "3", "name": "bert", "user": "anna", "state": "running", "num_gpus": 4,
   "walltime_s": 3600, "submit_s": 1000, "run_start_s": 1100, "held_s": 0,
   "gpus": [{"gpu": 0, "node": "n1", "index": 0}, {"gpu": 1, "node": "n1", "index": 1},
            {"gpu": 2, "node": "n1", "index": 2}, {"gpu": 9, "node": "n2", "index": 1}]},
  {"job": 2, "id": "2", "user": "ben", "state": "waiting", "num_gpus": 8, "submit_s": 900,
   "position": 1},
  {"job": 7, "id": "7_0", "user": "anna", "state": "waiting", "num_gpus": 1, "submit_s": 1200},
  {"job": 8, "id": "7_1", "user": "anna", "state": "waiting", "num_gpus": 1, "submit_s": 1200},
  {"job": 1, "id": "1", "user": "anna", "state": "done", "result": "timed_out", "num_gpus": 1,
   "submit_s": 100, "run_start_s": 200, "end_s": 300, "held_s": 100}], "total": 5})";

class JobCommands : public testing::Test {
 public:
  void serve(std::map<std::string, std::string> answers) {
    daemon = std::make_unique<FakeDaemon>(folder.path() + "/s", std::move(answers));
  }
  Output goban(const std::string& arguments) const {
    return shell("cd " + folder.path() + " && GOBAN " + arguments + " --server " + folder.path() +
                 "/s 2>&1");
  }
  base::TestFolder folder{"jobs"};
  std::unique_ptr<FakeDaemon> daemon;
};

TEST_F(JobCommands, QueueListsRunningJobsFirst) {
  serve({{"GET /v1/jobs", kJobs}});
  const Output run = goban("queue");
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.out,
              testing::MatchesRegex(" +JOB +NAME +USER +STATE +GPUS +RAN +LIMIT +SUBMITTED "
                                    "+WHERE +REASON\n +3 +bert(.|\n)*"));
  EXPECT_THAT(run.out, HasSubstr("n1[0-2] n2[1]"));
  EXPECT_THAT(run.out, HasSubstr("no. 1 in the queue"));
  EXPECT_THAT(run.out, HasSubstr("timed_out"));
  EXPECT_THAT(run.out, HasSubstr("1 running on 4 GPUs, 3 waiting, 1 finished\n"));
  EXPECT_LT(run.out.find("ben"), run.out.find("7_[0-1]"));
  EXPECT_THAT(daemon->asked(), Contains(HasSubstr("state=held,depends,waiting,starting")));
}

TEST_F(JobCommands, QueueSaysWhyJobsWaitAndJoinsTasks) {
  serve({{"GET /v1/jobs", R"({"jobs": [
  {"job": 2, "id": "2", "user": "ben", "state": "waiting", "num_gpus": 8, "position": 1},
  {"job": 7, "id": "7_0", "user": "anna", "state": "running", "num_gpus": 1},
  {"job": 8, "id": "7_1", "user": "anna", "state": "waiting", "num_gpus": 2, "position": 2},
  {"job": 9, "id": "7_2", "user": "anna", "state": "waiting", "num_gpus": 2},
  {"job": 11, "id": "7_4", "user": "anna", "state": "waiting", "num_gpus": 2},
  {"job": 12, "id": "12", "user": "anna", "state": "held", "num_gpus": 1},
  {"job": 13, "id": "13", "user": "anna", "state": "depends", "num_gpus": 1,
   "blocked": "job 2 failed"}]})"},
         {"GET /v1/jobs/2/explain", R"({"waiting": {"cause": "no_free_gpus"}})"},
         {"GET /v1/jobs/8", R"({"spec": {"array_limit": 2}})"}});
  const std::string text = goban("queue --format job,gpus,state,reason").out;
  EXPECT_THAT(text, HasSubstr("2     8  waiting  no. 1 in the queue: no free gpus\n"));
  EXPECT_THAT(text, HasSubstr("7_[1-2,4%2]     6  waiting  no. 2 in the queue\n"));
  EXPECT_THAT(text, HasSubstr("12     1  held     held\n"));
  EXPECT_THAT(text, HasSubstr("13     1  depends  job 2 failed\n"));
  const std::string tasks = goban("queue --each-task --me --sort -gpus -o job,gpus").out;
  EXPECT_THAT(tasks, HasSubstr("JOB  GPUS\n  2     8\n7_1     2\n7_2     2\n7_4     2\n7_0     1"));
  EXPECT_THAT(daemon->asked(), Not(Contains(HasSubstr("all=1&"))));
  const Output unknown = goban("queue --format jbo");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.out, HasSubstr("did you mean job?"));
}

TEST_F(JobCommands, QueueShowsTasksThatTheDaemonJoined) {
  serve({{"GET /v1/jobs", R"({"jobs": [
  {"job": 8, "id": "7_1", "user": "anna", "state": "waiting", "num_gpus": 2, "position": 1,
   "tasks": "1-9998,10000", "num_tasks": 9999, "tasks_gpus": 19998}],
  "total": 10000, "held_gpus": 2, "states": {"running": 1, "waiting": 9999}})"},
         {"GET /v1/jobs/8", R"({"spec": {"array_limit": 4}})"}});
  const std::string text = goban("queue --format job,gpus").out;
  EXPECT_THAT(daemon->asked()[0], HasSubstr("tasks=joined&"));
  EXPECT_THAT(text, HasSubstr("7_[1-9998,10000%4]  19998\n"));
  EXPECT_THAT(text, HasSubstr("and 1 more"));
  EXPECT_EQ(goban("queue --each-task").code, 0);
  EXPECT_THAT(daemon->asked(), Contains(HasSubstr("tasks=joined")).Times(1));
}

TEST_F(JobCommands, QueueAsksForAsManyJobsAsItShows) {
  const std::string part = R"({"jobs": [
    {"job": 9, "id": "9", "user": "anna", "state": "running", "num_gpus": 4}],
    "total": 10000, "held_gpus": 6, "states": {"running": 2, "held": 3, "waiting": 9995}})";
  serve({{"GET /v1/jobs", part}});
  const Output run = goban("queue --limit 1");
  EXPECT_EQ(run.code, 0) << run.out;
  EXPECT_THAT(run.out, HasSubstr("and 9999 more (--limit 0 lists all)\n"
                                 "2 running on 6 GPUs, 9998 waiting\n"));
  ASSERT_EQ(daemon->asked().size(), 2U) << "one page of jobs, and the statistics";
  EXPECT_THAT(daemon->asked()[0], HasSubstr("first=running&limit=1&"));
  EXPECT_EQ(goban("queue --limit 10001").code, 2);
}

TEST_F(JobCommands, NamesCannotReorderTheTable) {
  serve({{"GET /v1/jobs",
          "{\"jobs\": [{\"job\": 9, \"id\": \"9\", \"name\": \"a\u202egpj.exe\", "
          "\"user\": \"an\u2028na\", \"state\": \"held\", \"num_gpus\": 4}]}"}});
  const Output run = goban("queue");
  EXPECT_THAT(run.out, testing::AllOf(HasSubstr("a?gpj.exe"), HasSubstr("an?na")));
}

TEST_F(JobCommands, QueueAsksForWhatWasChosen) {
  serve({{"GET /v1/jobs", kJobs}});
  const Output run = goban("queue --user me --state waiting --json");
  EXPECT_EQ(json::parse(run.out).size(), 5U);
  ASSERT_EQ(daemon->asked().size(), 1U);
  EXPECT_THAT(daemon->asked()[0], HasSubstr("state=waiting"));
  EXPECT_THAT(daemon->asked()[0], Not(HasSubstr("all=1")));
}

TEST_F(JobCommands, ShowSaysHowMuchDataIsThere) {
  const char* const job = R"({"job": 3, "id": "3", "user": "anna", "state": "depends",
    "num_gpus": 2, "blocked": "waits for its data",
    "staging": {"state": "copying", "bytes": 1536, "done_bytes": 512}})";
  serve({{"GET /v1/jobs", R"({"jobs": [)" + std::string(job) + "]}"}, {"GET /v1/jobs/3", job}});
  EXPECT_THAT(goban("show 3").out, HasSubstr("copying, 512 B of 1.5 KiB\n"));
  EXPECT_THAT(goban("queue --format job,reason").out, HasSubstr("3  waits for its data\n"));
}

TEST_F(JobCommands, ShowNamesNoNodeOfAJobThatWaits) {
  const auto job = [](int number, const char* state) {
    return fmt::format(R"({{"job": {0}, "id": "{0}", "user": "anna", "state": "{1}", "num_gpus": 1,
        "runs": 1, "gpus": [{{"gpu": 0, "node": "n1", "index": 0}}]}})",
                       number, state);
  };
  const std::string runs = job(3, "running");
  const std::string waits = job(4, "waiting");
  serve({{"GET /v1/jobs", R"({"jobs": [)" + runs + "," + waits + "]}"},
         {"GET /v1/jobs/3", runs},
         {"GET /v1/jobs/4", waits}});
  EXPECT_THAT(goban("show 3").out, HasSubstr("1 on n1"));
  EXPECT_THAT(goban("show 4").out, Not(HasSubstr("n1"))) << "it had it in its last run";
}

TEST_F(JobCommands, ErrorsNameOptionsInsteadOfFields) {
  serve({{"POST /v1/jobs", R"(!400 {"message": "requests 9 GPUs; the cluster has 4",
            "field": "num_gpus", "remedy": "request fewer"})"},
         {"POST /v1/reservations", R"(!400 {"message": "must be after the start",
            "field": "end_s"})"},
         {"POST /v1/forecast",
          R"({"jobs": [{"num_gpus": 9, "error": "num_gpus: requests 9 GPUs"}]})"}});
  const Output refused = goban("submit --gpus 9 --wrap true");
  EXPECT_EQ(refused.code, 3);
  EXPECT_EQ(refused.out,
            "goban: error: --gpus: requests 9 GPUs; the cluster has 4 (request fewer)\n");
  const Output late = goban("reserve n1 --from +1d --for 1s");
  EXPECT_EQ(late.code, 3);
  EXPECT_EQ(late.out, "goban: error: --for: must be after the start\n");
  const Output planned = goban("submit --dry-run --gpus 9 --wrap true");
  EXPECT_EQ(planned.code, 3) << "the daemon would refuse it";
  EXPECT_THAT(planned.out, HasSubstr("goban: error: --gpus: requests 9 GPUs\n"));
  EXPECT_THAT(goban("whatif --gpus 9").out, HasSubstr("9 GPUs: --gpus: requests 9 GPUs\n"));
}

TEST_F(JobCommands, ShowSaysAllThatIsKnown) {
  serve({{"GET /v1/jobs", kJobs}, {"GET /v1/jobs/3", R"({"job": 3, "id": "3", "name": "bert",
    "user": "anna", "state": "done", "result": "failed", "exit_code": 7, "num_gpus": 2,
    "submit_s": 1000, "first_start_s": 1090, "end_s": 1200, "held_s": 110, "runs": 2,
    "preemptions": 1, "gpus": [{"node": "n1", "index": 3}], "shares": true,
    "stdout_file": "/data/bert-3.out", "stderr_file": "/data/bert-3.err",
    "spec": {"work_folder": "/data", "stdout_path": "%x-%j.out", "dependencies":
    [{"kind": "afterok", "job": 2}], "training": {"deadline_s": 7200}},
    "progress": {"epoch": 2.5, "epochs": 10, "loss": 0.25}, "usage": {"mem_bytes_max": 3221225472}
    })"}});
  const Output run = goban("show 3");
  EXPECT_EQ(run.code, 0);
  for (const char* part : {"job 3 (bert) of anna", "failed, exit code 7", "2 on n1[3], shared",
                           "after 0:01:30", "0:01:50 in 2 runs, 1 preempted", "deadline 2:00:00",
                           "afterok:2", "epoch 2.5 of 10", "memory 3.0 GiB", "/data",
                           "output      /data/bert-3.out\n", "errors      /data/bert-3.err\n"}) {
    EXPECT_THAT(run.out, HasSubstr(part));
  }
  EXPECT_EQ(json::parse(goban("show 3 --json").out)[0]["exit_code"], 7);
}

TEST_F(JobCommands, FinishedJobsComeFromTheHistory) {
  serve({{"GET /v1/jobs", R"({"jobs": [
    {"job": 9, "id": "7_2", "name": "last", "user": "anna", "state": "done", "result": "failed",
     "exit_code": 4, "num_gpus": 2, "held_s": 61, "submit_s": 1000, "end_s": 1200, "history": true},
    {"job": 5, "id": "5", "user": "anna", "state": "done", "result": "cancelled", "signal": 15,
     "num_gpus": 1, "submit_s": 900, "end_s": 1100, "history": true}]})"},
         {"GET /v1/jobs/7_2", R"({"job": 9, "id": "7_2", "user": "anna", "state": "done",
     "result": "failed", "num_gpus": 2, "submit_s": 1000, "spec": {}})"}});
  EXPECT_THAT(goban("show 7_2").out, HasSubstr("job 7_2 of anna"));
  EXPECT_EQ(goban("show 4").code, 1);
  EXPECT_EQ(daemon->asked().back(), "GET /v1/jobs?past=1&limit=10000&all=1&job=4");
  const Output listed = goban("history jobs --user anna --from 1970-01-01T00:10:00Z");
  EXPECT_EQ(daemon->asked().back(), "GET /v1/jobs?past=1&limit=1000&user=anna&from_s=600.000");
  EXPECT_LT(listed.out.find("signal 15"), listed.out.find("7_2  last")) << listed.out;
  EXPECT_EQ(json::parse(goban("history jobs 5 7 --json").out)[0]["id"], "5");
  EXPECT_EQ(daemon->asked().back(), "GET /v1/jobs?past=1&limit=1000&all=1&job=5%2C7");
  EXPECT_EQ(goban("history jobs --to soon").code, 2);
}

TEST_F(JobCommands, LogsComeByteByByte) {
  serve({{"GET /v1/jobs/7_2/log", "one\ntwo\n\nlast"}});
  EXPECT_EQ(goban("logs 7_2").out, "one\ntwo\n\nlast");
  EXPECT_EQ(goban("logs -n 2 7_2").out, "\nlast");
  EXPECT_EQ(goban("logs -f 7_2").out, "one\ntwo\n\nlast");
  EXPECT_THAT(daemon->asked(), Contains(HasSubstr("follow=1")));
  EXPECT_EQ(goban("logs 8").code, 1);
}

TEST_F(JobCommands, SubmitSendsScriptDirectivesAndArguments) {
  serve({{"POST /v1/jobs", R"({"job": 7, "jobs": [7, 8]})"}});
  folder.write(
      "train.sh",
      "#!/bin/bash\n#SBATCH --gres=gpu:4 -t 30 -w n1 -C fast\n#GOBAN --array 0-1\necho hi\n");
  ::setenv("GOBAN_TOKEN", "secret", 1);
  const Output run = shell("cd " + folder.path() + " && SEED=1 GOBAN submit --server " +
                           folder.path() + "/s -J mine train.sh --epochs 3 2>&1");
  EXPECT_EQ(run.code, 0);
  ::unsetenv("GOBAN_TOKEN");
  EXPECT_THAT(run.out, HasSubstr("warning: train.sh:2: '-C fast' has no effect: nodes are chosen"));
  EXPECT_THAT(run.out, HasSubstr("submitted array 7 of 2 tasks\n"));
  const json body = json::parse(daemon->last_body());
  EXPECT_EQ(body["name"], "mine");
  EXPECT_EQ(body["node_list"], json::array({"n1"}));
  EXPECT_EQ(body["num_gpus"], 4);
  EXPECT_EQ(body["walltime_s"], 1800);
  EXPECT_EQ(body["array_tasks"], json({0, 1}));
  EXPECT_EQ(body["args"], json({"--epochs", "3"}));
  EXPECT_EQ(body["dialect"], "slurm");
  EXPECT_EQ(body["env"]["SEED"], "1");
  EXPECT_FALSE(body["env"].contains("GOBAN_TOKEN"));
  EXPECT_THAT(body["script"].get<std::string>(), StartsWith("#!/bin/bash\n"));
  EXPECT_EQ(body["work_folder"], std::filesystem::canonical(folder.path()).string());
}

TEST_F(JobCommands, SubmitTakesCommandsAndStandardInput) {
  serve({{"POST /v1/jobs", R"({"job": 7, "jobs": [7]})"}});
  EXPECT_EQ(goban("submit --parsable --export NONE,A=b --wrap 'echo $HOME'").out, "7\n");
  json body = json::parse(daemon->last_body());
  EXPECT_EQ(body["script"], "#!/bin/sh\necho $HOME\n");
  EXPECT_EQ(body["env"]["A"], "b");
  EXPECT_FALSE(body["env"].contains("PWD"));
  const Output run =
      shell("cd " + folder.path() + " && echo 'echo from stdin' | GOBAN submit --server " +
            folder.path() + "/s --json");
  EXPECT_EQ(json::parse(run.out)["job"], 7);
  body = json::parse(daemon->last_body());
  EXPECT_EQ(body["script"], "#!/bin/sh\necho from stdin\n");
  EXPECT_EQ(body["name"], "stdin");
}

TEST_F(JobCommands, SubmitRefusesBeforeItAsks) {
  serve({});
  folder.write("job.sh", "#!/bin/sh\n#GOBAN --gpsu 4\n");
  Output run = goban("submit --gpus 2 job.sh");
  EXPECT_EQ(run.code, 3) << "words behind the script are its arguments: " << run.out;
  EXPECT_THAT(run.out, HasSubstr("job.sh:2: unknown option '--gpsu'"));
  run = shell("GOBAN submit --tme 4h job.sh 2>&1");
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.out, HasSubstr("unknown option --tme (did you mean --time?)"));
  run = shell("GOBAN run --gpsu 2 true 2>&1");
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.out, HasSubstr("unknown option --gpsu (did you mean --gpus?)"));
  run = shell("GOBAN submit --time soon --wrap true 2>&1");
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.out, HasSubstr("--time: 'soon' is not a valid time"));
  EXPECT_EQ(shell("GOBAN submit /nowhere/job.sh 2>&1").code, 1);
  EXPECT_TRUE(daemon->asked().empty());
}

TEST_F(JobCommands, RunGivesOutputAndExitCode) {
  serve({{"POST /v1/jobs", R"({"job": 7, "jobs": [7]})"},
         {"GET /v1/jobs/7", R"({"job": 7, "state": "done", "result": "failed", "exit_code": 5})"},
         {"GET /v1/jobs/7/log", "hello\n"}});
  const Output run = shell("cd " + folder.path() + " && GOBAN run --server " + folder.path() +
                           "/s --gpus 2 -- python -c 'exit(5)' -- [1,2] 2>&1");
  EXPECT_EQ(run.code, 5);
  EXPECT_EQ(run.out, "hello\n");
  const json body = json::parse(daemon->last_body());
  EXPECT_EQ(body["args"], json({"python", "-c", "exit(5)", "--", "[1,2]"}));
  EXPECT_EQ(body["num_gpus"], 2);
  EXPECT_EQ(body["requeue"], false);
  EXPECT_EQ(shell("GOBAN run 2>&1").code, 2);
}

TEST_F(JobCommands, NodesAreListedDrainedAndResumed) {
  serve({{"GET /v1/nodes", R"({"nodes": [{"node": "n1", "state": "draining", "num_gpus": 4,
            "held_gpus": 2, "jobs": [3, 9], "cores": 64, "mem_bytes": 549755813888,
            "reservations": [{"reservation": "R1", "start_s": 0, "end_s": 4102477200},
                             {"reservation": "R2", "start_s": 4102477200, "end_s": 4102650000}],
            "reason": "fan"}]})"},
         {"POST /v1/nodes/n1/drain", "{}"},
         {"POST /v1/nodes/n1/resume", "{}"},
         {"POST /v1/nodes/n2/resume", "!403 operators only"}});
  const Output list = goban("nodes");
  EXPECT_EQ(list.code, 0);
  EXPECT_THAT(list.out, HasSubstr("draining"));
  EXPECT_THAT(list.out, HasSubstr("3,9"));
  EXPECT_THAT(list.out, HasSubstr("512 GiB"));
  EXPECT_THAT(list.out, testing::ContainsRegex("R1 until 2100-01-01.*, R2 from 2100-01-01"));
  EXPECT_EQ(goban("nodes drain n1 --reason 'fan failure' --now").out, "draining n1\n");
  const json body = json::parse(daemon->last_body());
  EXPECT_EQ(body["reason"], "fan failure");
  EXPECT_EQ(body["now"], true);
  EXPECT_EQ(goban("nodes resume n1").out, "resumed n1\n");
  const Output refused = goban("nodes resume n2");
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.out, HasSubstr("node n2: operators only"));
}

TEST_F(JobCommands, ReservationsAreMadeListedAndCancelled) {
  const std::string one = R"({"reservation": "R1", "state": "requested", "user": "anna",
      "nodes": ["n1", "n2"], "num_gpus": 8, "start_s": 4102477200, "end_s": 4102650000})";
  serve({{"POST /v1/reservations", one},
         {"GET /v1/reservations", R"({"reservations": [)" + one + "]}"},
         {"DELETE /v1/reservations/R1", R"({"reservation": "R1"})"},
         {"DELETE /v1/reservations/R2", "!403 the reservation belongs to another user"}});
  const Output made = goban(
      "reserve --nodes 2 --kind H200 --from 2100-01-01T10:00:00+01:00 --for 2d --users ben,eve "
      "--accounts lab --user anna");
  EXPECT_EQ(made.code, 0) << made.out;
  EXPECT_THAT(made.out, StartsWith("reservation R1: n1,n2 from 2100-01-01"));
  EXPECT_EQ(json::parse(daemon->last_body()),
            json::parse(R"({"num_nodes": 2, "kind": "H200", "start_s": 4102477200.0,
                            "end_s": 4102650000.0, "users": ["ben", "eve"], "accounts": ["lab"],
                            "user": "anna"})"));
  EXPECT_EQ(goban("reserve n1 n2 --from +36h --for 1d").code, 0);
  const json body = json::parse(daemon->last_body());
  EXPECT_EQ(body["nodes"], json::array({"n1", "n2"}));
  EXPECT_EQ(body["end_s"].get<double>() - body["start_s"].get<double>(), 86400);
  EXPECT_NEAR(body["start_s"].get<double>(), static_cast<double>(std::time(nullptr)) + 129600, 60);
  const Output list = goban("reservations");
  EXPECT_THAT(list.out, testing::MatchesRegex("RESERVATION +STATE +USER +FROM +TO +GPUS +NODES\n"
                                              "R1 +requested +anna .* 8 +n1,n2\n"));
  EXPECT_EQ(json::parse(goban("reservations --json").out)[0]["reservation"], "R1");
  EXPECT_EQ(goban("reservations cancel R1").out, "cancelled R1\n");
  const Output refused = goban("reservations cancel R2");
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.out, HasSubstr("reservation R2: the reservation belongs to another user"));
  for (const char* wrong :
       {"reserve --from +1d --for 1d", "reserve n1 --nodes 2 --from +1d --for 1d",
        "reserve n1 --from tomorrow --for 1d", "reserve n1 --from +1d --for 5",
        "reserve n1 --from 2100-02-30 --for 1d", "reserve n1"}) {
    EXPECT_EQ(goban(wrong).code, 2) << wrong;
  }
}

TEST_F(JobCommands, TopAndStats) {
  serve({{"GET /v1/jobs", kJobs},
         {"GET /v1/cluster", R"({"name": "lab", "racks": [{"rack": "0", "nodes": [{"node": "n1",
            "gpus": [{"state": "busy", "jobs": [3], "scores": [1.25], "util_pct": 50.0,
            "power_w": 310.4, "mem_used_bytes": 1073741824}, {"state": "free", "jobs": []}]}]}]})"},
         {"GET /v1/stats", R"({"gpus": {"busy": 1, "free": 1}, "waiting_gpus": 10, "inputs": 12,
            "jobs": {"running": 1, "waiting": 3}, "decisions": 9,
            "decide_s": {"p50": 0.0001, "p99": 0.002, "max": 0.003}})"}});
  const Output top = goban("top --once");
  EXPECT_EQ(top.code, 0);
  for (const char* part : {"2 GPUs, 1 busy, 1 free", "n1[0]", "#####.....  50 %", "310 W", "1.250",
                           "1.0 GiB", "n1[1]", "bert"}) {
    EXPECT_THAT(top.out, HasSubstr(part));
  }
  const Output stats = goban("stats");
  EXPECT_THAT(stats.out, HasSubstr("10 GPUs requested by waiting jobs"));
  EXPECT_THAT(stats.out, HasSubstr("0.1 ms (p50), 2 ms (p99)"));
}

TEST_F(JobCommands, ExplainAsksTheDaemon) {
  serve({{"GET /v1/jobs/7/explain", R"({"job": 7, "state": "waiting", "text": "fewer GPUs are free",
            "waiting": {"before": 2, "free_gpus": 1}})"}});
  const Output run = goban("explain --job 7");
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.out,
            "job 7 (waiting): fewer GPUs are free\n2 jobs are ahead of it; 1 GPU is free\n");
}

TEST_F(JobCommands, ExplainPrintsLocalTimes) {
  serve({{"GET /v1/jobs/7/explain", R"({"job": 7, "state": "depends", "text":
            "UTC; it begins at 2026-12-31 20:00:00 UTC, or 2026-07-01 00:00:00 UTC at the earliest"})"}});
  ::setenv("TZ", "Asia/Tokyo", 1);
  const Output run = goban("explain --job 7");
  ::unsetenv("TZ");
  EXPECT_EQ(run.out,
            "job 7 (depends): UTC; it begins at 2027-01-01 05:00:00, or 2026-07-01 09:00:00 at "
            "the earliest\n");
}

TEST_F(JobCommands, WithoutADaemonItsSocketIsNamed) {
  for (const char* command : {"queue", "show 3", "cancel 3", "logs 3", "nodes", "stats",
                              "top --once", "submit --wrap true", "explain --job 3"}) {
    const Output run = goban(command);
    EXPECT_EQ(run.code, 1) << command;
    EXPECT_THAT(run.out, HasSubstr(folder.path() + "/s: no daemon is listening")) << command;
    EXPECT_THAT(run.out, HasSubstr("goban serve")) << command;
  }
}

TEST(JobRows, SuspendedTimeIsNoRunTime) {
  JobRow row{.state = "suspended",
             .run_start_s = 100,
             .suspended_since_s = 160,
             .suspended_s = 20,
             .held_s = 5};
  EXPECT_DOUBLE_EQ(row.ran_s(1000), 5 + 40);
  row.state = "running";
  row.suspended_since_s = 0;
  EXPECT_DOUBLE_EQ(row.ran_s(200), 5 + 80);
}

TEST_F(JobCommands, OptionsOfSbatchAreUnderstood) {
  const auto spec = [&](const std::string& words) {
    const Output run =
        shell("cd " + folder.path() + " && GOBAN submit --dry-run " + words + " --wrap true 2>&1");
    EXPECT_EQ(run.code, 0) << words << "\n" << run.out;
    return nlohmann::json::parse(run.out, nullptr, false);
  };
  const auto job = spec(
      "--job-name bert -G 4 -N 2 -n 8 --cpus-per-task=3 -t 90 -p gpu -A team --gres gpu:2 -d "
      "afterok:3 -o %x.log -e %x.err -w n1 -a 0-3%2");
  EXPECT_EQ(job["name"], "bert");
  EXPECT_EQ(job["cores"], 12) << "four tasks of three cores on each node";
  EXPECT_EQ(job["walltime_s"], 5400);
  EXPECT_EQ(job["partition"], "gpu");
  EXPECT_EQ(job["account"], "team");
  EXPECT_EQ(job["node_list"], nlohmann::json({"n1"}));
  EXPECT_EQ(job["array_limit"], 2);
  EXPECT_EQ(spec("-n 4 -c 2")["cores"], 8) << "-c counts for each task, as for sbatch";
  EXPECT_EQ(spec("-c 2")["cores"], 2);
  EXPECT_EQ(spec("-G h100:2")["num_gpus"], 2);
  EXPECT_EQ(spec("--as-slurm -t 1:30")["walltime_s"], 90);
  EXPECT_EQ(spec("--as-slurm")["stdout_path"], "slurm-%j.out");
  const Output ignored =
      shell("GOBAN submit --dry-run --mail-type END --wrap true 2>&1 >/dev/null");
  EXPECT_EQ(ignored.code, 0);
  EXPECT_THAT(ignored.out, HasSubstr("--mail-type has no effect: no mail is sent"));
}

TEST_F(JobCommands, AMissingFolderIsRefusedAtSubmission) {
  const auto dry = [&](const std::string& words) {
    return shell("cd " + folder.path() + " && GOBAN submit --dry-run " + words +
                 " --wrap true 2>&1");
  };
  const Output output = dry("-o nowhere/%x.out");
  EXPECT_EQ(output.code, 3);
  EXPECT_THAT(output.out, HasSubstr("nowhere/%x.out does not exist"));
  EXPECT_THAT(output.out, HasSubstr("mkdir -p " + folder.path() + "/nowhere"));
  EXPECT_EQ(dry("-e nowhere/%x.err").code, 3);
  const Output work = dry("-D nowhere");
  EXPECT_EQ(work.code, 3);
  EXPECT_THAT(work.out, HasSubstr("nowhere does not exist"));
  const Output later = dry("-o nowhere/%x.out -d afterok:1");
  EXPECT_EQ(later.code, 0) << "the other job may make it";
  EXPECT_THAT(later.out, HasSubstr("does not exist yet"));
  EXPECT_EQ(dry("-o /dev/null").code, 0);
  EXPECT_EQ(dry("-o %j/x.out").code, 0) << "known only at the start";
  EXPECT_THAT(dry("-o %x/%j.out").out, HasSubstr("mkdir -p " + folder.path() + "/wrap"));
  EXPECT_EQ(dry("-o 'a%%b/x'").code, 3);
  folder.write("file", "x");
  EXPECT_THAT(dry("-D file").out, HasSubstr("file is a file"));
  EXPECT_THAT(dry("-o file/x").out, HasSubstr("name another with -o"));
  EXPECT_EQ(dry("-o x.out").code, 0);
  EXPECT_EQ(dry("-o ./x.out -e /tmp/x.err").code, 0);
}

TEST_F(JobCommands, EffComparesUseWithWhatWasHeld) {
  const char* const details = R"({"job": 7, "id": "7", "name": "bert", "user": "anna",
    "state": "done", "result": "completed", "num_gpus": 2, "held_s": 1000,
    "spec": {"cores": 4, "mem_bytes": 1073741824},
    "usage": {"cpu_s": 2000, "mem_bytes_max": 268435456, "gpu_util_pct": 12.5}})";
  serve({{"GET /v1/jobs", R"({"jobs": [{"job": 7, "id": "7", "state": "done"}]})"},
         {"GET /v1/jobs?past=1", R"({"jobs": [{"job": 7, "id": "7", "history": true}]})"},
         {"GET /v1/jobs/7", details}});
  for (const char* words : {"eff 7", "eff"}) {
    const Output run = goban(words);
    EXPECT_EQ(run.code, 0) << run.out;
    EXPECT_THAT(run.out, HasSubstr("12 %")) << run.out;
    EXPECT_THAT(run.out, HasSubstr("50 %  2.0 of 4"));
    EXPECT_THAT(run.out, HasSubstr("256 MiB of 1.0 GiB"));
    EXPECT_THAT(run.out,
                HasSubstr("1 job, 0.6 GPU-hours: GPU use 12 %, CPU use 50 %, memory 25 %"));
  }
  const auto all = nlohmann::json::parse(goban("eff --json").out);
  EXPECT_EQ(all["jobs"][0]["cpu_pct"], 50);
  EXPECT_EQ(all["total"]["gpu_util_pct"], 12.5);
}

}  // namespace
}  // namespace goban::cli
