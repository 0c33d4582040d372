#include "live/engine/local/progress_lines.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "live/engine/local/progress_listener.hpp"
#include "live/engine/local/supervisor.hpp"
#include "live/engine/local/test_runs.hpp"

namespace goban::live::engine::local {
namespace {

ProgressSum sum_of(std::string_view text) {
  ProgressSum sum;
  LineCutter().feed(text, sum);
  return sum;
}

TEST(ProgressLines, StepsSayHowMuchOfTheEpochsIsDone) {
  const auto sum = sum_of(
      "goban-progress 1 job=42 pid=4711\n"
      "progress epoch=1 epochs=20 step=120 steps=4800 loss=0.31 samples_per_s=480 eta_s=9\n");
  EXPECT_EQ(sum.lines, 2);
  EXPECT_EQ(sum.refused, 0);
  const ProgressReport& latest = sum.progress.latest;
  EXPECT_DOUBLE_EQ(latest.epoch, 0.5);
  EXPECT_DOUBLE_EQ(latest.epochs, 20);
  EXPECT_EQ(latest.step, 120);
  EXPECT_EQ(latest.steps, 4800);
  EXPECT_DOUBLE_EQ(latest.loss, 0.31);
  EXPECT_DOUBLE_EQ(latest.samples_per_s, 480);
}

TEST(ProgressLines, TheLastLineOfARankCountsAndARankOfNoneIsRefused) {
  const auto sum = sum_of(
      "rank rank=1 ranks=2 steps=10 busy_s=4.5 wait_s=0.5 data_s=0.1\n"
      "rank rank=0 ranks=2 steps=10 busy_s=5\n"
      "rank rank=1 ranks=2 steps=20 busy_s=9 wait_s=1 data_s=0.25\n"
      "rank rank=2 ranks=2 steps=1 busy_s=1\nrank ranks=2\nrank rank=-1 ranks=2\n"
      "rank rank=70 ranks=100 steps=1 busy_s=1\n");
  const std::vector<RankTimes> expected = {
      {.rank = 0, .ranks = 2, .steps = 10, .busy_s = 5},
      {.rank = 1, .ranks = 2, .steps = 20, .busy_s = 9, .wait_s = 1, .data_s = 0.25}};
  EXPECT_EQ(sum.progress.ranks, expected);
  EXPECT_EQ(sum.refused, 3);
  const auto again = parse_progress(to_text(sum.progress), "");
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(*again, sum.progress);
  EXPECT_FALSE(parse_progress(R"({"ranks":[[0,1,1,-1,0]]})", ""));
  EXPECT_FALSE(parse_progress(R"({"ranks":[[0,1]]})", ""));
  EXPECT_EQ(sum_of("rank rank=1 ranks=2 steps=1 busy_s=1\nrank rank=0 ranks=1 steps=1 busy_s=2\n")
                .progress.ranks,
            (std::vector<RankTimes>{{.ranks = 1, .steps = 1, .busy_s = 2}}))
      << "another training of the same run";
}

TEST(ProgressLines, ThePaceIsThatBetweenTheFirstLineAndTheLastThatRaisedTheCount) {
  ProgressSum sum;
  const auto say = [&](double at_s, const char* line) { sum.take(line, base::from_seconds(at_s)); };
  say(30, "progress epochs=4 step=100 steps=400");  // as after a checkpoint was loaded
  EXPECT_EQ(sum.progress.pace, RunPace{}) << "one line says nothing";
  say(35, "progress loss=2");
  say(40, "progress step=120");
  say(50, "progress step=300");
  say(99, "progress step=300 loss=1");
  const RunPace expected = {.steps = {.done = 200, .over_s = 20},
                            .epochs = {.done = 2, .over_s = 20}};
  EXPECT_EQ(sum.progress.pace, expected);
  const auto again = parse_progress(to_text(sum.progress), "");
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(again->pace, expected);
  say(100, "progress step=1 steps=400");
  EXPECT_EQ(sum.progress.pace, RunPace{}) << "another training of the same run";
  say(104, "progress step=9");
  EXPECT_EQ(sum.progress.pace.steps, (Pace{.done = 8, .over_s = 4}));
  EXPECT_FALSE(parse_progress(R"({"pace":[1,2,3]})", ""));
  EXPECT_FALSE(parse_progress(R"({"pace":[1,2,3,-4]})", ""));
}

TEST(ProgressLines, EpochsHaveAPaceWithoutSteps) {
  ProgressSum sum;
  for (int epoch = 1; epoch <= 3; ++epoch) {
    sum.take("progress epochs=3 epoch=" + std::to_string(epoch), epoch * 10 * base::kSecond);
  }
  EXPECT_EQ(sum.progress.pace.epochs, (Pace{.done = 2, .over_s = 20}));
  sum.take("end done", 40 * base::kSecond);
  EXPECT_EQ(sum.progress.pace.epochs, (Pace{.done = 3, .over_s = 30}));
  EXPECT_EQ(sum.progress.pace.steps, Pace{});
}

TEST(ProgressLines, TheStallIsPerCent) {
  EXPECT_DOUBLE_EQ(sum_of("progress input_stall_pct=12.5\n").progress.latest.input_stall_pct, 12.5);
  EXPECT_DOUBLE_EQ(sum_of("progress input_stall_pct=101\n").progress.latest.input_stall_pct, -1);
}

TEST(ProgressLines, WithoutStepsTheEpochInProgressIsNotDone) {
  EXPECT_DOUBLE_EQ(sum_of("progress epoch=3 epochs=10\n").progress.latest.epoch, 2);
  EXPECT_DOUBLE_EQ(sum_of("progress epoch=3 epochs=10\nend done\n").progress.latest.epoch, 10);
  EXPECT_DOUBLE_EQ(sum_of("progress epoch=3 epochs=10\nend failed\n").progress.latest.epoch, 2);
}

TEST(ProgressLines, WhatIsNotSaidStaysAsItWas) {
  const auto sum = sum_of("progress epoch=2 epochs=4 loss=1\nprogress loss=0.5\n");
  EXPECT_DOUBLE_EQ(sum.progress.latest.epoch, 1);
  EXPECT_DOUBLE_EQ(sum.progress.latest.loss, 0.5);
}

TEST(ProgressLines, WrongNumbersAndUnknownLinesChangeNothing) {
  const auto sum = sum_of(
      "progress epoch=nan epochs=-1 step=1e3 steps=99999999999999999999 loss=inf\n"
      "checkpoint\ncheckpoint step=-4\nhello world\nprogress\n");
  EXPECT_EQ(sum.lines, 0);
  EXPECT_EQ(sum.refused, 5);
  EXPECT_EQ(sum.progress, RunProgress{});
}

TEST(ProgressLines, ACheckpointOrAWordAnswersAStop) {
  ProgressSum sum = sum_of("checkpoint step=10\n");
  EXPECT_EQ(sum.progress.checkpoint_step, 10);
  sum.expect_stop();
  EXPECT_FALSE(sum.acknowledged);
  sum.take("progress step=11 steps=20");
  EXPECT_FALSE(sum.acknowledged);
  sum.take("checkpoint step=11");
  EXPECT_TRUE(sum.acknowledged);
  sum.expect_stop();
  sum.take("stopping");
  EXPECT_TRUE(sum.acknowledged);
}

TEST(ProgressLines, ALineWithoutEndTakesNoMemory) {
  ProgressSum sum;
  LineCutter cutter;
  const std::string junk(100'000, 'x');
  for (int i = 0; i < 10; ++i) cutter.feed(junk, sum);
  cutter.feed("\nprogress step=1 steps=2\n", sum);
  EXPECT_EQ(sum.refused, 1);
  EXPECT_EQ(sum.progress.latest.step, 1);
}

/// A client of a socket.
class Client {
 public:
  explicit Client(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    connected_ =
        ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  [[nodiscard]] bool connected() const { return connected_; }
  [[nodiscard]] ssize_t say(const std::string& text) const {
    return ::send(socket_.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  }
  [[nodiscard]] std::string hear() const {
    std::string text(256, '\0');
    text.resize(static_cast<size_t>(
        std::max<ssize_t>(0, ::recv(socket_.get(), text.data(), text.size(), 0))));
    return text;
  }

 private:
  base::Descriptor socket_;
  bool connected_ = false;
};

void serve(ProgressListener& listener, base::TimeNs now_ns) {
  std::vector<pollfd> waits;
  listener.add_to(waits, now_ns);
  static_cast<void>(::poll(waits.data(), waits.size(), 0));
  listener.handle(waits.data(), waits.size(), now_ns);
}

TEST(ProgressListener, AFloodWaitsAndOthersAreHeard) {
  const job::Owner us{geteuid(), getegid(), "us"};
  const auto folder = make_socket_folder("/tmp");
  ASSERT_TRUE(folder);
  const std::string path = *folder + "/progress.sock";
  auto listener = ProgressListener::open(path, us);
  ASSERT_TRUE(listener);
  const Client flood(path);
  const Client honest(path);
  ASSERT_TRUE(flood.connected() && honest.connected());
  serve(*listener, 0);
  serve(*listener, 0);
  const std::string noise(1000, 'x');
  int64_t sent = 0;
  for (int i = 0; i < 10'000; ++i) {
    sent += std::max<ssize_t>(0, flood.say(noise + "\n"));
    serve(*listener, 1);
  }
  // Read at the rate of one second's bytes, and what the kernel buffers.
  EXPECT_LT(sent, ProgressConnection::kBytesPerSecond + 1'000'000);
  EXPECT_LE(listener->sum().refused, 2 * ProgressConnection::kBytesPerSecond / 1000);
  EXPECT_GT(honest.say("progress step=5 steps=10\n"), 0);
  serve(*listener, 2);
  EXPECT_EQ(listener->sum().progress.latest.step, 5);
  listener->tell("stop reason=preempted left_s=30\n");
  EXPECT_EQ(honest.hear(), "stop reason=preempted left_s=30\n");
  std::filesystem::remove_all(*folder);
}

TEST(Progress, GoesFromTheJobToReportsAndAStopIsAcknowledged) {
  TestRuns runs("progress");
  runs.options.socket_root = "/tmp";
  const std::string client = std::string(GOBAN_SOURCE_DIR) + "/examples/progress/progress.py";
  auto order = runs.job(1, "#!/bin/sh\nexec python3 '" + client + "' 1000\n");
  order.spec.stop.lead_ns = 10 * base::kSecond;
  runs.engine().launch(order);
  const auto latest = runs.wait_for(order.run, ReportKind::Progress).back().progress;
  EXPECT_GE(latest.step, 0);
  EXPECT_EQ(latest.steps, 1000);
  runs.restart();  // a new daemon gets the report, too
  runs.engine().resume(order);
  EXPECT_EQ(runs.wait_for(order.run, ReportKind::Progress).back().progress.steps, 1000);
  runs.engine().stop(order.run, StopReason::Preempted);
  const auto reports = runs.wait_for(order.run, ReportKind::Ended);
  EXPECT_TRUE(reports.back().acknowledged) << text_of(runs.out("goban-1.out"));
  EXPECT_EQ(reports.back().exit_code, 0);
  EXPECT_TRUE(std::any_of(reports.begin(), reports.end(),
                          [](const auto& report) { return report.progress.checkpointed; }));
}

TEST(Progress, TheExampleInCppDoesTheSame) {
  TestRuns runs("progress_cpp");
  auto order =
      runs.job(1, std::string("exec '") + GOBAN_BINARY_DIR + "/bin/progress_example' 1000\n");
  order.spec.stop.lead_ns = 10 * base::kSecond;
  runs.engine().launch(order);
  EXPECT_EQ(runs.wait_for(order.run, ReportKind::Progress).back().progress.steps, 1000);
  runs.engine().stop(order.run, StopReason::Preempted);
  const auto end = runs.wait_for(order.run, ReportKind::Ended).back();
  EXPECT_TRUE(end.acknowledged);
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_GT(end.progress.step, 0);
}

}  // namespace
}  // namespace goban::live::engine::local
