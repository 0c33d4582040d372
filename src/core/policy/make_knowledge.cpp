#include "core/policy/make_knowledge.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "core/knowledge/gpu_busy.hpp"

namespace goban::core::policy {
namespace {

using base::Result;
using knowledge::AppId;
using knowledge::ColocationHistory;
using knowledge::MeasuredSet;
using model::JobRequest;

/// One power model for each GPU model in use.
Result<std::vector<knowledge::PowerModel>> power_by_gpu_model(
    const knowledge::PowerCatalog& catalog, const model::Cluster& cluster) {
  std::vector<knowledge::PowerModel> out;
  for (const model::GpuModel& gpu : cluster.gpu_models()) {
    const knowledge::PowerModel* found = catalog.find(gpu.name);
    if (found != nullptr) {
      out.push_back(*found);
      continue;
    }
    std::string known;
    for (const knowledge::PowerModel& each : catalog.models) {
      known += (known.empty() ? "" : ", ") + each.gpu_model;
    }
    return base::usage_error(
        fmt::format("no power model for nodes with GPU model {}", gpu.name),
        fmt::format("known: {}; add one whose gpu_model is a prefix of that name", known));
  }
  return out;
}

/// Declarations of the jobs of one application.
struct Declared {
  double util_sum_pct = 0;
  int64_t util_jobs = 0;
  int64_t mem_bytes = 0;
  double busy_pct = -1;  ///< by the job profile of the model; negative = there is none
};

class Maker {
 public:
  Maker(KnowledgeSources sources, const model::Cluster& cluster, model::JobHistory& history)
      : cluster_(cluster), history_(history), measured_(sources.colocation.has_value()) {
    if (sources.colocation) out_.knowledge.colocation = std::move(*sources.colocation);
    for (const base::reports::JobProfile& profile : sources.profiles) {
      const auto busy_pct = knowledge::gpu_busy_pct(profile);
      if (busy_pct) busy_pct_[profile.model] = *busy_pct;
    }
  }

  MadeKnowledge run() {
    num_measured_apps_ = colocation().num_apps();
    find_gpu_types();
    for (size_t i = 0; i < history_.jobs.size(); ++i) find_app(i);
    add_declared();
    count_gaps();
    return std::move(out_);
  }

 private:
  ColocationHistory& colocation() { return out_.knowledge.colocation; }

  model::TrainingFacts facts(size_t job) const {
    return history_.training.empty() ? model::TrainingFacts{} : history_.training[job];
  }

  void find_gpu_types() {
    for (const model::GpuModel& gpu : cluster_.gpu_models()) {
      knowledge::GpuTypeId type = colocation().find_gpu_type(gpu.name);
      if (!type.valid() && measured_) out_.gaps.unmeasured_gpus.push_back(gpu.name);
      if (!type.valid()) type = colocation().add_gpu_type(gpu.name);
      out_.knowledge.gpu_types.push_back(type);
      if (gpu.mem_bytes <= 0) out_.gaps.gpus_without_memory.push_back(gpu.name);
    }
  }

  void find_app(size_t job) {
    model::Job each = history_.jobs[job];
    JobRequest& request = each.request;
    const std::string& model = history_.models[request.model.index()];
    if (model.empty()) {
      ++out_.gaps.unnamed_jobs;
      return;
    }
    const model::TrainingFacts said = facts(job);
    const auto [known, is_new] = app_of_.try_emplace({request.model.value, said.batch_size});
    if (is_new) {
      const std::string input = knowledge::batch_input(said.batch_size);
      known->second = colocation().find_app(model, input);
      if (!known->second.valid()) {
        known->second = colocation().add_app(model, input);
        if (measured_) out_.gaps.unknown_apps.push_back(colocation().app_name(known->second));
      }
    }
    request.app = known->second;
    history_.jobs.put(job, each);
    if (request.app.index() >= num_measured_apps_) ++out_.gaps.unknown_jobs;
    Declared& declared = declared_[request.app];
    if (const auto busy = busy_pct_.find(model); busy != busy_pct_.end()) {
      declared.busy_pct = busy->second;
    }
    if (said.gpu_util_pct >= 0) {
      declared.util_sum_pct += said.gpu_util_pct;
      ++declared.util_jobs;
    }
    declared.mem_bytes = std::max(declared.mem_bytes, said.gpu_mem_bytes);
  }

  void add_declared() {
    const uint32_t source = colocation().add_source("declared by its jobs");
    std::vector<knowledge::GpuTypeId> types = out_.knowledge.gpu_types;
    std::ranges::sort(types);
    types.erase(std::ranges::unique(types).begin(), types.end());
    for (const auto& [app, declared] : declared_) {
      for (const knowledge::GpuTypeId type : types) {
        if (type.valid()) add_alone(type, app, declared, source);
      }
    }
  }

  void add_alone(knowledge::GpuTypeId type, AppId app, const Declared& declared, uint32_t source) {
    const MeasuredSet* known = colocation().find_alone(type, app);
    if (known != nullptr && known->never) return;
    MeasuredSet alone;
    alone.gpu_type = type;
    alone.size = 1;
    alone.apps[0] = app;
    alone.slowdown[0] = 1;
    alone.source = source;
    if (declared.util_jobs > 0 && (known == nullptr || known->util_pct < 0)) {
      alone.util_pct = declared.util_sum_pct / static_cast<double>(declared.util_jobs);
    } else if (known == nullptr || known->util_pct < 0) {
      alone.util_pct = declared.busy_pct;
    }
    if (declared.mem_bytes > 0 && (known == nullptr || known->mem_bytes < 0)) {
      alone.mem_bytes = declared.mem_bytes;
    }
    if (alone.util_pct >= 0 || alone.mem_bytes >= 0) colocation().merge(alone);
  }

  void count_gaps() {
    for (size_t i = 0; i < history_.jobs.size(); ++i) {
      const JobRequest& request = history_.jobs[i].request;
      if (request.num_gpus == 0) continue;
      bool util = facts(i).gpu_util_pct >= 0;
      bool mem = facts(i).gpu_mem_bytes > 0;
      for (const knowledge::GpuTypeId type : out_.knowledge.gpu_types) {
        const MeasuredSet* alone = request.app.valid() && type.valid()
                                       ? colocation().find_alone(type, request.app)
                                       : nullptr;
        if (alone == nullptr) continue;
        util = util || alone->util_pct >= 0 || alone->power_w >= 0;
        mem = mem || alone->mem_bytes > 0;
      }
      out_.gaps.without_util += util ? 0 : 1;
      out_.gaps.without_mem += mem ? 0 : 1;
    }
  }

  const model::Cluster& cluster_;
  model::JobHistory& history_;
  bool measured_;
  MadeKnowledge out_;
  size_t num_measured_apps_ = 0;
  std::map<std::pair<uint32_t, int32_t>, AppId> app_of_;  ///< by model and batch size
  std::map<AppId, Declared> declared_;
  std::map<std::string, double> busy_pct_;  ///< by model
};

}  // namespace

Result<MadeKnowledge> make_knowledge(KnowledgeSources sources, const model::Cluster& cluster,
                                     model::JobHistory& history) {
  std::vector<knowledge::PowerModel> power;
  if (sources.power) {
    auto found = power_by_gpu_model(*sources.power, cluster);
    if (!found) return base::failure(found.error());
    power = std::move(*found);
  }
  MadeKnowledge made = Maker(std::move(sources), cluster, history).run();
  made.knowledge.power = std::move(power);
  return made;
}

}  // namespace goban::core::policy
