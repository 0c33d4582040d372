#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/date_time.hpp"
#include "site/records/test_reading.hpp"

namespace goban::site::records {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TimeNs at(const std::string& text) { return base::parse_date_time(text)->unix_ns; }

std::string job(const std::string& id, const std::string& attempts,
                const std::string& status = "Pass") {
  return R"({"status":")" + status + R"(","vc":"v1","jobid":")" + id +
         R"(","user":"ann","submitted_time":"2017-10-09 07:00:00","attempts":[)" + attempts + "]}";
}
std::string attempt(const std::string& start, const std::string& end, const std::string& detail) {
  return R"({"start_time":)" + start + R"(,"end_time":)" + end + R"(,"detail":[)" + detail + "]}";
}
const std::string kTwoHosts = R"({"ip":"m1","gpus":["gpu0","gpu3"]},{"ip":"m2","gpus":["gpu1"]})";

TEST(PhillyJson, AnAttemptIsARunOfTheJob) {
  const ReadTable read = read_table(
      "[" +
      job("a",
          attempt(R"("2017-10-09 07:01:00")", R"("2017-10-09 07:02:00")",
                  R"({"ip":"m1","gpus":["gpu0"]})") +
              "," + attempt(R"("2017-10-09 07:03:00")", R"("2017-10-09 08:03:00")", kTwoHosts),
          "Killed") +
      "]");
  EXPECT_EQ(read.summary.format, "philly-json");
  EXPECT_THAT(read.reasons(), IsEmpty());
  ASSERT_THAT(read.ids(), ElementsAre("a", "a"));
  EXPECT_EQ(read.row(0).state, RecordedState::Requeued);
  EXPECT_EQ(read.row(0).num_gpus, 1);
  const RecordRow& last = read.row(1);
  EXPECT_EQ(last.run, 1);
  EXPECT_EQ(last.state, RecordedState::Cancelled);
  EXPECT_EQ(last.submit_ns, at("2017-10-09 07:02:00"));  // end of the previous attempt
  EXPECT_EQ(last.run_ns, 3600 * base::kSecond);
  EXPECT_EQ(last.num_gpus, 3);
  EXPECT_EQ(last.num_nodes, 2);
  EXPECT_EQ(last.restarts, 1);
  EXPECT_THAT(read.node_names(1), ElementsAre("m1", "m2"));
  ASSERT_EQ(read.table.gpus_of(last).size(), 3u);
  EXPECT_EQ(read.table.gpu_names()[read.table.gpus_of(last)[1].gpu], "3");
  EXPECT_EQ(read.table.accounts()[last.account], "v1");
  EXPECT_THAT(read.summary.notes, ElementsAre(HasSubstr("America/Los_Angeles")));
}

TEST(PhillyJson, NullNoneAndEmptyAttempts) {
  const ReadTable read = read_table(
      job("a", "") + "\n" + job("b", attempt(R"("2017-10-09 07:01:00")", R"("None")", kTwoHosts)) +
      "\n" + job("c", attempt("null", "null", "")));
  ASSERT_THAT(read.ids(), ElementsAre("a", "b", "c"));
  EXPECT_EQ(read.row(0).start_ns, -1);
  EXPECT_EQ(read.row(1).state, RecordedState::Running);
  EXPECT_EQ(read.row(1).end_ns, -1);
  EXPECT_EQ(read.row(2).num_gpus, -1);  // unknown, which is not zero
}

TEST(PhillyJson, TheZoneMayBeNamed) {
  ReadOptions options;
  options.site.zone = "America/Los_Angeles";
  const ReadTable read = read_table(job("a", ""), options);
  EXPECT_EQ(read.row(0).submit_ns, at("2017-10-09 14:00:00"));
  EXPECT_THAT(read.summary.notes, IsEmpty());
}

TEST(PhillyJson, WhatMakesNoSenseIsRefusedWithItsReason) {
  const ReadTable read = read_table(
      job("", "") + "\n" + job("b", "", "Won") + "\n" +
      R"({"jobid":"c","status":"Pass","submitted_time":null})" + "\n" +
      job("d", attempt(R"("soon")", "null", "")) + "\n" + job("e", "7") + "\n" +
      job("f", attempt(R"("2017-10-09 07:01:00")", R"("2017-10-09 07:00:30")", kTwoHosts)) + "\n" +
      R"({"jobid":"g" "submitted_time":1})");
  EXPECT_THAT(read.reasons(),
              ElementsAre("1: jobid is missing", "2: status \"Won\" is unknown",
                          "3: submitted_time is missing",
                          "4: start_time \"soon\" is not a valid date and time",
                          "5: an attempt is not an object", "6: the job ended before it started",
                          "7: not a JSON object"));
}

}  // namespace
}  // namespace goban::site::records
