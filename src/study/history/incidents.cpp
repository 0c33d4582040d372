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

/// An interval in which one node is down.
struct Outage {
  TimeNs begin_ns = 0;
  TimeNs end_ns = base::kNever;
  bool is_failure = false;
  TimeNs announce_ns = 0;  ///< of maintenance
};

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

  [[nodiscard]] const std::vector<Event>& job_failures() const { return job_failures_; }
  /// By node, so that events at the same time are in the order of the nodes.
  [[nodiscard]] const std::map<size_t, std::vector<Outage>>& outages() const { return outages_; }

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
  std::map<size_t, std::vector<Outage>> outages_;
  std::unordered_map<std::string_view, size_t> job_ids_;  ///< filled when first needed
  std::vector<Event> job_failures_;
  size_t num_outages_ = 0;
};

/// The events of one node, in time order.
class NodeTimeline {
 public:
  NodeTimeline(NodeId node, std::vector<Outage> outages)
      : node_(node), outages_(std::move(outages)) {
    // A failure precedes maintenance that starts at the same time: its jobs are lost.
    std::ranges::stable_sort(outages_, {}, [](const Outage& outage) {
      return std::pair(outage.begin_ns, !outage.is_failure);
    });
  }

  void append_to(std::vector<Event>& events) const {
    TimeNs up_since = 0;
    for (size_t i = 0; i < outages_.size();) {
      announce(i, up_since, events);
      const Outage& first = outages_[i];
      events.push_back(
          event(first.is_failure ? EventKind::NodeLost : EventKind::NodeClosed, first.begin_ns));
      up_since = first.end_ns;
      for (++i; i < outages_.size() && outages_[i].begin_ns <= up_since; ++i) {
        up_since = std::max(up_since, outages_[i].end_ns);
      }
      if (up_since == base::kNever) return;
      events.push_back(event(EventKind::NodeRestored, up_since));
    }
  }

 private:
  [[nodiscard]] Event event(EventKind kind, TimeNs at_ns) const {
    Event out;
    out.kind = kind;
    out.at_ns = at_ns;
    out.node = node_;
    return out;
  }

  /// Announcements while the node is up, from `up_since` to the outage `next`: at any time the
  /// earliest known window. A window announced after an earlier one adds nothing.
  void announce(size_t next, TimeNs up_since, std::vector<Event>& events) const {
    const TimeNs until_ns = outages_[next].begin_ns;
    std::vector<std::pair<TimeNs, TimeNs>> known;  // time of the announcement, start of the window
    for (size_t i = next; i < outages_.size(); ++i) {
      const TimeNs at_ns = std::max(outages_[i].announce_ns, up_since);
      if (outages_[i].is_failure || at_ns >= until_ns) continue;
      // Windows are ordered by start, so this one matters only if it is known before all others.
      if (!known.empty() && at_ns >= known.back().first) continue;
      known.emplace_back(at_ns, outages_[i].begin_ns);
      if (at_ns == up_since) break;
    }
    for (auto it = known.rbegin(); it != known.rend(); ++it) {
      events.push_back(event(EventKind::NodeDrained, it->first));
      events.back().until_ns = it->second;
    }
  }

  NodeId node_;
  std::vector<Outage> outages_;
};

}  // namespace

Result<std::vector<Event>> parse_incidents(std::string_view toml, const std::string& file,
                                           const core::model::Cluster& cluster,
                                           const core::model::JobHistory& history) {
  const auto document = base::parse_config(toml, file);
  if (!document) return base::failure(document.error());
  IncidentReader reader(*document, file, cluster, history);
  if (auto status = reader.run(); !status) return base::failure(status.error());
  std::vector<Event> events = reader.job_failures();
  for (const auto& [node, outages] : reader.outages()) {
    NodeTimeline(NodeId(node), outages).append_to(events);
  }
  std::ranges::stable_sort(events, {}, &Event::at_ns);
  return events;
}

Result<std::vector<Event>> read_incidents(const std::string& path,
                                          const core::model::Cluster& cluster,
                                          const core::model::JobHistory& history) {
  const auto text = base::read_text_file(path, kFileBytesMax);
  if (!text) return base::failure(text.error());
  return parse_incidents(*text, base::input_name(path), cluster, history);
}

}  // namespace goban::study::history
