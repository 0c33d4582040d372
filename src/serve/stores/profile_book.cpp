#include "serve/stores/profile_book.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/counted.hpp"
#include "base/files.hpp"
#include "base/reports/job_profile.hpp"
#include "base/sha256.hpp"
#include "core/knowledge/app_class.hpp"

namespace goban::serve::stores {
namespace {

using nlohmann::json;

constexpr size_t kPayloadBytesMax = size_t{64} << 20;
constexpr size_t kFilesKept = 100'000;
constexpr size_t kApplicationDigits = 12;

/// Script and arguments, without the environment; empty if `payload` is invalid.
std::string program_of(std::string_view payload) {
  const json document = json::parse(payload, nullptr, false);
  if (!document.is_object()) return {};
  const auto script = document.find("script");
  const auto args = document.find("args");
  if (script == document.end()) return {};
  const auto replace = json::error_handler_t::replace;
  return script->dump(-1, ' ', false, replace) +
         (args == document.end() ? "" : args->dump(-1, ' ', false, replace));
}

/// The application's part of a file name: the part after the user's number.
std::string_view digits_of(std::string_view name) { return name.substr(name.find('-') + 1); }

/// The user's number in a file name; none for files of release 0.1, which have no such number.
std::optional<uint32_t> user_of(std::string_view name) {
  uint32_t uid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), uid);
  const bool tells = error == std::errc{} && end != name.data() + name.size() && *end == '-';
  return tells ? std::optional(uid) : std::nullopt;
}

/// File name of an application, such as `1000-0123...cdef.json`; empty if it is unknown.
std::string file_name(const live::job::JobSpec& spec, std::string_view payload) {
  if (!spec.owner.realm.empty()) return {};  // files are by uid
  std::string program;
  if (spec.model.empty()) {
    program = program_of(payload);
    if (program.empty()) return {};
  }
  const json who_and_what = {
      spec.owner.uid,           spec.model,    spec.model.empty() ? spec.name : "",
      spec.training.batch_size, spec.num_gpus, program};
  const std::string text = who_and_what.dump(-1, ' ', false, json::error_handler_t::replace);
  return fmt::format("{}-{}.json", spec.owner.uid, base::hex(base::sha256(text)).substr(0, 32));
}

std::optional<base::reports::JobProfile> read_profile(const std::string& path) {
  const auto text = base::read_small_file(path);
  if (!text) return std::nullopt;
  auto profile = base::reports::parse_job_profile(*text, path);
  if (!profile) return std::nullopt;
  return std::optional<base::reports::JobProfile>(std::move(*profile));
}

/// Seconds per step or epoch; negative = unknown. Progress reports are used only if they cover
/// enough of the run.
double seconds_each(const live::Pace& pace, double done_in_all, double held_s) {
  constexpr double kCoveredLeast = 0.1;
  if (pace.done > 0 && pace.over_s >= kCoveredLeast * held_s) return pace.over_s / pace.done;
  return done_in_all > 0 ? held_s / done_in_all : -1;
}

/// Input stall of a run in percent: from its ranks' times, otherwise from its progress reports.
double stall_pct(const live::controller::LiveJob& job, const live::controller::PastRun& run,
                 double held_s) {
  constexpr double kPossible = 1.1;  // maximum of a rank's times / the run's time
  double data_s = 0;
  double all_s = 0;
  for (const live::RankTimes& rank : run.ranks) {
    const double sum_s = rank.busy_s + rank.wait_s + rank.data_s;
    if (rank.data_s < 0 || sum_s > kPossible * held_s) return -1;
    data_s += rank.data_s;
    all_s += sum_s;
  }
  return all_s > 0 ? 100 * data_s / all_s : job.progress.input_stall_pct;
}

