#include "live/controller/run_report_json.hpp"

#include <limits>
#include <nlohmann/json.hpp>

namespace goban::live::controller {

using nlohmann::json;

json usage_json(const RunUsage& usage) {
  json out = {{"cpu_s", usage.cpu_s},
              {"mem", usage.mem_bytes_max},
              {"gpu_mem", usage.gpu_mem_bytes_max},
              {"util", usage.gpu_util_pct},
              {"energy", usage.energy_j}};
  if (usage.memory_busy_pct >= 0) out["mem_busy"] = usage.memory_busy_pct;
  if (usage.dram_util_pct >= 0) out["dram"] = usage.dram_util_pct;
  if (usage.fu_util_pct >= 0) out["fu"] = usage.fu_util_pct;
  return out;
}

void read_usage(base::FieldReader& in, RunUsage& usage) {
  in.field("cpu_s", usage.cpu_s, -1, 1e18);
  in.field("mem", usage.mem_bytes_max, int64_t{-1}, INT64_MAX);
  in.field("gpu_mem", usage.gpu_mem_bytes_max, int64_t{-1}, INT64_MAX);
  in.field("util", usage.gpu_util_pct, -1, 1e9);
  in.field("mem_busy", usage.memory_busy_pct, -1, 100);
  in.field("dram", usage.dram_util_pct, -1, 100);
  in.field("fu", usage.fu_util_pct, -1, 100);
  in.field("energy", usage.energy_j, -1, 1e18);
}

json progress_json(const ProgressNews& news) {
  json out{{"epoch", news.epoch},       {"epochs", news.epochs},
           {"step", news.step},         {"steps", news.steps},
           {"loss", news.loss},         {"samples_per_s", news.samples_per_s},
           {"saved", news.checkpointed}};
  if (news.busy_s >= 0) out["busy_s"] = news.busy_s;
  if (news.input_stall_pct >= 0) out["stall"] = news.input_stall_pct;
  return out;
}

void read_progress(base::FieldReader& in, ProgressNews& news) {
  constexpr double kMost = 1e300;
  in.field("epoch", news.epoch, -1, kMost);
  in.field("epochs", news.epochs, -1, kMost);
  in.field("step", news.step, int64_t{-1}, INT64_MAX);
  in.field("steps", news.steps, int64_t{-1}, INT64_MAX);
  constexpr double kAny = std::numeric_limits<double>::max();
  in.field("loss", news.loss, -kAny, kAny);
  in.field("samples_per_s", news.samples_per_s, -1, kMost);
  in.field("busy_s", news.busy_s, -1, kMost);
  in.field("stall", news.input_stall_pct, -1, 100);
  in.field("saved", news.checkpointed);
}

json ranks_json(const std::vector<RankTimes>& ranks) {
  json out = json::array();
  for (const RankTimes& each : ranks) {
    out.push_back({{"rank", each.rank},
                   {"ranks", each.ranks},
                   {"steps", each.steps},
                   {"busy_s", each.busy_s},
                   {"wait_s", each.wait_s}});
    if (each.data_s >= 0) out.back()["data_s"] = each.data_s;
  }
  return out;
}

void read_ranks(base::FieldReader& in, std::vector<RankTimes>& ranks) {
  constexpr double kMost_s = 1e15;
  in.list("ranks", [&](base::FieldReader& part) {
    RankTimes& each = ranks.emplace_back();
    part.field("rank", each.rank, 0, INT32_MAX);
    part.field("ranks", each.ranks, 0, INT32_MAX);
    part.field("steps", each.steps, int64_t{0}, INT64_MAX);
    part.field("busy_s", each.busy_s, 0, kMost_s);
    part.field("wait_s", each.wait_s, 0, kMost_s);
    part.field("data_s", each.data_s, -1, kMost_s);
  });
}

json pace_json(const RunPace& pace) {
  return {{"steps", pace.steps.done},
          {"steps_s", pace.steps.over_s},
          {"epochs", pace.epochs.done},
          {"epochs_s", pace.epochs.over_s}};
}

void read_pace(base::FieldReader& in, RunPace& pace) {
  constexpr double kMost = 1e15;
  in.object("pace", [&](base::FieldReader& part) {
    part.field("steps", pace.steps.done, 0, kMost);
    part.field("steps_s", pace.steps.over_s, 0, kMost);
    part.field("epochs", pace.epochs.done, 0, kMost);
    part.field("epochs_s", pace.epochs.over_s, 0, kMost);
  });
}

}  // namespace goban::live::controller
