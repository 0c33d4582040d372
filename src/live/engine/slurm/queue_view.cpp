#include "live/engine/slurm/queue_view.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <set>
#include <sys/wait.h>
#include <tuple>

#include "base/number.hpp"
#include "core/model/import/host_list.hpp"
#include "live/engine/slurm/partitions.hpp"
#include "live/engine/slurm/training_words.hpp"
#include "live/job/stage_paths.hpp"

namespace goban::live::engine::slurm {

namespace {

using cluster::JobStand;
using cluster::Stand;

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

/// Slurm tries such jobs again and again; nothing of it depends on time alone.
bool is_hopeless(std::string_view reason) {
  constexpr std::array<std::string_view, 5> kBegins = {"Assoc", "QOS", "Bad", "ReqNode",
                                                       "Partition"};
  constexpr std::array<std::string_view, 7> kWhole = {"Dependency",  "DependencyNeverSatisfied",
                                                      "Reservation", "InvalidAccount",
                                                      "InvalidQOS",  "JobHeldAdmin",
                                                      "Licenses"};
  return is_one_of(reason, kWhole) ||
         std::ranges::any_of(kBegins, [&](auto begin) { return reason.starts_with(begin); });
}

GoneHow how_it_ended(const JobRow& row) {
  const std::string_view state = row.state;
  if (state == "COMPLETED") return GoneHow::Completed;
  if (state == "CANCELLED" || state == "PREEMPTED") return GoneHow::Cancelled;
  if (state == "TIMEOUT" || state == "DEADLINE") return GoneHow::TimedOut;
  if (state == "OUT_OF_MEMORY") return GoneHow::OutOfMemory;
  if (state == "NODE_FAIL" || state == "BOOT_FAIL") return GoneHow::NodeFailed;
  return GoneHow::Failed;
}

std::vector<NodePart> shares_of_cores(std::vector<NodePart> parts, int32_t cpus) {
  for (NodePart& part : parts) part.cores = cpus / static_cast<int32_t>(parts.size());
  return parts;
}

JobStand job_stand(const JobRow& row, const std::vector<NodePart>& parts) {
  JobStand out{.stand = stand_of(row)};
  Mark mark;
  if (parse_mark(row.mark, mark)) out.run = mark.run;
  out.start_ns = row.start_ns;
  out.end_ns = row.end_ns;
  out.parts = parts;
  out.reason = row.reason;
  out.hopeless = is_hopeless(row.reason);
  // Other jobs come first there, of a higher priority or with more than the node's GPUs in view:
  // with another GPU of the node it would wait as long.
  out.nodes_closed = row.reason.starts_with("ReqNode") || row.reason.starts_with("Nodes") ||
                     row.reason == "Priority";
  constexpr std::string_view kWhich = "UnavailableNodes:";
  if (const size_t at = row.reason.find(kWhich); out.nodes_closed && at != row.reason.npos) {
    out.closed_nodes = core::model::expand_host_list(row.reason.substr(at + kWhich.size()))
                           .value_or(std::vector<std::string>{});
  }
  if (out.stand == Stand::Ended) {
    out.ran = !row.nodes.empty();
    if (WIFEXITED(row.exit_status)) out.exit_code = WEXITSTATUS(row.exit_status);
    if (WIFSIGNALED(row.exit_status)) out.signal = WTERMSIG(row.exit_status);
    const GoneHow how = how_it_ended(row);
    out.out_of_memory = how == GoneHow::OutOfMemory;
    out.timed_out = how == GoneHow::TimedOut;
    out.cancelled = how == GoneHow::Cancelled;
    out.node_failed = how == GoneHow::NodeFailed;
  }
  return out;
}

job::JobSpec spec_of(const JobRow& row, const JobWords& words, std::string place,
                     const QueueRules& rules, std::span<const std::string> index_types) {
  job::JobSpec spec;
  spec.name = words.name;
  spec.owner = {.uid = row.uid, .gid = row.gid, .user = words.user};
  spec.account = row.account;
  spec.partition = std::move(place);
  spec.qos = row.qos;
  const int32_t nodes = std::max(row.num_nodes, 1);
  spec.instances = nodes;
  const auto gpus = requested_gpus(words, row);
  spec.num_gpus = gpus ? static_cast<int32_t>(std::min<int64_t>(gpus->count, 1'000'000)) : 0;
  spec.requeue = row.requeue && row.batch;  // Slurm requeues batch jobs only
  // A whole GPU cannot be shared, nor can a job with one be given shards. What cannot be requeued
  // could not be separated again.
  spec.training.sharing = gpus && gpus->shards > 0 && spec.requeue
                              ? core::model::SharingRequest::Yes
                              : core::model::SharingRequest::No;
  if (gpus && !names_index(words, index_types)) spec.gpu_model = gpus->type;
  spec.cores = row.cpus / nodes;
  spec.mem_bytes = row.mem_bytes;
  spec.walltime_limit_ns = row.limit_ns;
  spec.array_task = row.array_task;
  spec.preemptible = false;
  // Slurm gives a job the same types on all of its nodes, but not all components of a heterogeneous
  // one.
  spec.equal_indices =
      rules.indices == Indices::Types && nodes > 1 && row.components == 0 && takes_types(words);
  spec.held = is_held_by_user(row);
  return spec;
}

/// One condition, "afterok:12(unfulfilled)" or "singleton"; empty: it is met.
std::string condition(std::string_view text, const JobRow& job, std::span<const JobRow> rows,
                      const Outcomes& outcomes) {
  const std::string_view whole = text.substr(0, text.find('('));
  const std::string_view kind = whole.substr(0, whole.find(':'));
  if (kind == "singleton") return "";  // Slurm's own scheduler checks it
  std::string_view ids = kind.size() < whole.size() ? whole.substr(kind.size() + 1) : "";
  while (!ids.empty()) {
    const std::string_view id = ids.substr(0, ids.find(':'));
    ids.remove_prefix(std::min(id.size() + 1, ids.size()));
    const auto number = base::parse_int(id.substr(0, id.find_first_of("_+")));
    if (!number) return fmt::format("dependency {} is not understood", whole);
    const size_t under = id.find('_');
    // -1: any of the array
    int64_t task = under == id.npos ? -1 : base::parse_int(id.substr(under + 1)).value_or(-1);
    if (kind == "aftercorr" && job.array_task >= 0) task = job.array_task;
    bool listed = false, all_started = true, all_ended = true, all_well = true;
    for (const JobRow& row : rows) {
      if (row.job != *number && row.array_job != *number) continue;
      if (task >= 0 && row.array_task != task) continue;
      if (row.id() == job.id()) continue;
      listed = true;
      const Stand stand = stand_of(row);
      all_ended = all_ended && stand == Stand::Ended;
      all_started = all_started && (stand == Stand::Ended || stand == Stand::Running);
      all_well = all_well && row.state == "COMPLETED" && row.exit_status == 0;
    }
    if (!listed) {
      const auto known = outcomes.ended.find(*number);
      all_well = known != outcomes.ended.end() && known->second;
    }
    const bool ok = kind == "afterok" || kind == "aftercorr";
    if (kind == "after" && all_started) continue;
    if (!all_ended) return fmt::format("waits for job {} ({})", id, kind);
    if ((ok && !all_well) || (kind == "afternotok" && all_well)) {
      return fmt::format("never starts: job {} ended otherwise ({})", id, kind);
    }
  }
  return "";
}

}  // namespace

bool is_held_by_user(const JobRow& row) {
  return row.comment == kHeldMark || (row.mark == kHeldMark && row.comment != "goban:released");
}

Stand stand_of(const JobRow& row) {
  constexpr std::array<std::string_view, 9> kRuns = {
      "RUNNING",   "COMPLETING", "SUSPENDED", "CONFIGURING",       "STOPPED",
      "SIGNALING", "STAGE_OUT",  "RESIZING",  "REQUEUE_COMPLETING"};
  constexpr std::array<std::string_view, 6> kWaits = {
      "PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "RESV_DEL_HOLD", "SPECIAL_EXIT"};
  if (is_one_of(row.state, kRuns)) return Stand::Running;
  if (is_one_of(row.state, kWaits)) return row.priority == 0 ? Stand::Held : Stand::Released;
  return Stand::Ended;
}

namespace {

/// The nodes of a place that a job chose.
struct PlaceNodes {
  int32_t known = 0;
  int32_t up = 0;
  std::string why{};  ///< of one that is not in service

  void add(const SeenNode& node) {
    ++known;
    if (node.state == SeenNodeState::Up) {
      ++up;
    } else if (why.empty()) {
      why = fmt::format("{} is {}{}", node.name,
                        node.state == SeenNodeState::Down ? "down" : "drained",
                        node.reason.empty() ? "" : " (" + node.reason + ")");
    }
  }
};

/// What a place lacks for a job of so many nodes; empty: nothing.
std::string place_problem(const PlaceNodes& nodes, int32_t wanted) {
  if (nodes.known == 0) return "no node is known here that has what it names";
  if (nodes.up >= std::max(wanted, 1)) return "";
  return fmt::format("of the nodes that it may run on, {} {} in service: {}", nodes.up,
                     nodes.up == 1 ? "is" : "are", nodes.why);
}

/// Of a job that was placed, it may be Goban's own hold.
bool is_held_by_admin(const JobRow& row) {
  Mark mark;
  return stand_of(row) == Stand::Held && row.reason == "JobHeldAdmin" &&
         row.mark != kReleasedMark && !parse_mark(row.mark, mark);
}

/// Why Slurm schedules a job, for users.
std::string left_words(std::string_view why) {
  std::string reason(why);
  std::ranges::replace(reason, '-', ' ');
  return fmt::format("left to Slurm: {}", reason);
}

/// The same from its mark.
std::string slurms_reason(std::string_view mark) {
  if (!is_slurms(mark) || mark.size() <= kSlurmMark.size() + 1) return "";
  return left_words(mark.substr(kSlurmMark.size() + 1));
}

}  // namespace

bool is_new(const JobRow& row) {
  return stand_of(row) == Stand::Held && (row.mark.empty() || row.mark == kHeldMark) &&
         !is_held_by_user(row) && row.reason == "JobHeldUser";
}

std::string blocked_by(std::string_view text, const JobRow& job, std::span<const JobRow> rows,
                       const Outcomes& outcomes) {
  const bool any = text.find('?') != text.npos;
  std::string first;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(",?"), text.size());
    std::string why = condition(text.substr(0, end), job, rows, outcomes);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (why.empty() && any) return "";
    if (first.empty()) first = std::move(why);
  }
  return first;
}

