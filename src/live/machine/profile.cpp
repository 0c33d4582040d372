#include "live/machine/profile.hpp"

#include <algorithm>
#include <ctime>
#include <utility>

#include "base/output_file.hpp"
#include "core/knowledge/binning.hpp"
#include "core/knowledge/scores_file.hpp"
#include "live/machine/refresh.hpp"

namespace goban::live::machine {
namespace {

base::Status write_profile(const std::string& scores_path, MachineProfile& profile) {
  const std::string log = core::knowledge::book_path(scores_path);
  if (auto s = base::write_file(log, core::knowledge::to_json(profile.book)); !s) return s;
  if (std::ranges::count(profile.measured, true) == 0) return {};
  profile.table = core::knowledge::to_csv(
      core::knowledge::bin_classes(core::knowledge::raw_by_class(profile.scores)));
  return base::write_file(scores_path, profile.table);
}

}  // namespace

std::vector<size_t> gpus_to_measure(const base::gpus::MachineGpus& machine,
                                    const std::vector<size_t>& asked,
                                    std::optional<double> refresh_cost_s,
                                    core::knowledge::MeasureBook& book) {
  if (!refresh_cost_s) return asked;
  const auto due =
      due_gpu(machine, {.idle = asked, .cost_s = *refresh_cost_s}, book, std::time(nullptr));
  return due ? std::vector<size_t>{*due} : std::vector<size_t>{};
}

base::Result<MachineProfile> read_profile(const base::gpus::MachineGpus& machine,
                                          const std::string& scores_path) {
  auto book = read_book_beside(scores_path);
  if (!book) return base::failure(book.error());
  MachineProfile out{.book = std::move(*book)};
  out.scores = core::knowledge::scores_of(out.book, gpus_now(machine), std::time(nullptr));
  out.measured.assign(machine.gpus.size(), false);
  return out;
}

base::Result<std::optional<MachineProfile>> measure_profile(const base::gpus::MachineGpus& machine,
                                                            const ProfileSession& session,
                                                            const std::atomic<bool>& interrupted) {
  auto book = read_book_beside(session.scores_path);
  if (!book) return base::failure(book.error());
  SessionResult result;
  if (!session.plan.gpus.empty()) {
    result = measure_gpus(machine, session.plan, session.busy, session.step, interrupted);
  }
  if (interrupted) return std::optional<MachineProfile>{};
  // A daemon may have measured in the meantime.
  if (auto latest = read_book_beside(session.scores_path)) *book = std::move(*latest);
  MachineProfile out{.book = std::move(*book)};
  const int64_t now_unix_s = std::time(nullptr);
  out.measured = keep_sessions(result, session.plan, machine, out.book, now_unix_s);
  out.problems = std::move(result.problems);
  out.scores = core::knowledge::scores_of(out.book, gpus_now(machine), now_unix_s);
  const bool any = std::ranges::count(out.measured, true) > 0;
  if (any || result.spent_s > 0 || session.keep_log) {
    if (auto s = write_profile(session.scores_path, out); !s) return base::failure(s.error());
  }
  return std::optional(std::move(out));
}

}  // namespace goban::live::machine
