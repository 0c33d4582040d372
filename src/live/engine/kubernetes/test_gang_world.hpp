// A small cluster and its gangs, for tests.
#pragma once

#include <fmt/format.h>
#include <map>
#include <string>

#include "live/engine/kubernetes/gangs.hpp"

namespace goban::live::engine::kubernetes {

inline const Rules kAll{.mode = Mode::All};

/// A small cluster of nodes with four GPUs.
struct World {
  Objects objects{};

  World() {
    for (const char* name : {"n1", "n2"}) {
      Node node;
      node.meta = {.name = name, .uid = name, .labels = {{"goban.dev/managed", "true"}}};
      node.seen = {.name = name, .num_gpus = 4};
      node.cpu_milli = 8000;
      node.mem_bytes = int64_t{64} << 30;
      objects.nodes[node.meta.key()] = node;
    }
  }
  Pod& pod(const std::string& name, int32_t gpus, const std::string& job = "") {
    Pod pod;
    pod.meta = {.space = "ml", .name = name, .uid = "uid-" + name, .version = "7"};
    pod.scheduler = "goban";
    pod.gpus = gpus;
    if (!job.empty()) {
      pod.owner_kind = "Job";
      pod.owner_name = job;
      pod.owner_uid = "uid-" + job;
      pod.index = static_cast<int32_t>(objects.pods.size());
    }
    return objects.pods[pod.meta.key()] = pod;
  }
  Work& job(const std::string& name, int32_t size) {
    Work work;
    work.meta = {.space = "ml", .name = name, .uid = "uid-" + name};
    work.parallelism = work.completions = size;
    work.pod.scheduler = "goban";
    return objects.works[work.meta.key()] = work;
  }
  static void bind(Pod& pod, const std::string& node, const std::string& gpus, uint32_t run = 1,
                   Phase phase = Phase::Running) {
    pod.node = node;
    pod.phase = phase;
    pod.meta.notes = {{std::string(kGpusNote), gpus},
                      {std::string(kRunNote), fmt::format("goban:1.5.{}", run)}};
  }
  [[nodiscard]] View view(const Rules& rules = kAll, const cluster::Picture& told = {},
                          const std::map<std::string, RunId>& started = {}) const {
    return view_of(objects, gangs_of(objects, rules), rules, told, started);
  }
};

inline constexpr const char* kGang = "ml/train/uid-train";

}  // namespace goban::live::engine::kubernetes
