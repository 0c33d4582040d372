#include "train/trainer/run_checkpoint.hpp"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <system_error>

#include "base/number.hpp"
#include "train/mesh/checkpoint.hpp"

namespace goban::train::trainer {

RunCheckpoint::RunCheckpoint(const TrainOptions& options, const Batches& batches, int64_t steps,
                             TrainingStep& trained)
    : options_(options),
      train_size_(batches.train_size()),
      steps_(steps),
      order_(batches.order()),
      trained_(trained) {
  if (!options.checkpoint.empty()) data_ = fmt::format("{:08x}", batches.train_checksum());
}

bool RunCheckpoint::exists() const {
  std::error_code ignored;
  return !options_.checkpoint.empty() && std::filesystem::exists(path(), ignored);
}

int64_t RunCheckpoint::bytes() const {
  if (options_.checkpoint.empty()) return 0;
  std::error_code error;
  const auto size = std::filesystem::file_size(path(), error);
  return error ? 0 : static_cast<int64_t>(size);
}

std::vector<RunCheckpoint::Setting> RunCheckpoint::settings() const {
  return {{"task", options_.task, "task", false},
          {"model", options_.model, "model", false},
          {"batch", std::to_string(options_.batch_size), "--batch-size", true},
          {"seed", std::to_string(options_.seed), "--seed", true},
          {"samples", std::to_string(train_size_), "training samples", false},
          // With equal batch and samples this differs only if --last-batch differs and matters.
          {"epoch_steps", std::to_string(steps_), "steps per epoch", false},
          {"data", data_, "training data of checksum", false},
          {"order", order_, "order of samples", false}};
}

base::Result<std::optional<Standing>> RunCheckpoint::resume() {
  if (options_.checkpoint.empty()) return std::optional<Standing>{};
  mesh::Variables& variables = trained_.variables();
  if (variables.end().rank() == 0) {
    std::error_code error;
    std::filesystem::create_directories(options_.checkpoint, error);
    if (error) {
      return base::failed(
          fmt::format("cannot create the folder '{}': {}", options_.checkpoint, error.message()),
          "--checkpoint must be a writable folder");
    }
    auto lock = FolderLock::take(options_.checkpoint, "--checkpoint");
    if (!lock) return base::failure(lock.error());
    lock_ = std::move(*lock);
  }
  auto found = mesh::resume_checkpoint(path(), variables);
  if (!found) return base::failure(found.error());
  if (!*found) return std::optional<Standing>{};
  const mesh::Bookmark& bookmark = **found;
  const auto refused = [&](const std::string& why, const char* note = "") {
    return base::bad_data(
        {path(), 0, 0, ""}, why,
        std::string("use an empty --checkpoint folder, or the same options and data") + note);
  };
  for (const Setting& each : settings()) {
    const auto there = bookmark.find(each.key);
    if (there == bookmark.end() && !each.always) continue;
    const std::string value = there == bookmark.end() ? "?" : there->second;
    if (value != each.value) {
      return refused(
          fmt::format("was saved by a run with {} = {}, not {}", each.name, value, each.value),
          each.key == "data" ? "; of shards without an index, earlier releases summed names and "
                               "sizes alone: such a run goes on with that release"
                             : "");
    }
  }
  const auto number = [&](const std::string& key) {
    const auto there = bookmark.find(key);
    return there == bookmark.end() ? std::nullopt : base::parse_int(there->second);
  };
  const auto real = [&](const std::string& key) {
    const auto there = bookmark.find(key);
    return there == bookmark.end() ? 0 : std::strtod(there->second.c_str(), nullptr);
  };
  const auto epoch = number("epoch"), position = number("position"), step = number("step"),
             samples = number("loss_samples");
  if (!epoch || !position || !step || !samples || *epoch < 0 || *step < 0 || *samples < 0) {
    return refused("has no valid position of its run");
  }
  if (*position < 0 || *position >= steps_) {
    return refused(fmt::format("is at step {} of an epoch, which has {} steps in this run",
                               *position, steps_));
  }
  if (*step / steps_ != *epoch || *step % steps_ != *position) {
    return refused(
        fmt::format("has the position of no run: step {} cannot be step {} of epoch {}, "
                    "as an epoch has {} steps",
                    *step, *position, *epoch + 1, steps_));
  }
  Standing out{*epoch,
               *position,
               *step,
               real("loss_sum"),
               *samples,
               {},
               number("summary_steps").value_or(*position),
               number("skipped").value_or(0),
               number("replaced").value_or(0)};
  for (const mesh::ScalarSummary& each : trained_.step().summaries) {
    out.summary_sums.push_back(real("summary:" + each.name));
  }
  return std::optional(std::move(out));
}

base::Status RunCheckpoint::save(const Standing& at) {
  if (options_.checkpoint.empty()) return {};
  mesh::Bookmark bookmark = {{"epoch", std::to_string(at.epoch)},
                             {"position", std::to_string(at.position)},
                             {"step", std::to_string(at.step)},
                             {"loss_samples", std::to_string(at.loss_samples)},
                             {"loss_sum", fmt::format("{:a}", at.loss_sum)},
                             {"summary_steps", std::to_string(at.summary_steps)}};
  if (at.skipped > 0) bookmark["skipped"] = std::to_string(at.skipped);
  if (at.replaced > 0) bookmark["replaced"] = std::to_string(at.replaced);
  for (const Setting& each : settings()) bookmark[each.key] = each.value;
  for (size_t i = 0; i < at.summary_sums.size(); ++i) {
    bookmark["summary:" + trained_.step().summaries[i].name] =
        fmt::format("{:a}", at.summary_sums[i]);
  }
  return mesh::save_checkpoint(path(), trained_.variables(), bookmark);
}

}  // namespace goban::train::trainer
