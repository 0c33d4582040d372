// Job profiles learned from runs.
#include "serve/stores/profile_book.hpp"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/reports/job_profile.hpp"

namespace goban::serve::stores {
namespace {

using testing::HasSubstr;

class Profiles : public testing::Test {
 public:
  Profiles() {
    char pattern[] = "/tmp/goban_profiles_XXXXXX";
    folder = ::mkdtemp(pattern);
    book = open();
  }
  ~Profiles() override { std::filesystem::remove_all(folder); }
  std::unique_ptr<ProfileBook> open() const {
    auto opened = ProfileBook::open(folder + "/profiles", folder + "/payloads", "virtual GPU");
    return opened ? std::move(*opened) : nullptr;
  }
  /// A complete, exclusive run of 100 s.
  live::controller::LiveJob job(uint32_t number, const std::string& script = "train") const {
    live::controller::LiveJob out;
    out.job = core::model::JobId(number - 1);
    out.spec.name = "bert";
    out.spec.owner = {.uid = 1000, .gid = 1000, .user = "anna"};
    out.spec.num_gpus = 2;
    out.spec.payload = "p" + std::to_string(number);
    out.result = live::controller::JobResult::Completed;
    out.stage = live::controller::JobStage::Done;
    out.runs = 1;
    out.held_ns = 100 * base::kSecond;
    out.progress.epoch = 4;
    out.progress.step = 1000;
    out.usage = {.cpu_s = 50,
                 .mem_bytes_max = 9000,
                 .gpu_mem_bytes_max = 1000,
                 .gpu_util_pct = 60,
                 .energy_j = 40'000};
    std::filesystem::create_directories(folder + "/payloads/" + out.spec.payload);
    std::ofstream(folder + "/payloads/" + out.spec.payload + "/payload.json") << payload(script);
    return out;
  }
  static std::string payload(const std::string& script) {
    return R"({"script":")" + script + R"(","args":["-x"],"env":{"SECRET":"s3cret"}})";
  }
  live::job::JobSpec filled(live::job::JobSpec spec, const std::string& script = "train") const {
    book->fill(spec, payload(script));
    spec.application.clear();
    return spec;
  }
  base::reports::JobProfile found(const live::controller::LiveJob& of) const {
    const auto parsed = base::reports::parse_job_profile(book->find(of), "found");
    return parsed ? *parsed : base::reports::JobProfile{};
  }
  size_t count() const {
    const std::filesystem::directory_iterator files(folder + "/profiles");
    return static_cast<size_t>(std::distance(begin(files), end(files)));
  }

  std::string folder;
  std::unique_ptr<ProfileBook> book;
};

TEST_F(Profiles, TheFirstWholeRunIsTheProfile) {
  const auto first = job(1);
  EXPECT_EQ(filled(first.spec), first.spec);
  ASSERT_TRUE(book->learn(first));
  const base::reports::JobProfile profile = found(first);
  EXPECT_EQ(profile.model, "bert");
  EXPECT_EQ(profile.input, "2 GPUs");
  EXPECT_EQ(profile.gpu_type, "virtual GPU");
  EXPECT_EQ(profile.source, "goban serve, job 1");
  EXPECT_EQ(profile.epoch_s.value().value, 25);
  EXPECT_EQ(profile.iteration_s.value().value, 0.1);
  EXPECT_EQ(profile.power_w.value().value, 200);
  EXPECT_EQ(profile.peak_mem_bytes.value().value, 1000);
  EXPECT_EQ(profile.utilisation_pct.value().value, 60);
  EXPECT_FALSE(profile.input_stall_pct.has_value());
  struct stat file{};
  ASSERT_EQ(::stat((folder + "/profiles").c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0700U);
}

TEST_F(Profiles, TimesAreThoseBetweenTheLinesOfTheJob) {
  auto first = job(1);
  first.past = {
      {.run = 1,
       .ranks = {{.rank = 0, .ranks = 2, .steps = 500, .busy_s = 30, .wait_s = 8, .data_s = 2},
                 {.rank = 1, .ranks = 2, .steps = 500, .busy_s = 27, .wait_s = 5, .data_s = 8}},
       .pace = {.steps = {.done = 500, .over_s = 40}, .epochs = {.done = 2, .over_s = 40}}}};
  ASSERT_TRUE(book->learn(first));
  EXPECT_EQ(found(first).iteration_s.value().value, 0.08);
  EXPECT_EQ(found(first).epoch_s.value().value, 20);
  EXPECT_EQ(found(first).input_stall_pct.value().value, 12.5);
}

TEST_F(Profiles, LinesThatCoverLittleOfTheRunSayNothingOfItsTimes) {
  auto first = job(1);
  first.past = {{.pace = {.steps = {.done = 999, .over_s = 0.01}}}};
  ASSERT_TRUE(book->learn(first));
  EXPECT_EQ(found(first).iteration_s.value().value, 0.1);
}

TEST_F(Profiles, TheStallIsAsTheJobSaysUnlessItsRanksDo) {
  auto first = job(1);
  first.progress.input_stall_pct = 3;
  ASSERT_TRUE(book->learn(first));
  EXPECT_EQ(found(first).input_stall_pct.value().value, 3);
  auto other = job(2, "other");
  other.progress.input_stall_pct = 3;
  other.past = {{.ranks = {{.ranks = 1, .steps = 9, .busy_s = 10, .data_s = 10}}}};
  ASSERT_TRUE(book->learn(other));
  EXPECT_EQ(found(other).input_stall_pct.value().value, 50);
  auto impossible = job(3, "impossible");
  impossible.past = {{.ranks = {{.ranks = 1, .steps = 9, .busy_s = 10, .data_s = 1000}}}};
  ASSERT_TRUE(book->learn(impossible));
  EXPECT_FALSE(found(impossible).input_stall_pct.has_value()) << "longer than the run";
}

TEST_F(Profiles, LaterRunsAddWhatNobodyMeasured) {
  auto silent = job(1);
  silent.progress = {};
  ASSERT_TRUE(book->learn(silent));
  EXPECT_FALSE(found(silent).iteration_s.has_value());
  auto second = job(2);
  second.progress.input_stall_pct = 7;
  ASSERT_TRUE(book->learn(second));
  EXPECT_EQ(found(second).iteration_s.value().value, 0.1);
  EXPECT_EQ(found(second).input_stall_pct.value().value, 7);
  EXPECT_EQ(found(second).source, "goban serve, job 1");
  auto third = job(3);
  third.progress.step = 10;
  ASSERT_TRUE(book->learn(third));
  EXPECT_EQ(found(third).iteration_s.value().value, 0.1);
}

TEST_F(Profiles, OfAUserCanBeForgotten) {
  auto other = job(2);
  other.spec.owner = {.uid = 1001, .gid = 1001, .user = "ben"};
  ASSERT_TRUE(book->learn(job(1)));
  ASSERT_TRUE(book->learn(other));
  std::ofstream(folder + "/profiles/0123456789abcdef0123456789abcdef.json") << "{}";
  EXPECT_EQ(forget_profiles(folder + "/profiles", 1000), 2U)
      << "also that of release 0.1: its user is unknown";
  EXPECT_EQ(book->find(job(1)), "");
  EXPECT_THAT(book->find(other), HasSubstr("bert"));
  EXPECT_EQ(forget_profiles(folder + "/profiles", 1000), 0U);
}

TEST_F(Profiles, OfTheReleaseBeforeAreFoundUnderTheirOldNames) {
  ASSERT_TRUE(book->learn(job(1)));
  const auto file = *std::filesystem::directory_iterator(folder + "/profiles");
  const std::string name = file.path().filename();
  ASSERT_TRUE(name.starts_with("1000-")) << name;
  const std::string before = folder + "/profiles/" + name.substr(5);
  std::filesystem::rename(file.path(), before);
  EXPECT_GT(filled(job(2).spec).training.gpu_mem_bytes, 0);
  EXPECT_FALSE(std::filesystem::exists(before));
  EXPECT_EQ(count(), 1U);
  EXPECT_NE(book->application_of(job(1)), 0U);
}

TEST_F(Profiles, LaterSubmissionsGetWhatTheyDoNotSay) {
  ASSERT_TRUE(book->learn(job(1)));
  book = open();  // as after a restart
  live::job::JobSpec silent = job(2).spec;
  EXPECT_EQ(filled(silent).training.gpu_mem_bytes, 1200);
  EXPECT_EQ(filled(silent).training.gpu_util_pct, 60);
  silent.training.gpu_mem_bytes = 5;
  silent.training.gpu_util_pct = 1;
  EXPECT_EQ(filled(silent), silent);
}

TEST_F(Profiles, OtherApplicationsGetNothing) {
  ASSERT_TRUE(book->learn(job(1)));
  const live::job::JobSpec same = job(2).spec;
  EXPECT_EQ(filled(same, "another script"), same);
  for (const auto& change : std::vector<std::function<void(live::job::JobSpec&)>>{
           [](live::job::JobSpec& spec) { spec.owner.uid = 1001; },
           [](live::job::JobSpec& spec) { spec.name = "gpt"; },
           [](live::job::JobSpec& spec) { spec.model = "bert"; },
           [](live::job::JobSpec& spec) { spec.num_gpus = 4; },
           [](live::job::JobSpec& spec) { spec.num_gpus = 0; },
           [](live::job::JobSpec& spec) { spec.training.batch_size = 64; }}) {
    live::job::JobSpec other = same;
    change(other);
    EXPECT_EQ(filled(other), other);
  }
}

class Classes : public Profiles {
 public:
  /// An application with a run of this GPU use, in percent.
  void run_of(uint32_t number, float memory_pct, float units_pct, bool of_peak = true) const {
    auto each = job(number);
    each.spec.model = "model " + std::to_string(number);
    (of_peak ? each.usage.dram_util_pct : each.usage.memory_busy_pct) = memory_pct;
    (of_peak ? each.usage.fu_util_pct : each.usage.gpu_util_pct) = units_pct;
    ASSERT_TRUE(book->learn(each));
  }
  live::job::JobSpec spec_of(uint32_t number) const {
    live::job::JobSpec spec = job(number).spec;
    spec.model = "model " + std::to_string(number);
    return filled(spec);
  }
};

TEST_F(Classes, AreLearnedFromWhatGpusDid) {
  for (uint32_t i = 0; i < 5; ++i) run_of(1 + i, i < 2 ? 10 : 80, i < 2 ? 90 : 20);
  EXPECT_EQ(spec_of(1).app_class, -1) << "too few applications";
  run_of(6, 45, 50);
  EXPECT_EQ(spec_of(1).app_class, 0);
  EXPECT_EQ(spec_of(1).class_from, live::job::ClassSource::Measured);
  EXPECT_EQ(spec_of(6).app_class, 1);
  EXPECT_EQ(spec_of(5).app_class, 2);
  EXPECT_EQ(spec_of(7).app_class, -1) << "never ran";
  auto last = job(5);
  last.spec.model = "model 5";
  EXPECT_EQ(found(last).app_class, "C");
  book = open();  // as after a restart
  EXPECT_EQ(spec_of(5).app_class, 2);
}

TEST_F(Classes, OfTheSubmissionComeFirstAndThoseOfKnownModelsLast) {
  for (uint32_t i = 1; i <= 6; ++i) run_of(i, i < 4 ? 10 : 80, i < 4 ? 90 : 20);
  live::job::JobSpec said = job(5).spec;
  said.model = "model 5";
  said.app_class = 0;
  EXPECT_EQ(filled(said).app_class, 0);
  EXPECT_EQ(filled(said).class_from, live::job::ClassSource::Submission);
  said.model = "vgg19";
  said.app_class = -1;
  EXPECT_EQ(filled(said).app_class, 2);
  EXPECT_EQ(filled(said).class_from, live::job::ClassSource::Model);
}

TEST_F(Classes, OfTimesAndOfPeaksAreNotMixed) {
  for (uint32_t i = 1; i <= 5; ++i) run_of(i, i < 4 ? 10 : 80, i < 4 ? 90 : 20, true);
  for (uint32_t i = 6; i <= 10; ++i) run_of(i, i < 9 ? 5 : 60, 99, false);
  EXPECT_EQ(spec_of(6).app_class, -1);
  run_of(11, 5, 99, false);
  EXPECT_EQ(spec_of(6).app_class, 0);
  EXPECT_EQ(spec_of(9).app_class, 1);
}

TEST_F(Profiles, ANamedModelIsKnownWhateverItsScript) {
  auto named = job(1);
  named.spec.model = "resnet50";
  ASSERT_TRUE(book->learn(named));
  EXPECT_GT(filled(named.spec, "another script").training.gpu_mem_bytes, 0);
  EXPECT_EQ(found(named).model, "resnet50");
}

TEST_F(Profiles, WhatIsNoWholeRunAloneIsIgnored) {
  for (const auto& change : std::vector<std::function<void(live::controller::LiveJob&)>>{
           [](live::controller::LiveJob& one) { one.result = live::controller::JobResult::Failed; },
           [](live::controller::LiveJob& one) { one.runs = 2; },
           [](live::controller::LiveJob& one) { one.shares = true; },
           [](live::controller::LiveJob& one) { one.past = {{.run = 1, .shared = true}}; },
           [](live::controller::LiveJob& one) { one.spec.num_gpus = 0; },
           [](live::controller::LiveJob& one) { one.held_ns = base::kSecond; },
           [](live::controller::LiveJob& one) { one.spec.payload = "../p1"; }}) {
    live::controller::LiveJob other = job(1);
    change(other);
    EXPECT_TRUE(book->learn(other));
    book = open();
  }
  EXPECT_EQ(count(), 0U);
}

TEST_F(Profiles, OnlyAHigherPeakChangesAProfile) {
  ASSERT_TRUE(book->learn(job(1)));
  auto second = job(2);
  second.usage.gpu_mem_bytes_max = 3000;
  second.usage.gpu_util_pct = 5;
  ASSERT_TRUE(book->learn(second));
  EXPECT_EQ(found(second).peak_mem_bytes.value().value, 3000);
  EXPECT_EQ(found(second).utilisation_pct.value().value, 60);
  ASSERT_TRUE(book->learn(job(3)));
  EXPECT_EQ(found(second).peak_mem_bytes.value().value, 3000);
  EXPECT_EQ(count(), 1U);
}

TEST_F(Profiles, AJobThatSaysNothingHasWhatWasMeasured) {
  auto silent = job(1);
  silent.progress = {};
  ASSERT_TRUE(book->learn(silent));
  EXPECT_FALSE(found(silent).epoch_s.has_value());
  EXPECT_EQ(found(silent).utilisation_pct.value().value, 60);
}

TEST_F(Profiles, WrongFilesAreNoProfiles) {
  ASSERT_TRUE(book->learn(job(1)));
  for (const auto& file : std::filesystem::directory_iterator(folder + "/profiles")) {
    std::ofstream(file.path()) << "{";
  }
  EXPECT_EQ(book->find(job(1)), "");
  EXPECT_EQ(filled(job(2).spec), job(2).spec);
  ASSERT_TRUE(book->learn(job(2)));  // and are written again
  EXPECT_THAT(book->find(job(1)), HasSubstr("job 2"));
}

}  // namespace
}  // namespace goban::serve::stores
