#include "live/machine/refresh.hpp"

#include <algorithm>
#include <filesystem>

#include "base/text_file.hpp"
#include "core/knowledge/measure/findings.hpp"
#include "core/knowledge/measure/refresh_plan.hpp"

namespace goban::live::machine {
namespace {

constexpr size_t kBookBytesMax = size_t{1} << 30;

}  // namespace

base::Result<core::knowledge::MeasureBook> read_book_beside(const std::string& scores_path) {
  const std::string path = core::knowledge::book_path(scores_path);
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error) return core::knowledge::MeasureBook{};
  const auto text = base::read_text_file(path, kBookBytesMax);
  if (!text) return base::failure(text.error());
  return core::knowledge::parse_book(*text, path);
}

std::optional<size_t> due_gpu(const base::gpus::MachineGpus& machine, const RefreshRequest& request,
                              core::knowledge::MeasureBook& book, int64_t now_unix_s) {
  if (book.since_unix_s == 0) book.since_unix_s = now_unix_s;
  const auto scores = core::knowledge::scores_of(book, gpus_now(machine), now_unix_s);
  std::vector<core::knowledge::RefreshGpu> gpus;
  for (size_t i = 0; i < machine.gpus.size(); ++i) {
    const auto* last = scores.gpus[i].last;
    gpus.push_back(
        {.idle = std::ranges::count(request.idle, i) > 0,
         .expired = scores.gpus[i].expired,
         .suspect = std::ranges::count(request.suspects, i) > 0,
         .age_s = static_cast<double>(now_unix_s - (last == nullptr ? 0 : last->unix_s))});
  }
  const auto passed_s = static_cast<double>(std::max<int64_t>(now_unix_s - book.since_unix_s, 0));
  return core::knowledge::next_to_refresh(
      gpus, {.gpu_seconds = passed_s * static_cast<double>(gpus.size()), .spent_s = book.spent_s},
      {.cost_s = request.cost_s});
}

std::vector<bool> keep_sessions(SessionResult& result, const SessionPlan& plan,
                                const base::gpus::MachineGpus& machine,
                                core::knowledge::MeasureBook& book, int64_t now_unix_s) {
  std::vector<bool> measured(machine.gpus.size(), false);
  if (book.since_unix_s == 0) book.since_unix_s = now_unix_s;
  book.spent_s += result.spent_s;
  for (const auto& gpu : machine.gpus) book.of(gpu.uuid).name = gpu.name;
  for (size_t i = 0; i < plan.gpus.size(); ++i) {
    if (!result.problems[i].empty()) continue;
    measured[plan.gpus[i]] = true;
    core::knowledge::add_session(book.of(machine.gpus[plan.gpus[i]].uuid),
                                 std::move(result.sessions[i]));
  }
  return measured;
}

}  // namespace goban::live::machine
