// goban cancel, hold, release and requeue against a daemon that answers from a table.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

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
    answers["GET /v1/jobs"] = kJobs;
    daemon = std::make_unique<FakeDaemon>(folder.path() + "/s", std::move(answers));
  }
  Output goban(const std::string& arguments) const {
    return shell("GOBAN " + arguments + " --server " + folder.path() + "/s 2>&1");
  }
  TestFolder folder{"job_actions"};
  std::unique_ptr<FakeDaemon> daemon;
};

TEST_F(JobActions, AnArrayIsOneRequest) {
  serve({{"DELETE /v1/jobs/3", "{}"}, {"DELETE /v1/jobs/7", R"({"jobs": [7, 8]})"}});
  const Output run = goban("cancel 3 7");
  EXPECT_EQ(run.code, 0) << run.out;
  EXPECT_EQ(run.out, "cancelled 7_0\ncancelled 7_1\ncancelled 3\n");
  EXPECT_EQ(daemon->asked(),
            (std::vector<std::string>{"GET /v1/jobs?limit=10000&after=0&all=1",
                                      "DELETE /v1/jobs/7?array=1", "DELETE /v1/jobs/3"}));
  const Output all = goban("cancel --all --json");
  EXPECT_EQ(nlohmann::json::parse(all.out.substr(all.out.find("{\"jobs\""))),
            nlohmann::json::parse(R"({"jobs": ["3", "7_0", "7_1"]})"));
  EXPECT_THAT(all.out, HasSubstr("job 2: nothing there"));
}

TEST_F(JobActions, TasksGoFromTheLastToTheFirst) {
  serve({{"DELETE /v1/jobs/3", "{}"}, {"DELETE /v1/jobs/8", "{}"}});
  EXPECT_EQ(goban("cancel 3 7_1").out, "cancelled 7_1\ncancelled 3\n");
  const Output unknown = goban("cancel 3 99");
  EXPECT_EQ(unknown.code, 1);
  EXPECT_THAT(unknown.out, HasSubstr("unknown job 99"));
  EXPECT_THAT(unknown.out, HasSubstr("cancelled 3"));
  EXPECT_EQ(goban("cancel x7").code, 2);
  EXPECT_EQ(goban("cancel").code, 2);
}

TEST_F(JobActions, WhatCouldNotBeChangedIsNamed) {
  serve({{"POST /v1/jobs/2/hold", "!403 the job belongs to another user"},
         {"POST /v1/jobs/3/hold", "!409 it runs already"},
         {"POST /v1/jobs/7/hold",
          R"({"jobs": [8], "left": [{"job": 7, "message": "it started before"}]})"}});
  const Output one = goban("hold 2");
  EXPECT_EQ(one.code, 1);
  EXPECT_THAT(one.out, HasSubstr("job 2: the job belongs to another user"));
  const Output all = goban("hold --all");
  EXPECT_EQ(all.code, 1);
  EXPECT_THAT(all.out, HasSubstr("held 7_1\n"));
  EXPECT_THAT(all.out, Not(HasSubstr("held 7_0")));
  EXPECT_THAT(all.out, HasSubstr("1 jobs belong to other users"));
  EXPECT_THAT(all.out, HasSubstr("job 3: it runs already"));
  EXPECT_THAT(all.out, HasSubstr("job 7_0: it started before"));
}

TEST_F(JobActions, OnlyHeldJobsAreReleased) {
  serve({{"POST /v1/jobs/2/release", R"({"jobs": [2]})"},
         {"POST /v1/jobs/3/release", "!409 it is not held"},
         {"POST /v1/jobs/7/release", R"({"jobs": [8]})"}});
  Output run = goban("release --all");
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.out, "released 7_1\nreleased 2\ngoban: 2 jobs were not held\n");
  run = goban("release 7");
  EXPECT_EQ(run.out, "released 7_1\ngoban: 1 jobs were not held\n");
  run = goban("release 3");
  EXPECT_EQ(run.code, 1);
  EXPECT_EQ(run.out, "goban: error: job 3: it is not held\n");
}

}  // namespace
}  // namespace goban::cli
