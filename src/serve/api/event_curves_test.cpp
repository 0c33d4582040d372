// Training curves: which folder a log names, thinning, and the files of a job through the API.
#include "serve/api/event_curves.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.hpp"
#include "serve/api/test_service.hpp"

namespace goban::serve::api {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(EventsFolder, IsThatOfTheFirstHint) {
  const auto folder = [](std::string_view log) { return events_folder(log).value_or("none"); };
  EXPECT_EQ(folder("epoch 1\ntensorboard --logdir runs/a\n"), "runs/a");
  EXPECT_EQ(folder("tensorboard --logdir=/data/b --port 6006\n"), "/data/b");
  EXPECT_EQ(folder("tensorboard --logdir 'my runs/c'\r\n"), "my runs/c");
  EXPECT_EQ(
      folder("\x1b[34m\x1b[1mTensorBoard: \x1b[0mStart with 'tensorboard --logdir runs/train', "
             "view at http://localhost:6006/\n"),
      "runs/train");
  EXPECT_EQ(folder("see `tensorboard --logdir d`.\ntensorboard --logdir e"), "d");
  EXPECT_EQ(folder("run tensorboard --port 1 --logdir f."), "f");
  EXPECT_EQ(folder("tensorboard --logdir ."), ".");
  for (const char* none : {"", "tensorboard", "tensorboard --logdir", "tensorboard --logdir \n x",
                           "--logdir x", "tensorboard --logdir_spec x", "tensorboard --logdir 'x",
                           "tensorboard --logdir gs://bucket/x", "tensorboard --logdir a\x1b[0m"}) {
    EXPECT_EQ(folder(none), "none") << none;
  }
  EXPECT_EQ(folder("tensorboard --logdir " + std::string(1001, 'x')), "none");
}

base::Scalar at(int64_t step, double value) {
  return {.at_s = 1.7e9 + static_cast<double>(step), .step = step, .value = value};
}

TEST(ScalarCurve, KeepsFirstAndLastOfMany) {
  for (const int64_t count : {1, 2, 399, 400, 401, 799, 800, 801, 12'345, 100'000}) {
    ScalarCurve curve;
    for (int64_t i = 0; i < count; ++i) curve.add(at(i, 0.5 * static_cast<double>(i)));
    const auto points = curve.points();
    EXPECT_LE(points.size(), ScalarCurve::kMost);
    EXPECT_GE(points.size(), std::min<size_t>(static_cast<size_t>(count), 200)) << count;
    EXPECT_EQ(points.front().step, 0);
    EXPECT_EQ(points.back().step, count - 1);
    for (size_t i = 0; i < points.size(); ++i) {
      EXPECT_EQ(points[i].value, 0.5 * static_cast<double>(points[i].step));
      if (i > 0) {
        EXPECT_LT(points[i - 1].step, points[i].step);
      }
    }
  }
}

TEST(ScalarCurve, ALaterFileReplacesTheStepsThatItRepeats) {
  ScalarCurve curve;
  for (const int64_t step : {0, 10, 20, 30, 40}) curve.add(at(step, 1));
  curve.begin_file();
  for (const int64_t step : {20, 25}) curve.add(at(step, 2));
  std::vector<int64_t> steps;
  for (const base::Scalar& each : curve.points()) steps.push_back(each.step);
  EXPECT_THAT(steps, testing::ElementsAre(0, 10, 20, 25));
  EXPECT_EQ(curve.points()[2].value, 2);
}

TEST(ScalarCurve, CountsWhatIsNotFinite) {
  ScalarCurve curve;
  curve.add(at(0, 1));
  curve.add(at(1, std::nan("")));
  curve.add(at(2, std::numeric_limits<double>::infinity()));
  EXPECT_EQ(curve.points().size(), 1U);
  EXPECT_EQ(curve.not_finite(), 2);
}

template <typename T>
std::string bytes_of(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

/// The record of {wall_time: 1.7e9, step: step, summary: {value: [{tag: "loss", simple_value:
/// value}]}}.
std::string event(uint8_t step, float value) {
  const std::string inner = std::string("\x0a\x04loss\x15") + bytes_of(value);
  const std::string summary = "\x0a\x0b" + inner;
  const std::string bytes =
      "\x09" + bytes_of(1.7e9) + "\x10" + bytes_of(step) + "\x2a\x0d" + summary;
  const auto masked = [](uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8; };
  const std::string size = bytes_of(static_cast<uint64_t>(bytes.size()));
  return size + bytes_of(masked(base::crc32c(size))) + bytes +
         bytes_of(masked(base::crc32c(bytes)));
}

class ApiCurves : public ServiceTest {
 public:
  /// Job 1 belongs to the user who runs the test; its log names the folder `runs`.
  void SetUp() override {
    start();
    live::job::JobSpec spec;
    spec.owner = {.uid = ::geteuid(), .gid = ::getegid(), .user = "me"};
    spec.work_folder = folder;
    ASSERT_TRUE(scheduler.ask(live::controller::Submit{.jobs = {spec}}));
    write("goban-1.out", "tensorboard --logdir runs\n");
    std::filesystem::create_directories(folder + "/runs/eval");
  }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder + "/" + name, std::ios::app | std::ios::binary) << bytes;
  }
  json curves() { return json::parse(ask(kOperator, "GET", "/v1/jobs/1/curves").body); }
};

