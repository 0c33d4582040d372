#include "cli/jobs/daemon_absence.hpp"

#include <cstdlib>
#include <thread>

#include "base/number.hpp"
#include "cli/shell/command.hpp"

namespace goban::cli {

namespace {

std::chrono::seconds patience() {
  constexpr int64_t kUsual_s = 60;
  constexpr int64_t kMost_s = 86'400;
  const char* const said = std::getenv("GOBAN_PATIENCE_S");
  const auto requested_s = base::parse_int(said == nullptr ? "" : said);
  return std::chrono::seconds(
      requested_s && *requested_s >= 0 && *requested_s <= kMost_s ? *requested_s : kUsual_s);
}

}  // namespace

bool DaemonAbsence::wait() {
  constexpr auto kBetween = std::chrono::milliseconds(500);
  const auto now = std::chrono::steady_clock::now();
  if (!since_) since_ = now;
  if (now - *since_ >= patience()) return false;
  std::this_thread::sleep_for(kBetween);
  return !interrupted();
}

bool is_away(const serve::api::ApiClient& client) {
  constexpr int kRefusals = 400;
  constexpr int kTooMany = 429;
  constexpr int kUnavailable = 502;
  const int status = client.last_status();
  return status < kRefusals || status == kTooMany || status >= kUnavailable;
}

}  // namespace goban::cli
