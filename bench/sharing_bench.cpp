// One co-location decision on 4,352 GPUs with 10,000 running jobs: CPU microseconds by policy and
// by number of applications. The goal for EaCO is a median below 100 us.
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fmt/format.h>
#include <new>

#include "base/random.hpp"
#include "core/policy/compose.hpp"
#include "core/policy/sharing/test_sharing.hpp"
#include "core/policy/test_part.hpp"

namespace {
// There is only one thread. Counts the allocations of a decision.
uint64_t num_allocations = 0;
}  // namespace

void* operator new(size_t size) {
  ++num_allocations;
  void* memory = std::malloc(size);  // NOLINT(cppcoreguidelines-no-malloc)
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t /*size*/) noexcept { std::free(memory); }

namespace goban::bench {
namespace {

using core::policy::test_part;
using core::policy::TestJob;
using core::policy::TestSharing;
using core::policy::TestSite;

constexpr uint32_t kNodes = 1088;
constexpr uint32_t kNodeGpus = 4;
constexpr size_t kRunning = 10'000;
constexpr int kDecisions = 5'000;

/// Applications alone with power and utilisation, and all their pairs.
TestSite make_site(uint32_t apps, base::Random& random) {
  TestSite site{.nodes = kNodes, .gpus = kNodeGpus, .apps = apps};
  core::knowledge::PowerModel power;
  power.num_gpus = kNodeGpus;
  power.host_idle_w = 80;
  power.gpu_idle_w = 30;
  power.gpu_context_w = 36;
  power.gpu_max_w = 300;
  power.gpu_dynamic_w = 200;
  power.gpu_share_base_w = 73;
  power.exponent = 0.48;
  site.power = {power};
  for (uint32_t a = 0; a < apps; ++a) {
    site.measured.push_back({.apps = {a},
                             .slowdown = {1},
                             .util_pct = 5 + 25 * random.uniform(),
                             .power_w = 100 + 100 * random.uniform()});
    for (uint32_t b = a; b < apps; ++b) {
      site.measured.push_back(
          {.apps = {a, b}, .slowdown = {1 + 0.4 * random.uniform(), 1 + 0.4 * random.uniform()}});
    }
  }
  return site;
}

TestJob draw_job(uint32_t apps, base::Random& random) {
  TestJob job;
  const double size = random.uniform();
  job.gpus = size < 0.8 ? 1 : size < 0.9 ? 2 : 4;
  job.app = static_cast<int32_t>(random.below(apps));
  job.util_pct = static_cast<float>(5 + 25 * (job.app + 0.5) / apps);
  job.mem_bytes = core::policy::kTestGib * (1 + job.app % 3);
  job.work_s = 3600 * (1 + 99 * random.uniform());
  const std::array factors = {1.2, 2.0, 10.0};
  job.deadline_s = job.work_s * factors[random.below(3)];
  return job;
}

/// Each new job joins randomly drawn groups that have room, until this number of jobs runs.
void fill(TestSharing& view, uint32_t apps, base::Random& random) {
  for (uint32_t gpu = 0; gpu < kNodes * kNodeGpus;) {
    TestJob job = draw_job(apps, random);
    const auto gpus = static_cast<uint32_t>(job.gpus);
    if (gpu % kNodeGpus + gpus > kNodeGpus) continue;
    std::vector<core::model::GpuId> on;
    for (uint32_t i = 0; i < gpus; ++i) on.emplace_back(gpu + i);
    view.start(view.submit(job), on);
    gpu += gpus;
  }
  for (size_t running = view.num_running(); running < kRunning;) {
    const TestJob job = draw_job(apps, random);
    const auto& group = view.tenants().group(
        view.group_of(static_cast<uint32_t>(random.below(uint64_t{kNodes} * kNodeGpus))));
    if (group.jobs.size() >= 4 || group.gpus.size() != static_cast<size_t>(job.gpus)) continue;
    view.start(view.submit(job), std::vector(group.gpus));
    ++running;
  }
}

/// CPU time of this thread, which excludes other processes of the machine.
double cpu_us() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
}

void measure(const char* name, const core::policy::Sharing& sharing, const TestSharing& view,
             std::span<const core::model::JobId> waiting) {
  std::vector<double> took_us;
  took_us.reserve(waiting.size());
  size_t found = 0;
  (void)sharing.choose(view, view.job(waiting[0]));  // allocates working memory
  const uint64_t before = num_allocations;
  for (const core::model::JobId job : waiting) {
    const double begin_us = cpu_us();
    found += sharing.choose(view, view.job(job)) ? 1 : 0;
    took_us.push_back(cpu_us() - begin_us);
  }
  const uint64_t allocated = num_allocations - before;
  std::ranges::sort(took_us);
  const auto quantile = [&](double q) {
    return took_us[static_cast<size_t>(q * static_cast<double>(took_us.size() - 1))];
  };
  fmt::print(
      "{:<28} median {:7.1f} us   95 % {:7.1f}   maximum {:7.1f}   found {:5.1f} %   "
      "allocations {}\n",
      name, quantile(0.5), quantile(0.95), quantile(1),
      100.0 * static_cast<double>(found) / static_cast<double>(took_us.size()), allocated);
}

void run(uint32_t apps) {
  base::Random random(7);
  TestSharing view(make_site(apps, random));
  fill(view, apps, random);
  view.pass(1800);
  std::vector<core::model::JobId> waiting;
  for (int i = 0; i < kDecisions; ++i) waiting.push_back(view.submit(draw_job(apps, random)));
  size_t kinds = 0;
  for (uint32_t size = 1; size <= kNodeGpus; ++size) {
    kinds += view.tenants().kinds_of_size(size).size();
  }
  fmt::print("{} applications, {} running jobs, {} kinds of groups\n", apps, view.num_running(),
             kinds);
  for (const char* part : {"share-best-pair", "share-random-pair", "share-eaco-paper", "share-eaco",
                           "share-eaco-similar", "share-eaco-complementary"}) {
    measure(part, *test_part(part).sharing, view, waiting);
  }
  view.set_demand(kNodes * kNodeGpus * 8 / 10);
  const core::policy::PolicyOptions worth = core::policy::compose("goban").value().options;
  measure("goban", *test_part("share-worth", worth).sharing, view, waiting);
  core::policy::PolicyOptions hopeless;
  hopeless.prices.min_saving = 0.99;
  measure("eaco, sharing never saves", *test_part("share-eaco", hopeless).sharing, view, waiting);
}

}  // namespace
}  // namespace goban::bench

int main() {
  for (const uint32_t apps : {4U, 26U, 100U}) goban::bench::run(apps);
}
