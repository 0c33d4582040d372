#include "serve/daemon/machine_daemon.hpp"

#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "live/engine/engines.hpp"
#include "live/journal/journal_file.hpp"
#include "live/journal/state_lock.hpp"
#include "live/staging/staging_engine.hpp"
#include "serve/api/api_client.hpp"
#include "serve/api/dashboard_page.hpp"
#include "serve/daemon/agent_box.hpp"
#include "serve/daemon/gpu_watcher.hpp"
#include "serve/daemon/machine_gpus.hpp"
#include "serve/daemon/made_with.hpp"
#include "serve/daemon/node_agents.hpp"
#include "serve/daemon/past_jobs.hpp"
#include "serve/daemon/past_runs.hpp"
#include "serve/daemon/progress_curves.hpp"
#include "serve/daemon/reason_teller.hpp"
#include "serve/daemon/score_keeper.hpp"
#include "serve/daemon/site.hpp"
#include "serve/daemon/start_forecaster.hpp"
#include "serve/daemon/store_accounting.hpp"
#include "serve/stores/payload_store.hpp"
#include "serve/stores/profile_book.hpp"
#include "study/what_if.hpp"

namespace goban::serve::daemon {

using base::Result;
using base::Status;

namespace {

constexpr const char* kLinkFile = "dashboard-link";
constexpr const char* kHeartbeatFile = "heartbeat";

/// Creates a folder that only the daemon's user may enter. Accepts an existing folder of this user
/// or root if it is private, a state folder, or empty.
Status make_private_folder(const std::string& path) {
  namespace fs = std::filesystem;
  const char* remedy = "name a separate folder with --state";
  const auto refuse = [&](const std::string& why) {
    return base::failed(fmt::format("cannot use the folder {}: {}", path, why), remedy);
  };
  std::error_code error;
  fs::create_directories(path, error);
  struct stat facts{};
  if (error || ::stat(path.c_str(), &facts) != 0) {
    return refuse(error ? error.message() : std::strerror(errno));
  }
  if (facts.st_uid != ::geteuid() && facts.st_uid != 0) {
    return refuse(fmt::format("it belongs to user {}, who could change its contents",
                              static_cast<unsigned>(facts.st_uid)));
  }
  if ((facts.st_mode & 077) == 0) return {};
  if (!fs::exists(path + "/journal", error) && !fs::is_empty(path, error)) {
    return refuse("other users may enter it, and it contains other files; chmod 700 restricts it");
  }
  fs::permissions(path, fs::perms::owner_all, error);
  return error ? refuse(error.message()) : Status{};
}

bool has_entry(const std::string& folder, const auto& is_it) {
  std::error_code error;
  for (std::filesystem::directory_iterator each(folder, error);
       !error && each != std::filesystem::directory_iterator(); each.increment(error)) {
    if (is_it(*each)) return true;
  }
  return false;
}

/// Refuses a state folder that has jobs and no journal: an empty start would remove their scripts
/// and give their numbers to others.
Status check_journal(const std::string& state) {
  using Entry = std::filesystem::directory_entry;
  const bool has_journal = has_entry(state + "/journal", [](const Entry& entry) {
    const std::string name = entry.path().filename().string();
    return name.starts_with("journal-") || name.starts_with("snapshot-");
  });
  const auto is_folder = [](const Entry& entry) {
    std::error_code none;
    return entry.is_directory(none);
  };
  for (const char* jobs : {"payloads", "jobs"}) {
    const std::string folder = fmt::format("{}/{}", state, jobs);
    if (has_journal || !has_entry(folder, is_folder)) continue;
    return base::failed(
        fmt::format("{}/journal has no journal, but {} has jobs; nothing was changed", state,
                    folder),
        "mount or restore the journal (goban backup), or move payloads and jobs away to start "
        "empty");
  }
  return {};
}

}  // namespace

/// In the order of their start; they end in reverse order.
struct MachineDaemon::Parts {
  Parts(ServeConfig chosen, std::function<void(const std::string&)> speak, Takeover takeover)
      : config(std::move(chosen)),
        say(std::move(speak)),
        shut_out(std::move(takeover.shut_out)),
        lock(std::move(takeover.lock)) {
    config.service.replaces_socket = takeover.from_silent;
  }

  Status start();
  Status start_daemon();
  [[nodiscard]] std::vector<live::controller::EarlierJob> past_runs() const;
  [[nodiscard]] Status check_engine(const std::vector<live::journal::MadeWith>& made) const;
  void watch_gpus();
  void take_agents();
  void sweep_payloads();
  Status start_service();
  [[nodiscard]] std::string dashboard() const;  ///< its address; empty = no TCP listener
  [[nodiscard]] Status write_link() const;

