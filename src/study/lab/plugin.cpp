#include "study/lab/plugin.hpp"

#include <algorithm>
#include <cmath>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <limits>

#include "base/units.hpp"

namespace goban::study::lab {
namespace {

using base::Result;
using core::model::FreeGpus;
using core::model::GpuId;
using core::model::NodeId;

constexpr const char* kEntry = "goban_lab_plugin";
constexpr const char* kRebuild = "rebuild it with the header goban_lab.hpp of this goban";

tl::unexpected<base::Error> bad(const std::string& path, std::string message, std::string remedy) {
  return base::bad_data({path, 0, 0, {}}, std::move(message), std::move(remedy));
}

/// The columns of goban_lab_jobs.
struct Columns {
  std::vector<int32_t> wholes[6];
  std::vector<double> reals[6];
  goban_lab_jobs jobs{};

  Columns(const JobRows& rows, int32_t free_gpus) {
    constexpr WholeColumn kWholes[] = {WholeColumn::Job,      WholeColumn::Gpus,
                                       WholeColumn::Priority, WholeColumn::User,
                                       WholeColumn::Starts,   WholeColumn::Running};
    constexpr RealColumn kReals[] = {RealColumn::SubmitS,   RealColumn::WaitS,
                                     RealColumn::AttainedS, RealColumn::EstimateS,
                                     RealColumn::LimitS,    RealColumn::DurationS};
    for (size_t i = 0; i < std::size(kWholes); ++i) wholes[i] = rows.wholes(kWholes[i]);
    const size_t num_reals = std::size(kReals) - (rows.sees_durations() ? 0 : 1);
    for (size_t i = 0; i < num_reals; ++i) reals[i] = rows.reals(kReals[i]);
    jobs = {.count = rows.size(),
            .now_s = rows.now_ns() ? base::to_seconds(*rows.now_ns())
                                   : std::numeric_limits<double>::quiet_NaN(),
            .free_gpus = free_gpus,
            .reserved = 0,
            .job = wholes[0].data(),
            .gpus = wholes[1].data(),
            .priority = wholes[2].data(),
            .user = wholes[3].data(),
            .starts = wholes[4].data(),
            .running = wholes[5].data(),
            .submit_s = reals[0].data(),
            .wait_s = reals[1].data(),
            .attained_s = reals[2].data(),
            .estimate_s = reals[3].data(),
            .limit_s = reals[4].data(),
            .duration_s = rows.sees_durations() ? reals[5].data() : nullptr};
  }
};

/// The columns of goban_lab_sizes.
struct SizeColumns {
  Columns of_jobs;
  std::vector<int32_t> gpus_min;
  std::vector<int32_t> gpus_max;
  std::vector<double> steps_left;
  std::vector<double> deadline_s;
  std::vector<uint64_t> first_level{0};
  std::vector<int32_t> level_gpus;
  std::vector<double> level_steps_per_s;
  goban_lab_sizes sizes{};

