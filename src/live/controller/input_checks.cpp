#include "live/controller/input_checks.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/knowledge/scores_file.hpp"

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
    return refuse("num_gpus",
                  fmt::format("requests {} GPUs; the cluster has {}", spec.num_gpus, all),
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
    return refuse("instances",
                  fmt::format("requests {} instances of {}; at most {} can be requested",
                              spec.instances, type.name, type.max_instances));
  }
  if (spec.num_gpus != type.gpus * spec.instances) {
    return refuse("num_gpus", fmt::format("{} instances of {} have {} GPUs, not {}", spec.instances,
                                          type.name, type.gpus * spec.instances, spec.num_gpus));
  }
  return {};
}

Status check_texts(const job::JobSpec& spec) {
  const std::pair<const char*, const std::string*> texts[] = {{"name", &spec.name},
                                                              {"account", &spec.account},
                                                              {"partition", &spec.partition},
                                                              {"qos", &spec.qos},
                                                              {"model", &spec.model},
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
    if (book.find(each.job) != nullptr) continue;
    return refuse("dependencies",
                  fmt::format("job {} is unknown or finished long ago", job::job_number(each.job)),
                  "name jobs that goban queue or goban show lists");
  }
  return {};
}

Status check_submit(const Submit& submit, const Site& site, const JobBook& book) {
  if (submit.jobs.empty()) return refuse("jobs", "must contain a job");
  if (submit.jobs.size() > kJobsMax) {
    return refuse("array", fmt::format("has more than {} tasks", kJobsMax), "submit it in parts");
  }
  for (const job::JobSpec& spec : submit.jobs) {
    for (const Status& status :
         {check_size(spec, site), check_texts(spec), check_dependencies(spec, book),
          check_reservation_use(spec, site, book)}) {
      if (!status) return status;
    }
  }
  return {};
}

/// `unfinished`: number of jobs by user id; `most`: maximum per user, 0 = no limit.
Status check_unfinished(const Submit& submit, const std::map<uint32_t, size_t>& unfinished,
                        size_t most) {
  if (most == 0) return {};
  std::map<uint32_t, size_t> more;
  for (const job::JobSpec& spec : submit.jobs) ++more[spec.owner.uid];
  for (const auto& [uid, count] : more) {
    const auto found = unfinished.find(uid);
    const size_t known = found == unfinished.end() ? 0 : found->second;
    if (known + count <= most) continue;
    return base::failed(
        fmt::format("this user has {} unfinished jobs; {} more would exceed the maximum of {}",
                    known, count, most),
        "wait until some finish, or ask an operator to raise jobs_per_user");
  }
  return {};
}

Status check_job(const JobBook& book, JobId id, const Caller& by) {
  const LiveJob* job = book.find(id);
  if (job == nullptr) {
    return refuse("job",
                  fmt::format("job {} is unknown or finished long ago", job::job_number(id)));
  }
  if (!by.is_operator && by.uid != job->spec.owner.uid) {
    return base::failed(
        fmt::format("job {} belongs to {}", job::job_number(id), job->spec.owner.user),
        "ask its owner or an operator");
  }
  if (job->stage == JobStage::Done) {
    return base::failed(fmt::format("job {} is finished", job::job_number(id)));
  }
  return {};
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
  Status operator()(const Cancel& each) const { return check_job(facts.book, each.job, each.by); }
  Status operator()(const Hold& each) const {
    if (auto status = check_job(facts.book, each.job, each.by); !status) return status;
    const JobStage stage = facts.book.find(each.job)->stage;
    if (stage == JobStage::Waiting || stage == JobStage::Depends || stage == JobStage::Held) {
      return {};
    }
    return base::failed(
        fmt::format("job {} is running and cannot be held", job::job_number(each.job)),
        "requeue or cancel it");
  }
  Status operator()(const Release& each) const { return check_job(facts.book, each.job, each.by); }
  Status operator()(const Requeue& each) const {
    if (auto status = check_job(facts.book, each.job, each.by); !status) return status;
    const JobStage stage = facts.book.find(each.job)->stage;
    if (stage == JobStage::Running || stage == JobStage::Starting) return {};
    return base::failed(fmt::format("job {} is not running", job::job_number(each.job)));
  }
  Status operator()(const Drain& each) const { return check_node(each.node, facts.site); }
  Status operator()(const Resume& each) const { return check_node(each.node, facts.site); }
  Status operator()(const EngineReport&) const { return {}; }
  Status operator()(const Accounted&) const { return {}; }
  Status operator()(const ScoresMeasured& each) const { return check_scores(each, facts.site); }
  Status operator()(const Reserve& each) const {
    const auto nodes = choose_nodes(each, facts);
    return nodes ? Status{} : base::failure(nodes.error());
  }
  Status operator()(const CancelReservation& each) const { return check_cancel(facts.book, each); }
};

}  // namespace

Status check_scores(const ScoresMeasured& scores, const Site& site) {
  const auto read = core::knowledge::parse_scores(scores.table, "scores", site.cluster.num_gpus());
  return read ? Status{} : base::failure(read.error());
}

Status check_input(const Input& input, const CheckFacts& facts) {
  return std::visit(Checker{facts}, input);
}

}  // namespace goban::live::controller