  ServeConfig config;
  std::function<void(const std::string&)> say;
  std::function<void()> shut_out;
  uint64_t epoch = 0;  ///< of the journal
  std::optional<live::journal::StateLock> lock;
  bool is_local = true;  ///< the engine runs jobs on this machine
  MachineGpus machine;   ///< empty unless it is local
  std::string cluster_name;
  std::unique_ptr<stores::ProfileBook> profiles;
  EvidenceBox evidence;
  std::shared_ptr<MeasuringGate> gate = std::make_shared<MeasuringGate>();
  std::shared_ptr<AgentBox> agent_box = std::make_shared<AgentBox>();
  std::unique_ptr<live::EngineView> view;
  std::unique_ptr<live::loop::Daemon> daemon;
  std::shared_ptr<stores::PayloadUse> payload_use;  ///< the engine tells it what it removed
  std::optional<stores::PayloadStore> payloads;
  std::unique_ptr<ReasonTeller> reasons;
  std::unique_ptr<GpuWatcher> gpus;
  std::unique_ptr<NodeAgents> agents;  ///< null if it is local
  std::unique_ptr<ScoreKeeper> scores;
  std::unique_ptr<ProgressCurves> progress;
  std::unique_ptr<study::WhatIf> what_if;
  std::unique_ptr<StoredJobs> past;
  std::unique_ptr<StartForecaster> starts;
  std::unique_ptr<api::Service> service;
};

Status MachineDaemon::Parts::start() {
  add_defaults(config);
  is_local = live::engine::submit_command(config.engine) == nullptr;
  if (auto status = make_private_folder(config.state); !status) return status;
  if (!lock) {
    auto taken = live::journal::StateLock::take(config.state);
    if (!taken) return base::failure(taken.error());
    lock.emplace(std::move(*taken));
  }
  if (auto status = check_journal(config.state); !status) return status;
  payload_use = std::make_shared<stores::PayloadUse>(config.bytes_per_user_max);
  auto store = stores::PayloadStore::open(
      config.state + "/payloads", payload_use,
      std::make_shared<stores::DiskGuard>(config.state, config.disk_reserve, say));
  if (!store) return base::failure(store.error());
  payloads.emplace(std::move(*store));
  if (auto status = start_daemon(); !status) return status;
  sweep_payloads();
  return start_service();
}

Status MachineDaemon::Parts::start_daemon() {
  if (is_local) {
    auto found = find_gpus(config);
    if (!found) return base::failure(found.error());
    machine = std::move(*found);
    if (auto status = add_power(config, machine.gpus); !status) return status;
  }
  auto site = make_site(config, machine.gpus);
  if (!site) return base::failure(site.error());
  cluster_name = site->cluster.name();
  auto facts = made_with(config, *site);
  if (!facts) return base::failure(facts.error());
  auto journal = live::journal::open_journal(config.state + "/journal",
                                             {.build = GOBAN_VERSION, .made_with = *facts});
  if (!journal) return base::failure(journal.error());
  if (auto status = check_engine(journal->made_with); !status) return status;
  if (!journal->made_with.empty()) {
    for (const std::string& line : differences(journal->made_with.back().facts, *facts)) {
      say("the journal continues with a different configuration: " + line);
    }
  }
  epoch = journal->epoch;
  auto book = stores::ProfileBook::open(
      config.state + "/profiles", config.state + "/payloads",
      site->cluster.gpu_models().front().name,
      site->scores.num_classes() > 1 ? site->scores.num_classes() : stores::ProfileBook::kClasses);
  if (!book) return base::failure(book.error());
  profiles = std::move(*book);
  auto parts = live::engine::make_engine({.state = config.state,
                                          .node = site->cluster.nodes()[0].name,
                                          .epoch = journal->epoch,
                                          .earlier_may_run = config.service.replaces_socket,
                                          .machine = machine,
                                          .choice = config.engine,
                                          .by_priority = is_by_priority(*site)});
  if (!parts) return base::failure(parts.error());
  for (const std::string& note : parts->notes) say(note);
  view = std::move(parts->view);
  std::unique_ptr<live::Engine> engine = std::make_unique<GatedEngine>(
      std::move(parts->engine), gate,
      [use = payload_use](const std::string& payload) { use->remove(payload); });
  if (site->staging.fast) {
    engine = std::make_unique<live::staging::StagingEngine>(
        std::move(engine), live::staging::StagerOptions{.gateway_command = config.gateway_command,
                                                        .node = site->cluster.nodes()[0].name,
                                                        .streams = site->staging.fast->streams});
  }
  if (!is_local) engine = std::make_unique<AgentEngine>(std::move(engine), agent_box);
  auto accounting = std::make_unique<StoreAccounting>(
      config.store, config.state + "/rejected-records.txt",
      [this](const live::controller::LiveJob& job) {
        if (!is_local) return;  // nothing of the job was measured
        // If the profile cannot be written, the next run creates
        // it.
        (void)profiles->learn(job);
        if (config.learn) evidence.put(job, *profiles);
      },
      [box = agent_box](core::model::JobId job) { return box->software_of(job); });
  live::loop::DaemonOptions options;
  options.staging_then =
      other_staging(journal->made_with, journal->recovered.records.size(), site->staging);
  options.say = say;
  options.shut_out = shut_out;
  options.beat = [file = config.state + "/" + kHeartbeatFile] { base::touch(file); };
  options.past = [this] { return past_runs(); };
  auto started =
      live::loop::Daemon::start(std::move(*site), journal->recovered, std::move(journal->log),
                                std::move(engine), std::move(accounting), std::move(options));
  if (!started) return base::failure(started.error());
  daemon = std::move(*started);
  if (is_local) watch_gpus();
  if (!is_local) take_agents();
  if (view->wants_reasons()) reasons = std::make_unique<ReasonTeller>(*view, *daemon);
  return {};
}

/// Predictions are a help; the daemon starts without them, too.
std::vector<live::controller::EarlierJob> MachineDaemon::Parts::past_runs() const {
  constexpr base::TimeNs kYear_ns = 365 * base::kDay;
  auto read = read_past_runs(config.store, base::wall_ns() - kYear_ns);
  if (read) return std::move(*read);
  say("run times are not predicted yet: " + read.error().text());
  return {};
}

/// The nodes and runs of a journal are those of its engine.
Status MachineDaemon::Parts::check_engine(const std::vector<live::journal::MadeWith>& made) const {
  if (made.empty()) return {};
  const auto& facts = made.front().facts;
  const auto found = facts.find("engine");
  const std::string before = found == facts.end() ? "local" : found->second;
  if (before == config.engine.name) return {};
  return base::failed(fmt::format("the jobs of {} are those of engine {}, not {}", config.state,
                                  before, config.engine.name),
                      "name another folder with --state, or keep the engine");
}

void MachineDaemon::Parts::watch_gpus() {
  gpus = std::make_unique<GpuWatcher>(
      *view, *daemon,
      GpuWatcherOptions{.series = config.series == "none" ? "" : config.series,
                        .say = say,
                        .may_write = [&on = *daemon] { return !on.was_taken_over(); }});
  ScoreKeeperOptions keeping;
  keeping.state = config.state;
  keeping.scores = config.scores.empty() ? config.state + "/scores.csv" : config.scores;
  keeping.refreshes = config.refresh;
  keeping.say = say;
  keeping.may_write = [&on = *daemon] { return !on.was_taken_over(); };
  scores = std::make_unique<ScoreKeeper>(*daemon, machine, evidence, gate, std::move(keeping));
}

void MachineDaemon::Parts::take_agents() {
  NodeAgentsOptions options;
  options.state = config.state;
  options.series = config.series == "none" ? "" : config.series;
  options.say = say;
  options.may_write = [&on = *daemon] { return !on.was_taken_over(); };
  options.parts_of_jobs = [&on = *view] { return on.parts_of_jobs(); };
  agents = std::make_unique<NodeAgents>(*daemon, agent_box, std::move(options));
}

void MachineDaemon::Parts::sweep_payloads() {
  std::map<std::string, uint32_t> used;
  daemon->look([&](const live::loop::SchedulerSnapshot& snapshot) {
    for (const auto& [id, job] : snapshot.book.jobs) {
      if (!job.accounted) used.emplace(job.spec.payload, job.spec.owner.uid);
    }
  });
  const size_t swept = payloads->sweep(used);
  if (swept == 0) return;
  say(fmt::format("removed {} scripts of incomplete submissions", swept));
}

Status MachineDaemon::Parts::start_service() {
  if (config.service.socket == api::kSystemSocket) {
    std::error_code error;  // if it matters, listening fails and reports it
    std::filesystem::create_directories(std::filesystem::path(api::kSystemSocket).parent_path(),
                                        error);
  }
  what_if = std::make_unique<study::WhatIf>(study::WhatIfSite{.store = config.store,
                                                              .energy = config.energy,
                                                              .colocation = config.colocation,
                                                              .accounts = config.accounts,
                                                              .sharing = config.sharing,
                                                              .seed = config.seed});
  progress = std::make_unique<ProgressCurves>(*daemon);
  past = std::make_unique<StoredJobs>(config.store, cluster_name);
  starts = std::make_unique<StartForecaster>(*daemon);
  std::map<std::string, api::StaticPage> pages;
  pages["/"] = {.content_type = "text/html; charset=utf-8",
                .body = api::dashboard_page(
                    {.version = GOBAN_VERSION, .policy = config.policy, .what_if = true})};
  auto opened = api::Service::start(
      config.service, *daemon, *payloads,
      {.profiles = profiles.get(),
       .past = past.get(),
       .gpus = is_local ? static_cast<api::GpuMonitor*>(gpus.get()) : agents.get(),
       .scores = scores.get(),
       .progress = progress.get(),
       .engine = view.get(),
       .what_if = what_if.get(),
       .starts = starts.get(),
       .agents = agents.get()},
      std::move(pages));
  if (!opened) return base::failure(opened.error());
  service = std::move(*opened);
  return write_link();
}

std::string MachineDaemon::Parts::dashboard() const {
  if (service->port() == 0) return {};
  const std::string& listen = config.service.listen;
  return fmt::format("{}://{}:{}/", config.service.key_file.empty() ? "http" : "https",
                     listen.substr(0, listen.rfind(':')), service->port());
}

Status MachineDaemon::Parts::write_link() const {
  const std::string token = service->own_token();
  std::error_code none;
  if (token.empty()) {
    std::filesystem::remove(dashboard_link_file(config.state), none);
    return {};
  }
  return base::replace_file(config.state, kLinkFile,
                            fmt::format("{}#token={}\n", dashboard(), token), base::Durable::No);
}

MachineDaemon::MachineDaemon(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

size_t MachineDaemon::stop_service() {
  if (parts_->what_if != nullptr) parts_->what_if->end();  // or its handler would delay the end
  return parts_->service == nullptr ? 0 : parts_->service->stop();
}

MachineDaemon::~MachineDaemon() {
  (void)stop_service();
  const std::string& state = parts_->config.state;
  const bool is_ours = !live::journal::is_shut_out(state, parts_->epoch);
  std::error_code none;
  if (parts_->service != nullptr && is_ours) {
    std::filesystem::remove(dashboard_link_file(state), none);
  }
}

Result<std::unique_ptr<MachineDaemon>> MachineDaemon::start(
    ServeConfig config, std::function<void(const std::string&)> say, Takeover takeover) {
  auto parts = std::make_unique<Parts>(std::move(config), std::move(say), std::move(takeover));
  if (auto status = parts->start(); !status) return base::failure(status.error());
  return std::unique_ptr<MachineDaemon>(new MachineDaemon(std::move(parts)));
}

Status MachineDaemon::reload(ServeConfig fresh) {
  add_defaults(fresh);
  api::ServiceOptions service = fresh.service;
  service.listen = parts_->config.service.listen;  // changes only at the next start
  service.own_token_folder = parts_->config.service.own_token_folder;
  if (auto status = parts_->service->reload(service); !status) return status;
  if (auto status = parts_->write_link(); !status) return status;
  parts_->say("reloaded roles, tokens and certificate");
  std::string keys;
  for (const std::string& key : keys_for_restart(parts_->config, fresh)) {
    keys += (keys.empty() ? "" : ", ") + key;
  }
  if (!keys.empty()) parts_->say("changed, but takes effect only at the next start: " + keys);
  return {};
}

std::string dashboard_link_file(const std::string& state) { return state + "/" + kLinkFile; }

std::string MachineDaemon::addresses(bool with_token) const {
  std::string out = fmt::format("commands: {}\n", parts_->config.service.socket);
  const std::string page = parts_->dashboard();
  if (page.empty()) return out;
  const std::string token = parts_->service->own_token();
  if (token.empty()) return out + fmt::format("dashboard: {}\n", page);
  if (with_token) return out + fmt::format("dashboard: {}#token={}\n", page, token);
  return out + fmt::format("dashboard: {} (goban token prints a link that signs in)\n", page);
}

const ServeConfig& MachineDaemon::config() const { return parts_->config; }

}  // namespace goban::serve::daemon
