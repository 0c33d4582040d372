// goban cancel, hold, release, suspend and resume against a daemon that answers from a table.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "base/test_folder.hpp"
#include "cli/jobs/test_fake_daemon.hpp"
#include "cli/shell/test_shell.hpp"

namespace goban::cli {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

const char* const kJobs = R"({"jobs": [
  {"job": 2, "id": "2", "user": "ben", "state": "held", "num_gpus": 8},
  {"job": 3, "id": "3", "user": "anna", "state": "running", "num_gpus": 4},
  {"job": 7, "id": "7_0", "user": "anna", "state": "running", "num_gpus": 1},
  {"job": 8, "id": "7_1", "user": "anna", "state": "waiting", "num_gpus": 1},
  {"job": 9, "id": "7_2", "user": "anna", "state": "done", "result": "failed", "num_gpus": 1}]})";

class JobActions : public testing::Test {
 public:
  void serve(std::map<std::string, std::string> answers) {
    answers["GET /v1/jobs"] = jobs;
    daemon = std::make_unique<FakeDaemon>(folder.path() + "/s", std::move(answers));
  }
  Output goban(const std::string& arguments) const {
    return shell("GOBAN " + arguments + " --server " + folder.path() + "/s 2>&1");
  }
  std::string jobs = kJobs;
  base::TestFolder folder{"job_actions"};
  std::unique_ptr<FakeDaemon> daemon;
};

TEST_F(JobActions, AnArrayIsOneRequest) {
  serve(
      {{"DELETE /v1/jobs/3", "{}"},
       {"DELETE /v1/jobs/2,3", R"({"jobs": [3], "left": [{"job": 2, "message": "it is Ben's"}]})"},
       {"DELETE /v1/jobs/7", R"({"jobs": [7, 8]})"}});
  const Output run = goban("cancel 3 7");
  EXPECT_EQ(run.code, 0) << run.out;
  EXPECT_EQ(run.out, "cancelled 2 tasks of array 7\ncancelled 3\n");
  EXPECT_EQ(daemon->asked(),
            (std::vector<std::string>{"GET /v1/jobs?limit=10000&after=0&all=1&job=3,7",
                                      "DELETE /v1/jobs/7?array=1", "DELETE /v1/jobs/3"}));
  const Output all = goban("cancel --all --json");
  EXPECT_EQ(all.out,
            "{\"jobs\":[\"3\",\"7_0\",\"7_1\"]}\n"
            "goban: 1 job could not be cancelled (job 2: it is Ben's)\n");
}

TEST_F(JobActions, OnlyTheNamedJobsAreAskedFor) {
  // The daemon lists the named task alone: its array must not be taken for complete.
  jobs = R"({"jobs": [
    {"job": 8, "id": "7_1", "user": "anna", "state": "waiting", "num_gpus": 1}]})";
  serve({{"DELETE /v1/jobs/8", "{}"}});
  EXPECT_EQ(goban("cancel 7_1").out, "cancelled 7_1\n");
  EXPECT_EQ(daemon->asked(),
            (std::vector<std::string>{"GET /v1/jobs?limit=10000&after=0&all=1&job=7_1",
                                      "DELETE /v1/jobs/8"}));
  EXPECT_EQ(goban("cancel 7_1 --user ben").out, "cancelled 7_1\n") << "whose array it is not";
}

TEST_F(JobActions, SeveralJobsAreOneRequest) {
  serve({{"DELETE /v1/jobs/3", "{}"}, {"DELETE /v1/jobs/3,8", R"({"jobs": [3, 8]})"}});
  EXPECT_EQ(goban("cancel 3 7_1").out, "cancelled 3\ncancelled 7_1\n");
  const Output unknown = goban("cancel 3 99");
  EXPECT_EQ(unknown.code, 1);
  EXPECT_THAT(unknown.out, HasSubstr("unknown job 99"));
  EXPECT_THAT(unknown.out, HasSubstr("cancelled 3"));
  EXPECT_EQ(goban("cancel x7").code, 2);
  EXPECT_EQ(goban("cancel").code, 2);
}

TEST_F(JobActions, WhatCouldNotBeChangedIsNamed) {
  serve({{"POST /v1/jobs/2/hold", "!403 the job belongs to another user"},
         {"POST /v1/jobs/2,3/hold",
          R"({"jobs": [], "left": [{"job": 2, "status": 403, "message": "it is another user's"},
                                   {"job": 3, "status": 409, "message": "it runs already"}]})"},
         {"POST /v1/jobs/7/hold",
          R"({"jobs": [8], "left": [{"job": 7, "message": "it started before"}]})"}});
  const Output one = goban("hold 2");
  EXPECT_EQ(one.code, 1);
  EXPECT_THAT(one.out, HasSubstr("job 2: the job belongs to another user"));
  const Output all = goban("hold --all");
  EXPECT_EQ(all.code, 0) << "one could be held";
  EXPECT_EQ(all.out,
            "held 7_1\ngoban: 1 job of another user; 2 jobs could not be held (first job 7_0: it "
            "started before)\n");
}