/// The profile of a complete, exclusive run; none for other runs.
std::optional<base::reports::JobProfile> measured(const live::controller::LiveJob& job,
                                                  const std::string& gpu_type) {
  const live::job::JobSpec& spec = job.spec;
  const double held_s = base::to_seconds(job.held_ns);
  const bool disturbed = job.shares || std::ranges::any_of(job.past, [](const auto& run) {
                           return run.shared || run.suspended_ns > 0;
                         });
  // A job that was resized has several runs; the first may have had another size than requested.
  const bool sized = !job.past.empty() && spec.training.gpus_max > 0 &&
                     std::ssize(job.past.back().gpus) != spec.num_gpus;
  const bool whole =
      !sized && job.result == live::controller::JobResult::Completed && job.runs == 1 && !disturbed;
  if (!whole || spec.num_gpus < 1 || held_s < ProfileBook::kShortest_s) return std::nullopt;
  base::reports::JobProfile out;
  out.model = !spec.model.empty() ? spec.model : spec.name.empty() ? "unnamed" : spec.name;
  out.input = fmt::format(
      "{}{}",
      spec.training.batch_size > 0 ? fmt::format("batch {}, ", spec.training.batch_size) : "",
      base::counted(spec.num_gpus, "GPU"));
  out.gpu_type = gpu_type;
  out.source = fmt::format("goban serve, job {}", live::job::job_number(job.job));
  const live::RunUsage& usage = job.usage;
  const live::controller::PastRun run =
      job.past.empty() ? live::controller::PastRun{} : job.past.back();
  const auto put = [](std::optional<base::reports::Measured>& field, bool known, double value) {
    if (known && std::isfinite(value)) field = {.value = value};
  };
  const double epoch_s = seconds_each(run.pace.epochs, job.progress.epoch, held_s);
  put(out.epoch_s, epoch_s > 0, epoch_s);
  const auto steps = static_cast<double>(job.progress.step);
  const double step_s = seconds_each(run.pace.steps, steps, held_s);
  put(out.iteration_s, step_s > 0, step_s);
  const double stalled_pct = stall_pct(job, run, held_s);
  put(out.input_stall_pct, stalled_pct >= 0, stalled_pct);
  put(out.peak_mem_bytes, usage.gpu_mem_bytes_max > 0,
      static_cast<double>(usage.gpu_mem_bytes_max));
  const auto put_pct = [&put](std::optional<base::reports::Measured>& field, float value_pct) {
    put(field, value_pct >= 0, std::min(static_cast<double>(value_pct), 100.0));
  };
  put_pct(out.utilisation_pct, usage.gpu_util_pct);
  put_pct(out.memory_busy_pct, usage.memory_busy_pct);
  put_pct(out.dram_utilisation_pct, usage.dram_util_pct);
  put_pct(out.fu_utilisation_pct, usage.fu_util_pct);
  put(out.power_w, usage.energy_j > 0, usage.energy_j / held_s / spec.num_gpus);
  return out;
}

/// Adds a later run's higher peak memory and values that are still missing. Returns whether
/// anything changed.
bool add_to(base::reports::JobProfile& known, const base::reports::JobProfile& seen) {
  bool changed = false;
  const double before = known.peak_mem_bytes ? known.peak_mem_bytes->value : 0;
  if (seen.peak_mem_bytes && seen.peak_mem_bytes->value > before) {
    known.peak_mem_bytes = seen.peak_mem_bytes;
    changed = true;
  }
  for (const auto field :
       {&base::reports::JobProfile::iteration_s, &base::reports::JobProfile::epoch_s,
        &base::reports::JobProfile::input_stall_pct, &base::reports::JobProfile::memory_busy_pct,
        &base::reports::JobProfile::dram_utilisation_pct,
        &base::reports::JobProfile::fu_utilisation_pct}) {
    if (known.*field || !(seen.*field)) continue;
    known.*field = seen.*field;
    changed = true;
  }
  return changed;
}

}  // namespace

base::Result<std::unique_ptr<ProfileBook>> ProfileBook::open(std::string folder,
                                                             std::string payloads,
                                                             std::string gpu_type,
                                                             size_t num_classes) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) {
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
  }
  if (error) {
    return base::failed(fmt::format("cannot use the folder {}: {}", folder, error.message()),
                        "it must be a folder that the daemon may write to");
  }
  std::unique_ptr<ProfileBook> out(
      new ProfileBook(std::move(folder), std::move(payloads), std::move(gpu_type), num_classes));
  out->read_classes();
  return out;
}

void ProfileBook::read_classes() {
  std::error_code error;
  for (std::filesystem::directory_iterator each(folder_, error), end; !error && each != end;
       each.increment(error)) {
    const auto profile = read_profile(each->path().string());
    const std::string name = each->path().filename().string();
    if (profile && profile->gpu_type == gpu_type_) classes_.put(name, *profile);
  }
}

std::optional<core::model::AppClass> ProfileBook::class_of(
    const base::reports::JobProfile& profile) const {
  if (profile.gpu_type != gpu_type_) return std::nullopt;
  const std::scoped_lock lock(mutex_);
  return classes_.of(profile);
}

