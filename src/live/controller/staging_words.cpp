#include "live/controller/staging_words.hpp"

#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

namespace goban::live::controller {

using Stage = JobStaging::Stage;

namespace {

/// "1.23 GB": three digits, in the unit that fits.
std::string rounded(int64_t bytes) {
  constexpr std::array<const char*, 6> kUnits = {"B", "kB", "MB", "GB", "TB", "PB"};
  constexpr double kStep = 1000;
  auto size = static_cast<double>(bytes);
  size_t unit = 0;
  for (; size >= kStep && unit + 1 < kUnits.size(); ++unit) size /= kStep;
  return fmt::format("{:.3g} {}", size, kUnits[unit]);
}

}  // namespace

std::string data_words(const LiveJob& job, const JobBook& book) {
  const JobStaging& staging = job.staging;
  if (!staging.is_staging_in() || job.stage != JobStage::Depends) return {};
  std::string words = "it waits for its data";
  if (!staging.problem.empty()) {
    return fmt::format("{}: {}{}", words, staging.problem,
                       staging.retry_ns >= 0 || staging.is_ordered ? "; it is tried again" : "");
  }
  if (staging.stage == Stage::Measuring) return words + ": its size is being found out";
  if (staging.stage == Stage::Copying) {
    return fmt::format("{}: {} of {} are on the fast tier", words, rounded(staging.done_bytes),
                       rounded(staging.all_bytes));
  }
  constexpr size_t kNamedMax = 5;
  std::vector<std::string> users;
  for (const auto& [id, other] : book.jobs) {
    if (!other.staging.keeps || other.staging.items.empty()) continue;
    if (users.size() == kNamedMax) {
      users.emplace_back("...");
      break;
    }
    users.push_back(job::job_name_of(id, other.spec));
  }
  return fmt::format("{}: the fast tier has no room for {}; it keeps the data of {} {}", words,
                     rounded(staging.all_bytes), users.size() == 1 ? "job" : "jobs",
                     fmt::join(users, ", "));
}

std::string blocked_words(const LiveJob& job) {
  if (!job.blocked.empty()) return job.blocked;
  if (!job.misfit.empty()) return job.misfit;
  const bool waits = job.staging.is_staging_in() && job.stage == JobStage::Depends;
  return waits ? "waits for its data" : std::string{};
}

std::string result_words(const LiveJob& job) {
  const JobStaging& staging = job.staging;
  if (staging.stage != Stage::Out) return {};
  if (!staging.problem.empty()) {
    return fmt::format(
        "its results could not be copied yet: {}; it is tried again, and nothing "
        "is deleted before",
        staging.problem);
  }
  return fmt::format("its results are being copied: {} of {}", rounded(staging.done_bytes),
                     rounded(staging.all_bytes));
}

}  // namespace goban::live::controller
