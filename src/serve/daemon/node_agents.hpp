// The daemon's side of the agents on nodes (docs/agent.md): takes their reports, keeps the latest
// readings and a series store, joins readings and jobs, and notices agents that are lost. Nothing
// here waits for the scheduler, nor the scheduler for anything here.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "live/loop/live_scheduler.hpp"
#include "serve/api/daemon_parts.hpp"
#include "serve/daemon/agent_box.hpp"

namespace goban::serve::daemon {

struct NodeAgentsOptions {
  std::string state{};                         ///< folder of the list of known agents; empty = none
  std::string series{};                        ///< folder of the series store; empty = none
  base::TimeNs look_every_ns = base::kSecond;  ///< at the scheduler's jobs and nodes
  base::TimeNs write_every_ns = 60 * base::kSecond;  ///< a crash loses at most this period
  /// Samples kept until they are written. Reports for which there is no room are refused, so that
  /// agents keep them; while the store fails, the oldest samples are discarded instead.
  size_t samples_max = 200'000;
  std::function<base::TimeNs()> wall_clock{};     ///< empty: the system's
  std::function<void(const std::string&)> say{};  ///< logs problems of the store, once each
  std::function<bool()> may_write{};              ///< called before each write; empty: always
  /// EngineView::parts_of_jobs(); empty: each job is one part.
  std::function<std::map<std::string, std::string>()> parts_of_jobs{};
};

class NodeAgents final : public api::AgentInbox, public api::GpuMonitor {
 public:
  /// `scheduler` outlives this object.
  NodeAgents(const live::loop::SchedulerClient& scheduler, std::shared_ptr<AgentBox> box,
             NodeAgentsOptions options);
  ~NodeAgents() override;
  NodeAgents(const NodeAgents&) = delete;
  NodeAgents& operator=(const NodeAgents&) = delete;

  base::Status take(const std::string& node, site::telemetry::AgentReport report) override;
  [[nodiscard]] std::map<std::string, api::AgentStand> stands() const override;
  /// Readings that are older than three intervals of their agent are left out.
  [[nodiscard]] api::GpuReadings latest() const override;
  [[nodiscard]] base::Result<api::GpuCurves> curves(const api::GpuWindow& window) const override;

 private:
  struct Agent {
    std::string word{};  ///< AgentReport::agent
    int64_t sequence = -1;
    base::TimeNs interval_ns = 0;
    base::TimeNs report_ns = 0;
    api::AgentStand stand{};
    struct Latest {
      base::TimeNs at_ns = 0;
      base::gpus::GpuReading reading{};
    };
    std::map<std::string, Latest> gpus{};  ///< by index
    /// Those of its samples since the start; a bound on what a lying agent adds to the store.
    std::set<site::series::DeviceKey> devices{};
  };
  struct Sample {
    site::series::DeviceKey key{};
    int64_t time_ms = 0;
    uint32_t step_ms = 0;
    std::vector<std::pair<site::series::Metric, site::series::Reading>> readings{};
  };
  /// A job of the engine, as of the last look.
  struct Job {
    live::RunId run{};
    bool has_uid = false;  ///< its owner is a Unix user
    uint32_t uid = 0;
    base::TimeNs start_ns = 0;
    std::set<std::string> nodes{};  ///< where it runs or ran last; empty: unknown
    bool is_part = false;           ///< one of several parts, as it stands here by that part's name
  };
  /// What the scheduler knew at the last look.
  struct Table {
    struct Holder {
      live::RunId run{};
      base::TimeNs start_ns = 0;
    };
    std::map<std::string, std::vector<std::vector<Holder>>> nodes{};  ///< by node, by index
    std::map<std::string, Job, std::less<>> jobs{};  ///< by the engine's id, or a part's name
    std::vector<site::series::DeviceKey> keys{};     ///< by GPU
  };

  void work();
  void look();
  void write();
  /// So many samples wait that they are written before their time.
  [[nodiscard]] bool is_filling() const;
  [[nodiscard]] bool has_room(const site::telemetry::AgentReport& report) const;
  [[nodiscard]] base::Status write_samples(const std::vector<Sample>& samples) const;
  void remember() const;
  void recall();
  [[nodiscard]] bool is_lost(const Agent& agent, base::TimeNs now_ns) const;
  void take_samples(const std::string& node, const site::telemetry::AgentReport& report,
                    const std::vector<std::vector<Table::Holder>>& holders, Agent& agent,
                    base::TimeNs now_ns);
  void take_jobs(const std::string& node, const site::telemetry::AgentReport& report,
                 std::vector<std::vector<Table::Holder>>& holders, const Table& table);
  [[nodiscard]] base::TimeNs now_ns() const;

  const live::loop::SchedulerClient& scheduler_;
  std::shared_ptr<AgentBox> box_;
  NodeAgentsOptions options_;
  base::TimeNs next_write_ns_ = 0;
  std::string said_{};

  mutable std::mutex mutex_{};
  std::condition_variable wake_{};
  std::shared_ptr<const Table> table_{};
  std::map<std::string, Agent> agents_{};
  std::deque<Sample> samples_{};  ///< not yet written
  uint64_t first_sample_ = 0;     ///< number of the first of them
  bool discards_ = false;         ///< they cannot be written: the oldest make room
  bool ending_ = false;
  std::thread thread_{};
};

}  // namespace goban::serve::daemon
