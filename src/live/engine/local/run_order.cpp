#include "live/engine/local/run_order.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/reports/run_reports_json.hpp"
#include "live/job/job_spec.hpp"

namespace goban::live::engine::local {
namespace {

using base::FieldReader;
using base::Result;
using nlohmann::json;

constexpr int32_t kVersion = 1;  ///< of orders; fields added since may be missing
constexpr double kMost = 1e300;

/// User text may be invalid UTF-8, which becomes the replacement character.
std::string dump(const json& document) {
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Reads a file into a value by `read(FieldReader&, value)`.
template <typename Value, typename Read>
Result<Value> parse_file(std::string_view text, const std::string& file, const Read& read) {
  const auto document = base::parse_json(text, file);
  if (!document) return base::failure(document.error());
  Value value;
  FieldReader in(*document, "");
  read(in, value);
  if (const auto status = in.status(file); !status) return base::failure(status.error());
  return value;
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

void read_gpu(FieldReader& in, base::gpus::LocalGpu& gpu) {
  in.field("index", gpu.index, 0, INT32_MAX);
  in.field("uuid", gpu.uuid);
  in.field("name", gpu.name);
  in.field("pci", gpu.pci);
  in.field("mem_bytes", gpu.mem_bytes, int64_t{0}, INT64_MAX);
  in.field("power_idle_w", gpu.power_idle_w, -kMost, kMost);
  in.field("power_max_w", gpu.power_max_w, -kMost, kMost);
  in.field("power_exponent", gpu.power_exponent, -kMost, kMost);
  in.field("virtual", gpu.is_virtual);
  in.field("cpus", gpu.cpus, 0, INT32_MAX);
  in.field("slowness", gpu.slowness, 0, kMost);
}

void read_spec(FieldReader& in, job::JobSpec& spec) {
  const json* given = in.find("spec");
  if (given == nullptr) return;
  auto read = job::job_spec_from_json(*given);
  if (!read) return in.fail("spec." + read.error().place.field, read.error().message);
  spec = std::move(*read);
}

void read_order(FieldReader& in, RunOrder& order) {
  uint32_t job = 0;
  int64_t epoch = 0;
  in.field("job", job, uint32_t{1}, UINT32_MAX);
  if (job == 0) return in.fail("job", "is missing");
  order.run.job = core::model::JobId(job - 1);
  in.field("run", order.run.run, uint32_t{0}, UINT32_MAX);
  in.field("epoch", epoch, int64_t{0}, INT64_MAX);
  order.epoch = static_cast<uint64_t>(epoch);
  read_spec(in, order.spec);
  in.list("gpus", [&](FieldReader& gpu) { read_gpu(gpu, order.gpus.emplace_back()); });
  in.list("denied", [&](FieldReader& device) {
    base::gpus::DeviceNumber& number = order.denied.emplace_back();
    device.field("major", number.major, uint32_t{0}, UINT32_MAX);
    device.field("minor", number.minor, uint32_t{0}, UINT32_MAX);
  });
  in.field("shares", order.shares);
  in.field("restarts", order.restarts, uint32_t{0}, UINT32_MAX);
  in.field("run_instances", order.run_instances, uint32_t{0}, UINT32_MAX);
  in.field("limit_ns", order.limit_ns, TimeNs{0}, base::kNever);
  in.field("node", order.node);
  in.field("payload", order.payload);
  in.field("staged", order.staged);
  in.field("fast_folder", order.fast_folder);
  in.field("cgroup_root", order.cgroup_root);
  in.field("socket_root", order.socket_root);
  in.field("attach_timeout_s", order.attach_timeout_s, -kMost, kMost);
}

}  // namespace

std::string to_text(const RunOrder& order) {
  json gpus = json::array();
  for (const base::gpus::LocalGpu& gpu : order.gpus) gpus.push_back(gpu_json(gpu));
  json denied = json::array();
  for (const base::gpus::DeviceNumber& each : order.denied) {
    denied.push_back({{"major", each.major}, {"minor", each.minor}});
  }
  json out{{"version", kVersion},
           {"job", job::job_number(order.run.job)},
           {"run", order.run.run},
           {"epoch", order.epoch},
           {"spec", job::to_json(order.spec)},
           {"gpus", std::move(gpus)},
           {"denied", std::move(denied)},
           {"shares", order.shares},
           {"restarts", order.restarts},
           {"run_instances", order.run_instances},
           {"limit_ns", order.limit_ns},
           {"node", order.node},
           {"payload", order.payload},
           {"cgroup_root", order.cgroup_root},
           {"socket_root", order.socket_root},
           {"attach_timeout_s", order.attach_timeout_s}};
  if (!order.staged.empty()) out["staged"] = order.staged;
  if (!order.fast_folder.empty()) out["fast_folder"] = order.fast_folder;
  return dump(out);
}

Result<RunOrder> parse_order(std::string_view text, const std::string& file) {
  const auto document = base::parse_json(text, file);
  if (!document) return base::failure(document.error());
  FieldReader in(*document, "");
  int32_t version = kVersion;
  in.field("version", version, 0, INT32_MAX);
  if (version > kVersion) {
    return base::bad_data(
        {file, 0, 0, "version"},
        fmt::format("the order has version {}; this release reads up to {}", version, kVersion),
        "start the release that wrote it; nothing was changed");
  }
  RunOrder order;
  read_order(in, order);
  if (const auto status = in.status(file); !status) return base::failure(status.error());
  return order;
}

std::string to_text(const Payload& payload) {
  return dump({{"script", payload.script},
               {"args", payload.args},
               {"env", payload.env},
               {"dialect", payload.dialect}});
}

Result<Payload> parse_payload(std::string_view text, const std::string& file) {
  return parse_file<Payload>(text, file, [](FieldReader& in, Payload& payload) {
    in.field("script", payload.script);
    in.field("args", payload.args);
    in.field("env", payload.env);
    in.field("dialect", payload.dialect);
  });
}

std::string to_text(const RunningNote& note) {
  return dump({{"supervisor_pid", note.supervisor_pid},
               {"pid", note.pid},
               {"started_ns", note.started_ns},
               {"cgroup", note.cgroup},
               {"device_cgroup", note.device_cgroup},
               {"limited", note.limited}});
}

Result<RunningNote> parse_note(std::string_view text, const std::string& file) {
  return parse_file<RunningNote>(text, file, [](FieldReader& in, RunningNote& note) {
    in.field("supervisor_pid", note.supervisor_pid, int64_t{0}, INT64_MAX);
    in.field("pid", note.pid, int64_t{0}, INT64_MAX);
    in.field("started_ns", note.started_ns, TimeNs{0}, base::kNever);
    in.field("cgroup", note.cgroup);
    in.field("device_cgroup", note.device_cgroup);
    in.field("limited", note.limited);
  });
}

std::string to_text(const RunStatus& status) {
  return dump({{"refused", status.refused},
               {"unable", status.unable},
               {"exit_code", status.exit_code},
               {"signal", status.signal},
               {"out_of_memory", status.out_of_memory},
               {"acknowledged", status.acknowledged},
               {"limited", status.limited},
               {"usage", to_json(status.usage)},
               {"progress", to_json(status.progress)},
               {"started_ns", status.started_ns},
               {"ended_ns", status.ended_ns},
               {"ran_ns", status.ran_ns},
               {"detail", status.detail}});
}

Result<RunStatus> parse_status(std::string_view text, const std::string& file) {
  return parse_file<RunStatus>(text, file, [](FieldReader& in, RunStatus& status) {
    in.field("refused", status.refused);
    in.field("unable", status.unable);
    in.field("exit_code", status.exit_code, INT32_MIN, INT32_MAX);
    in.field("signal", status.signal, INT32_MIN, INT32_MAX);
    in.field("out_of_memory", status.out_of_memory);
    in.field("acknowledged", status.acknowledged);
    in.field("limited", status.limited);
    in.object("usage", [&](FieldReader& part) { read_fields(part, status.usage); });
    in.object("progress", [&](FieldReader& part) { read_fields(part, status.progress); });
    in.field("started_ns", status.started_ns, INT64_MIN, base::kNever);
    in.field("ended_ns", status.ended_ns, INT64_MIN, base::kNever);
    in.field("ran_ns", status.ran_ns, TimeNs{-1}, base::kNever);
    in.field("detail", status.detail);
  });
}

std::string to_text(const RunProgress& progress) { return dump(to_json(progress)); }

Result<RunProgress> parse_progress(std::string_view text, const std::string& file) {
  return parse_file<RunProgress>(
      text, file, [](FieldReader& in, RunProgress& progress) { read_fields(in, progress); });
}

}  // namespace goban::live::engine::local
