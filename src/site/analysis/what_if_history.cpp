// The histories that `goban simulate` replays for the scenarios of what_if.cpp.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include "base/csv.hpp"
#include "base/number.hpp"
#include "base/time.hpp"
#include "base/units.hpp"
#include "core/knowledge/colocation/colocation_file.hpp"
#include "site/analysis/what_if.hpp"

namespace goban::site::analysis {
namespace {

/// Memory and utilisation of a job alone on its GPUs, in classes coarse enough to recur.
struct Alone {
  int util_pct = -1;  ///< rounded up to a multiple of 10; negative = unknown
  int mem_gib = 0;    ///< rounded up to a multiple of 2
  [[nodiscard]] bool known() const { return util_pct >= 0; }
  [[nodiscard]] std::string name() const {
    return fmt::format("utilisation {} memory {} GiB", util_pct, mem_gib);
  }
  auto operator<=>(const Alone&) const = default;
};

/// Unknown if the utilisation or memory of any of its GPUs is unknown.
Alone alone(const GpuUse* use, size_t index) {
  if (use == nullptr || use->of(index).empty()) return {};
  const auto gpus = use->of(index);
  double util_pct = 0;
  double mem_gib = 0;
  for (const GpuValue& gpu : gpus) {
    if (gpu.mean_pct < 0 || gpu.mem_gib < 0) return {};
    util_pct += static_cast<double>(gpu.mean_pct) / static_cast<double>(gpus.size());
    mem_gib = std::max(mem_gib, static_cast<double>(gpu.mem_gib));
  }
  constexpr int kTen = 10;
  constexpr int kTwo = 2;
  return Alone{std::min(kTen * static_cast<int>(std::ceil(util_pct / kTen)), 100),
               std::max(kTwo * static_cast<int>(std::ceil(mem_gib / kTwo)), kTwo)};
}

/// One job of the simulator's input.
struct Asked {
  base::TimeNs submit_ns = 0;
  double run_s = 0;
  int32_t gpus = 0;
  base::TimeNs limit_ns = 0;
  base::TimeNs start_ns = -1;
};

/// A reservation: whole nodes for whole days, from the next midnight.
Asked reserve(const Job& job, Asked asked) {
  const int64_t days = static_cast<int64_t>(std::ceil(job.run_s * base::kSecond / base::kDay));
  asked.submit_ns = (asked.submit_ns + base::kDay - 1) / base::kDay * base::kDay;
  asked.run_s = base::to_seconds(days * base::kDay);
  asked.limit_ns = days * base::kDay;
  asked.gpus = std::max(job.nodes, 1) * job.node_gpus;
  asked.start_ns = -1;
  return asked;
}

}  // namespace

std::string_view name(Scenario scenario) {
  constexpr std::array<std::string_view, kNumScenarios> kNames = {"as_recorded", "capped",
                                                                  "used_gpus"};
  return kNames[static_cast<size_t>(scenario)];
}

bool applies(Scenario scenario, const GpuUse* use) {
  return scenario != Scenario::UsedGpus || use != nullptr;
}

int32_t gpus_asked(const Population& population, const GpuUse* use, size_t index,
                   Scenario scenario) {
  const Job& job = population.jobs[index];
  if (scenario != Scenario::UsedGpus || use == nullptr || !use->all_known(index)) return job.gpus;
  return std::clamp(use->used(index), 1, job.gpus);
}

void write_history(const Population& population, const Rules& rules, const GpuUse* use,
                   Scenario scenario, const std::function<void(std::string_view)>& sink) {
  constexpr size_t kPiece = 1 << 20;
  const records::RecordTable& table = *population.table;
  std::string out =
      "job_id,submit_time,duration,num_gpus,user,account,model,walltime_s,start_time,"
      "gpu_mem_bytes,gpu_util_pct\n";
  for (size_t i = 0; i < population.jobs.size(); ++i) {
    const Job& job = population.jobs[i];
    const records::RecordRow& row = population.row(job);
    if (job.gpus <= 0 || row.submit_ns < 0) continue;
    Asked asked{row.submit_ns, job.run_s, gpus_asked(population, use, i, scenario),
                row.walltime_limit_ns, row.start_ns};
    if (scenario == Scenario::Capped && job.run_h() > rules.what_if.cap_h) {
      asked = reserve(job, asked);
    }
    const Alone own = scenario == Scenario::AsRecorded ? alone(use, i) : Alone();
    base::append_number(out, static_cast<int64_t>(i));
    out += ',';
    base::append_seconds(out, asked.submit_ns);
    out += ',';
    base::append_number(out, asked.run_s);
    out += ',';
    base::append_number(out, int64_t{asked.gpus});
    out += ',';
    base::append_csv_field(out, rules.hide_users ? std::string_view() : table.users()[job.user]);
    out += ',';
    base::append_csv_field(out,
                           rules.hide_users ? std::string_view() : table.accounts()[job.account]);
    out += ',';
    if (own.known()) out += own.name();
    out += ',';
    if (asked.limit_ns > 0) base::append_seconds(out, asked.limit_ns);
    out += ',';
    if (asked.start_ns >= asked.submit_ns) base::append_seconds(out, asked.start_ns);
    out += own.known() ? fmt::format(",{},{}\n", own.mem_gib * base::kGib, own.util_pct) : ",,\n";
    if (out.size() < kPiece) continue;
    sink(out);
    out.clear();
  }
  sink(out);
}

std::string colocation_csv(const Population& population, const GpuUse* use) {
  if (population.site.gpu_models.empty() || use == nullptr) return {};
  std::map<Alone, int64_t> classes;
  for (size_t i = 0; i < population.jobs.size(); ++i) {
    if (const Alone own = alone(use, i); own.known()) ++classes[own];
  }
  if (classes.empty()) return {};
  core::knowledge::ColocationHistory history;
  const uint32_t source = history.add_source("goban analyze");
  for (const std::string& model : population.site.gpu_models) {
    const core::knowledge::GpuTypeId type = history.add_gpu_type(model);
    for (const auto& [own, jobs] : classes) {
      core::knowledge::MeasuredSet set;
      set.gpu_type = type;
      set.size = 1;
      set.apps[0] = history.add_app(own.name(), {});
      set.slowdown[0] = 1;
      set.samples = static_cast<double>(jobs);
      set.util_pct = own.util_pct;
      set.mem_bytes = own.mem_gib * base::kGib;
      set.source = source;
      history.merge(set);
    }
  }
  return core::knowledge::to_csv(history);
}

}  // namespace goban::site::analysis
