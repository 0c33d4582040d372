#include "live/controller/snapshot.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json_fields.hpp"
#include "live/controller/book_json.hpp"

namespace goban::live::controller {

using base::Status;
using nlohmann::json;

namespace {

/// Increase it when a reader of the previous version would misread the snapshot; older versions
/// stay readable. Snapshots with open reservations have version 2, and those with a pilot on some
/// nodes version 3: an earlier reader would give these nodes to other jobs.
constexpr int32_t kVersion = 3;

int32_t version_of(const JobBook& book) {
  if (book.pilot && book.pilot->runs() && book.pilot->part.valid()) return 3;
  const bool reserves = std::ranges::any_of(book.reservations,
                                            [](const auto& each) { return each.second.is_open(); });
  return reserves ? 2 : 1;
}

void check_nodes(base::FieldReader& in, const JobBook& book, uint32_t num_nodes) {
  for (const auto& [id, each] : book.reservations) {
    const bool fit =
        std::ranges::all_of(each.plan.nodes, [&](NodeId node) { return node.value < num_nodes; });
    if (!fit) return in.fail("reservations", "contains nodes that the cluster does not have");
  }
}

void check_gpus(base::FieldReader& in, const JobBook& book, uint32_t num_gpus) {
  const auto fit = [num_gpus](const std::vector<GpuId>& gpus) {
    return std::ranges::all_of(gpus, [num_gpus](GpuId gpu) { return gpu.value < num_gpus; });
  };
  for (const auto& [id, job] : book.jobs) {
    bool good = fit(job.gpus);
    for (const PastRun& run : job.past) good = good && fit(run.gpus);
    if (!good) return in.fail("jobs", "contains GPUs that the cluster does not have");
  }
  for (const auto& [id, run] : book.runs) {
    if (!fit(run.gpus)) return in.fail("runs", "contains GPUs that the cluster does not have");
  }
}

void check_cluster(base::FieldReader& in, uint32_t num_gpus) {
  in.object("cluster", [&](base::FieldReader& part) {
    uint32_t gpus = 0;
    part.field("gpus", gpus, uint32_t{0}, UINT32_MAX);
    if (gpus == num_gpus) return;
    part.fail("gpus", fmt::format("was {}; the cluster now has {} GPUs", gpus, num_gpus));
  });
}

}  // namespace

std::string write_snapshot(const SnapshotParts& parts) {
  const core::model::Cluster& cluster = parts.core.site().cluster;
  json out{
      {"version", version_of(parts.book)},
      {"cluster",
       {{"name", cluster.name()}, {"nodes", cluster.nodes().size()}, {"gpus", cluster.num_gpus()}}},
      {"clock", parts.clock_ns},
      {"next_forget", parts.next_forget_ns},
      {"book", to_json(parts.book)}};
  parts.core.write(out);
  parts.limits.write(out);
  parts.observation.write(out);
  parts.forecasts.write(out);
  parts.runs.write(out);
  parts.nodes.write(out);
  parts.clusters.write(out);
  parts.staging.write(out);
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

Status read_snapshot(std::string_view text, const SnapshotParts& parts) {
  const json document = json::parse(text, nullptr, false);
  if (document.is_discarded()) return base::bad_data({}, "the snapshot is not valid JSON");
  base::FieldReader in(document, "snapshot");
  int32_t version = 0;
  in.field("version", version, 0, INT32_MAX);
  if (in.good() && (version < 1 || version > kVersion)) {
    return base::bad_data(
        {},
        fmt::format("the snapshot has version {}; this release reads versions 1 to {}", version,
                    kVersion),
        "start the release that wrote it; nothing was changed");
  }
  parts.clusters.read(in);
  const core::model::Cluster& cluster = parts.core.site().cluster;
  check_cluster(in, cluster.num_gpus());
  in.field("clock", parts.clock_ns, TimeNs{0}, base::kNever);
  in.field("next_forget", parts.next_forget_ns, TimeNs{0}, base::kNever);
  const DecisionCore::Names names = parts.core.read_names(in);
  in.object("book", [&](base::FieldReader& part) { read_book(part, parts.book); });
  check_gpus(in, parts.book, cluster.num_gpus());
  check_nodes(in, parts.book, static_cast<uint32_t>(cluster.nodes().size()));
  parts.observation.read(in, names.applications.apps);
  parts.forecasts.read(in);
  parts.nodes.read(in);
  parts.runs.read(in);
  parts.staging.read(in);
  parts.limits.read(in);
  if (auto status = in.status(); !status) return status;
  parts.pilots.resume();
  if (auto status = parts.core.restore(in, names); !status) return status;
  parts.jobs.index_book();
  return {};
}

}  // namespace goban::live::controller
