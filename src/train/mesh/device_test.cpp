// A device that is not the CPU: tests/standin_device, whose memory the host cannot read and whose
// operations reject host tensors. No GPU is needed, and none is tested.
#include "train/mesh/device.hpp"

#include <ATen/ops/add.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>

#include "train/comm/nccl_world.hpp"
#include "train/comm/thread_world.hpp"
#include "train/mesh/kernels.hpp"
#include "train/mesh/layers.hpp"
#include "train/mesh/matmul.hpp"
#include "train/mesh/measure_costs.hpp"
#include "train/mesh/optimizer.hpp"
#include "train/mesh/test_checkpoint.hpp"
#include "train/mesh/test_layouts.hpp"

extern "C" void* goban_standin_memory(const void* data);

namespace goban::train::mesh {
namespace {

using ::testing::HasSubstr;

const c10::Device kStandin(c10::kPrivateUse1, 0);
constexpr double kTolerance = 2e-5;

/// Turns off our own CPU kernels, so that the CPU uses the same LibTorch kernels as the stand-in.
class LibrarysKernels {
 public:
  LibrarysKernels() { use_own_kernels(false); }
  ~LibrarysKernels() { use_own_kernels(true); }
  LibrarysKernels(const LibrarysKernels&) = delete;
  LibrarysKernels& operator=(const LibrarysKernels&) = delete;
};

/// Runs on the stand-in device, with the stand-in of NCCL or through the host.
base::Result<std::vector<at::Tensor>> run_on_standin(const Builder& build, const LayoutCase& layout,
                                                     bool nccl) {
  RunOptions options;
  options.device = kStandin;
  std::vector<at::Tensor> out;
  const auto status = comm::run_threads(
      static_cast<int>(MeshShape::parse(layout.mesh)->devices()), {},
      [&](comm::Communicator& host) -> base::Status {
        std::unique_ptr<comm::Communicator> gpu;
        if (nccl) {
          auto started = comm::start_nccl(host, host.rank(), {GOBAN_FAKE_NCCL, GOBAN_FAKE_NCCL});
          if (!started) return base::failure(started.error());
          gpu = std::move(*started);
        }
        auto got = run_rank(build, layout, options, nccl ? *gpu : host);
        if (!got) return base::failure(got.error());
        if (host.rank() != 0) return {};
        for (const at::Tensor& each : *got) {
          EXPECT_EQ(each.device(), kStandin);
          out.push_back(each.cpu());
        }
        return {};
      });
  if (!status) return base::failure(status.error());
  return out;
}

TEST(Device, TheStandInsMemoryIsNotTheHosts) {
  const at::Tensor x = at::ones({4}, at::TensorOptions().device(kStandin));
  ASSERT_NE(goban_standin_memory(x.data_ptr()), nullptr);
  EXPECT_EXIT(std::exit(static_cast<int>(*x.data_ptr<float>())), ::testing::KilledBySignal(SIGSEGV),
              "");
  EXPECT_THROW((void)at::add(x, at::ones({4})), c10::Error);
  EXPECT_EQ(x.cpu().sum().item<double>(), 4);
}

TEST(Device, EveryOperationGivesTheProcessorsResultsByBothWaysOfMovingData) {
  const LibrarysKernels only;
  for (const auto& [name, build] : operation_cases(DType::F32)) {
    const auto wanted = run_on_threads(build, {"", ""});
    ASSERT_TRUE(wanted) << name << ": " << wanted.error().text();
    std::vector<LayoutCase> layouts = {{"", ""}};
    for (const LayoutCase& each : legal_layouts(build, "x:2")) layouts.push_back(each);
    for (size_t i = 0; i < layouts.size(); ++i) {
      const auto got = run_on_standin(build, layouts[i], /*nccl=*/i % 2 == 1);
      ASSERT_TRUE(got) << name << " \"" << layouts[i].layout << "\": " << got.error().text();
      EXPECT_EQ(difference(*got, *wanted, kTolerance), "") << name << ' ' << layouts[i].layout;
    }
  }
}

TEST(Device, RandomNumbersAreTheSameBitsByOperationsOnTensors) {
  const Shape whole{{"a", 6}, {"b", 50}};
  const std::vector<int64_t> begin = {2, 10}, local = {3, 25};
  for (const uint64_t seed : {uint64_t{0}, uint64_t{7}, ~uint64_t{0}}) {
    const at::Tensor wanted = random_slice(Distribution::Uniform, seed, whole, begin, local);
    for (const c10::Device device : {c10::Device(c10::kCPU), kStandin}) {
      const at::Tensor got = uniform_slice_by_tensors(seed, whole, begin, local, device);
      EXPECT_EQ(got.device(), device);
      EXPECT_TRUE(at::equal(got.cpu(), wanted)) << seed;
    }
    for (const Distribution other : {Distribution::Normal, Distribution::TruncatedNormal}) {
      const at::Tensor got = random_slice(other, seed, whole, begin, local, kStandin);
      EXPECT_TRUE(at::equal(got.cpu(), random_slice(other, seed, whole, begin, local)));
    }
  }
}

/// Two steps of a small model under a layout on a device; saves, or resumes first.
void step_twice(const c10::Device device, const std::string& path, bool resume) {
  const auto status = comm::run_threads(2, {}, [&](comm::Communicator& end) -> base::Status {
    Graph g;
    Layers layers(g, DType::F32);
    const Tensor x = g.input("x", {{"batch", 4}, {"in", 6}});
    const Tensor y = layers.dense("first", x, {"in"}, {{"hidden", 8}});
    const Tensor loss = reduce_mean(square(y), {});
    std::vector<Tensor> values;
    for (const Parameter& each : layers.parameters()) values.push_back(each.value);
    OptimizerOptions adam;
    adam.kind = OptimizerOptions::Kind::AdamW;
    adam.learning_rate = 0.1;
    add_updates(g, layers.parameters(), gradients(loss, values), adam);
    Variables variables(g, *MeshShape::parse("x:2"), *LayoutRules::parse("hidden:x"), end, device);
    variables.initialize(3);
    if (resume) {
      if (auto loaded = load_checkpoint(path, variables); !loaded) {
        return base::failure(loaded.error());
      }
    }
    for (size_t i = 0; i < variables.size(); ++i) {
      EXPECT_EQ(variables.slice(static_cast<VariableId>(i)).device(), device);
    }
    auto program = Program::create(variables, {{loss}, true, 1});
    if (!program) return base::failure(program.error());
    for (uint64_t step = 0; step < 2; ++step) {
      if (auto s = (*program)->run({make_feeds(g, step)}, step); !s) {
        return base::failure(s.error());
      }
    }
    return save_checkpoint(path, variables, {});
  });
  EXPECT_TRUE(status) << status.error().text();
}

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Device, CheckpointsKnowNoDevice) {
  const LibrarysKernels only;
  const auto path = [](const char* name) {
    return (std::filesystem::path(::testing::TempDir()) / name).string();
  };
  step_twice(c10::kCPU, path("cpu.goban"), false);
  step_twice(kStandin, path("standin.goban"), false);
  EXPECT_EQ(contents(path("cpu.goban")), contents(path("standin.goban")));
  // Saved on one, resumed on the other.
  step_twice(kStandin, path("cpu.goban"), true);
  step_twice(c10::kCPU, path("standin.goban"), true);
  EXPECT_EQ(contents(path("cpu.goban")), contents(path("standin.goban")));
  EXPECT_FALSE(contents(path("cpu.goban")).empty());
}

TEST(Device, CostsAreMeasuredOnIt) {
  const auto status = comm::run_threads(2, {}, [](comm::Communicator& end) -> base::Status {
    const auto costs = measure_costs(end, kStandin);
    if (!costs) return base::failure(costs.error());
    EXPECT_GT(costs->flops_per_s, 0);
    EXPECT_GT(costs->alpha_s, 0);
    return {};
  });
  EXPECT_TRUE(status) << status.error().text();
}

TEST(Device, NamesAreResolvedAndWhatIsMissingIsNamed) {
  EXPECT_TRUE(resolve_device("cpu", 3)->is_cpu());
  EXPECT_EQ(*resolve_device("privateuseone", 1), kStandin);
  const auto nonsense = resolve_device("tpu9", 0);
  ASSERT_FALSE(nonsense);
  EXPECT_THAT(nonsense.error().text(), HasSubstr("unknown device 'tpu9'"));
  if (const auto chosen = resolve_device("auto", 0); chosen->is_cuda()) return;
  for (const char* text : {"cuda", "cuda:1"}) {
    const auto absent = resolve_device(text, 0);
    ASSERT_FALSE(absent);
    EXPECT_THAT(absent.error().text(), HasSubstr("sees 0 GPUs"));
    EXPECT_THAT(absent.error().text(), HasSubstr("--device cpu"));
  }
}

}  // namespace
}  // namespace goban::train::mesh
