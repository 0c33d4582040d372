// The Kubernetes engine under remote control, for tests: one order a line on standard input, one
// event a line on standard output. Killing it is what happens to a daemon.
//
//   kube_engine_check KUBECONFIG TABLE EPOCH [STATE]    (TABLE: keys of [kubernetes], as TOML)
//
//   {"do": "recall", "known": [{"id", "job", "run", "launched", "parts"}]}
//   {"do": "launch" | "resume", "id", "job", "run", "parts": [{"node", "gpus"}], "shares"}
//   {"do": "stop", "job", "run", "reason": "preempt" | "cancel"} {"do": "withdraw", "id"}
//   {"do": "fence" | "rest" | "wake", "node"}
//   {"do": "stall"}: from now on no commit cycle is completed
#include <array>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "base/clock.hpp"
#include "live/controller/engine_event_json.hpp"
#include "live/engine/kubernetes/kubernetes_kind.hpp"

namespace {

using goban::live::Engine;
using nlohmann::json;

std::vector<goban::live::NodePart> parts_of(const json& from) {
  std::vector<goban::live::NodePart> out;
  for (const json& part : from.value("parts", json::array())) {
    out.push_back({.node = part.at("node"), .gpus = part.at("gpus")});
  }
  return out;
}

goban::live::RunId run_of(const json& from) {
  return {goban::live::JobId{from.at("job").get<uint32_t>()}, from.at("run").get<uint32_t>()};
}

void carry_out(Engine& engine, const json& order) {
  const std::string what = order.at("do");
  if (what == "recall") {
    std::vector<goban::live::KnownJob> known;
    for (const json& job : order.at("known")) {
      known.push_back({.job = run_of(job).job,
                       .engine_id = job.at("id"),
                       .managed = true,
                       .run = run_of(job),
                       .launched = job.value("launched", false),
                       .parts = parts_of(job)});
    }
    return engine.recall(known);
  }
  if (what == "rest") return engine.rest(order.at("node"));
  if (what == "wake") return engine.wake(order.at("node"));
  if (what == "fence") return engine.fence(order.at("node"), goban::base::wall_ns());
  if (what == "withdraw") return engine.withdraw({}, order.at("id"));
  if (what == "stop") {
    const bool preempts = order.at("reason") == "preempt";
    return engine.stop(run_of(order), preempts ? goban::live::StopReason::Preempted
                                               : goban::live::StopReason::Cancelled);
  }
  const goban::live::LaunchOrder made{.run = run_of(order),
                                      .engine_id = order.at("id"),
                                      .parts = parts_of(order),
                                      .shares = order.value("shares", false)};
  return what == "launch" ? engine.launch(made) : engine.resume(made);
}

json text_of(const goban::live::EngineEvent& event) {
  constexpr std::array kKinds = {"started",   "ended",   "refused", "lost",    "progress",
                                 "node_down", "node_up", "unable",  "declined"};
  json out;
  if (const auto* report = std::get_if<goban::live::Report>(&event)) {
    out = {{"event", kKinds.at(static_cast<size_t>(report->kind))},
           {"job", report->run.job.value},
           {"run", report->run.run},
           {"exit_code", report->exit_code},
           {"signal", report->signal},
           {"detail", report->detail}};
    if (report->cancelled) out["cancelled"] = true;
    goban::live::controller::put_parts("parts", report->parts, out);
    return out;
  }
  std::visit(
      [&](const auto& each) {
        using Event = std::decay_t<decltype(each)>;
        // Only the local engine stages data.
        if constexpr (!std::is_same_v<Event, goban::live::Report> &&
                      !std::is_same_v<Event, goban::live::StageReport>) {
          goban::live::controller::put_event(each, out);
        }
      },
      event);
  constexpr std::array kEvents = {"report", "seen", "gone", "cluster", "staged"};
  out["event"] = kEvents.at(event.index());
  return out;
}

int fail(const goban::base::Error& error) {
  std::cerr << error.text() << '\n';
  return 1;
}

}  // namespace

int main(int count, char** words) {
  if (count != 4 && count != 5) return 2;
  const std::string table = std::string("kubeconfig = \"") + words[1] + "\"\n" + words[2] + "\n";
  const auto config = goban::base::parse_config(table, "table");
  if (!config) return fail(config.error());
  goban::live::EngineSetup setup{.state = count == 5 ? words[4] : "",
                                 .epoch = std::stoull(words[3])};
  setup.choice = {.name = "kubernetes", .table = *config, .file = "table"};
  auto parts = goban::live::engine::kubernetes::make_kubernetes(setup);
  if (!parts) return fail(parts.error());
  for (const std::string& note : parts->notes) std::cerr << note << '\n';
  std::mutex mutex;
  bool stalls = false;
  std::thread reader([&] {
    for (std::string line; std::getline(std::cin, line);) {
      const std::scoped_lock lock(mutex);
      const json order = json::parse(line);
      stalls = stalls || order.at("do") == "stall";
      if (order.at("do") != "stall") carry_out(*parts->engine, order);
    }
    std::_Exit(0);
  });
  for (;;) {
    {
      const std::scoped_lock lock(mutex);
      for (const auto& event : parts->engine->take_events()) {
        std::puts(text_of(event).dump().c_str());
      }
      if (!stalls) parts->engine->beat();
      if (parts->engine->is_shut_out()) {
        std::puts(R"({"event": "shut_out"})");
        std::fflush(stdout);
        std::_Exit(1);
      }
    }
    std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}