  explicit SizeColumns(const SizeRows& rows) : of_jobs(rows.jobs(), -1) {
    for (size_t row = 0; row < rows.jobs().size(); ++row) {
      const auto levels = rows.levels(row);
      gpus_min.push_back(levels.front().gpus);
      gpus_max.push_back(levels.back().gpus);
      steps_left.push_back(rows.steps_left(row));
      deadline_s.push_back(rows.deadline_s(row));
      for (const core::model::SpeedLevel& level : levels) {
        level_gpus.push_back(level.gpus);
        level_steps_per_s.push_back(level.steps_per_s);
      }
      first_level.push_back(level_gpus.size());
    }
    sizes = {.jobs = &of_jobs.jobs,
             .total_gpus = rows.total_gpus(),
             .reserved = 0,
             .gpus_min = gpus_min.data(),
             .gpus_max = gpus_max.data(),
             .steps_left = steps_left.data(),
             .deadline_s = deadline_s.data(),
             .first_level = first_level.data(),
             .level_gpus = level_gpus.data(),
             .level_steps_per_s = level_steps_per_s.data()};
  }
};

const FreeGpus& free_of(const void* host) { return *static_cast<const FreeGpus*>(host); }

int32_t write_ids(const std::vector<GpuId>& gpus, int64_t* out) {
  for (const GpuId gpu : gpus) *out++ = gpu.value;
  return 1;
}

uint32_t free_on_node(const void* host, uint32_t node) {
  const FreeGpus& free = free_of(host);
  return node < free.cluster().nodes().size() ? free.on_node(NodeId(node)) : 0;
}

int32_t is_free(const void* host, uint32_t gpu) {
  const FreeGpus& free = free_of(host);
  return gpu < free.cluster().num_gpus() && free.is_free(GpuId(gpu)) ? 1 : 0;
}

int32_t lowest(const void* host, uint32_t gpus, int64_t* out) {
  const FreeGpus& free = free_of(host);
  if (static_cast<int64_t>(gpus) > free.total()) return 0;
  uint32_t gpu = 0;
  for (uint32_t i = 0; i < gpus; ++i, ++gpu) {
    gpu = free.first_from(gpu);
    *out++ = gpu;
  }
  return 1;
}

int32_t on_node(const void* host, uint32_t node, uint32_t gpus, int64_t* out) {
  if (gpus == 0 || free_on_node(host, node) < gpus) return 0;
  std::vector<GpuId> ids;
  free_of(host).append_lowest(NodeId(node), gpus, ids);
  return write_ids(ids, out);
}

int32_t one_node(const void* host, uint32_t gpus, int64_t* out) {
  const auto& nodes = free_of(host).by_node();
  if (gpus == 0 || gpus > nodes.count_max()) return 0;
  const uint32_t node = nodes.tightest(gpus);
  return node == core::model::DomainSet::kNone ? 0 : on_node(host, node, gpus, out);
}

/// What a library states of a policy, checked.
Result<PluginPolicy> read_policy(const goban_lab_policy& from, const std::string& path) {
  if (from.name == nullptr || *from.name == '\0') {
    return bad(path, "a policy has no name", "give it one");
  }
  const auto wrong = [&](std::string what, std::string remedy) {
    return bad(path, fmt::format("policy {}: {}", from.name, what), std::move(remedy));
  };
  if (from.create == nullptr || from.destroy == nullptr || from.error == nullptr) {
    return wrong("create, destroy or error is missing", "use GOBAN_LAB_PLUGIN, or set them");
  }
  PluginPolicy out{.text = {.name = from.name}, .functions = &from};
  PolicyText& text = out.text;
  text.methods = {.order = from.order != nullptr,
                  .preempt = from.preempt != nullptr,
                  .select = from.select != nullptr,
                  .place = from.place != nullptr,
                  .size = from.size != nullptr};
  text.places_anywhere = from.places_anywhere != 0;
  text.oracle = from.oracle != 0;
  std::string parts = from.parts == nullptr ? "" : from.parts;
  if (text.methods.preempt) {
    if (!text.methods.order) return wrong("it has preempt and no order", "give it both");
    parts += parts.empty() ? "sticky" : "+sticky";
  }
  if (parts.empty()) parts = "fifo";
  if (const auto composed = core::policy::compose(parts); !composed) {
    return wrong(composed.error().text(), "correct its parts");
  }
  text.parts = parts;
  const std::string when = from.when == nullptr ? "event" : from.when;
  if (when == "event") return out;
  if (when == "arrival") {
    text.when = KeyTime::Arrival;
    return out;
  }
  const auto span = base::parse_duration(when);
  if (!span || *span <= 0) {
    return wrong(fmt::format("when = \"{}\"", when),
                 "give \"event\", \"arrival\" or an interval such as \"360s\"");
  }
  text.when = KeyTime::Every;
  text.every_s = base::to_seconds(*span);
  return out;
}

}  // namespace

Result<Plugin> Plugin::load(const std::string& path) {
  // Without a slash, dlopen() would search the folders of the system.
  const std::string file = path.find('/') == path.npos ? "./" + path : path;
  std::error_code code;
  if (!std::filesystem::exists(file, code)) {
    return base::failed(fmt::format("{}: there is no such file", path),
                        "name the shared library of the policy");
  }
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return base::failed(fmt::format("{}: cannot be loaded: {}", path, dlerror()),
                        "build it as a shared library for this machine");
  }
  using Entry = const goban_lab_plugin_info* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, kEntry));
  if (entry == nullptr) {
    return bad(path, fmt::format("exports no {}", kEntry),
               "end one of its sources with GOBAN_LAB_PLUGIN(YourPolicy) of goban_lab.hpp");
  }
  return from(entry(), path);
}

