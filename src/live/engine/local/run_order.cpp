#include "live/engine/local/run_order.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "live/job/job_spec_json.hpp"

namespace goban::live::engine::local {
namespace {

using nlohmann::json;

/// Texts of users need not be UTF-8: what is not becomes a replacement sign.
std::string dump(const json& document) {
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Reads fields that have their default if they are missing, and remembers the first wrong one.
class Fields {
 public:
  explicit Fields(const json& object) : object_(object) {}
  template <typename T>
  void get(const char* name, T& out) {
    const auto found = object_.find(name);
    if (found == object_.end()) return;
    try {
      found->get_to(out);
    } catch (const json::exception& error) {
      if (wrong_.empty()) wrong_ = fmt::format("{}: {}", name, error.what());
    }
  }
  [[nodiscard]] const std::string& wrong() const { return wrong_; }

 private:
  const json& object_;
  std::string wrong_;
};

base::Result<json> parse_object(std::string_view text, const std::string& file) {
  json document = json::parse(text, nullptr, false);
  if (!document.is_object()) return base::bad_data({file, 0, 0, {}}, "this is no JSON object");
  return document;
}

tl::unexpected<base::Error> wrong_field(const std::string& file, const std::string& what) {
  return base::bad_data({file, 0, 0, {}}, "wrong field " + what);
}

json gpu_json(const base::gpus::LocalGpu& gpu) {
  return {{"index", gpu.index},
          {"uuid", gpu.uuid},
          {"name", gpu.name},
          {"pci", gpu.pci},
          {"mem_bytes", gpu.mem_bytes},
          {"power_idle_w", gpu.power_idle_w},
          {"power_max_w", gpu.power_max_w},
          {"power_exponent", gpu.power_exponent},
          {"virtual", gpu.is_virtual},
          {"cpus", gpu.cpus},
          {"slowness", gpu.slowness}};
}

std::string read_gpu(const json& object, base::gpus::LocalGpu& gpu) {
  if (!object.is_object()) return "gpus: an entry is no object";
  Fields fields(object);
  fields.get("index", gpu.index);
  fields.get("uuid", gpu.uuid);
  fields.get("name", gpu.name);
  fields.get("pci", gpu.pci);
  fields.get("mem_bytes", gpu.mem_bytes);
  fields.get("power_idle_w", gpu.power_idle_w);
  fields.get("power_max_w", gpu.power_max_w);
  fields.get("power_exponent", gpu.power_exponent);
  fields.get("virtual", gpu.is_virtual);
  fields.get("cpus", gpu.cpus);
  fields.get("slowness", gpu.slowness);
  return fields.wrong();
}

json usage_json(const RunUsage& usage) {
  return {{"cpu_s", usage.cpu_s},
          {"mem_bytes_max", usage.mem_bytes_max},
          {"gpu_mem_bytes_max", usage.gpu_mem_bytes_max},
          {"gpu_util_pct", usage.gpu_util_pct},
          {"memory_busy_pct", usage.memory_busy_pct},
          {"dram_util_pct", usage.dram_util_pct},
          {"fu_util_pct", usage.fu_util_pct},
          {"energy_j", usage.energy_j}};
}

std::string read_usage(const json& object, RunUsage& usage) {
  Fields fields(object);
  fields.get("cpu_s", usage.cpu_s);
  fields.get("mem_bytes_max", usage.mem_bytes_max);
  fields.get("gpu_mem_bytes_max", usage.gpu_mem_bytes_max);
  fields.get("gpu_util_pct", usage.gpu_util_pct);
  fields.get("memory_busy_pct", usage.memory_busy_pct);
  fields.get("dram_util_pct", usage.dram_util_pct);
  fields.get("fu_util_pct", usage.fu_util_pct);
  fields.get("energy_j", usage.energy_j);
  return fields.wrong();
}

/// rank, ranks, steps, busy_s, wait_s; and data_s, which supervisors before 0.2 did not know.
using RankRow = std::vector<double>;
constexpr int32_t kVersion = 1;  ///< of orders; what was added since may be missing
constexpr size_t kRankWords = 5;

json ranks_json(const std::vector<RankTimes>& ranks) {
  json out = json::array();
  for (const RankTimes& each : ranks) {
    out.push_back({each.rank, each.ranks, each.steps, each.busy_s, each.wait_s});
    if (each.data_s >= 0) out.back().push_back(each.data_s);
  }
  return out;
}

std::string read_ranks(const std::vector<RankRow>& rows, std::vector<RankTimes>& ranks) {
  constexpr double kMost = 1e15;
  for (const RankRow& row : rows) {
    const bool good = row.size() >= kRankWords &&
                      std::ranges::all_of(row, [](double v) { return v >= 0 && v <= kMost; }) &&
                      row[0] < kRanksMax && row[1] <= kRanksMax;
    if (!good) return "ranks: a number is out of range";
    ranks.push_back({.rank = static_cast<int32_t>(row[0]),
                     .ranks = static_cast<int32_t>(row[1]),
                     .steps = static_cast<int64_t>(row[2]),
                     .busy_s = row[3],
                     .wait_s = row[4],
                     .data_s = row.size() > kRankWords ? row[kRankWords] : -1});
  }
  return {};
}

std::string read_pace(const std::vector<double>& row, RunPace& pace) {
  constexpr double kMost = 1e15;
  if (row.empty()) return {};
  const bool good =
      row.size() >= 4 && std::ranges::all_of(row, [](double v) { return v >= 0 && v <= kMost; });
  if (!good) return "pace: a number is missing or out of range";
  pace = {.steps = {.done = row[0], .over_s = row[1]},
          .epochs = {.done = row[2], .over_s = row[3]}};
  return {};
}

json progress_json(const RunProgress& progress) {
  const ProgressNews& news = progress.news;
  const RunPace& pace = progress.pace;
  return {{"epoch", news.epoch},
          {"epochs", news.epochs},
          {"step", news.step},
          {"steps", news.steps},
          {"samples_per_s", news.samples_per_s},
          {"loss", news.loss},
          {"busy_s", news.busy_s},
          {"input_stall_pct", news.input_stall_pct},
          {"pace", {pace.steps.done, pace.steps.over_s, pace.epochs.done, pace.epochs.over_s}},
          {"checkpoint_step", progress.checkpoint_step},
          {"ranks", ranks_json(progress.ranks)}};
}

std::string read_progress(const json& object, RunProgress& progress) {
  ProgressNews& news = progress.news;
  Fields fields(object);
  fields.get("epoch", news.epoch);
  fields.get("epochs", news.epochs);
  fields.get("step", news.step);
  fields.get("steps", news.steps);
  fields.get("samples_per_s", news.samples_per_s);
  fields.get("loss", news.loss);
  fields.get("busy_s", news.busy_s);
  fields.get("input_stall_pct", news.input_stall_pct);
  fields.get("checkpoint_step", progress.checkpoint_step);
  std::vector<RankRow> rows;
  fields.get("ranks", rows);
  std::vector<double> pace;
  fields.get("pace", pace);
  if (!fields.wrong().empty()) return fields.wrong();
  if (std::string wrong = read_pace(pace, progress.pace); !wrong.empty()) return wrong;
  return read_ranks(rows, progress.ranks);
}

}  // namespace

std::string to_text(const RunOrder& order) {
  json gpus = json::array();
  for (const base::gpus::LocalGpu& gpu : order.gpus) gpus.push_back(gpu_json(gpu));
  return dump({{"version", kVersion},
               {"job", job::job_number(order.run.job)},
               {"run", order.run.run},
               {"epoch", order.epoch},
               {"spec", job::to_json(order.spec)},
               {"gpus", std::move(gpus)},
               {"shares", order.shares},
               {"restarts", order.restarts},
               {"run_instances", order.run_instances},
               {"node", order.node},
               {"payload", order.payload},
               {"cgroup_root", order.cgroup_root},
               {"socket_root", order.socket_root},
               {"attach_timeout_s", order.attach_timeout_s}});
}

base::Result<RunOrder> parse_order(std::string_view text, const std::string& file) {
  const auto document = parse_object(text, file);
  if (!document) return base::failure(document.error());
  RunOrder order;
  uint64_t job = 0;
  json gpus = json::array();
  json spec = json::object();
  Fields fields(*document);
  fields.get("job", job);
  fields.get("run", order.run.run);
  fields.get("epoch", order.epoch);
  fields.get("spec", spec);
  fields.get("gpus", gpus);
  fields.get("shares", order.shares);
  fields.get("restarts", order.restarts);
  fields.get("run_instances", order.run_instances);
  fields.get("node", order.node);
  fields.get("payload", order.payload);
  fields.get("cgroup_root", order.cgroup_root);
  fields.get("socket_root", order.socket_root);
  fields.get("attach_timeout_s", order.attach_timeout_s);
  int32_t version = kVersion;
  fields.get("version", version);
  if (version > kVersion) {
    return base::bad_data(
        {file, 0, 0, "version"},
        fmt::format("it is of version {}, this goban reads {}", version, kVersion),
        "start the goban that wrote it; nothing was changed");
  }
  if (!fields.wrong().empty()) return wrong_field(file, fields.wrong());
  if (job < 1 || job > UINT32_MAX) return wrong_field(file, "job: no job number");
  order.run.job = core::model::JobId(static_cast<uint32_t>(job - 1));
  auto parsed = job::job_spec_from_json(spec);
  if (!parsed) return base::failure(parsed.error());
  order.spec = std::move(*parsed);
  for (const json& entry : gpus) {
    const std::string wrong = read_gpu(entry, order.gpus.emplace_back());
    if (!wrong.empty()) return wrong_field(file, wrong);
  }
  return order;
}

std::string to_text(const Payload& payload) {
  return dump({{"script", payload.script},
               {"args", payload.args},
               {"env", payload.env},
               {"dialect", payload.dialect}});
}

base::Result<Payload> parse_payload(std::string_view text, const std::string& file) {
  const auto document = parse_object(text, file);
  if (!document) return base::failure(document.error());
  Payload payload;
  Fields fields(*document);
  fields.get("script", payload.script);
  fields.get("args", payload.args);
  fields.get("env", payload.env);
  fields.get("dialect", payload.dialect);
  if (!fields.wrong().empty()) return wrong_field(file, fields.wrong());
  return payload;
}

std::string to_text(const RunningNote& note) {
  return dump({{"supervisor_pid", note.supervisor_pid},
               {"pid", note.pid},
               {"started_ns", note.started_ns},
               {"cgroup", note.cgroup}});
}

base::Result<RunningNote> parse_note(std::string_view text, const std::string& file) {
  const auto document = parse_object(text, file);
  if (!document) return base::failure(document.error());
  RunningNote note;
  Fields fields(*document);
  fields.get("supervisor_pid", note.supervisor_pid);
  fields.get("pid", note.pid);
  fields.get("started_ns", note.started_ns);
  fields.get("cgroup", note.cgroup);
  if (!fields.wrong().empty()) return wrong_field(file, fields.wrong());
  return note;
}

std::string to_text(const RunStatus& status) {
  return dump({{"refused", status.refused},
               {"exit_code", status.exit_code},
               {"signal", status.signal},
               {"out_of_memory", status.out_of_memory},
               {"acknowledged", status.acknowledged},
               {"usage", usage_json(status.usage)},
               {"progress", progress_json(status.progress)},
               {"started_ns", status.started_ns},
               {"ended_ns", status.ended_ns},
               {"detail", status.detail}});
}

base::Result<RunStatus> parse_status(std::string_view text, const std::string& file) {
  const auto document = parse_object(text, file);
  if (!document) return base::failure(document.error());
  RunStatus status;
  json usage = json::object();
  json progress = json::object();
  Fields fields(*document);
  fields.get("refused", status.refused);
  fields.get("exit_code", status.exit_code);
  fields.get("signal", status.signal);
  fields.get("out_of_memory", status.out_of_memory);
  fields.get("acknowledged", status.acknowledged);
  fields.get("usage", usage);
  fields.get("progress", progress);
  fields.get("started_ns", status.started_ns);
  fields.get("ended_ns", status.ended_ns);
  fields.get("detail", status.detail);
  if (!fields.wrong().empty()) return wrong_field(file, fields.wrong());
  if (auto wrong = read_usage(usage, status.usage); !wrong.empty()) return wrong_field(file, wrong);
  if (auto wrong = read_progress(progress, status.progress); !wrong.empty()) {
    return wrong_field(file, wrong);
  }
  return status;
}

std::string to_text(const RunProgress& progress) { return dump(progress_json(progress)); }

base::Result<RunProgress> parse_progress(std::string_view text, const std::string& file) {
  const auto document = parse_object(text, file);
  if (!document) return base::failure(document.error());
  RunProgress progress;
  if (auto wrong = read_progress(*document, progress); !wrong.empty()) {
    return wrong_field(file, wrong);
  }
  return progress;
}

}  // namespace goban::live::engine::local
