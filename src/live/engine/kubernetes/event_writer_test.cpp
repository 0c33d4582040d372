#include "live/engine/kubernetes/event_writer.hpp"

#include <atomic>
#include <chrono>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/clock.hpp"

namespace goban::live::engine::kubernetes {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// Of the gang `train`, an Indexed Job of two pods.
struct TrainGang {
  Work work{};
  Pod pods[2]{};
  Gang gang{};

  TrainGang() {
    work.meta = {.space = "ml", .name = "train", .uid = "uid-train"};
    for (Pod& pod : pods) {
      pod.meta = {.space = "ml", .name = "train-0", .uid = "uid-0"};
      pod.gpus = 2;
      gang.pods.push_back(&pod);
    }
    gang.work = &work;
  }
};

Told told_about(const std::string& uid, Happened what = Happened::Placed) {
  return {.what = what,
          .api = "v1",
          .kind = "Pod",
          .space = "ml",
          .name = "p",
          .uid = uid,
          .words = "words"};
}

TEST(KubernetesEvents, OneForAGangNamesItsJob) {
  const TrainGang train;
  const std::vector<Binding> bindings = {{.pod = train.pods, .node = "n2", .gpus = {0, 1}},
                                         {.pod = train.pods + 1, .node = "n1", .gpus = {2, 3}}};
  EXPECT_EQ(placed_words(bindings), "2 pods with 4 GPUs on n1, n2");
  const auto event = told_of(train.gang, Happened::Placed, placed_words(bindings));
  ASSERT_TRUE(event);
  EXPECT_EQ(events_path(*event), "/api/v1/namespaces/ml/events");
  const json body = json::parse(event_body(*event, 3, 1'700'000'000 * base::kSecond));
  EXPECT_EQ(body.at("involvedObject"),
            json::parse(R"({"apiVersion": "batch/v1", "kind": "Job", "namespace": "ml",
                            "name": "train", "uid": "uid-train"})"));
  EXPECT_EQ(body.at("reason"), "Placed");
  EXPECT_EQ(body.at("type"), "Normal");
  EXPECT_EQ(body.at("count"), 3);
  EXPECT_EQ(body.at("message"), "2 pods with 4 GPUs on n1, n2");
  EXPECT_EQ(body.at("lastTimestamp"), "2023-11-14T22:13:20.000000Z");
  EXPECT_EQ(json::parse(event_body(told_about("u", Happened::BindFailed), 1, 0)).at("type"),
            "Warning");
}

TEST(KubernetesEvents, GroupsAndPodsAreNamedAsUsersKnowThem) {
  TrainGang train;
  Group group{.meta = {.space = "ml", .name = "g", .uid = "uid-g"}, .kind = GroupKind::MpiJob2};
  train.gang.group = &group;
  EXPECT_EQ(told_of(train.gang, Happened::Placed, "")->api, "kubeflow.org/v2beta1");
  EXPECT_EQ(told_of(train.gang, Happened::Placed, "")->kind, "MPIJob");
  train.gang.group = nullptr;
  train.gang.work = nullptr;
  EXPECT_EQ(told_of(train.gang, Happened::Placed, "")->name, "train-0");
  EXPECT_FALSE(told_of(Gang{}, Happened::Placed, ""));
}

TEST(KubernetesEvents, WordsAreBoundedAndPrintable) {
  const TrainGang train;
  const auto event = told_of(train.gang, Happened::BindFailed, "a\nb" + std::string(100'000, 'x'));
  EXPECT_LT(event->words.size(), 1024U);
  EXPECT_EQ(event->words.find('\n'), std::string::npos);
  std::vector<Binding> bindings;
  for (int i = 0; i < 1000; ++i) bindings.push_back({.node = fmt::format("node{:04}", i)});
  EXPECT_THAT(placed_words(bindings), HasSubstr("node0007 and 992 more"));
  EXPECT_THAT(placed_words(bindings), HasSubstr("1000 pods with 0 GPUs on node0000, "));
}

TEST(KubernetesEvents, TheSameIsToldOnceAMinute) {
  EventFilter filter;
  EXPECT_EQ(filter.take(told_about("a"), 0), 1);
  EXPECT_EQ(filter.take(told_about("a"), 1), 0);
  EXPECT_EQ(filter.take(told_about("a", Happened::Preempted), 1), 1) << "something else";
  EXPECT_EQ(filter.take(told_about("b"), 1), 1) << "another object";
  EXPECT_EQ(filter.take(told_about("a"), base::kMinute - 1), 0);
  EXPECT_EQ(filter.take(told_about("a"), base::kMinute), 3) << "with the two before";
  EXPECT_EQ(filter.take(told_about("a"), 2 * base::kMinute), 1);
}

/// Takes Events, or hangs.
class EventServer {
 public:
  EventServer() {
    server_.Post("/api/v1/namespaces/ml/events",
                 [this](const httplib::Request&, httplib::Response& response) {
                   ++asked_;
                   while (hangs_ && !ending_)
                     std::this_thread::sleep_for(std::chrono::milliseconds(1));
                   response.status = status_;
                   response.set_content("{}", "application/json");
                 });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ~EventServer() {
    ending_ = true;
    server_.stop();
    thread_.join();
  }
  EventServer(const EventServer&) = delete;
  EventServer& operator=(const EventServer&) = delete;
  [[nodiscard]] Access access() const {
    Access access;
    access.server = fmt::format("http://127.0.0.1:{}", port_);
    return access;
  }
  void wait_for(int count) const {
    for (int i = 0; i < 4000 && asked_ < count; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ASSERT_GE(asked_, count);
  }

  std::atomic<int> asked_{0};
  std::atomic<int> status_{201};
  std::atomic<bool> hangs_{false};

 private:
  httplib::Server server_;
  std::atomic<bool> ending_{false};
  int port_ = 0;
  std::thread thread_;
};

TEST(KubernetesEvents, AHangingServerDelaysNobody) {
  EventServer server;
  server.hangs_ = true;
  const auto began = std::chrono::steady_clock::now();
  {
    EventWriter writer(server.access(), 300);
    writer.say(told_about("first"));
    server.wait_for(1);
    for (int i = 0; i < 1000; ++i) writer.say(told_about(fmt::format("u{}", i)));
    EXPECT_EQ(writer.dropped(), 1000 - EventWriter::kWaitMost);
  }
  EXPECT_EQ(server.asked_, 1) << "what waited is not sent";
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(60));
}

TEST(KubernetesEvents, TheirRateIsBounded) {
  EventServer server;
  const double began_s = base::steady_s();
  EventWriter writer(server.access(), 10);
  for (int i = 0; i < 30; ++i) writer.say(told_about(fmt::format("u{}", i)));
  constexpr int kCount = 10;
  server.wait_for(kCount);
  const int sent = server.asked_;
  EXPECT_LE(sent, EventWriter::kRate * (base::steady_s() - began_s + 1) + 1);
}

TEST(KubernetesEvents, WithoutTheRightNoneFollows) {
  EventServer server;
  server.status_ = 403;
  EventWriter writer(server.access(), 10);
  writer.say(told_about("a"));
  server.wait_for(1);
  // Whatever was said before the answer had come is left out, too.
  for (int i = 0; i < 50; ++i) {
    writer.say(told_about(fmt::format("b{}", i)));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_LE(server.asked_, 2);
}

}  // namespace
}  // namespace goban::live::engine::kubernetes
