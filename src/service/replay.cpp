#include "service/replay.hpp"

#include <filesystem>

#include "live/journal/journal_file.hpp"
#include "service/machine_gpus.hpp"
#include "service/site.hpp"

namespace goban::service {

namespace {

/// Takes nothing.
class NoLog final : public live::RecordLog {
 public:
  void append(std::string_view) override {}
  base::Status commit() override { return {}; }
  base::Status compact(std::string_view) override { return {}; }
  int64_t bytes_since_snapshot() const override { return 0; }
};

/// Does nothing.
class NoEngine final : public live::Engine {
 public:
  void launch(const live::LaunchOrder&) override {}
  void stop(live::RunId, live::StopReason) override {}
  void resume(const live::LaunchOrder&) override {}
  void forget(live::JobId, const std::string&) override {}
  std::vector<live::Report> take_reports() override { return {}; }
};

}  // namespace

base::Result<live::Turns::Fold> replay_journal(const ServeConfig& config, const std::string& path) {
  const std::string inner = path + "/journal";
  std::error_code error;
  const auto journal =
      live::read_journal(std::filesystem::is_directory(inner, error) ? inner : path);
  if (!journal) return base::failure(journal.error());
  const auto machine = find_gpus(config);
  if (!machine) return base::failure(machine.error());
  auto site = make_site(config, machine->gpus);
  if (!site) return base::failure(site.error());
  NoLog log;
  NoEngine engine;
  live::Turns turns(std::move(*site), log, engine);
  return turns.fold(*journal);
}

}  // namespace goban::service
