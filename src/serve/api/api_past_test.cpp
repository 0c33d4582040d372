// Finished jobs from the history, by role.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "serve/api/test_service.hpp"

namespace goban::serve::api {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;

/// Finds every job that the test put there and the query names.
struct TestPast final : PastJobs {
  base::Result<std::vector<live::controller::LiveJob>> find(const PastQuery& query) override {
    asked = query;
    if (broken) return base::failed("the history store is busy");
    std::vector<live::controller::LiveJob> out;
    for (const auto& job : jobs) {
      const auto is_named = [&](const JobName& name) {
        if (job.spec.array_task < 0) return name.first == job.job && !name.task;
        return name.first == job.spec.array_first &&
               name.task.value_or(job.spec.array_task) == job.spec.array_task;
      };
      const bool fits = query.names.empty() || std::ranges::any_of(query.names, is_named);
      if (fits && (query.user.empty() || query.user == job.spec.owner.user)) out.push_back(job);
    }
    return out;
  }
  std::vector<live::controller::LiveJob> jobs{};
  PastQuery asked{};
  bool broken = false;
};

class ApiPast : public ServiceTest {
 public:
  ApiPast() {
    parts.past = &past;
    put(40, find_user("daemon").value());
    put(41, find_user("nobody").value());
    past.jobs.back().spec.account = "vision";
    for (int32_t task = 0; task < 2; ++task) {
      put(50U + static_cast<uint32_t>(task), find_user("daemon").value());
      past.jobs.back().spec.array_first = core::model::JobId(49U);
      past.jobs.back().spec.array_task = task;
    }
  }
  void put(uint32_t number, const live::job::Owner& owner) {
    live::controller::LiveJob& job = past.jobs.emplace_back();
    job.job = core::model::JobId(number - 1);
    job.spec.owner = owner;
    job.spec.name = "job" + std::to_string(number);
    job.spec.work_folder = folder;
    job.spec.stdout_path = "out-%j";
    job.stage = live::controller::JobStage::Done;
    job.result = live::controller::JobResult::Failed;
    job.exit_code = 3;
    job.end_ns = scheduler.now_ns;
  }
  std::vector<std::string> listed(const char* token, std::map<std::string, std::string> query) {
    query["past"] = "1";
    const auto response = ask(token, "GET", "/v1/jobs", "", std::move(query));
    EXPECT_EQ(response.status, 200) << response.body;
    const json reply = json::parse(response.body);
    std::vector<std::string> ids;
    for (const json& job : reply["jobs"]) ids.push_back(job["id"]);
    return ids;
  }
  TestPast past;
};

TEST_F(ApiPast, OwnersSeeTheirJobs) {
  EXPECT_THAT(listed(kAlice, {}), ElementsAre("40", "50_0", "50_1"));
  EXPECT_THAT(listed(kBob, {}), ElementsAre("41"));
  EXPECT_THAT(listed(kAlice, {{"job", "41,50"}, {"all", "1"}}), ElementsAre("50_0", "50_1"));
  EXPECT_THAT(listed(kManager, {{"job", "40,41"}, {"all", "1"}}), ElementsAre("41"));
  EXPECT_THAT(listed(kOperator, {{"all", "1"}}), ElementsAre("40", "41", "50_0", "50_1"));
  EXPECT_THAT(listed(kViewer, {{"user", "nobody"}}), ElementsAre("41"));
  EXPECT_THAT(listed(kOperator, {}), IsEmpty());
  const json job = json::parse(ask(kAlice, "GET", "/v1/jobs/50_1").body);
  EXPECT_EQ(job["job"], 51);
  EXPECT_EQ(job["exit_code"], 3);
  EXPECT_EQ(job["history"], true);
  past.jobs.front().usage = {.gpu_util_pct = 40, .energy_j = 7200};
  const json list = json::parse(ask(kAlice, "GET", "/v1/jobs", "", {{"past", "1"}}).body);
  EXPECT_EQ(list["jobs"][0]["usage"], json({{"gpu_util_pct", 40.0}, {"energy_j", 7200.0}}));
  EXPECT_EQ(job["stdout_file"], folder + "/out-50_1");
}

TEST_F(ApiPast, OthersDoNot) {
  EXPECT_EQ(status(kAlice, "GET", "/v1/jobs", "", {{"past", "1"}, {"all", "1"}}), 403);
  EXPECT_EQ(status(kAlice, "GET", "/v1/jobs", "", {{"past", "1"}, {"user", "nobody"}}), 403);
  EXPECT_EQ(status(kAlice, "GET", "/v1/jobs/41"), 403);
  EXPECT_EQ(status(kAlice, "GET", "/v1/jobs/41/log"), 403);
  EXPECT_EQ(status(kManager, "GET", "/v1/jobs/41"), 200);
  EXPECT_EQ(status(kAlice, "GET", "/v1/jobs/42"), 404);
  // Another user of the same name, who was there before.
  past.jobs.front().spec.owner.uid += 1;
  EXPECT_EQ(status(kAlice, "GET", "/v1/jobs/40"), 403);
}

TEST_F(ApiPast, OutputIsReadAsItsOwner) {
  std::ofstream(folder + "/out-50_0") << "text";
  for (auto& job : past.jobs) {
    job.spec.owner = {.uid = ::geteuid(), .gid = ::getegid(), .user = "me"};
  }
  EXPECT_EQ(ask(kOperator, "GET", "/v1/jobs/50_0/log").body, "text");
  EXPECT_EQ(status(kOperator, "GET", "/v1/jobs/50_1/log"), 404) << "the file is gone";
}

TEST_F(ApiPast, OtherRequestsKnowThem) {
  scheduler.now_ns = 4'000'000'000 * base::kSecond;
  for (auto& job : past.jobs) job.end_ns = scheduler.now_ns;
  const std::string ended = "job 40 ended on 2096-10-02 07:06:40 UTC (failed)";
  const auto explained = ask(kAlice, "GET", "/v1/jobs/40/explain");
  EXPECT_EQ(json::parse(explained.body)["text"], ended);
  EXPECT_EQ(status(kAlice, "GET", "/v1/jobs/41/explain"), 403);
  EXPECT_EQ(status(kAlice, "GET", "/v1/jobs/42/explain"), 404);
  const auto cancelled = ask(kAlice, "DELETE", "/v1/jobs/40");
  EXPECT_EQ(cancelled.status, 409);
  EXPECT_EQ(json::parse(cancelled.body)["error"]["message"], ended);
  EXPECT_EQ(status(kAlice, "DELETE", "/v1/jobs/41"), 404) << "another user's";
}

TEST_F(ApiPast, DependenciesAreEvaluatedByTheirRecord) {
  past.jobs.front().result = live::controller::JobResult::Completed;
  const auto submit = [&](const char* kind, int job) {
    return ask(kAlice, "POST", "/v1/jobs",
               json{{"script", "x"}, {"dependencies", {{{"kind", kind}, {"job", job}}}}}.dump());
  };
  for (const char* kind : {"afterok", "afterany", "after"}) {
    const auto taken = submit(kind, 40);
    ASSERT_EQ(taken.status, 201) << taken.body;
    const auto number = std::to_string(json::parse(taken.body)["job"].get<int>());
    const json job = json::parse(ask(kAlice, "GET", "/v1/jobs/" + number).body);
    EXPECT_FALSE(job["spec"].contains("dependencies")) << "it is met";
  }
  const auto never = submit("afternotok", 40);
  EXPECT_EQ(never.status, 400);
  EXPECT_THAT(never.body, testing::HasSubstr("afternotok:40 can never be met: job 40 ended on"));
  EXPECT_EQ(submit("afterok", 50).status, 400);
  EXPECT_EQ(submit("afternotok", 50).status, 201);
  past.broken = true;
  EXPECT_EQ(submit("afterok", 40).status, 503);
}

TEST_F(ApiPast, WrongAndBusy) {
  const auto wrong = [&](std::map<std::string, std::string> query) {
    query["past"] = "1";
    return status(kAlice, "GET", "/v1/jobs", "", std::move(query));
  };
  EXPECT_EQ(wrong({{"job", "x"}}), 400);
  EXPECT_EQ(wrong({{"from_s", "-1"}}), 400);
  EXPECT_EQ(wrong({{"to_s", "nan"}}), 400);
  EXPECT_EQ(wrong({{"limit", "10001"}}), 400);
  EXPECT_EQ(wrong({{"state", "done"}}), 400);
  EXPECT_EQ(status(kAlice, "GET", "/v1/jobs", "", {{"past", "2"}}), 400);
  EXPECT_EQ(status(kAlice, "GET", "/v1/jobs", "", {{"from_s", "1"}}), 400) << "without past=1";
  EXPECT_EQ(wrong({{"from_s", "1.5"}, {"to_s", "2"}, {"limit", "7"}}), 200);
  EXPECT_EQ(past.asked.from_ns, 1'500'000'000);
  EXPECT_EQ(past.asked.to_ns, 2'000'000'000);
  EXPECT_EQ(past.asked.limit, 7);
  EXPECT_EQ(past.asked.user, "daemon");
  past.broken = true;
  EXPECT_EQ(wrong({}), 503);
  EXPECT_EQ(status(kAlice, "GET", "/v1/jobs/40"), 503);
  EXPECT_EQ(status(kAlice, "GET", "/v1/jobs/40/log"), 503);
}

}  // namespace
}  // namespace goban::serve::api