void ProfileBook::fill_class(live::job::JobSpec& spec,
                             const std::optional<base::reports::JobProfile>& known) const {
  spec.class_from = live::job::ClassSource::Submission;
  if (spec.app_class >= 0) return;
  if (const auto measured = known ? class_of(*known) : std::nullopt) {
    spec.app_class = static_cast<int8_t>(measured->value);
    spec.class_from = live::job::ClassSource::Measured;
  } else if (const auto model = core::knowledge::find_known_model(spec.model)) {
    spec.app_class = static_cast<int8_t>(model->app_class.value);
    spec.class_from = live::job::ClassSource::Model;
  }
}

void ProfileBook::fill(live::job::JobSpec& spec, std::string_view payload) const {
  spec.application.clear();
  if (spec.num_gpus < 1) return;
  const std::string name = file_name(spec, payload);
  if (name.empty()) return fill_class(spec, std::nullopt);
  if (spec.model.empty()) {
    spec.application = fmt::format("program-{}", digits_of(name).substr(0, kApplicationDigits));
  }
  const auto known = read(name);
  fill_class(spec, known);
  if (!known) return;
  core::model::TrainingFacts& facts = spec.training;
  if (facts.gpu_mem_bytes == 0 && known->peak_mem_bytes) {
    facts.gpu_mem_bytes = static_cast<int64_t>(known->peak_mem_bytes->value * kMemoryReserve);
  }
  if (facts.gpu_util_pct < 0 && known->utilisation_pct) {
    facts.gpu_util_pct = static_cast<float>(known->utilisation_pct->value);
  }
}

std::optional<base::reports::JobProfile> ProfileBook::read(const std::string& name) const {
  std::error_code none;
  const std::string path = folder_ + "/" + name;
  const std::string before = fmt::format("{}/{}", folder_, digits_of(name));
  if (!std::filesystem::exists(path, none)) std::filesystem::rename(before, path, none);
  return read_profile(path);
}

size_t forget_profiles(const std::string& folder, uint32_t uid) {
  size_t count = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator each(folder, error), end; !error && each != end;
       each.increment(error)) {
    const auto user = user_of(each->path().filename().string());
    if (user && *user != uid) continue;
    std::error_code failed;
    count += std::filesystem::remove(each->path(), failed) ? 1 : 0;
  }
  return count;
}

std::string ProfileBook::file_of(const live::controller::LiveJob& job) {
  const std::scoped_lock lock(mutex_);
  if (const auto found = files_.find(job.job); found != files_.end()) return found->second;
  std::string payload;
  const std::string& folder = job.spec.payload;
  if (job.spec.model.empty() && !folder.empty() && folder.find('/') == std::string::npos) {
    auto text = base::read_small_file(fmt::format("{}/{}/payload.json", payloads_, folder),
                                      kPayloadBytesMax);
    if (text) payload = std::move(*text);
  }
  std::string name = file_name(job.spec, payload);
  if (name.empty()) return name;
  if (files_.size() >= kFilesKept) files_.clear();
  files_[job.job] = name;
  return name;
}

base::Status ProfileBook::learn(const live::controller::LiveJob& job) {
  auto seen = measured(job, gpu_type_);
  const std::string name = file_of(job);
  if (!seen || name.empty()) return {};
  if (auto known = read(name)) {
    if (!add_to(*known, *seen)) return {};
    seen = std::move(known);
  }
  if (seen->gpu_type == gpu_type_) {
    const std::scoped_lock lock(mutex_);
    classes_.put(name, *seen);
  }
  return base::replace_file(folder_, name, base::reports::to_json(*seen), base::Durable::No);
}

uint32_t ProfileBook::application_of(const live::controller::LiveJob& job) {
  constexpr size_t kDigits = 8;
  const std::string name = file_of(job);
  const std::string_view digits = digits_of(name).substr(0, kDigits);
  uint32_t out = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), out, 16);
  return out;
}

std::string ProfileBook::find(const live::controller::LiveJob& job) {
  const std::string name = job.spec.num_gpus < 1 ? std::string{} : file_of(job);
  if (name.empty()) return {};
  auto profile = read(name);
  if (!profile) return {};
  if (const auto measured = class_of(*profile)) {
    profile->app_class = std::string(1, measured->letter());
  }
  return base::reports::to_json(*profile);
}

}  // namespace goban::serve::stores
