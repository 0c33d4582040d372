#include "cli/jobs/job_end.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "cli/jobs/daemon_absence.hpp"
#include "cli/jobs/live_client.hpp"
#include "cli/shell/command.hpp"

namespace goban::cli {

base::Status watch_jobs(const std::string& server, double period_s,
                        const std::function<base::Result<bool>(serve::api::ApiClient&)>& look,
                        const std::optional<std::chrono::steady_clock::time_point>& until) {
  DaemonAbsence absence;
  while (true) {
    bool refused = false;
    auto watched = redraw_on_change(server, period_s,
                                    [&](serve::api::ApiClient& client) -> base::Result<bool> {
                                      auto goes_on = look(client);
                                      refused = !goes_on && !is_away(client);
                                      if (goes_on) absence.ends();
                                      return goes_on;
                                    });
    if (watched || interrupted()) return {};
    if (until && std::chrono::steady_clock::now() >= *until) return {};
    if (refused || !absence.wait()) return watched;
  }
}

int exit_code_of(const nlohmann::json& job) {
  if (const double code = number_of(job, "exit_code", -1); code >= 0) return static_cast<int>(code);
  if (const double signal = number_of(job, "signal"); signal > 0) {
    return 128 + static_cast<int>(signal);
  }
  return text_of(job, "result") == "completed" ? 0 : 1;
}

}  // namespace goban::cli
