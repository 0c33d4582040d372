// Snapshots: everything of a controller as one line of JSON, and a controller made from it.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json_fields.hpp"
#include "core/scheduler/core_image.hpp"
#include "live/controller/book_json.hpp"
#include "live/controller/controller_state.hpp"
#include "live/controller/core_image_json.hpp"
#include "live/controller/run_report_json.hpp"

namespace goban::live::controller {

using base::Status;
using nlohmann::json;

namespace {

/// Raise it when a reader of the version before would misunderstand; read the one before for ever.
/// What has open reservations is of version 2: a reader that knows none would give their nodes
/// away.
constexpr int32_t kVersion = 2;

json names_json(const base::NameTable& names) {
  json out = json::array();
  for (size_t i = 0; i < names.size(); ++i) out.push_back(names[i]);
  return out;
}

/// Adds the snapshot's names to those of the configuration. Returns their numbers now.
template <typename Id>
std::vector<Id> adopt_names(base::FieldReader& in, const char* name, base::NameTable& names) {
  std::vector<std::string> of_snapshot;
  in.field(name, of_snapshot);
  std::vector<Id> numbers;
  for (const std::string& each : of_snapshot) numbers.emplace_back(names.intern(each));
  return numbers;
}

template <typename Id>
bool are_other(const std::vector<Id>& numbers) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i].index() != i) return true;
  }
  return false;
}

template <typename Id>
json numbers_json(const std::set<Id>& ids) {
  json out = json::array();
  for (const Id id : ids) out.push_back(id.value);
  return out;
}

template <typename Id>
void read_numbers(base::FieldReader& in, const char* name, uint32_t below, std::set<Id>& ids) {
  const json* list = in.find(name);
  if (list == nullptr) return;
  if (!list->is_array()) return in.fail(name, "is no list");
  for (const json& each : *list) {
    if (!each.is_number_unsigned() || each.get<uint64_t>() >= below) {
      return in.fail(name, "holds a number that is none of theirs");
    }
    ids.insert(Id(each.get<uint32_t>()));
  }
}

void check_nodes(base::FieldReader& in, const JobBook& book, uint32_t num_nodes) {
  for (const auto& [id, each] : book.reservations) {
    const bool fit =
        std::ranges::all_of(each.plan.nodes, [&](NodeId node) { return node.value < num_nodes; });
    if (!fit) return in.fail("reservations", "name nodes that the cluster does not have");
  }
}

void check_gpus(base::FieldReader& in, const JobBook& book, uint32_t num_gpus) {
  const auto fit = [num_gpus](const std::vector<GpuId>& gpus) {
    return std::ranges::all_of(gpus, [num_gpus](GpuId gpu) { return gpu.value < num_gpus; });
  };
  for (const auto& [id, job] : book.jobs) {
    bool good = fit(job.gpus);
    for (const PastRun& run : job.past) good = good && fit(run.gpus);
    if (!good) return in.fail("jobs", "names GPUs that the cluster does not have");
  }
  for (const auto& [id, run] : book.runs) {
    if (!fit(run.gpus)) return in.fail("runs", "names GPUs that the cluster does not have");
  }
}

}  // namespace

