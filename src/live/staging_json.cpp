#include "live/staging_json.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>

namespace goban::live {

using nlohmann::json;

namespace {

constexpr std::array<const char*, 5> kTaskNames = {"measure", "in", "out", "remove", "look"};
constexpr int64_t kBytesMax = int64_t{1} << 62;
constexpr uint32_t kIdMax = std::numeric_limits<uint32_t>::max();

void put_task(StageTask task, core::model::JobId job, json& out) {
  out["task"] = kTaskNames[static_cast<size_t>(task)];
  if (job.valid()) out["job"] = job.value;
}

void read_task(base::FieldReader& in, StageTask& task, core::model::JobId& job) {
  std::string name;
  in.field("task", name);
  const auto found = std::ranges::find(kTaskNames, name);
  if (found == kTaskNames.end()) return in.fail("task", "must be measure, in, out, remove or look");
  task = static_cast<StageTask>(found - kTaskNames.begin());
  in.field("job", job.value, uint32_t{0}, kIdMax);
}

}  // namespace

json to_json(const StageOrder& order) {
  const StageOrder normal;
  json object = json::object();
  put_task(order.task, order.job, object);
  base::FieldWriter out(object);
  out.field("withdrawn", order.withdrawn, normal.withdrawn);
  out.field("gives_up", order.gives_up, normal.gives_up);
  object["owner"] = {
      {"uid", order.owner.uid}, {"gid", order.owner.gid}, {"user", order.owner.user}};
  for (const StagePath& path : order.paths) {
    json& one = object["paths"].emplace_back(json::object());
    base::FieldWriter each(one);
    each.field("from", path.from, {});
    each.field("to", path.to, {});
  }
  out.field("folder", order.folder, normal.folder);
  out.field("job_folder", order.job_folder, normal.job_folder);
  out.field("gateway", order.gateway, normal.gateway);
  out.field("bytes_per_s", order.bytes_per_s, normal.bytes_per_s);
  return object;
}

void read_fields(base::FieldReader& in, StageOrder& order) {
  read_task(in, order.task, order.job);
  in.field("withdrawn", order.withdrawn);
  in.field("gives_up", order.gives_up);
  in.object("owner", [&](base::FieldReader& part) {
    part.field("uid", order.owner.uid, uint32_t{0}, kIdMax);
    part.field("gid", order.owner.gid, uint32_t{0}, kIdMax);
    part.field("user", order.owner.user);
  });
  if (in.find("owner") == nullptr) in.fail("owner", "is missing");
  in.list("paths", [&](base::FieldReader& part) {
    StagePath& path = order.paths.emplace_back();
    part.field("from", path.from);
    part.field("to", path.to);
  });
  in.field("folder", order.folder);
  in.field("job_folder", order.job_folder);
  in.field("gateway", order.gateway);
  in.field("bytes_per_s", order.bytes_per_s, 0, 1e18);
}

json to_json(const StageReport& report) {
  const StageReport normal;
  json object = json::object();
  put_task(report.task, report.job, object);
  base::FieldWriter out(object);
  out.field("key", report.key, normal.key);
  out.field("over", report.is_over, normal.is_over);
  out.field("all_bytes", report.all_bytes, normal.all_bytes);
  out.field("done_bytes", report.done_bytes, normal.done_bytes);
  out.field("copied_bytes", report.copied_bytes, normal.copied_bytes);
  for (const StageFound& found : report.found) {
    object["found"].push_back(
        {{"bytes", found.bytes}, {"files", found.files}, {"version", found.version}});
  }
  out.field("sha256", report.sha256, normal.sha256);
  out.field("problem", report.problem, normal.problem);
  out.field("final", report.is_final, normal.is_final);
  return object;
}

void read_fields(base::FieldReader& in, StageReport& report) {
  read_task(in, report.task, report.job);
  in.field("key", report.key);
  in.field("over", report.is_over);
  in.field("all_bytes", report.all_bytes, int64_t{0}, kBytesMax);
  in.field("done_bytes", report.done_bytes, int64_t{0}, kBytesMax);
  in.field("copied_bytes", report.copied_bytes, int64_t{0}, kBytesMax);
  in.list("found", [&](base::FieldReader& part) {
    StageFound& found = report.found.emplace_back();
    part.field("bytes", found.bytes, int64_t{0}, kBytesMax);
    part.field("files", found.files, int64_t{0}, kBytesMax);
    part.field("version", found.version);
    const bool is_hex = std::ranges::all_of(
        found.version, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
    if (found.version.empty() || !is_hex) part.fail("version", "must be hexadecimal digits");
  });
  in.field("sha256", report.sha256);
  in.field("problem", report.problem);
  in.field("final", report.is_final);
}

}  // namespace goban::live
