#include "live/controller/input_checks.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "base/counted.hpp"
#include "core/knowledge/scores_file.hpp"
#include "live/controller/node_choice.hpp"
#include "live/controller/pilots.hpp"
#include "live/controller/staging_checks.hpp"

namespace goban::live::controller {

using base::Status;

namespace {

constexpr size_t kJobsMax = 100'000;
constexpr size_t kTextMax = 4'096;

Status refuse(const char* field, std::string message, std::string remedy = {}) {
  return base::bad_data({.file = {}, .line = 0, .column = 0, .field = field}, std::move(message),
                        std::move(remedy));
}

Status check_size(const job::JobSpec& spec, const Site& site) {
  const auto all = static_cast<int32_t>(site.cluster.num_gpus());
  if (spec.num_gpus > all) {
    return refuse(
        "num_gpus",
        fmt::format("requests {}; the cluster has {}", base::counted(spec.num_gpus, "GPU"), all),
        "request fewer");
  }
  if (spec.resource_type.empty() && spec.num_gpus > 0) return {};
  if (spec.resource_type.empty()) {
    return refuse("num_gpus", "requests neither GPUs nor a resource type",
                  "request at least one GPU");
  }
  const auto id = site.cluster.find_resource_type(spec.resource_type);
  if (!id.valid()) {
    std::string known;
    for (const auto& type : site.cluster.resource_types()) {
      known += (known.empty() ? "" : ", ") + type.name;
    }
    return refuse("resource_type", fmt::format("unknown resource type {}", spec.resource_type),
                  known.empty() ? "this cluster has none" : "known types: " + known);
  }
  const auto& type = site.cluster.resource_type(id);
  if (spec.instances > type.max_instances) {
    return refuse("instances", fmt::format("requests {} of {}; at most {} can be requested",
                                           base::counted(spec.instances, "instance"), type.name,
                                           type.max_instances));
  }
  if (spec.num_gpus != type.gpus * spec.instances) {
    return refuse(
        "num_gpus",
        fmt::format("{} of {}: {}, not {}", base::counted(spec.instances, "instance"), type.name,
                    base::counted(type.gpus * spec.instances, "GPU"), spec.num_gpus));
  }
  return {};
}

/// The range of GPUs of an elastic job, and whether its speed is known there.
Status check_range(const job::JobSpec& spec, const Site& site) {
  const core::model::TrainingFacts& facts = spec.training;
  if (facts.gpus_max == 0 && facts.gpus_min == 0) return {};
  if (facts.gpus_min < 1 || spec.num_gpus < facts.gpus_min || spec.num_gpus > facts.gpus_max) {
    return refuse("training.gpus_min",
                  fmt::format("requests {} and a range from {} to {}",
                              base::counted(spec.num_gpus, "GPU"), facts.gpus_min, facts.gpus_max),
                  "request a number of GPUs within the range (--elastic)");
  }
  if (!spec.resource_type.empty() || spec.instances > 1) {
    return refuse("training.gpus_min", "a job with a resource type or nodes has one size",
                  "omit --elastic, or request GPUs only");
  }
  const auto all = static_cast<int32_t>(site.cluster.num_gpus());
  if (facts.gpus_max > all) {
    return refuse("training.gpus_max",
                  fmt::format("requests up to {}; the cluster has {}",
                              base::counted(facts.gpus_max, "GPU"), all),
                  "request fewer");
  }
  if (site.speeds == nullptr) return {};
  core::model::JobRequest request;
  request.num_gpus = spec.num_gpus;
  request.model = core::model::ModelId(site.models.find(spec.model));
  const std::string problem =
      core::model::speed_problem(*site.speeds, site.cluster, request, facts,
                                 spec.model.empty() ? "a job without a model" : spec.model);
  if (problem.empty()) return {};
  return refuse("training.gpus_min", problem,
                "name its --model and --batch-size as in the rates file, or ask an operator to add "
                "what was measured to `rates`");
}

Status check_time(const char* field, const char* option, TimeNs asked, TimeNs most,
                  const char* key) {
  if (asked <= most) return {};
  return refuse(field,
                fmt::format("requests {:g} s; this site allows at most {:g} s",
                            base::to_seconds(asked), base::to_seconds(most)),
                fmt::format("shorten {}, or ask an operator to raise {}", option, key));
}

/// A stopping job holds its GPUs for both times.
Status check_stop(const job::StopRequest& stop, const Site& site) {
  if (auto status = check_time("stop.lead_s", "--signal SIG@TIME", stop.lead_ns, site.lead_max_ns,
                               "lead_max");
      !status) {
    return status;
  }
  return check_time("stop.grace_s", "--grace", stop.grace_ns, site.grace_max_ns, "grace_max");
}

/// A signal that is due at the start would come before the job can handle it.
Status check_lead(TimeNs lead_ns, TimeNs limit_ns) {
  if (lead_ns == 0 || limit_ns == 0 || lead_ns < limit_ns) return {};
  return refuse("stop.lead_s",
                fmt::format("requests its signal {:g} s before a walltime limit of {:g} s, which "
                            "is at its start",
                            base::to_seconds(lead_ns), base::to_seconds(limit_ns)),
                "shorten the time of --signal SIG@TIME (60 s if it names none), or extend --time");
}

Status check_texts(const job::JobSpec& spec) {
  const std::pair<const char*, const std::string*> texts[] = {{"name", &spec.name},
                                                              {"account", &spec.account},
                                                              {"partition", &spec.partition},
                                                              {"qos", &spec.qos},
                                                              {"model", &spec.model},
                                                              {"gpu_model", &spec.gpu_model},
                                                              {"work_folder", &spec.work_folder},
                                                              {"stdout_path", &spec.stdout_path},
                                                              {"stderr_path", &spec.stderr_path}};
  for (const auto& [field, text] : texts) {
    if (text->size() > kTextMax)
      return refuse(field, fmt::format("is longer than {} bytes", kTextMax));
    const bool has_control =
        std::ranges::any_of(*text, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
    if (has_control) return refuse(field, "contains a control character");
  }
  if (spec.payload.find('/') != std::string::npos || spec.payload.starts_with('.')) {
    return refuse("payload", "is not a valid folder name");
  }
  return {};
}

Status check_dependencies(const job::JobSpec& spec, const JobBook& book) {
  for (const job::Dependency& each : spec.dependencies) {
    if (!each.job.valid() || book.find(each.job) != nullptr) continue;
    return refuse("dependencies",
                  fmt::format("job {} is unknown or finished long ago", job::job_number(each.job)),
                  "name jobs that goban queue or goban show lists");
  }
  return {};
}

Status check_submit(const Submit& submit, const Site& site, const JobBook& book) {
  if (!site.submit_with.empty()) {
    return base::failed("jobs of this cluster are submitted to its own queue",
                        "use " + site.submit_with);
  }
  if (submit.jobs.empty()) return refuse("jobs", "must contain a job");
  if (submit.jobs.size() > kJobsMax) {
    return refuse("array", fmt::format("has more than {} tasks", kJobsMax), "submit it in parts");
  }
  for (const job::JobSpec& spec : submit.jobs) {
    for (const Status& status :
         {check_size(spec, site), check_range(spec, site), check_walltime(spec, site),
          check_stop(spec.stop, site), check_lead(spec.stop.lead_ns, spec.walltime_limit_ns),
          check_texts(spec), check_dependencies(spec, book),
          check_reservation_use(spec, site, book), check_node_choice(spec, site),
          check_staging(spec, site)}) {
      if (!status) return status;
    }
  }
  return {};
}

/// `unfinished`: number of jobs by owner; `most`: maximum of each, 0 = no limit.
Status check_unfinished(const Submit& submit, const std::map<job::OwnerKey, size_t>& unfinished,
                        size_t most) {
  if (most == 0) return {};
  std::map<job::OwnerKey, size_t> more;
  for (const job::JobSpec& spec : submit.jobs) ++more[job::key_of(spec.owner)];
  for (const auto& [owner, count] : more) {
    const auto found = unfinished.find(owner);
    const size_t known = found == unfinished.end() ? 0 : found->second;
    if (known + count <= most) continue;
    return base::usage_error(fmt::format("this user has {}; {} more would exceed the maximum of {}",
                                         base::counted(known, "unfinished job"), count, most),
                             "wait until some finish, or ask an operator to raise jobs_per_user");
  }
  return {};
}

/// The job exists, and the caller may speak for it.
Status check_owner(const JobBook& book, JobId id, const Caller& by) {
  const LiveJob* job = book.find(id);
  if (job == nullptr) {
    return refuse("job",
                  fmt::format("job {} is unknown or finished long ago", job::job_number(id)));
  }
  if (!by.is_operator && !by.owns(job->spec.owner)) {
    return base::failed(
        fmt::format("job {} belongs to {}", job::job_number(id), job->spec.owner.user),
        "ask its owner or an operator");
  }
  return {};
}

/// The job can be changed by this caller.
Status check_job(const JobBook& book, JobId id, const Caller& by) {
  if (auto status = check_owner(book, id, by); !status) return status;
  const LiveJob* job = book.find(id);
  if (job->stage == JobStage::Done) {
    return base::failed(fmt::format("job {} is finished", job::job_number(id)));
  }
  if (!job->managed) {
    return base::failed(fmt::format("job {} is job {} of the cluster's own queue and is not "
                                    "scheduled by goban",
                                    job::job_number(id), job->engine_id),
                        "use the commands of that queue");
  }
  return {};
}

bool is_waiting(JobStage stage) {
  return stage == JobStage::Waiting || stage == JobStage::Depends || stage == JobStage::Held;
}

/// The time for which the job held GPUs, as the walltime limit counts it.
TimeNs time_used_ns(const LiveJob& job, const core::scheduler::State& core) {
  if (!core.is_active(job.job)) return job.held_ns;
  return std::max(job.held_ns, core.job(core.slot_of(job.job)).attained_before_ns);
}

/// The job exists and may be changed by this caller.
Status check_alter(const Alter& alter, const CheckFacts& facts) {
  const LiveJob& job = *facts.book.find(alter.job);
  const auto name = job::job_name_of(job.job, job.spec);
  if (alter.array_limit && job.spec.array_task < 0) {
    return refuse("array_limit", fmt::format("job {} is not a task of an array", name));
  }
  if (!alter.walltime_limit_ns && !alter.priority) return {};
  if (!job.engine_id.empty()) {
    return base::failed(
        fmt::format("job {} is job {} of the cluster's own queue", name, job.engine_id),
        "alter it there");
  }
  if (!is_waiting(job.stage)) {
    return base::failed(fmt::format("job {} is running; only waiting jobs can be altered", name),
                        "requeue it first, or cancel it");
  }
  const TimeNs limit_ns = alter.walltime_limit_ns.value_or(base::kNever);
  const auto type = facts.site.cluster.find_resource_type(job.spec.resource_type);
  if (alter.walltime_limit_ns && type.valid()) {
    const TimeNs most_ns = facts.site.cluster.resource_type(type).walltime_max_ns;
    if (most_ns > 0 && limit_ns > most_ns) {
      return refuse(
          "walltime_s",
          fmt::format("requests {:g} s; {} permits at most {:g} s", base::to_seconds(limit_ns),
                      job.spec.resource_type, base::to_seconds(most_ns)),
          "request less time");
    }
  }
  if (alter.walltime_limit_ns) {
    if (auto status = check_lead(job.spec.stop.lead_ns, limit_ns); !status) return status;
    job::JobSpec changed = job.spec;
    changed.walltime_limit_ns = limit_ns;
    if (auto status = check_walltime(changed, facts.site); !status) return status;
  }
  if (limit_ns <= time_used_ns(job, facts.core)) {
    return refuse("walltime_s", fmt::format("job {} has already run for longer", name),
                  "set a longer limit");
  }
  return {};
}

/// A suspended job keeps its GPUs beyond its limit, so only operators may suspend.
Status check_suspension(const JobBook& book, JobId id, const Caller& by, JobStage stage,
                        const char* name) {
  if (!by.is_operator) {
    return base::failed("only operators may suspend and resume jobs",
                        "ask one; goban requeue gives the GPUs back");
  }
  if (auto status = check_job(book, id, by); !status) return status;
  if (book.find(id)->stage == stage) return {};
  return base::failed(fmt::format("job {} is not {}", job::job_number(id), name));
}

Status check_node(NodeId node, const Site& site) {
  if (node.index() < site.cluster.nodes().size()) return {};
  return base::failed("there is no such node", "goban nodes lists them");
}

struct Checker {
  const CheckFacts& facts;

  Status operator()(const Submit& each) const {
    if (auto status = check_submit(each, facts.site, facts.book); !status) return status;
    return check_unfinished(each, facts.unfinished, facts.site.jobs_per_user_max);
  }
  Status operator()(const Cancel& each) const {
    if (!each.results) return check_job(facts.book, each.job, each.by);
    if (auto status = check_owner(facts.book, each.job, each.by); !status) return status;
    if (facts.book.find(each.job)->staging.stage == JobStaging::Stage::Out) return {};
    return base::failed(
        fmt::format("no results of job {} are being copied", job::job_number(each.job)));
  }
  Status operator()(const Hold& each) const {
    if (auto status = check_job(facts.book, each.job, each.by); !status) return status;
    if (is_waiting(facts.book.find(each.job)->stage)) return {};
    return base::failed(
        fmt::format("job {} is running and cannot be held", job::job_number(each.job)),
        "requeue or cancel it");
  }
  Status operator()(const Release& each) const { return check_job(facts.book, each.job, each.by); }
  Status operator()(const Requeue& each) const {
    if (auto status = check_job(facts.book, each.job, each.by); !status) return status;
    const JobStage stage = facts.book.find(each.job)->stage;
    const LiveJob& job = *facts.book.find(each.job);
    if (!job.engine_id.empty() && !job.spec.requeue) {
      return base::failed(
          fmt::format("job {} cannot be requeued at the cluster", job::job_number(each.job)),
          "it is interactive, asked not to be, or a pod that nothing would make again; cancel it, "
          "and submit it again");
    }
    if (holds_gpus(stage) && stage != JobStage::Stopping) return {};
    return base::failed(fmt::format("job {} is not running", job::job_number(each.job)));
  }
  Status operator()(const Alter& each) const {
    if (auto status = check_job(facts.book, each.job, each.by); !status) return status;
    return check_alter(each, facts);
  }
  Status operator()(const Suspend& each) const {
    if (!facts.site.suspends_jobs) {
      return base::failed("the engine cannot suspend what runs",
                          "goban requeue takes it off its GPUs; goban hold then keeps it waiting");
    }
    return check_suspension(facts.book, each.job, each.by, JobStage::Running, "running");
  }
  Status operator()(const Continue& each) const {
    return check_suspension(facts.book, each.job, each.by, JobStage::Suspended, "suspended");
  }
  Status operator()(const Drain& each) const { return check_node(each.node, facts.site); }
  Status operator()(const Resume& each) const {
    if (auto status = check_node(each.node, facts.site); !status) return status;
    if (!facts.drained_there.contains(each.node)) return {};
    return base::failed(fmt::format("the cluster drained it: {}", facts.drained.at(each.node)),
                        "resume it there; Goban follows");
  }
  Status operator()(const Fence& each) const {
    if (auto status = check_node(each.node, facts.site); !status) return status;
    if (!facts.site.fences_nodes) {
      return base::failed("the engine waits for no dead node: there is nothing to fence",
                          "with mode = \"observe\" Goban decides nothing");
    }
    if (facts.down.contains(each.node) || facts.silent.contains(each.node)) return {};
    return base::failed("the node is neither down nor silent",
                        "goban nodes drain keeps new jobs off it");
  }
  Status operator()(const EngineReport&) const { return {}; }
  Status operator()(const JobSeen&) const { return {}; }
  Status operator()(const JobGone&) const { return {}; }
  Status operator()(const ClusterSeen&) const { return {}; }
  Status operator()(const StageReport&) const { return {}; }
  Status operator()(const Accounted&) const { return {}; }
  Status operator()(const ScoresMeasured& each) const { return check_scores(each, facts.site); }
  Status operator()(const Reserve& each) const {
    const auto nodes = choose_nodes(each, facts);
    return nodes ? Status{} : base::failure(nodes.error());
  }
  Status operator()(const StartPilot& each) const {
    return check_pilot(each, facts.site, facts.book, facts.core);
  }
  Status operator()(const StopPilot& each) const { return check_pilot(each, facts.book); }
  Status operator()(const PilotStep&) const { return {}; }
  Status operator()(const CancelReservation& each) const { return check_cancel(facts.book, each); }
};

}  // namespace

Status check_walltime(const job::JobSpec& spec, const Site& site) {
  const TimeNs most = site.limits.time_max_ns;
  if (most == 0) return {};
  const auto type = site.cluster.find_resource_type(spec.resource_type);
  if (type.valid() && site.cluster.resource_type(type).walltime_max_ns > 0) return {};
  if (spec.walltime_limit_ns == 0) {
    return refuse(
        "walltime_s",
        fmt::format("requests no limit; this site allows at most {:g} s", base::to_seconds(most)),
        "request a walltime limit with --time");
  }
  return check_time("walltime_s", "--time", spec.walltime_limit_ns, most, "time_max");
}

Status check_request(const job::JobSpec& spec, const Site& site) {
  if (auto status = check_size(spec, site); !status) return status;
  return check_node_choice(spec, site);
}

Status check_scores(const ScoresMeasured& scores, const Site& site) {
  const auto read = core::knowledge::parse_scores(scores.table, "scores", site.cluster.num_gpus());
  return read ? Status{} : base::failure(read.error());
}

Status check_input(const Input& input, const CheckFacts& facts) {
  return std::visit(Checker{facts}, input);
}

}  // namespace goban::live::controller