namespace {

std::vector<std::string> places_wanted(std::span<const JobRow> rows,
                                       const std::map<std::string, JobFacts>& facts,
                                       const QueueRules& rules, const NodeTraits& traits) {
  std::vector<std::string> wanted;
  for (const JobRow& row : rows) {
    const auto fact = facts.find(row.id());
    if (fact == facts.end() || !fact->second.has_words) continue;
    const JobWords& words = fact->second.words;
    std::string place = place_of(row, words, traits.index_types);
    if (!is_place(place) || stand_of(row) == Stand::Ended) continue;
    if (!is_managed(row, words, rules, traits.index_types)) continue;
    if (row.batch || is_choice(place)) wanted.push_back(std::move(place));
  }
  return wanted;
}

/// Tells the managed nodes with their partitions and places. Returns the nodes of each place.
std::map<std::string, PlaceNodes> add_nodes(std::span<const NodeRow> nodes, const QueueRules& rules,
                                            const NodeTraits& traits, QueueView& view) {
  const bool tells_partitions = traits.partitions_differ || !view.places.empty();
  std::map<std::string, PlaceNodes> out;
  for (const NodeRow& node : nodes) {
    if (!is_managed_node(node, rules)) continue;
    view.picture.cluster.nodes.push_back(node.node);
    if (!tells_partitions) continue;
    auto& partitions = view.picture.cluster.nodes.back().partitions;
    partitions = managed_partitions(node, rules);
    const auto in = places_with(node, partitions, view.places);
    partitions.insert(partitions.end(), in.begin(), in.end());
    for (const std::string& place : in) out[place].add(node.node);
  }
  return out;
}

}  // namespace

