#include "serve/daemon/replay.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "live/engine/engines.hpp"
#include "live/journal/journal_file.hpp"
#include "serve/daemon/machine_gpus.hpp"
#include "serve/daemon/made_with.hpp"
#include "serve/daemon/site.hpp"

namespace goban::serve::daemon {

namespace {

/// A log that discards records.
class NoLog final : public live::journal::RecordLog {
 public:
  void append(std::string_view) override {}
  base::Status commit() override { return {}; }
  base::Status compact(std::string_view) override { return {}; }
  int64_t bytes_since_snapshot() const override { return 0; }
};

/// An engine that does nothing.
class NoEngine final : public live::Engine {
 public:
  void launch(const live::LaunchOrder&) override {}
  void stop(live::RunId, live::StopReason) override {}
  void resume(const live::LaunchOrder&) override {}
  void forget(core::model::JobId, const std::string&) override {}
  std::vector<live::EngineEvent> take_events() override { return {}; }
};

/// The folder `journal` of a state folder; any other path unchanged.
std::string journal_folder(const std::string& path) {
  std::error_code error;
  std::string inner = path + "/journal";
  return std::filesystem::is_directory(inner, error) ? inner : path;
}

/// Those of the configuration, else those that the journal names; journals of releases that did not
/// name them need those of this machine.
base::Result<std::vector<base::gpus::LocalGpu>> gpus_for(
    const ServeConfig& config, const std::vector<live::journal::MadeWith>& made) {
  if (live::engine::submit_command(config.engine) != nullptr) {
    return std::vector<base::gpus::LocalGpu>{};  // the journal has its nodes
  }
  if (config.virtual_gpus == 0 && !made.empty()) {
    auto recorded = recorded_gpus(made.back().facts);
    if (!recorded.empty()) return recorded;
  }
  auto machine = find_gpus(config);
  if (!machine) return base::failure(machine.error());
  return std::move(machine->gpus);
}

std::vector<std::string> all_differences(const std::vector<live::journal::MadeWith>& made,
                                         const live::journal::InputFacts& now) {
  std::vector<std::string> out;
  for (const live::journal::MadeWith& each : made) {
    for (const std::string& line : differences(each.facts, now)) {
      out.push_back(fmt::format("from record {} on: {}", each.from, line));
    }
  }
  return out;
}

}  // namespace

base::Result<Replay> replay_journal(const ServeConfig& config, const std::string& path) {
  const auto journal = live::journal::read_journal_contents(journal_folder(path));
  if (!journal) return base::failure(journal.error());
  const auto gpus = gpus_for(config, journal->made_with);
  if (!gpus) return base::failure(gpus.error());
  auto site = make_site(config, *gpus);
  if (!site) return base::failure(site.error());
  const auto facts = made_with(config, *site);
  if (!facts) return base::failure(facts.error());
  site->staging =
      recorded_staging(journal->made_with, journal->recovered.records.size(), site->staging);
  Replay out{.journal = path, .differences = all_differences(journal->made_with, *facts)};
  NoLog log;
  NoEngine engine;
  live::loop::CommitCycle cycle(std::move(*site), log, engine);
  auto fold = cycle.fold(journal->recovered);
  if (!fold) {
    base::Error error = fold.error();
    if (!out.differences.empty()) {
      error.remedy = fmt::format("the journal was written with a different configuration: {}",
                                 fmt::join(out.differences, "; "));
    }
    return base::failure(std::move(error));
  }
  out.fold = *fold;
  return out;
}

base::Result<std::vector<std::string>> journals_of(const std::string& path) {
  return live::journal::journals_in(journal_folder(path));
}

}  // namespace goban::serve::daemon
