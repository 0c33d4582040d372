#include "base/reports/job_profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goban::base::reports {
namespace {

using testing::StartsWith;

std::string error_of(std::string_view json) {
  const auto profile = parse_job_profile(json, "p.json");
  return profile ? "no error" : profile.error().text();
}

JobProfile full_profile() {
  JobProfile profile;
  profile.model = "resnet50 \"v1.5\"";
  profile.input = "batch 256";
  profile.gpu_type = "V100";
  profile.source = "telemetry";
  profile.app_class = "A";
  profile.iteration_s = {0.17540429367763434, 0.001};
  profile.epoch_s = {900, 0};
  profile.bytes_per_step = {102.4e6, 0};
  profile.sync_interval_s = {0.1, 1e-9};
  profile.peak_mem_bytes = {15e9, 0};
  profile.utilisation_pct = {93.5, 1};
  profile.dram_utilisation_pct = {30, 2};
  profile.fu_utilisation_pct = {80, 3};
  profile.power_w = {249.1, 4};
  profile.input_stall_pct = {0, 0};
  profile.time_pct = {{"input", 1.5}, {"exposed communication", 20}};
  return profile;
}

TEST(JobProfile, ReadsBackWhatItWrote) {
  const std::string text = to_json(full_profile());
  const auto again = parse_job_profile(text, "p.json");
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(again->time_pct, full_profile().time_pct);
  EXPECT_THAT(error_of(R"({"version":1,"model":"m","time_pct":{"input":101}})"),
              StartsWith("p.json: time_pct.input: must be at most 100"));
  EXPECT_THAT(error_of(R"({"version":1,"model":"m","time_pct":[1]})"),
              StartsWith("p.json: time_pct: must be an object"));
  EXPECT_EQ(again->model, "resnet50 \"v1.5\"");
  EXPECT_EQ(again->app_class, "A");
  EXPECT_EQ(again->iteration_s->value, 0.17540429367763434);
  EXPECT_EQ(again->sync_interval_s->uncertainty, 1e-9);
  EXPECT_EQ(again->input_stall_pct->value, 0);
  EXPECT_EQ(to_json(*again), text);
}

TEST(JobProfile, ShortestDocumentAndUnknownFields) {
  const auto profile = parse_job_profile(
      R"({"version": 1, "model": "m", "colour": [1, {}], "power_w": {"value": 3, "by": "nvml"}})",
      "p.json");
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->model, "m");
  EXPECT_EQ(profile->power_w->value, 3);
  EXPECT_EQ(profile->power_w->uncertainty, 0);
  EXPECT_FALSE(profile->iteration_s);
  EXPECT_EQ(profile->app_class, "");
}

TEST(JobProfile, NamesLineAndColumnOfBrokenJson) {
  EXPECT_THAT(error_of("{\"version\": 1,\n \"model\" 3}"), StartsWith("p.json:2:10: invalid JSON"));
  EXPECT_THAT(error_of(""), StartsWith("p.json:1:1: invalid JSON"));
  EXPECT_THAT(error_of("\xff\xfe"), StartsWith("p.json:1:1: invalid JSON"));
  EXPECT_THAT(error_of("{} {}"), StartsWith("p.json:1:4: invalid JSON"));
  EXPECT_THAT(error_of("[1]"),
              StartsWith("p.json:1: the document must be an object, not of type array"));
  EXPECT_THAT(error_of(R"({"version": 1, "model": "m", "power_w": {"value": 1e999}})"),
              StartsWith("p.json: invalid JSON: "));
}

TEST(JobProfile, ChecksTheVersion) {
  EXPECT_THAT(error_of(R"({"model": "m"})"), StartsWith("p.json: version: is missing"));
  EXPECT_THAT(error_of(R"({"version": 2, "model": "m"})"),
              StartsWith("p.json: version: is 2; this program reads versions up to 1"));
  for (const char* bad : {"0", "-1", "1.0", "\"1\"", "null"}) {
    EXPECT_THAT(error_of(std::string(R"({"model": "m", "version": )") + bad + "}"),
                StartsWith("p.json: version: must be an integer >= 1"))
        << bad;
  }
  EXPECT_THAT(error_of(R"({"version": 18446744073709551615, "model": "m"})"),
              StartsWith("p.json: version: is 18446744073709551615"));
}

TEST(JobProfile, NamesTheFieldOfAWrongValue) {
  const auto with = [](const std::string& field) {
    return error_of(R"({"version": 1, "model": "m", )" + field + "}");
  };
  EXPECT_THAT(error_of(R"({"version": 1})"), StartsWith("p.json: model: is missing"));
  EXPECT_THAT(error_of(R"({"version": 1, "model": ""})"), StartsWith("p.json: model: is empty"));
  EXPECT_THAT(with(R"("input": 256)"),
              StartsWith("p.json: input: must be a string, not of type number"));
  EXPECT_THAT(with(R"("power_w": 250)"),
              StartsWith("p.json: power_w: must be an object with a value"));
  EXPECT_THAT(with(R"("power_w": {"uncertainty": 1})"),
              StartsWith("p.json: power_w: must be an object with a value"));
  EXPECT_THAT(with(R"("power_w": {"value": true})"),
              StartsWith("p.json: power_w.value: must be a number, not of type boolean"));
  EXPECT_THAT(with(R"("power_w": {"value": -1})"),
              StartsWith("p.json: power_w.value: must be a finite number >= 0, is -1"));
  EXPECT_THAT(with(R"("power_w": {"value": 1, "uncertainty": "x"})"),
              StartsWith("p.json: power_w.uncertainty: must be a number, not of type string"));
  EXPECT_THAT(with(R"("fu_utilisation_pct": {"value": 101})"),
              StartsWith("p.json: fu_utilisation_pct.value: must be at most 100, is 101"));
  EXPECT_THAT(with(R"("app_class": "a")"), StartsWith("p.json: app_class: must be one capital"));
}

TEST(JobProfile, WritesBrokenTextReadably) {
  JobProfile profile;
  profile.model = "bad \xff byte";
  EXPECT_TRUE(parse_job_profile(to_json(profile), "p.json"));
}

}  // namespace
}  // namespace goban::base::reports