Result<Plugin> Plugin::from(const goban_lab_plugin_info* info, const std::string& path) {
  if (info == nullptr) return bad(path, "describes no policies", kRebuild);
  if (info->version != GOBAN_LAB_VERSION) {
    return bad(path,
               fmt::format("was built for version {} of the interface; this goban has version {}",
                           info->version, GOBAN_LAB_VERSION),
               kRebuild);
  }
  if (info->policy_bytes != sizeof(goban_lab_policy)) {
    return bad(path,
               fmt::format("its policies have {} bytes, those of version {} {}", info->policy_bytes,
                           GOBAN_LAB_VERSION, sizeof(goban_lab_policy)),
               kRebuild);
  }
  if (info->num_policies == 0 || info->policies == nullptr) {
    return bad(path, "has no policies", "name them in GOBAN_LAB_PLUGIN(...)");
  }
  Plugin out;
  for (uint64_t i = 0; i < info->num_policies; ++i) {
    auto policy = read_policy(info->policies[i], path);
    if (!policy) return base::failure(policy.error());
    if (out.find(policy->text.name) != nullptr) {
      return bad(path, fmt::format("two policies are named {}", policy->text.name),
                 "names must be unique");
    }
    out.policies_.push_back(std::move(*policy));
  }
  return out;
}

const PluginPolicy* Plugin::find(const std::string& name) const {
  for (const PluginPolicy& policy : policies_) {
    if (policy.text.name == name) return &policy;
  }
  return nullptr;
}

PluginMethods::PluginMethods(const PluginPolicy& policy, const core::model::JobHistory& history,
                             uint64_t seed)
    : policy_(policy), history_(history), object_(policy.functions->create(seed)) {
  if (object_ == nullptr) {
    throw Fault("create", fmt::format("policy {} could not be made", policy.text.name),
                "its constructor threw an exception");
  }
}

PluginMethods::~PluginMethods() { policy_.functions->destroy(object_); }

void PluginMethods::check(const char* method, int32_t returned, JobId job,
                          std::optional<TimeNs> now) {
  if (returned == 0) return;
  const char* const said = policy_.functions->error(object_);
  Fault fault(method, said == nullptr || *said == '\0' ? "failed" : said,
              "see the library's source");
  fault.job = job;
  if (now) fault.at_ns = *now;
  throw fault;
}

void PluginMethods::order(const JobRows& rows, std::span<double> keys) {
  const Columns columns(rows, -1);
  check("order", policy_.functions->order(object_, &columns.jobs, keys.data()), {}, rows.now_ns());
}

void PluginMethods::preempt(const JobRows& rows, std::span<double> keys) {
  const Columns columns(rows, -1);
  check("preempt", policy_.functions->preempt(object_, &columns.jobs, keys.data()), {},
        rows.now_ns());
}

void PluginMethods::select(const JobRows& rows, int32_t free_gpus, std::vector<int64_t>& chosen) {
  const Columns columns(rows, free_gpus);
  chosen.resize(rows.size());
  uint64_t count = 0;
  check("select", policy_.functions->select(object_, &columns.jobs, chosen.data(), &count), {},
        rows.now_ns());
  if (count > rows.size()) {
    throw Fault("select", fmt::format("returned {} rows of {}", count, rows.size()),
                "return each row at most once");
  }
  chosen.resize(count);
}

bool PluginMethods::place(const PlaceView& view, std::vector<int64_t>& gpus) {
  const core::model::JobRequest& request = *view.request;
  const core::model::Cluster& cluster = view.free->cluster();
  const bool oracle = policy_.text.oracle;
  const goban_lab_place asked{
      .now_s = base::to_seconds(view.now_ns),
      .job = static_cast<int32_t>(view.job.value),
      .gpus = request.num_gpus,
      .priority = request.priority,
      .user = request.user.valid() ? static_cast<int32_t>(request.user.value) : -1,
      .submit_s = base::to_seconds(request.submit_ns),
      .estimate_s = view.estimate_s,
      .limit_s = base::to_seconds(request.walltime_limit_ns),
      .duration_s = oracle ? history_.jobs[view.job.index()].work_s : -1,
      .num_nodes = static_cast<uint32_t>(cluster.nodes().size()),
      .num_gpus = cluster.num_gpus(),
      .host = view.free,
      .free_on_node = free_on_node,
      .is_free = is_free,
      .lowest = lowest,
      .one_node = one_node,
      .on_node = on_node};
  gpus.assign(static_cast<size_t>(request.num_gpus), -1);
  int32_t placed = 0;
  check("place", policy_.functions->place(object_, &asked, gpus.data(), &placed), view.job,
        view.now_ns);
  return placed != 0;
}

void PluginMethods::size(const SizeRows& rows, std::span<double> gpus) {
  const SizeColumns columns(rows);
  std::vector<int32_t> chosen(gpus.size(), 0);
  check("size", policy_.functions->size(object_, &columns.sizes, chosen.data()), {},
        rows.jobs().now_ns());
  std::ranges::copy(chosen, gpus.begin());
}

}  // namespace goban::study::lab