TEST_F(JobActions, ASweepThatChangesNothingFails) {
  serve({{"POST /v1/jobs/2,3/suspend", "!403 only operators may suspend and resume jobs"},
         {"POST /v1/jobs/7/suspend", "!403 only operators may suspend and resume jobs"},
         {"POST /v1/jobs/2,3/alter", "!400 requests 7200 s; this site allows at most 3600 s"},
         {"POST /v1/jobs/7/alter", "!400 requests 7200 s; this site allows at most 3600 s"}});
  Output run = goban("suspend --all");
  EXPECT_EQ(run.code, 1);
  EXPECT_EQ(run.out,
            "goban: 4 jobs could not be suspended (first array 7: only operators may suspend and "
            "resume jobs)\n");
  run = goban("alter --all --time 2h");
  EXPECT_EQ(run.code, 3) << "a value was refused";
  EXPECT_EQ(run.out,
            "goban: 4 jobs could not be changed (first array 7: requests 7200 s; this site allows "
            "at most 3600 s)\n");
  EXPECT_EQ(goban("alter 7 --time 2h").code, 3);
  run = goban("cancel --user carl");
  EXPECT_EQ(run.code, 1);
  EXPECT_EQ(run.out, "goban: error: user carl has no unfinished jobs\n");
}

TEST_F(JobActions, AJobOfTheHistoryHasEnded) {
  jobs = R"({"jobs": []})";
  serve({{"GET /v1/jobs?past=1", R"({"jobs": [
           {"job": 5, "id": "5", "user": "anna", "state": "done", "result": "completed",
            "end_s": 1700000000, "num_gpus": 1, "history": true}]})"}});
  ::setenv("TZ", "Asia/Tokyo", 1);
  const Output run = goban("cancel 5");
  ::unsetenv("TZ");
  EXPECT_EQ(run.code, 1);
  EXPECT_EQ(run.out, "goban: error: job 5 ended on 2023-11-15 07:13:20 (completed)\n");
  EXPECT_THAT(goban("cancel 6").out, HasSubstr("unknown job 6"));
}

TEST_F(JobActions, OnlyHeldJobsAreReleased) {
  serve({{"POST /v1/jobs/2,3/release",
          R"({"jobs": [2], "left": [{"job": 3, "status": 409, "message": "it is not held"}]})"},
         {"POST /v1/jobs/3/release", "!409 it is not held"},
         {"POST /v1/jobs/7/release", R"({"jobs": [8]})"}});
  Output run = goban("release --all");
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.out, "released 7_1\nreleased 2\ngoban: 2 jobs were not held\n");
  run = goban("release 7");
  EXPECT_EQ(run.out, "released 7_1\ngoban: 1 job was not held\n");
  run = goban("release 3");
  EXPECT_EQ(run.code, 1);
  EXPECT_EQ(run.out, "goban: error: job 3: it is not held\n");
}

TEST_F(JobActions, AlterSendsWhatChanges) {
  serve({{"POST /v1/jobs/2/alter", R"({"jobs": [2]})"}, {"POST /v1/jobs/7/alter", "{}"}});
  EXPECT_EQ(goban("alter 2 --time 1h30m --priority -5").out, "changed 2\n");
  EXPECT_EQ(nlohmann::json::parse(daemon->last_body()),
            nlohmann::json::parse(R"({"walltime_s": 5400, "priority": -5})"));
  EXPECT_EQ(goban("alter 7 --throttle 0").code, 0);
  EXPECT_EQ(daemon->last_body(), R"({"array_limit":0})");
  EXPECT_EQ(daemon->asked().back(), "POST /v1/jobs/7/alter?array=1");
  EXPECT_EQ(goban("alter 2").code, 2);
  EXPECT_EQ(goban("alter 2 --time 0").code, 2);
  EXPECT_EQ(goban("alter 2 --throttle -1").code, 2);
}

TEST_F(JobActions, SuspendAndResumeJobs) {
  serve({{"POST /v1/jobs/3/suspend", "{}"}, {"POST /v1/jobs/3/resume", "{}"}});
  EXPECT_EQ(goban("suspend 3").out, "suspended 3\n");
  EXPECT_EQ(goban("resume 3").out, "resumed 3\n");
}

}  // namespace
}  // namespace goban::cli
