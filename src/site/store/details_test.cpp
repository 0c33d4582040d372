// Details of jobs, read back for their owners; run on all databases by store_test.cpp.
#include "site/store/details.hpp"

#include <gmock/gmock.h>

#include "base/time.hpp"
#include "site/store/test_store_checks.hpp"
#include "site/store/test_stores.hpp"

namespace goban::site::store {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

namespace {

/// Days are counted from 2019-03-30; fiscal year 2019 begins on day 2.
records::AccountingRecord a_job(std::string_view id, int64_t number, int64_t task,
                                std::string_view user, int submitted, int ended,
                                std::string_view details) {
  records::AccountingRecord r;
  r.id = id;
  r.job_number = number;
  r.array_task = task;
  r.cluster = "lab";
  r.user = user;
  r.submit_ns = at("2019-03-30 00:00:00") + submitted * base::kDay;
  r.start_ns = r.submit_ns;
  r.end_ns = r.submit_ns + (ended - submitted) * base::kDay;
  r.state = records::RecordedState::Completed;
  r.num_gpus = 1;
  r.details = details;
  return r;
}

std::vector<std::string> found(JobStore& store, DetailsQuery query) {
  query.cluster = "lab";
  auto read = read_details(store.connection(), query);
  if (!read) throw std::runtime_error(read.error().text());
  return std::move(*read);
}

}  // namespace

void check_details(TestServer& server) {
  JobStore store = open_store(server.fresh());
  EXPECT_THAT(found(store, {}), IsEmpty());
  auto foreign = a_job("3", 3, -1, "ann", 3, 4, "elsewhere");
  foreign.cluster = "other";
  const std::vector<records::AccountingRecord> jobs = {
      a_job("7", 7, -1, "ann", 0, 1, "ann's 7"),    a_job("8_0", 8, 0, "bob", 1, 2, "bob's 8_0"),
      a_job("8_1", 8, 1, "bob", 1, 3, "bob's 8_1"), foreign,
      a_job("9", 9, -1, "ann", 4, 5, {}),           a_job("7", 7, -1, "ann", 5, 6, "ann's 7 again"),
      a_job("10", 10, -1, "ann", 0, 7, "ann's 10")};
  ASSERT_TRUE(store.append(jobs, "a test"));
  EXPECT_THAT(found(store, {}),
              ElementsAre("ann's 10", "ann's 7 again", "bob's 8_1", "bob's 8_0", "ann's 7"));
  EXPECT_THAT(found(store, {.limit = 2}), ElementsAre("ann's 10", "ann's 7 again"));
  EXPECT_THAT(found(store, {.user = "bob"}), ElementsAre("bob's 8_1", "bob's 8_0"));
  EXPECT_THAT(found(store, {.user = "nobody"}), IsEmpty());
  EXPECT_THAT(found(store, {.jobs = {{.number = 7}}}), ElementsAre("ann's 7 again"));
  EXPECT_THAT(found(store, {.jobs = {{.number = 8}}}), ElementsAre("bob's 8_1", "bob's 8_0"));
  EXPECT_THAT(found(store, {.jobs = {{.number = 8, .task = 0}, {.number = 10}}}),
              ElementsAre("ann's 10", "bob's 8_0"));
  EXPECT_THAT(found(store, {.user = "ann", .to_ns = jobs[5].end_ns}), ElementsAre("ann's 7"));
  EXPECT_THAT(found(store, {.from_ns = jobs[5].end_ns}), ElementsAre("ann's 10", "ann's 7 again"));
  EXPECT_THAT(export_of(store), Not(HasSubstr("ann's 10"))) << "never exported";
  ASSERT_TRUE(store.forget("ann"));
  EXPECT_THAT(found(store, {}), ElementsAre("bob's 8_1", "bob's 8_0"));
}

}  // namespace goban::site::store