QueueView view_of(std::span<const JobRow> rows, std::span<const NodeRow> nodes,
                  const std::map<std::string, JobFacts>& facts, const QueueRules& rules,
                  const Outcomes& outcomes, const cluster::Picture& told) {
  QueueView view;
  const NodeTraits traits = traits_of(nodes, rules);
  const std::span<const std::string> index_types = traits.index_types;
  view.places = places(places_wanted(rows, facts, rules, traits), told);
  if (!traits.partitions_differ) {
    std::erase_if(view.places, [](const std::string& place) { return !is_choice(place); });
  }
  std::map<std::string, PlaceNodes> inhabited = add_nodes(nodes, rules, traits, view);
  for (const JobRow& row : rows) {
    const std::string id = row.id();
    const auto fact = facts.find(id);
    const bool has_parts = fact != facts.end() && fact->second.parts_of_ns == row.start_ns;
    const std::vector<NodePart> parts =
        has_parts ? shares_of_cores(fact->second.parts, row.cpus) : std::vector<NodePart>{};
    JobStand stand = job_stand(row, parts);
    if (stand.stand == Stand::Ended) {
      JobGone gone{.id = id, .how = how_it_ended(row), .exit_code = stand.exit_code};
      gone.signal = stand.signal;
      if (row.reason != "None") gone.detail = row.reason;
      view.picture.ended[id] = std::move(gone);
      view.stands[id] = std::move(stand);
      continue;
    }
    if (fact == facts.end() || !fact->second.has_words) continue;
    const bool runs = stand.stand == Stand::Running;
    const JobWords& words = fact->second.words;
    JobSeen seen{.id = id, .managed = is_managed(row, words, rules, index_types)};
    // The plug-in cannot tell a heterogeneous job from another when it is submitted.
    std::string_view leaves = row.left;
    if (leaves.empty() && is_new(row) && is_managed(row, words, rules, {})) {
      leaves = why_for_slurm(row, words, traits, rules, view.places);
    }
    if (!leaves.empty()) view.leaves.emplace_back(id, leaves);
    // Slurm shows one partition of a job that runs.
    std::string place = place_of(row, words, index_types);
    if (!runs && is_unknown_place(place, traits, view.places)) seen.managed = false;
    view.stands[id] = stand;
    if (!runs && !seen.managed && !told.jobs.contains(id)) continue;
    seen.state = runs ? SeenState::Running : SeenState::Waiting;
    if (runs) seen.run = stand.run;
    seen.spec = spec_of(row, words, std::move(place), rules, index_types);
    if (!seen.managed) seen.spec.partition = partition_list(row.partition);
    constexpr std::string_view kComment = "goban:";
    if (seen.managed && row.comment.starts_with(kComment)) {
      const std::string_view said = std::string_view(row.comment).substr(kComment.size());
      std::string wrong = job::read_stage_words(said, seen.spec);
      if (wrong.empty()) wrong = read_training_words(said, seen.spec);
      if (!wrong.empty()) seen.blocked = "its comment cannot be read: " + wrong;
    }
    if (row.array_task >= 0) seen.array = std::to_string(row.array_job);
    if (!seen.managed) seen.blocked = slurms_reason(row.mark);
    if (!leaves.empty()) seen.blocked = left_words(leaves);
    // Slurm accepted it, so that nodes are about to be seen that fit; elsewhere it must not start.
    if (seen.managed && !runs && view.places.contains(seen.spec.partition)) {
      const PlaceNodes& there = inhabited[seen.spec.partition];
      std::string why = place_problem(there, row.num_nodes);
      if (!why.empty()) seen.blocked = std::move(why);
      view.lacks_nodes = view.lacks_nodes || there.known == 0;
    }
    if (!runs && !row.dependency.empty()) {
      std::string why = blocked_by(row.dependency, row, rows, outcomes);
      if (!why.empty()) seen.blocked = std::move(why);
    }
    if (seen.managed && !runs && seen.blocked.empty() && is_held_by_admin(row)) {
      seen.blocked = "held by an administrator; scontrol uhold gives it back to Goban";
    }
    if (row.lost_components) {
      seen.blocked = "some of its components have ended: Slurm does not start the others again";
    }
    // A held job shows no begin time but the one that it asked for; a requeued one, which began
    // already, one that Slurm made up.
    if (!runs && row.restarts == 0 && row.eligible_ns > row.submit_ns) {
      seen.spec.begin_ns = row.eligible_ns;
    }
    seen.submit_ns = std::max<base::TimeNs>(row.submit_ns, 0);
    if (runs) seen.start_ns = row.start_ns;
    if (runs) seen.parts = parts;
    view.picture.jobs[id] = std::move(seen);
  }
  return view;
}