TEST_F(ApiCurves, AreThoseOfTheFolderThatTheLogNames) {
  EXPECT_EQ(
      curves(),
      json({{"job", 1}, {"files", 0}, {"curves", json::array()}, {"folder", folder + "/runs"}}))
      << "nothing is written yet";
  write("runs/events.out.tfevents.2.host", event(5, 0.25F) + event(6, 0.125F));
  write("runs/events.out.tfevents.1.host", event(1, 2) + event(5, 1) + event(9, 0.5F));
  write("runs/eval/events.out.tfevents.3.host", event(1, 4) + event(2, NAN));
  write("runs/notes.txt", "no event file");
  const json shown = curves();
  EXPECT_EQ(shown["files"], 3);
  ASSERT_EQ(shown["curves"].size(), 2U);
  EXPECT_EQ(shown["curves"][0], json::parse(R"({"run":".","tag":"loss","step":[1,5,6],
    "value":[2.0,0.25,0.125],"at_s":[1.7e9,1.7e9,1.7e9]})"))
      << "the second file repeats from step 5 on";
  EXPECT_EQ(shown["curves"][1]["run"], "eval");
  EXPECT_EQ(shown["curves"][1]["not_finite"], 1);
  EXPECT_FALSE(shown.contains("problems"));
}

TEST_F(ApiCurves, AreEmptyIfTheLogNamesNoFolder) {
  std::filesystem::remove(folder + "/goban-1.out");
  EXPECT_EQ(curves(), json::parse(R"({"job":1,"files":0,"curves":[]})"));
}

TEST_F(ApiCurves, DamageIsNamed) {
  std::string damaged = event(2, 1);
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  write("runs/events.out.tfevents.1.host", event(1, 2) + damaged);
  const json shown = curves();
  EXPECT_EQ(shown["curves"][0]["step"], json::array({1}));
  ASSERT_EQ(shown["problems"].size(), 1U);
  EXPECT_THAT(shown["problems"][0].get<std::string>(),
              HasSubstr("tfevents.1.host: the record at byte"));
}

TEST_F(ApiCurves, LinksAndFilesOfOthersAreNotRead) {
  write("elsewhere.tfevents", event(1, 2));
  std::filesystem::create_directories(folder + "/far");
  write("far/events.out.tfevents.1.host", event(1, 2));
  std::filesystem::create_symlink(folder + "/elsewhere.tfevents", folder + "/runs/link.tfevents");
  std::filesystem::create_directory_symlink(folder + "/far", folder + "/runs/far");
  EXPECT_EQ(curves()["files"], 0);
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: a job of another user";
  // The job's owner may not enter the folder, which the daemon, as root, may.
  write("runs/events.out.tfevents.1.host", event(1, 2));
  ASSERT_EQ(curves()["files"], 1);
  const auto owner = find_user("nobody").value();
  ASSERT_EQ(::chown((folder + "/goban-1.out").c_str(), owner.uid, owner.gid), 0);
  ASSERT_EQ(::chmod(folder.c_str(), 0755), 0);
  scheduler.edit(1, [&](live::controller::LiveJob& job) { job.spec.owner = owner; });
  const json of_root = curves();
  EXPECT_EQ(of_root["files"], 0);
  ASSERT_EQ(of_root["problems"].size(), 1U) << "the file belongs to root";
  ASSERT_EQ(::chown((folder + "/runs/events.out.tfevents.1.host").c_str(), owner.uid, owner.gid),
            0);
  EXPECT_EQ(curves()["files"], 1);
  ASSERT_EQ(::chmod((folder + "/runs").c_str(), 0700), 0);  // its owner is root
  EXPECT_EQ(curves()["files"], 0);
}

TEST_F(ApiCurves, AreForThoseWhoMaySeeTheJob) {
  EXPECT_EQ(status(kBob, "GET", "/v1/jobs/1/curves"), 403);
  EXPECT_EQ(status("nobody's", "GET", "/v1/jobs/1/curves"), 401);
  EXPECT_EQ(status(kOperator, "GET", "/v1/jobs/2/curves"), 404);
  EXPECT_EQ(status(kOperator, "GET", "/v1/jobs/1/curves"), 200);
}

}  // namespace
}  // namespace goban::serve::api
