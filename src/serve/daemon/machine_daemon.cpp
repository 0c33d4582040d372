#include "serve/daemon/machine_daemon.hpp"

#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/files.hpp"
#include "live/engine/engines.hpp"
#include "live/journal/journal_file.hpp"
#include "live/journal/state_lock.hpp"
#include "serve/api/api_client.hpp"
#include "serve/api/dashboard_page.hpp"
#include "serve/daemon/daemon_client.hpp"
#include "serve/daemon/gpu_watcher.hpp"
#include "serve/daemon/machine_gpus.hpp"
#include "serve/daemon/made_with.hpp"
#include "serve/daemon/payload_store.hpp"
#include "serve/daemon/profile_book.hpp"
#include "serve/daemon/score_keeper.hpp"
#include "serve/daemon/site.hpp"
#include "serve/daemon/store_accounting.hpp"
#include "study/what_if.hpp"

namespace goban::serve::daemon {

using base::Result;
using base::Status;

namespace {

constexpr const char* kLinkFile = "dashboard-link";

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
  void sweep_payloads();
  Status start_service();
  [[nodiscard]] std::string dashboard() const;  ///< its address; empty = no TCP listener
  [[nodiscard]] Status write_link() const;

  ServeConfig config;
  std::function<void(const std::string&)> say;
  std::function<void()> shut_out;
  uint64_t epoch = 0;  ///< of the journal
  std::optional<live::journal::StateLock> lock;
  MachineGpus machine;
  core::model::Cluster cluster;  ///< accounting reads it from its own thread
  std::unique_ptr<ProfileBook> profiles;
  EvidenceBox evidence;
  std::shared_ptr<MeasuringGate> gate = std::make_shared<MeasuringGate>();
  std::unique_ptr<live::EngineView> view;
  std::unique_ptr<live::loop::Daemon> daemon;
  std::unique_ptr<DaemonClient> scheduler;
  std::optional<PayloadStore> payloads;
  std::unique_ptr<GpuWatcher> gpus;
  std::unique_ptr<ScoreKeeper> scores;
  std::unique_ptr<study::WhatIf> what_if;
  std::unique_ptr<api::Service> service;
};

Status MachineDaemon::Parts::start() {
  add_defaults(config);
  if (auto status = make_private_folder(config.state); !status) return status;
  if (!lock) {
    auto taken = live::journal::StateLock::take(config.state);
    if (!taken) return base::failure(taken.error());
    lock.emplace(std::move(*taken));
  }
  auto store = PayloadStore::open(config.state + "/payloads");
  if (!store) return base::failure(store.error());
  payloads.emplace(std::move(*store));
  if (auto status = start_daemon(); !status) return status;
  sweep_payloads();
  return start_service();
}

Status MachineDaemon::Parts::start_daemon() {
  auto found = find_gpus(config);
  if (!found) return base::failure(found.error());
  machine = std::move(*found);
  auto site = make_site(config, machine.gpus);
  if (!site) return base::failure(site.error());
  cluster = site->cluster;
  if (auto status = add_power(config, machine.gpus); !status) return status;
  auto facts = made_with(config, *site);
  if (!facts) return base::failure(facts.error());
  auto journal = live::journal::open_journal(config.state + "/journal",
                                             {.build = GOBAN_VERSION, .made_with = *facts});
  if (!journal) return base::failure(journal.error());
  if (!journal->made_with.empty()) {
    for (const std::string& line : differences(journal->made_with.back().facts, *facts)) {
      say("the journal continues with a different configuration: " + line);
    }
  }
  epoch = journal->epoch;
  auto book = ProfileBook::open(
      config.state + "/profiles", config.state + "/payloads", machine.gpus.front().name,
      site->scores.num_classes() > 1 ? site->scores.num_classes() : ProfileBook::kClasses);
  if (!book) return base::failure(book.error());
  profiles = std::move(*book);
  auto parts = live::engine::make_engine("local", {.state = config.state,
                                                   .node = cluster.nodes()[0].name,
                                                   .epoch = journal->epoch,
                                                   .machine = machine});
  if (!parts) return base::failure(parts.error());
  view = std::move(parts->view);
  auto engine = std::make_unique<GatedEngine>(std::move(parts->engine), gate);
  auto accounting =
      std::make_unique<StoreAccounting>(config.store, config.state + "/rejected-records.txt",
                                        cluster, [this](const live::controller::LiveJob& job) {
                                          // If the profile cannot be written, the next run
                                          // creates it.
                                          (void)profiles->learn(job);
                                          if (config.learn) evidence.put(job, *profiles);
                                        });
  live::loop::DaemonOptions options;
  options.say = say;
  options.shut_out = shut_out;
  auto started =
      live::loop::Daemon::start(std::move(*site), journal->recovered, std::move(journal->log),
                                std::move(engine), std::move(accounting), std::move(options));
  if (!started) return base::failure(started.error());
  daemon = std::move(*started);
  scheduler = std::make_unique<DaemonClient>(*daemon);
  gpus = std::make_unique<GpuWatcher>(
      *view, *scheduler,
      GpuWatcherOptions{.series = config.series == "none" ? "" : config.series,
                        .say = say,
                        .may_write = [&on = *daemon] { return !on.was_taken_over(); }});
  ScoreKeeperOptions keeping;
  keeping.state = config.state;
  keeping.scores = config.scores.empty() ? config.state + "/scores.csv" : config.scores;
  keeping.refreshes = config.refresh;
  keeping.say = say;
  keeping.may_write = [&on = *daemon] { return !on.was_taken_over(); };
  scores = std::make_unique<ScoreKeeper>(*scheduler, machine, evidence, gate, std::move(keeping));
  return {};
}

void MachineDaemon::Parts::sweep_payloads() {
  std::set<std::string> used;
  daemon->look([&](const live::controller::Controller& controller) {
    for (const auto& [id, job] : controller.book().jobs) {
      if (!job.accounted) used.insert(job.spec.payload);
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
  what_if = std::make_unique<study::WhatIf>(study::WhatIfSite{.cluster = cluster,
                                                              .store = config.store,
                                                              .energy = config.energy,
                                                              .colocation = config.colocation,
                                                              .accounts = config.accounts,
                                                              .sharing = config.sharing,
                                                              .seed = config.seed});
  std::map<std::string, api::StaticPage> pages;
  pages["/"] = {.content_type = "text/html; charset=utf-8",
                .body = api::dashboard_page(
                    {.version = GOBAN_VERSION, .policy = config.policy, .what_if = true})};
  auto opened = api::Service::start(config.service, *scheduler, *payloads,
                                    {.profiles = profiles.get(),
                                     .gpus = gpus.get(),
                                     .scores = scores.get(),
                                     .engine = view.get(),
                                     .what_if = what_if.get()},
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
MachineDaemon::~MachineDaemon() {
  if (parts_->what_if != nullptr) parts_->what_if->end();  // or its handler would delay the end
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