void block_by_limits(QueueView& view, std::span<const JobRow> rows,
                     const std::map<std::string, JobFacts>& facts, const Limits& limits) {
  if (limits.associations.empty() && limits.qos.empty()) return;
  std::vector<LimitedJob> jobs;
  for (const JobRow& row : rows) {
    const auto fact = facts.find(row.id());
    if (fact == facts.end() || !fact->second.has_words) continue;
    const auto seen = view.picture.jobs.find(row.id());
    const bool managed = seen != view.picture.jobs.end() && seen->second.managed;
    const Stand stand = stand_of(row);
    // What we released is as good as started.
    const bool holds = stand == Stand::Running || (stand == Stand::Released && managed);
    const bool waits =
        managed && stand == Stand::Held && seen->second.blocked.empty() && !seen->second.spec.held;
    if (!holds && !waits) continue;
    const auto gpus = requested_gpus(fact->second.words, row);
    const int64_t count = gpus && gpus->shards == 0 ? gpus->count : 0;
    jobs.push_back({.row = &row, .gpus = count, .holds = holds});
  }
  std::ranges::stable_sort(jobs, {}, [](const LimitedJob& job) {
    return std::tuple(job.row->submit_ns,
                      job.row->array_job != 0 ? job.row->array_job : job.row->job,
                      job.row->array_task);
  });
  for (auto& [id, why] : limits_reached(limits, jobs)) {
    view.picture.jobs.at(id).blocked = std::move(why);
  }
}

void set_priorities(QueueView& view, std::span<const JobRow> rows,
                    const std::map<std::string, JobFacts>& facts, const PriorityRules& rules,
                    base::TimeNs now_ns) {
  if (!rules.multifactor) return;
  for (const JobRow& row : rows) {
    const auto seen = view.picture.jobs.find(row.id());
    if (seen == view.picture.jobs.end()) continue;
    JobSeen& job = seen->second;
    if (!job.managed || job.state != SeenState::Waiting) continue;
    job.spec.priority = priority_of(rules, row, facts.at(row.id()).words, now_ns);
  }
}

void limit_arrays(QueueView& view, std::span<const JobRow> rows,
                  const std::map<int64_t, int32_t>& limits) {
  if (limits.empty()) return;
  for (const JobRow& row : rows) {
    const auto limit = limits.find(row.array_job);
    if (limit == limits.end()) continue;
    const auto seen = view.picture.jobs.find(row.id());
    if (seen != view.picture.jobs.end()) seen->second.spec.array_limit = limit->second;
  }
}

}  // namespace goban::live::engine::slurm