std::string Controller::snapshot() {
  State& state = *state_;
  json drained = json::array();
  for (const auto& [node, reason] : state.drained) {
    drained.push_back({{"node", node.value}, {"reason", reason}});
  }
  const bool reserves = std::ranges::any_of(state.book.reservations,
                                            [](const auto& r) { return r.second.is_open(); });
  json out{{"version", reserves ? kVersion : 1},
           {"cluster",
            {{"name", state.site.cluster.name()},
             {"nodes", state.site.cluster.nodes().size()},
             {"gpus", state.site.cluster.num_gpus()}}},
           {"clock", state.clock_ns},
           {"next_forget", state.next_forget_ns},
           {"names",
            {{"models", names_json(state.models)},
             {"users", names_json(state.site.users)},
             {"accounts", names_json(state.site.accounts)},
             {"partitions", names_json(state.site.partitions)},
             {"qos", names_json(state.site.qos)},
             {"apps", names_json(state.applications.names())},
             {"gpu_types", names_json(state.applications.gpu_types())}}},
           {"book", to_json(state.book)},
           {"observer", to_json(state.observer)},
           {"paces", paces_json(state.observer)},
           {"drained", std::move(drained)},
           {"down", numbers_json(state.down)},
           {"watched", numbers_json(state.watched)},
           {"core", to_json(state.core->image())}};
  // A policy without power limits has lifted those of the one before by now.
  if (!state.capped.empty() && state.caps_power) {
    out["capped"] = numbers_json(state.capped);
  }
  if (!state.measured_scores.empty()) {
    out["scores"] = {{"table", state.measured_scores}, {"instead_of", state.configured_scores}};
  }
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

Status Controller::restore(std::string_view snapshot) {
  const json document = json::parse(snapshot, nullptr, false);
  if (document.is_discarded()) return base::bad_data({}, "the snapshot is no JSON");
  State& state = *state_;
  base::FieldReader in(document, "snapshot");
  int32_t version = 0;
  in.field("version", version, 0, INT32_MAX);
  if (in.good() && (version < 1 || version > kVersion)) {
    return base::bad_data(
        {}, fmt::format("the snapshot has version {}, this goban reads 1 to {}", version, kVersion),
        "start the goban that wrote it; nothing was changed");
  }
  const auto num_nodes = static_cast<uint32_t>(state.site.cluster.nodes().size());
  in.object("cluster", [&](base::FieldReader& part) {
    uint32_t gpus = 0;
    part.field("gpus", gpus, uint32_t{0}, UINT32_MAX);
    if (gpus == state.site.cluster.num_gpus()) return;
    part.fail("gpus", fmt::format("was {}, and now there are {} GPUs", gpus,
                                  state.site.cluster.num_gpus()));
  });
  in.field("clock", state.clock_ns, TimeNs{0}, base::kNever);
  in.field("next_forget", state.next_forget_ns, TimeNs{0}, base::kNever);
  std::vector<std::string> apps;
  std::vector<std::string> gpu_types;
  core::scheduler::PeopleNumbers people;
  in.object("names", [&](base::FieldReader& part) {
    (void)adopt_names<core::model::ModelId>(part, "models", state.models);
    people.users = adopt_names<core::model::UserId>(part, "users", state.site.users);
    people.accounts = adopt_names<core::model::AccountId>(part, "accounts", state.site.accounts);
    people.partitions =
        adopt_names<core::model::PartitionId>(part, "partitions", state.site.partitions);
    people.qos = adopt_names<core::model::QosId>(part, "qos", state.site.qos);
    part.field("apps", apps);
    part.field("gpu_types", gpu_types);
  });
  const auto renumbering = state.applications.adopt(apps, gpu_types);
  in.object("book", [&](base::FieldReader& part) { read_book(part, state.book); });
  check_gpus(in, state.book, state.site.cluster.num_gpus());
  check_nodes(in, state.book, num_nodes);
  read_observer(in, "observer", state.observer);
  read_paces(in, "paces", renumbering.apps, state.observer);
  in.list("drained", [&](base::FieldReader& part) {
    NodeId node;
    std::string reason;
    part.field("node", node.value, uint32_t{0}, num_nodes - 1);
    part.field("reason", reason);
    if (part.good() && node.valid()) state.drained[node] = reason;
  });
  read_numbers(in, "down", num_nodes, state.down);
  read_numbers(in, "watched", state.book.next_job, state.watched);
  read_numbers(in, "capped", state.site.cluster.num_gpus(), state.capped);
  ScoresMeasured scores;
  in.object("scores", [&](base::FieldReader& part) {
    part.field("table", scores.table);
    part.field("instead_of", scores.instead_of);
  });
  if (auto status = in.status(); !status) return status;
  if (!scores.table.empty()) {
    if (auto status = check_scores(scores, state.site); !status) return status;
    state.take(scores, state.clock_ns);
  }
  const auto core = document.find("core");
  if (core == document.end()) return base::bad_data({}, "the snapshot has no core");
  auto image = parse_core_image(*core);
  if (!image) return base::failure(image.error());
  if (renumbering.is_needed()) {
    core::scheduler::renumber(*image, renumbering.apps, renumbering.gpu_types);
  }
  const bool others = are_other(people.users) || are_other(people.accounts) ||
                      are_other(people.partitions) || are_other(people.qos);
  if (others) core::scheduler::renumber(*image, people);
  for (const auto& [id, job] : state.book.jobs) {
    if (job.stage == JobStage::Depends) state.note_dependent(job);
    if (job.stage != JobStage::Done) ++state.open_jobs[job.spec.owner.uid];
  }
  return state.core->restore(*image);
}

}  // namespace goban::live::controller
