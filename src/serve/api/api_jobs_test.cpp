#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "serve/api/caller.hpp"
#include "serve/api/test_service.hpp"

namespace goban::serve::api {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class ApiJobs : public ServiceTest {
 public:
  static constexpr const char* kJob =
      R"({"script":"#!/bin/sh\necho secret-script\n","name":"secret-name","num_gpus":2,
          "account":"vision","env":{"SECRET":"secret-value"},"work_folder":"/tmp"})";
  json parsed(const base::http::Response& response) { return json::parse(response.body); }
  /// All files below the payload folder.
  std::vector<std::string> files() {
    std::vector<std::string> found;
    for (const auto& each : std::filesystem::recursive_directory_iterator(folder + "/jobs")) {
      if (each.path().filename() == "payload.json") found.push_back(each.path());
    }
    return found;
  }
};

TEST_F(ApiJobs, SubmitKeepsThePayloadAside) {
  const base::http::Response response = ask(kAlice, "POST", "/v1/jobs", kJob);
  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(parsed(response), json::parse(R"({"job":1,"jobs":[1]})"));
  ASSERT_EQ(files().size(), 1u);
  struct stat found{};
  ASSERT_EQ(::stat(files()[0].c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
  std::ifstream in(files()[0]);
  const json payload = json::parse(in);
  EXPECT_EQ(payload["script"], "#!/bin/sh\necho secret-script\n");
  EXPECT_EQ(payload["env"]["SECRET"], "secret-value");
  scheduler.edit(1, [&](live::controller::LiveJob& job) {
    EXPECT_THAT(files()[0], HasSubstr("/" + job.spec.payload + "/payload.json"));
    EXPECT_EQ(job.spec.owner, find_user("daemon").value());
    EXPECT_EQ(job.spec.num_gpus, 2);
  });
  EXPECT_THAT(ask(kAlice, "GET", "/v1/jobs/1").body, Not(HasSubstr("secret-script")));
  EXPECT_THAT(ask(kAlice, "GET", "/v1/jobs/1").body, Not(HasSubstr("secret-value")));
}

TEST_F(ApiJobs, TheOwnerIsWhoAsks) {
  for (const char* field : {R"("owner":{"uid":0,"user":"root"})", R"("payload":"../x")",
                            R"("array_first":1)", R"("array_task":1)"}) {
    const std::string body = std::string(R"({"script":"x",)") + field + "}";
    EXPECT_EQ(status(kAlice, "POST", "/v1/jobs", body), 400) << field;
  }
  EXPECT_EQ(status(kAlice, "POST", "/v1/jobs", R"({"script":"x","user":"root"})"), 403);
  EXPECT_EQ(status(kAlice, "POST", "/v1/jobs", R"({"script":"x","user":"daemon"})"), 201);
  EXPECT_EQ(status(kOperator, "POST", "/v1/jobs", R"({"script":"x","user":"nobody"})"), 201);
  scheduler.edit(2,
                 [](live::controller::LiveJob& job) { EXPECT_EQ(job.spec.owner.user, "nobody"); });
  EXPECT_EQ(status(kOperator, "POST", "/v1/jobs", R"({"script":"x","user":"no-such-user"})"), 403);
  EXPECT_EQ(status(kOperator, "POST", "/v1/jobs", R"({"script":"x"})"), 403);
  EXPECT_EQ(status(kViewer, "POST", "/v1/jobs", R"({"script":"x"})"), 403);
}

TEST_F(ApiJobs, PriorityHasALimitByRole) {
  const auto asks = [](int priority) {
    return R"({"script":"x","priority":)" + std::to_string(priority) + "}";
  };
  EXPECT_EQ(status(kAlice, "POST", "/v1/jobs", asks(0)), 201);
  EXPECT_EQ(status(kAlice, "POST", "/v1/jobs", asks(-5)), 201);
  const base::http::Response refused = ask(kAlice, "POST", "/v1/jobs", asks(1));
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(refused.body, HasSubstr("priority 1 is above 0"));
  EXPECT_EQ(files().size(), 2U) << "refused submissions leave nothing behind";
  EXPECT_EQ(status(kManager, "POST", "/v1/jobs", asks(1000)), 201);
  const std::string for_alice = R"({"script":"x","user":"daemon","priority":1000})";
  EXPECT_EQ(status(kOperator, "POST", "/v1/jobs", for_alice), 201);
  options.callers.priority_max = {.user = 10, .account_manager = 20, .an_operator = 30};
  ASSERT_TRUE(service->reload(options));
  EXPECT_EQ(status(kAlice, "POST", "/v1/jobs", asks(10)), 201);
  EXPECT_EQ(status(kAlice, "POST", "/v1/jobs", asks(11)), 403);
  EXPECT_EQ(status(kManager, "POST", "/v1/jobs", asks(20)), 201);
  EXPECT_EQ(status(kManager, "POST", "/v1/jobs", asks(21)), 403);
  EXPECT_EQ(status(kOperator, "POST", "/v1/jobs", for_alice), 403);
}

TEST_F(ApiJobs, WithAnAccountsFileUsersNameOnlyAccountsOfTheirs) {
  const auto asks = [](const char* account) {
    return std::string(R"({"script":"x","account":")") + account + "\"}";
  };
  EXPECT_EQ(status(kAlice, "POST", "/v1/jobs", asks("anything")), 201) << "without a file";
  std::string alice;
  scheduler.edit(1, [&](live::controller::LiveJob& job) { alice = job.spec.owner.user; });
  scheduler.edit_site([&](live::controller::Site& site) {
    core::model::SiteRules rules;
    rules.accounts.resize(3);
    for (const char* name : {"physics", "vision", "open"}) site.accounts.intern(name);
    rules.users = {{.account = core::model::AccountId(0U),
                    .user = core::model::UserId(site.users.intern(alice)),
                    .shares = 1,
                    .limits = {}},
                   {.account = core::model::AccountId(1U),
                    .user = core::model::UserId(site.users.intern("somebody")),
                    .shares = 1,
                    .limits = {}}};
    site.composition.rules = std::make_shared<core::model::SiteRules>(std::move(rules));
    site.accounts.intern("brought by a job");
  });
  for (const char* fine : {"physics", "open", ""}) {
    EXPECT_EQ(status(kAlice, "POST", "/v1/jobs", asks(fine)), 201) << fine;
  }
  const base::http::Response other = ask(kAlice, "POST", "/v1/jobs", asks("vision"));
  EXPECT_EQ(other.status, 403);
  EXPECT_THAT(other.body, HasSubstr("is not a member of account 'vision'"));
  const base::http::Response unknown = ask(kAlice, "POST", "/v1/jobs", asks("fysics"));
  EXPECT_EQ(unknown.status, 403);
  EXPECT_THAT(unknown.body, HasSubstr("did you mean physics?"));
  EXPECT_EQ(status(kAlice, "POST", "/v1/jobs", asks("brought by a job")), 403);
  EXPECT_EQ(status(kManager, "POST", "/v1/jobs", asks("vision")), 201) << "the caller manages it";
  const std::string for_alice = R"({"script":"x","user":")" + alice + R"(","account":"vision"})";
  EXPECT_EQ(status(kOperator, "POST", "/v1/jobs", for_alice), 201);
}

TEST_F(ApiJobs, TheTerminalIsForItsOwnerAndRoot) {
  constexpr const char* kRoot = "token-of-root";
  std::ofstream(folder + "/tokens", std::ios::app)
      << base::hex(base::sha256(kRoot)) << " operator root\n";
  const TestRuns runs;
  parts.engine = &runs;
  const char* const body = R"({"script":"x","interactive":true,"account":"vision"})";
  ASSERT_EQ(status(kAlice, "POST", "/v1/jobs", body), 201);
  const auto terminal = [&](const char* token) {
    return parsed(ask(token, "GET", "/v1/jobs/1")).value("terminal", "none");
  };
  EXPECT_EQ(terminal(kAlice), "none");  // it waits
  scheduler.run(1, {core::model::GpuId(0U)});
  EXPECT_EQ(terminal(kAlice), "/run/1");
  EXPECT_EQ(terminal(kRoot), "/run/1");
  EXPECT_EQ(terminal(kOperator), "none") << "the socket admits only the owner and root";
  EXPECT_EQ(terminal(kViewer), "none");
  EXPECT_EQ(terminal(kManager), "none");
  EXPECT_EQ(terminal(kBob), "none");
}

TEST_F(ApiJobs, RanksAreShownWhileTheyRunAndAfterwards) {
  const std::vector<live::RankTimes> said = {
      {.rank = 0, .ranks = 2, .steps = 8, .busy_s = 4, .wait_s = 2, .data_s = 0.5},
      {.rank = 1, .ranks = 2, .steps = 8, .busy_s = 5, .wait_s = 1}};
  TestRuns runs;
  runs.ranks = said;
  parts.engine = &runs;
  ASSERT_EQ(status(kAlice, "POST", "/v1/jobs", kJob), 201);
  EXPECT_FALSE(parsed(ask(kAlice, "GET", "/v1/jobs/1")).contains("ranks")) << "it waits";
  scheduler.run(1, {core::model::GpuId(0U), core::model::GpuId(1U)});
  const json ranks = json::parse(
      R"([{"rank":0,"ranks":2,"steps":8,"busy_s":4.0,"wait_s":2.0,"data_s":0.5},
          {"rank":1,"ranks":2,"steps":8,"busy_s":5.0,"wait_s":1.0}])");
  EXPECT_EQ(parsed(ask(kAlice, "GET", "/v1/jobs/1"))["ranks"], ranks);
  EXPECT_EQ(status(kBob, "GET", "/v1/jobs/1"), 403);
  scheduler.edit(1, [&](live::controller::LiveJob& job) {
    job.stage = live::controller::JobStage::Done;
    job.past = {{.run = 1, .ranks = said, .pace = {.steps = {.done = 8, .over_s = 2}}}};
  });
  const json over = parsed(ask(kAlice, "GET", "/v1/jobs/1"));
  EXPECT_FALSE(over.contains("ranks"));
  EXPECT_EQ(over["past"][0]["ranks"], ranks);
  EXPECT_EQ(over["past"][0]["step_s"], 0.25);
}

TEST_F(ApiJobs, ADaemonOfOneUserRunsNobodyElsesJobs) {
  options.many_users = false;
  const base::http::Response response = ask(kAlice, "POST", "/v1/jobs", kJob);
  EXPECT_EQ(response.status, 403);
  EXPECT_EQ(scheduler.num_asked, 0);
}

TEST_F(ApiJobs, WhatIsWrongIsNamed) {
  const auto problem = [&](const std::string& body) {
    const base::http::Response response = ask(kAlice, "POST", "/v1/jobs", body);
    EXPECT_EQ(response.status, 400) << body;
    const json error = parsed(response)["error"];
    return error.value("field", "") + ": " + error.value("remedy", "");
  };
  EXPECT_EQ(problem(R"({"script":"x","num_gpu":1})"), "num_gpu: did you mean num_gpus?");
  EXPECT_EQ(problem(R"({"script":"x","num_gpus":-1})"), "num_gpus: ");
  EXPECT_THAT(problem("{}"), HasSubstr("script: "));
  EXPECT_THAT(problem(R"({"script":"x","work_folder":"a"})"), HasSubstr("work_folder: "));
  EXPECT_THAT(problem(R"({"script":"x","name":"a\u001b[2J"})"), HasSubstr("name: "));
  EXPECT_THAT(problem(R"({"script":"a\u0000b"})"), HasSubstr("script: "));
  EXPECT_THAT(problem(R"({"script":"x","env":{"A=B":"1"}})"), HasSubstr("env: "));
  EXPECT_THAT(problem(R"({"script":"x","array_tasks":[2,1]})"), HasSubstr("array_tasks: "));
  std::string many =
      R"({"script":"x","work_folder":"/)" + std::string(4000, 'w') + R"(","array_tasks":[0)";
  for (int task = 1; task < 10'000; ++task) many += "," + std::to_string(task);
  EXPECT_THAT(problem(many + "]}"), HasSubstr("shorter names and paths"));
  EXPECT_THAT(problem(R"({"script":"x","array_tasks":[-1]})"), HasSubstr("array_tasks: "));
  EXPECT_THAT(problem("{"), HasSubstr(": send one object"));
  EXPECT_THAT(problem("[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]"), ": ");
  EXPECT_THAT(problem("[]"), ": ");
  EXPECT_TRUE(files().empty());
}

TEST_F(ApiJobs, AFullDiskIsNoJob) {
  start();
  scheduler.broken = true;
  const base::http::Response response = ask(kAlice, "POST", "/v1/jobs", kJob);
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(parsed(response)["error"]["remedy"], "make room");
}

TEST_F(ApiJobs, OthersSeeNoDetailsAndChangeNothing) {
  ASSERT_EQ(status(kAlice, "POST", "/v1/jobs", kJob), 201);
  const std::string list = ask(kBob, "GET", "/v1/jobs", "", {{"all", "1"}}).body;
  EXPECT_EQ(json::parse(list)["jobs"][0]["user"], "daemon");
  EXPECT_THAT(list, Not(HasSubstr("secret")));
  for (const char* path : {"/v1/jobs/1", "/v1/jobs/1/log", "/v1/jobs/1/explain"}) {
    const base::http::Response response = ask(kBob, "GET", path);
    EXPECT_EQ(response.status, 403) << path;
    EXPECT_THAT(response.body, Not(HasSubstr("secret")));
  }
  for (const char* path : {"/hold", "/release", "/requeue"}) {
    EXPECT_EQ(status(kBob, "POST", std::string("/v1/jobs/1") + path), 403);
    EXPECT_EQ(status(kViewer, "POST", std::string("/v1/jobs/1") + path), 403);
  }
  EXPECT_EQ(status(kBob, "DELETE", "/v1/jobs/1"), 403);
  EXPECT_EQ(status(kViewer, "DELETE", "/v1/jobs/1"), 403);
  EXPECT_EQ(status("", "GET", "/v1/jobs/1"), 401);
  EXPECT_EQ(status("wrong-token", "DELETE", "/v1/jobs/1"), 401);
  EXPECT_EQ(scheduler.num_asked, 1);
}

TEST_F(ApiJobs, ViewersManagersAndOperatorsMayMore) {
  ASSERT_EQ(status(kAlice, "POST", "/v1/jobs", kJob), 201);
  ASSERT_EQ(status(kAlice, "POST", "/v1/jobs", R"({"script":"x","account":"speech"})"), 201);
  EXPECT_EQ(status(kViewer, "GET", "/v1/jobs/1"), 200);
  EXPECT_EQ(status(kManager, "GET", "/v1/jobs/1"), 200);
  EXPECT_EQ(status(kManager, "GET", "/v1/jobs/2"), 403);
  EXPECT_EQ(status(kManager, "DELETE", "/v1/jobs/2"), 403);
  EXPECT_EQ(status(kManager, "POST", "/v1/jobs/1/hold"), 200);
  EXPECT_EQ(status(kOperator, "DELETE", "/v1/jobs/2"), 200);
  EXPECT_EQ(parsed(ask(kAlice, "GET", "/v1/jobs/2"))["detail"], "cancelled by operator");
  EXPECT_EQ(status(kOperator, "DELETE", "/v1/jobs/2"), 409);
}

TEST_F(ApiJobs, ListsByStateUserAndPage) {
  for (int i = 0; i < 3; ++i) ASSERT_EQ(status(kAlice, "POST", "/v1/jobs", kJob), 201);
  ASSERT_EQ(status(kBob, "POST", "/v1/jobs", kJob), 201);
  ASSERT_EQ(status(kAlice, "POST", "/v1/jobs/2/hold"), 200);
  const auto numbers = [&](const char* token, std::map<std::string, std::string> query) {
    const json list = parsed(ask(token, "GET", "/v1/jobs", "", std::move(query)));
    std::vector<int> found;
    for (const json& job : list["jobs"]) found.push_back(job["job"]);
    return found;
  };
  EXPECT_THAT(numbers(kAlice, {}), ElementsAre(1, 2, 3));
  EXPECT_THAT(numbers(kAlice, {{"state", "held"}}), ElementsAre(2));
  EXPECT_THAT(numbers(kAlice, {{"state", "waiting,held"}, {"all", "1"}}), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(numbers(kAlice, {{"user", "nobody"}}), ElementsAre(4));
  EXPECT_THAT(numbers(kAlice, {{"all", "1"}, {"limit", "2"}, {"after", "1"}}), ElementsAre(2, 3));
  EXPECT_EQ(status(kAlice, "GET", "/v1/jobs", "", {{"state", "gone"}}), 400);
  EXPECT_EQ(status(kAlice, "GET", "/v1/jobs", "", {{"limit", "0"}}), 400);
  EXPECT_EQ(status(kAlice, "GET", "/v1/jobs", "", {{"sate", "held"}}), 400);
}

TEST_F(ApiJobs, ListsNamedJobsAndRunningOnesFirst) {
  ASSERT_EQ(status(kAlice, "POST", "/v1/jobs", kJob), 201);
  ASSERT_EQ(status(kAlice, "POST", "/v1/jobs", R"({"script":"x","array_tasks":[3,5,7]})"), 201);
  ASSERT_EQ(status(kAlice, "POST", "/v1/jobs", kJob), 201);
  const auto list = [&](std::map<std::string, std::string> query) {
    return parsed(ask(kAlice, "GET", "/v1/jobs", "", std::move(query)));
  };
  const auto ids = [&](const std::map<std::string, std::string>& query) {
    std::vector<std::string> found;
    const json answer = list(query);
    for (const json& job : answer["jobs"]) found.push_back(job["id"]);
    return found;
  };
  EXPECT_THAT(ids({{"job", "1"}}), ElementsAre("1"));
  EXPECT_THAT(ids({{"job", "2"}}), ElementsAre("2_3", "2_5", "2_7"));
  EXPECT_THAT(ids({{"job", "3"}}), ElementsAre("2_5")) << "a task by its number";
  EXPECT_THAT(ids({{"job", "5,2_7,2_5,2_5"}}), ElementsAre("2_5", "2_7", "5"));
  EXPECT_TRUE(ids({{"job", "9,2_4,x,-1,2_"}}).empty());
  scheduler.run(4, {core::model::GpuId(5u)});
  scheduler.run(5, {core::model::GpuId(6u), core::model::GpuId(7u)});
  EXPECT_THAT(ids({{"first", "running"}, {"limit", "3"}}), ElementsAre("2_7", "5", "1"));
  const json counted = list({{"first", "running"}, {"limit", "1"}});
  EXPECT_EQ(counted["total"], 5);
  EXPECT_EQ(counted["states"], json::parse(R"({"running":2,"waiting":3})"));
  const int held =
      counted["jobs"][0]["num_gpus"].get<int>() + list({{"job", "5"}})["held_gpus"].get<int>();
  EXPECT_EQ(counted["held_gpus"], held);
  EXPECT_EQ(status(kAlice, "GET", "/v1/jobs", "", {{"first", "mine"}}), 400);
}

TEST_F(ApiJobs, AnElasticJobShowsTheGpusThatItHolds) {
  const auto shown = [&](const std::string& path) {
    return json::parse(ask(kAlice, "GET", path).body);
  };
  for (const char* range : {R"(,"training":{"gpus_min":1,"gpus_max":4})", ""}) {
    ASSERT_EQ(status(kAlice, "POST", "/v1/jobs",
                     R"({"script":"x","num_gpus":2)" + std::string(range) + "}"),
              201);
  }
  EXPECT_EQ(shown("/v1/jobs")["jobs"][0]["num_gpus"], 2) << "it waits";
  scheduler.run(1, {core::model::GpuId(0u), core::model::GpuId(1u), core::model::GpuId(2u),
                    core::model::GpuId(3u)});
  scheduler.run(2, {core::model::GpuId(4u), core::model::GpuId(5u)});
  const json listed = shown("/v1/jobs");
  EXPECT_EQ(listed["jobs"][0]["num_gpus"], 4);
  EXPECT_EQ(listed["jobs"][1]["num_gpus"], 2);
  EXPECT_EQ(listed["held_gpus"], 6);
  EXPECT_EQ(shown("/v1/jobs/1")["num_gpus"], 4);
}

TEST_F(ApiJobs, ReadersOfOneStateShareOneLook) {
  for (int i = 0; i < 3; ++i) ASSERT_EQ(status(kAlice, "POST", "/v1/jobs", kJob), 201);
  const auto states = [&] {
    std::vector<std::string> found;
    const json list = parsed(ask(kAlice, "GET", "/v1/jobs"));
    for (const json& job : list["jobs"]) found.push_back(job["state"]);
    return found;
  };
  EXPECT_THAT(states(), ElementsAre("waiting", "waiting", "waiting"));
  const int64_t looks = scheduler.num_looks;
  for (int i = 0; i < 20; ++i) EXPECT_EQ(states().size(), 3u);
  EXPECT_EQ(scheduler.num_looks, looks);
  ASSERT_EQ(status(kAlice, "POST", "/v1/jobs/2/hold"), 200);
  EXPECT_THAT(states(), ElementsAre("waiting", "held", "waiting")) << "what was answered is listed";
}

TEST_F(ApiJobs, LongListsCountAsSeveralRequests) {
  options.requests_per_s = 0.001;
  options.requests_burst = 10;
  json tasks = json::array();
  for (int i = 0; i < 5'000; ++i) tasks.push_back(i);
  ASSERT_EQ(
      status(kAlice, "POST", "/v1/jobs", json{{"script", "x"}, {"array_tasks", tasks}}.dump()),
      201);
  EXPECT_EQ(status(kAlice, "GET", "/v1/jobs", "", {{"limit", "10"}}), 200);
  EXPECT_EQ(status(kAlice, "GET", "/v1/jobs", "", {{"limit", "10000"}}), 200);
  EXPECT_EQ(status(kAlice, "GET", "/v1/jobs", "", {{"limit", "10"}}), 429);
  EXPECT_EQ(status(kBob, "GET", "/v1/jobs", "", {{"limit", "10"}}), 200);
}

TEST_F(ApiJobs, ALargeArrayIsChangedInOneCycle) {
  json tasks = json::array();
  for (int i = 0; i < 5'000; ++i) tasks.push_back(i);
  ASSERT_EQ(
      status(kAlice, "POST", "/v1/jobs", json{{"script", "x"}, {"array_tasks", tasks}}.dump()),
      201);
  EXPECT_EQ(parsed(ask(kAlice, "GET", "/v1/jobs/1_4321"))["job"], 4322);
  EXPECT_EQ(parsed(ask(kAlice, "DELETE", "/v1/jobs/1", "", {{"array", "1"}}))["jobs"].size(),
            5'000u);
  EXPECT_EQ(scheduler.num_cycles, 1);
}

TEST_F(ApiJobs, WaitingTasksOfAnArrayShareAnEntry) {
  ASSERT_EQ(status(kAlice, "POST", "/v1/jobs",
                   R"({"script":"x","num_gpus":2,"array_tasks":[0,1,2,3,6]})"),
            201);
  ASSERT_EQ(status(kAlice, "POST", "/v1/jobs", R"({"script":"x","num_gpus":1})"), 201);
  ASSERT_EQ(status(kAlice, "POST", "/v1/jobs/1_1/hold"), 200);
  const json each = parsed(ask(kAlice, "GET", "/v1/jobs"));
  EXPECT_EQ(each["jobs"].size(), 6U);
  const json joined = parsed(ask(kAlice, "GET", "/v1/jobs", "", {{"tasks", "joined"}}));
  EXPECT_EQ(joined["total"], 6);
  EXPECT_EQ(joined["states"], each["states"]);
  const json& jobs = joined["jobs"];
  ASSERT_EQ(jobs.size(), 3U) << jobs.dump(1);
  EXPECT_EQ(jobs[0]["id"], "1_0");
  EXPECT_EQ(jobs[0]["tasks"], "0,2-3,6");
  EXPECT_EQ(jobs[0]["num_tasks"], 4);
  EXPECT_EQ(jobs[0]["tasks_gpus"], 8);
  EXPECT_EQ(jobs[1]["id"], "1_1");
  EXPECT_FALSE(jobs[1].contains("tasks"));
  EXPECT_EQ(jobs[2]["job"], 6);
  EXPECT_EQ(
      parsed(ask(kAlice, "GET", "/v1/jobs", "", {{"tasks", "joined"}, {"limit", "1"}}))["jobs"]
          .size(),
      1U);
  EXPECT_EQ(status(kAlice, "GET", "/v1/jobs", "", {{"tasks", "each"}}), 400);
}

TEST_F(ApiJobs, ArraysAreChangedAsAWhole) {
  const base::http::Response response =
      ask(kAlice, "POST", "/v1/jobs", R"({"script":"x","array_tasks":[3,5,7],"array_limit":2})");
  EXPECT_EQ(parsed(response), json::parse(R"({"job":1,"jobs":[1,2,3]})"));
  EXPECT_EQ(parsed(ask(kAlice, "GET", "/v1/jobs/1_5"))["job"], 2);
  EXPECT_EQ(status(kAlice, "GET", "/v1/jobs/1_4"), 404);
  EXPECT_EQ(status(kAlice, "DELETE", "/v1/jobs/1_5"), 200);
  const base::http::Response rest = ask(kAlice, "DELETE", "/v1/jobs/1", "", {{"array", "1"}});
  EXPECT_EQ(parsed(rest), json::parse(R"({"jobs":[1,3]})"));
  EXPECT_EQ(scheduler.changed, (std::vector<uint32_t>{2, 3, 1})) << "the last task first";
}

TEST_F(ApiJobs, OnlyWhatIsHeldIsReleased) {
  ASSERT_EQ(status(kAlice, "POST", "/v1/jobs", R"({"script":"x","array_tasks":[0,1,2]})"), 201);
  EXPECT_EQ(status(kAlice, "POST", "/v1/jobs/2/release"), 409);
  EXPECT_EQ(status(kAlice, "POST", "/v1/jobs/1/release", "", {{"array", "1"}}), 409);
  ASSERT_EQ(status(kAlice, "POST", "/v1/jobs/2/hold"), 200);
  const base::http::Response released =
      ask(kAlice, "POST", "/v1/jobs/1/release", "", {{"array", "1"}});
  EXPECT_EQ(parsed(released), json::parse(R"({"jobs":[2]})"));
}

TEST_F(ApiJobs, TasksThatCannotBeChangedAreNamed) {
  ASSERT_EQ(status(kAlice, "POST", "/v1/jobs", R"({"script":"x","array_tasks":[0,1,2]})"), 201);
  scheduler.refused = {3};
  const base::http::Response held = ask(kAlice, "POST", "/v1/jobs/1/hold", "", {{"array", "1"}});
  EXPECT_EQ(parsed(held)["jobs"], json::parse("[1,2]"))
      << "including those after the first refusal";
  EXPECT_EQ(parsed(held)["left"][0]["job"], 3);
  scheduler.refused = {1, 2, 3};
  EXPECT_EQ(status(kAlice, "DELETE", "/v1/jobs/1", "", {{"array", "1"}}), 409);
}

TEST_F(ApiJobs, SeveralJobsAreChangedInOneCycle) {
  for (int i = 0; i < 4; ++i) ASSERT_EQ(status(kAlice, "POST", "/v1/jobs", kJob), 201);
  ASSERT_EQ(status(kBob, "POST", "/v1/jobs", kJob), 201);
  scheduler.refused = {4};
  scheduler.num_cycles = 0;
  const auto cancelled = ask(kAlice, "DELETE", "/v1/jobs/1,3,4,5,9,1");
  EXPECT_EQ(scheduler.num_cycles, 1);
  EXPECT_EQ(scheduler.changed, (std::vector<uint32_t>{3, 1})) << "from the last to the first";
  const json reply = parsed(cancelled);
  EXPECT_EQ(reply["jobs"], json({1, 3}));
  std::map<int, int> left;
  for (const json& each : reply["left"]) left[each["job"]] = each["status"];
  EXPECT_EQ(left, (std::map<int, int>{{4, 409}, {5, 403}, {9, 404}}));
  EXPECT_EQ(parsed(ask(kBob, "DELETE", "/v1/jobs/2,4"))["left"].size(), 2U) << "200 for several";
  EXPECT_EQ(status(kAlice, "DELETE", "/v1/jobs/2,x"), 404) << "nothing is changed";
  EXPECT_EQ(parsed(ask(kAlice, "GET", "/v1/jobs/2"))["state"], "waiting");
}

TEST_F(ApiJobs, WaitingJobsAreAltered) {
  ASSERT_EQ(status(kAlice, "POST", "/v1/jobs", kJob), 201);
  const auto alter = [&](const char* token, const std::string& body) {
    return status(token, "POST", "/v1/jobs/1/alter", body);
  };
  EXPECT_EQ(alter(kAlice, R"({"walltime_s": 7200, "priority": -5})"), 200);
  const json job = parsed(ask(kAlice, "GET", "/v1/jobs/1"));
  EXPECT_EQ(job["walltime_s"], 7200);
  EXPECT_EQ(job["priority"], -5);
  EXPECT_EQ(alter(kAlice, R"({"priority": 0})"), 200) << "the maximum of users";
  EXPECT_EQ(alter(kAlice, R"({"priority": 1})"), 403);
  EXPECT_EQ(alter(kOperator, R"({"priority": 1})"), 200);
  EXPECT_EQ(alter(kBob, R"({"priority": -1})"), 403);
  for (const char* wrong : {"", "{}", "[]", R"({"walltime_s": 0})", R"({"walltime_s": "1h"})",
                            R"({"array_limit": -1})", R"({"priorty": 1})"}) {
    EXPECT_EQ(alter(kAlice, wrong), 400) << wrong;
  }
}

TEST_F(ApiJobs, OneTaskStandsForTheLimitOfItsArray) {
  const std::string array = R"({"script": "#!/bin/sh\n", "array_tasks": [0, 1, 2]})";
  ASSERT_EQ(status(kAlice, "POST", "/v1/jobs", array), 201);
  const json one =
      parsed(ask(kAlice, "POST", "/v1/jobs/1/alter", R"({"array_limit": 2})", {{"array", "1"}}));
  EXPECT_EQ(one["jobs"].size(), 1U);
  scheduler.run(1, {core::model::GpuId(5u)});
  const json all =
      parsed(ask(kAlice, "POST", "/v1/jobs/1/alter", R"({"priority": -1})", {{"array", "1"}}));
  EXPECT_EQ(all["jobs"], json({2, 3})) << "those that wait";
}

TEST_F(ApiJobs, AHeldJobIsHeldWhateverElseItWaitsFor) {
  ASSERT_EQ(status(kAlice, "POST", "/v1/jobs", kJob), 201);
  scheduler.edit(1, [](live::controller::LiveJob& job) {
    job.stage = live::controller::JobStage::Depends;
    job.spec.held = true;
    job.spec.begin_ns = 4'000'000'000 * base::kSecond;
  });
  EXPECT_EQ(parsed(ask(kAlice, "GET", "/v1/jobs/1"))["state"], "held");
  EXPECT_EQ(parsed(ask(kAlice, "GET", "/v1/jobs", "", {{"state", "held"}}))["total"], 1);
  EXPECT_EQ(parsed(ask(kAlice, "GET", "/v1/stats"))["jobs"]["held"], 1);
  const json why = parsed(ask(kAlice, "GET", "/v1/jobs/1/explain"));
  EXPECT_EQ(why["state"], "held");
  EXPECT_EQ(
      why["text"],
      "it is held until it is released; it begins at 2096-10-02 07:06:40 UTC at the earliest");
}

TEST_F(ApiJobs, SuspendedJobsAreCounted) {
  ASSERT_EQ(status(kAlice, "POST", "/v1/jobs", kJob), 201);
  scheduler.edit(
      1, [](live::controller::LiveJob& job) { job.stage = live::controller::JobStage::Suspended; });
  EXPECT_EQ(parsed(ask(kAlice, "GET", "/v1/stats"))["jobs"]["suspended"], 1);
}

TEST_F(ApiJobs, OutputFilesAreShownAsTheyAreCalled) {
  ASSERT_EQ(status(kAlice, "POST", "/v1/jobs",
                   R"({"script":"x","name":"bert","work_folder":"/d","stdout_path":"%x-%j.out"})"),
            201);
  const json job = parsed(ask(kAlice, "GET", "/v1/jobs/1"));
  EXPECT_EQ(job["stdout_file"], "/d/bert-1.out");
  EXPECT_EQ(job["stderr_file"], "/d/bert-1.out");
}

TEST_F(ApiJobs, ShowsWhatRuns) {
  ASSERT_EQ(status(kAlice, "POST", "/v1/jobs", kJob), 201);
  scheduler.run(1, {core::model::GpuId(5u), core::model::GpuId(6u)});
  scheduler.edit(1, [](live::controller::LiveJob& job) {
    job.progress = {.epoch = 1.5, .loss = 0.25};
    job.progress_ns = 5 * base::kSecond;
    job.usage.energy_j = 3;
  });
  const json job = parsed(ask(kAlice, "GET", "/v1/jobs/1"));
  EXPECT_EQ(job["state"], "running");
  EXPECT_EQ(job["gpus"][1], json::parse(R"({"gpu":6,"node":"n1","index":2})"));
  EXPECT_EQ(job["progress"], json::parse(R"({"epoch":1.5,"loss":0.25,"checkpointed":false})"));
  EXPECT_EQ(job["usage"], json::parse(R"({"energy_j":3})"));
  EXPECT_EQ(parsed(ask(kAlice, "GET", "/v1/jobs/1/explain"))["place"]["level"], "node");
  for (const char* path : {"/v1/jobs/0", "/v1/jobs/2", "/v1/jobs/x", "/v1/jobs/99999999999999"}) {
    EXPECT_EQ(status(kAlice, "GET", path), 404) << path;
  }
}

TEST_F(ApiJobs, UnusedPayloadsAreSweptAway) {
  start();
  const live::job::Owner myself{.uid = ::geteuid(), .gid = ::getegid(), .user = "me"};
  const std::string used = payloads->write("{}", myself).value();
  const std::string unused = payloads->write("{}", myself).value();
  std::filesystem::create_directory(folder + "/jobs/17");
  EXPECT_EQ(payloads->sweep({{used, myself.uid}}), 1u);
  EXPECT_TRUE(std::filesystem::exists(folder + "/jobs/" + used + "/payload.json"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/jobs/" + unused));
  EXPECT_TRUE(std::filesystem::exists(folder + "/jobs/17"));
  payloads->discard("../jobs");
  payloads->discard("17");
  EXPECT_TRUE(std::filesystem::exists(folder + "/jobs/17"));
}

TEST_F(ApiJobs, OnlyOperatorsSuspendAndResume) {
  ASSERT_EQ(status(kAlice, "POST", "/v1/jobs", kJob), 201);
  EXPECT_EQ(status(kOperator, "POST", "/v1/jobs/1/suspend"), 409) << "it waits";
  scheduler.run(1, {core::model::GpuId(0U)});
  for (const char* token : {kAlice, kBob, kManager, kViewer}) {
    EXPECT_EQ(status(token, "POST", "/v1/jobs/1/suspend"), 403) << token;
    EXPECT_EQ(status(token, "POST", "/v1/jobs/1/resume"), 403) << token;
  }
  EXPECT_EQ(status(kOperator, "POST", "/v1/jobs/1/suspend"), 200);
  EXPECT_EQ(status(kOperator, "POST", "/v1/jobs/1/resume"), 409) << "it runs";
  scheduler.edit(1, [](live::controller::LiveJob& job) {
    job.stage = live::controller::JobStage::Suspended;
    job.suspensions = {.count = 2, .since_ns = job.run_start_ns + 9, .ended_ns = base::kSecond};
  });
  const json shown = parsed(ask(kAlice, "GET", "/v1/jobs/1"));
  EXPECT_EQ(shown["state"], "suspended");
  EXPECT_EQ(shown["suspended_s"], 1);
  EXPECT_EQ(parsed(ask(kAlice, "GET", "/v1/jobs", "", {{"state", "suspended"}}))["held_gpus"],
            shown["num_gpus"]);
  EXPECT_THAT(ask(kOperator, "GET", "/metrics").body,
              HasSubstr("goban_jobs{state=\"suspended\"} 1"));
  EXPECT_EQ(status(kOperator, "POST", "/v1/jobs/1/resume"), 200);
}

}  // namespace
}  // namespace goban::serve::api
