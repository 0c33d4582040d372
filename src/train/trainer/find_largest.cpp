#include "train/trainer/find_largest.hpp"

#include <ATen/Parallel.h>
#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <mutex>

#include "train/comm/thread_world.hpp"
#include "train/mesh/device.hpp"
#include "train/trainer/stopping.hpp"
#include "train/trainer/training_step.hpp"

namespace goban::train::trainer {
namespace {

TrainOptions sized(const LargestOptions& options, int ranks, int64_t size) {
  TrainOptions out = options.train;
  out.mesh = ranks == 1 ? "" : fmt::format("x:{}", ranks);
  if (out.layout.empty()) out.layout = default_layout(options.growing);
  if (ranks == 1) out.layout = "";
  out.quiet = true;
  switch (options.growing) {
    case Growing::Batch:
      out.batch_size = size;
      break;
    case Growing::Hidden:
      out.hidden = size;
      break;
    case Growing::DFf:
      out.transformer.d_ff = size;
      break;
  }
  return out;
}

/// Memory of a device according to the plan, in bytes.
base::Result<int64_t> planned(const TrainOptions& options) {
  const auto step = build_step(options);
  if (!step) return base::failure(step.error());
  const auto mesh = mesh::MeshShape::parse(options.mesh);
  if (!mesh) return base::failure(mesh.error());
  const auto rules = layout_rules(options);
  if (!rules) return base::failure(rules.error());
  const auto plan =
      mesh::lower((*step)->graph, (*step)->roots(), *mesh, *rules, 0, options.micro_batches);
  if (!plan) return base::failure(plan.error());
  return needed_bytes(*plan);
}

/// Trains some steps on zeros under the limit; returns the highest peak of all ranks, in bytes.
base::Result<int64_t> tried(TrainOptions options, int ranks, int steps) {
  const int64_t limit = options.memory_limit_bytes;
  options.memory_limit_bytes = 0;  // only the allocator enforces the limit
  std::mutex mutex;
  int64_t most = 0;
  const auto status = comm::run_threads(ranks, {}, [&](comm::Communicator& end) -> base::Status {
    const auto device = mesh::resolve_device(options.device, end.local_rank());
    if (!device) return base::failure(device.error());
    mesh::DeviceMemory memory(limit, *device);
    auto step = build_step(options);
    if (!step) return base::failure(step.error());
    const auto layout = choose(options, **step, end);
    if (!layout) return base::failure(layout.error());
    auto ready = TrainingStep::create(options, std::move(*step), *layout, end, memory);
    if (!ready) return base::failure(ready.error());
    const std::vector<mesh::Feeds> feeds = (*ready)->zero_feeds();
    for (int i = 0; i < steps; ++i) {
      const auto stop = agreed_to_stop(end);
      if (!stop) return base::failure(stop.error());
      if (*stop) return base::failed("stopped");
      if (const auto run = (*ready)->run(feeds, i); !run) return base::failure(run.error());
    }
    const std::scoped_lock lock(mutex);
    most = std::max(most, memory.peak_bytes());
    return {};
  });
  if (!status) return base::failure(status.error());
  return most;
}

/// The largest n in [1, most] with fits(n), or 0 if there is none. The search starts near `guess`.
/// After a signal the result is undefined.
int64_t largest(int64_t guess, int64_t most, const std::function<bool(int64_t)>& fits) {
  int64_t low = 0, high = most + 1;  // fits(low) or low == 0; not fits(high) or high > most
  int64_t stride = std::max<int64_t>(1, guess / 16);
  int64_t at = std::clamp<int64_t>(guess, 1, most);
  while (high - low > 1 && !stop_requested) {
    if (fits(at)) {
      low = at;
      at = std::min(high - 1, low + stride);
    } else {
      high = at;
      at = std::max(low + 1, high - stride);
    }
    stride *= 2;
    if (low > 0 && high <= most) at = low + (high - low) / 2;
  }
  return low;
}

base::Result<Largest> of_ranks(const LargestOptions& options, int ranks) {
  const int64_t limit = options.train.memory_limit_bytes, unit = ranks;
  Largest out;
  out.ranks = ranks;
  out.layout = sized(options, ranks, unit).layout;
  // A layout that is illegal for the smallest size is illegal for all.
  if (auto legal = planned(sized(options, ranks, unit)); !legal) {
    return base::failure(legal.error());
  }
  const int64_t most = options.most / unit;
  const int64_t guess = largest(16, most, [&](int64_t n) {
    const auto bytes = planned(sized(options, ranks, n * unit));
    return bytes && *bytes <= limit;
  });
  out.predicted = guess * unit;
  const int64_t found = largest(std::max<int64_t>(guess, 1), most, [&](int64_t n) {
    const auto peak = tried(sized(options, ranks, n * unit), ranks, options.steps);
    if (peak) {
      out.measured_bytes = *peak;
    } else {
      out.refused = peak.error().message;
    }
    return peak.has_value();
  });
  out.found = found * unit;
  if (found == 0 || stop_requested) return out;
  out.planned_bytes = planned(sized(options, ranks, out.found)).value_or(0);
  out.measured_bytes =
      tried(sized(options, ranks, out.found), ranks, options.steps).value_or(out.measured_bytes);
  return out;
}

const char* name_of(Growing growing) {
  return growing == Growing::Batch ? "batch" : growing == Growing::Hidden ? "hidden" : "d_ff";
}

}  // namespace

std::string default_layout(Growing growing) {
  return growing == Growing::Batch    ? "batch:x"
         : growing == Growing::Hidden ? "hidden1:x"
                                      : "d_ff:x";
}

base::Result<std::vector<Largest>> find_largest(const LargestOptions& options) {
  if (options.train.memory_limit_bytes <= 0) {
    return base::usage_error("the search for the largest size requires a memory limit",
                             "add --memory-limit-mb, such as --memory-limit-mb 64");
  }
  std::vector<Largest> all;
  const int threads = at::get_num_threads();
  for (const int ranks : options.ranks) {
    if (ranks < 1)
      return base::usage_error(fmt::format("number of ranks {}: must be an integer >= 1", ranks));
    at::set_num_threads(std::max(1, threads / ranks));
    auto one = of_ranks(options, ranks);
    at::set_num_threads(threads);
    if (stop_requested) return all;
    if (!one) return base::failure(one.error());
    all.push_back(*one);
  }
  return all;
}

std::string largest_text(const LargestOptions& options, const std::vector<Largest>& all) {
  std::string out = fmt::format(
      "largest {} within {} bytes per device\n{:>5}  {:<24} {:>10} {:>10} {:>8} {:>14} {:>14}\n",
      name_of(options.growing), options.train.memory_limit_bytes, "ranks", "layout", "predicted",
      "found", "times", "planned bytes", "measured bytes");
  const double one = all.empty() ? 0 : static_cast<double>(all.front().found);
  for (const Largest& each : all) {
    out += fmt::format("{:>5}  {:<24} {:>10} {:>10} {:>8.2f} {:>14} {:>14}\n", each.ranks,
                       each.layout.empty() ? "-" : each.layout, each.predicted, each.found,
                       one > 0 ? static_cast<double>(each.found) / one : 0, each.planned_bytes,
                       each.measured_bytes);
  }
  for (const Largest& each : all) {
    if (!each.refused.empty()) {
      out += fmt::format("{} ranks, next larger size: {}\n", each.ranks, each.refused);
    }
  }
  return out;
}

}  // namespace goban::train::trainer
