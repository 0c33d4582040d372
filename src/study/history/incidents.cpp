#include "study/history/incidents.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <unordered_map>

#include "base/config.hpp"
#include "base/text_file.hpp"

namespace goban::study::history {
namespace {

using base::Result;
using base::TableReader;
using base::TimeNs;
using core::model::Event;
using core::model::EventKind;
using core::model::NodeId;

constexpr size_t kOutagesMax = 5'000'000;  // nodes times incidents
constexpr size_t kNodeOutagesMax = 1'000;
constexpr const char* kCrash = "crash";
constexpr const char* kOutOfMemory = "out of memory";
constexpr size_t kFileBytesMax = size_t{64} << 20;

class IncidentReader {
 public:
  IncidentReader(const base::ConfigValue& document, const std::string& file,
                 const core::model::Cluster& cluster, const core::model::JobHistory& history)
      : cluster_(cluster), history_(history), problems_(file), root_(document, "", problems_) {
    for (size_t i = 0; i < cluster.nodes().size(); ++i) ids_[cluster.nodes()[i].name] = i;
  }

  base::Status run() {
    for (TableReader& table : root_.tables("failure")) read_failure(table);
    for (TableReader& table : root_.tables("maintenance")) read_maintenance(table);
    for (TableReader& table : root_.tables("job_failure")) read_job_failure(table);
    root_.finish();
    return problems_.status();
  }

  [[nodiscard]] std::vector<Event> take_job_failures() { return std::move(job_failures_); }
  [[nodiscard]] NodeOutages take_outages() { return std::move(outages_); }

 private:
  void read_failure(TableReader& table) {
    table.require("at", "give the time of the failure, such as \"3600s\"");
    const std::vector<size_t> nodes = read_nodes(table);
    Outage outage;
    outage.is_failure = true;
    outage.begin_ns = table.duration("at");
    if (table.has("repair_after")) {
      outage.end_ns = base::add_saturating(outage.begin_ns, table.duration("repair_after"));
    }
    table.finish();
    if (outage.end_ns <= outage.begin_ns) {
      table.refuse("repair_after", "must be positive", "omit it if the node never returns");
    }
    add(table, nodes, outage);
  }

  void read_maintenance(TableReader& table) {
    table.require("start", "give the start of the window, such as \"24h\"");
    table.require("end", "give the end of the window, such as \"30h\"");
    const std::vector<size_t> nodes = read_nodes(table);
    Outage outage;
    outage.announce_ns = table.duration("announce");
    outage.begin_ns = table.duration("start");
    outage.end_ns = table.duration("end");
    table.finish();
    if (outage.end_ns <= outage.begin_ns) {
      table.refuse("end", "must be after start", "swap start and end?");
    }
    if (outage.announce_ns > outage.begin_ns) {
      table.refuse("announce", "must not be after start", "announce the window before it starts");
    }
    add(table, nodes, outage);
  }

  void read_job_failure(TableReader& table) {
    table.require("job", "name a job of the history");
    table.require("at", "give the time of the failure, such as \"3600s\"");
    const std::string job = table.text_or_number("job");
    const std::string reason = table.text("reason", kCrash);
    Event event{.kind = EventKind::JobBroke, .at_ns = table.duration("at"), .failed = true};
    table.finish();
    if (reason != kCrash && reason != kOutOfMemory) {
      table.refuse("reason", fmt::format("unknown reason \"{}\"", reason),
                   fmt::format("give \"{}\" or \"{}\"", kCrash, kOutOfMemory));
    }
    event.out_of_memory = reason == kOutOfMemory;
    if (job_ids_.empty()) {
      for (size_t i = 0; i < history_.jobs.size(); ++i) job_ids_.emplace(history_.job_names[i], i);
    }
    const auto found = job_ids_.find(job);
    if (found == job_ids_.end()) {
      return table.refuse("job", fmt::format("the history has no job {}", job),
                          "ids are those of the column job_id; array tasks end in _0, _1");
    }
    event.job = core::model::JobId(found->second);
    job_failures_.push_back(event);
  }

