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
  const std::string used = payloads->write("{}").value();
  const std::string unused = payloads->write("{}").value();
  std::filesystem::create_directory(folder + "/jobs/17");
  EXPECT_EQ(payloads->sweep({used}), 1u);
  EXPECT_TRUE(std::filesystem::exists(folder + "/jobs/" + used + "/payload.json"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/jobs/" + unused));
  EXPECT_TRUE(std::filesystem::exists(folder + "/jobs/17"));
  payloads->discard("../jobs");
  payloads->discard("17");
  EXPECT_TRUE(std::filesystem::exists(folder + "/jobs/17"));
}

}  // namespace
}  // namespace goban::serve::api