  std::vector<size_t> read_nodes(TableReader& table) {
    const std::vector<std::string> one = table.texts("node");
    const std::vector<std::string> many = table.texts("nodes");
    if (one.empty() == many.empty()) {
      table.refuse("nodes", one.empty() ? "is missing" : "is mutually exclusive with node",
                   "give node = \"name\" or nodes = [\"name\", \"first..last\"]");
    }
    std::set<size_t> nodes;
    const std::string_view key = many.empty() ? "node" : "nodes";
    for (const std::string& name : many.empty() ? one : many) add_nodes(table, key, name, nodes);
    return {nodes.begin(), nodes.end()};
  }

  void add_nodes(TableReader& table, std::string_view key, const std::string& name,
                 std::set<size_t>& nodes) {
    if (problems_.any()) return;
    size_t first = 0;
    size_t last = cluster_.nodes().size() - 1;
    if (const size_t dots = name.find(".."); ids_.contains(name)) {
      first = last = ids_[name];
    } else if (dots != name.npos) {
      const auto begin = ids_.find(name.substr(0, dots));
      const auto end = ids_.find(name.substr(dots + 2));
      if (begin == ids_.end() || end == ids_.end() || begin->second > end->second) {
        return table.refuse(key, fmt::format("\"{}\" is not a valid range of nodes", name),
                            "give first..last, in the order of the cluster");
      }
      first = begin->second;
      last = end->second;
    } else if (name != "*") {
      return table.refuse(key, fmt::format("the cluster has no node {}", name),
                          fmt::format("its nodes are {} to {}", cluster_.nodes().front().name,
                                      cluster_.nodes().back().name));
    }
    for (size_t node = first; node <= last; ++node) nodes.insert(node);
  }

  void add(TableReader& table, const std::vector<size_t>& nodes, const Outage& outage) {
    num_outages_ += nodes.size();
    if (num_outages_ > kOutagesMax) {
      table.refuse("nodes", fmt::format("more than {} outages of nodes", kOutagesMax),
                   "split the file");
    }
    if (problems_.any()) return;
    for (const size_t node : nodes) {
      outages_[node].push_back(outage);
      if (outages_[node].size() > kNodeOutagesMax) {
        return table.refuse("nodes",
                            fmt::format("more than {} incidents of {}", kNodeOutagesMax,
                                        cluster_.nodes()[node].name),
                            "split the file");
      }
    }
  }

  const core::model::Cluster& cluster_;
  const core::model::JobHistory& history_;
  base::ConfigProblems problems_;
  TableReader root_;
  std::unordered_map<std::string, size_t> ids_;
  NodeOutages outages_;
  std::unordered_map<std::string_view, size_t> job_ids_;  ///< filled when first needed
  std::vector<Event> job_failures_;
  size_t num_outages_ = 0;
};

}  // namespace

Result<Incidents> parse_incident_file(std::string_view toml, const std::string& file,
                                      const core::model::Cluster& cluster,
                                      const core::model::JobHistory& history) {
  const auto document = base::parse_config(toml, file);
  if (!document) return base::failure(document.error());
  IncidentReader reader(*document, file, cluster, history);
  if (auto status = reader.run(); !status) return base::failure(status.error());
  return Incidents{.outages = reader.take_outages(), .job_failures = reader.take_job_failures()};
}

Result<Incidents> read_incidents(const std::string& path, const core::model::Cluster& cluster,
                                 const core::model::JobHistory& history) {
  const auto text = base::read_text_file(path, kFileBytesMax);
  if (!text) return base::failure(text.error());
  return parse_incident_file(*text, base::input_name(path), cluster, history);
}

std::vector<Event> Incidents::events() const {
  std::vector<Event> events = outage_events(outages);
  events.insert(events.begin(), job_failures.begin(), job_failures.end());
  std::ranges::stable_sort(events, {}, &Event::at_ns);
  return events;
}

Result<std::vector<Event>> parse_incidents(std::string_view toml, const std::string& file,
                                           const core::model::Cluster& cluster,
                                           const core::model::JobHistory& history) {
  const auto incidents = parse_incident_file(toml, file, cluster, history);
  if (!incidents) return base::failure(incidents.error());
  return incidents->events();
}

}  // namespace goban::study::history
