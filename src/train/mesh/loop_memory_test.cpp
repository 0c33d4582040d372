// The memory that a plan predicts for loops, compared with the allocator's count.
#include <gtest/gtest.h>

#include "train/comm/thread_world.hpp"
#include "train/mesh/device_memory.hpp"
#include "train/mesh/functions.hpp"
#include "train/mesh/test_layouts.hpp"

namespace goban::train::mesh {
namespace {

const Dim kRows{"rows", 64}, kCols{"cols", 512}, kWide{"wide", 1024};
constexpr double kTolerance = 0.02;

/// States of three sizes, of which the weights are passed on unchanged, and two accumulators;
/// `after` is computed when the loop has ended.
std::vector<Tensor> loop(Graph& g, int64_t turns) {
  const Tensor x = g.input("x", {kRows, kCols}), y = g.input("y", {kRows, kWide});
  const Tensor w = g.input("w", {kCols, kWide});
  const auto last = while_loop(
      {fill(g, {}, 0), x, y, w},
      [turns](const std::vector<Tensor>& s) {
        return less(s[0], fill(s[0].graph(), {}, static_cast<double>(turns)));
      },
      [](const std::vector<Tensor>& s) {
        const Tensor wider = relu(s[2] * 0.5) + 1.0;
        return std::vector<Tensor>{s[0] + 1.0, s[1] * 0.5,   wider,
                                   s[3],       square(s[2]), reduce_sum(s[1], {kRows})};
      },
      turns, 2);
  return {last[1] * 2.0, last[2] * 2.0, last[4] * 2.0, last[5], reduce_sum(last[3], {kWide})};
}

struct Peaks {
  int64_t planned = 0, measured = 0;
};

Peaks peaks_of(int64_t turns, const char* mesh, const char* layout) {
  Peaks out;
  const MeshShape shape = *MeshShape::parse(mesh);
  const auto status = comm::run_threads(
      static_cast<int>(shape.devices()), {}, [&](comm::Communicator& end) -> base::Status {
        Graph g;
        const std::vector<Tensor> fetches = loop(g, turns);
        const Feeds feeds = make_feeds(g, 1);
        DeviceMemory memory(int64_t{1} << 30);  // with a limit, fed tensors are copied
        const DeviceMemory::Charge charge(memory);
        Variables variables(g, shape, *LayoutRules::parse(layout), end);
        auto program = Program::create(variables, {fetches, false, 1});
        if (!program) return base::failure(program.error());
        for (int step = 0; step < 2; ++step) {
          memory.forget_peak();
          if (auto got = (*program)->run({feeds}, 0); !got) return base::failure(got.error());
        }
        if (end.rank() == 0) {
          out = {(*program)->plan().totals.peak_value_bytes, memory.peak_bytes()};
        }
        return {};
      });
  EXPECT_TRUE(status) << status.error().text();
  return out;
}

TEST(LoopMemory, WhatIsPlannedIsWhatIsMeasured) {
  for (const auto& [mesh, layout] : {std::pair("", ""), std::pair("m:2", "rows:m"),
                                     std::pair("m:2", "cols:m"), std::pair("m:2", "wide:m")}) {
    for (const int64_t turns : {0, 1, 2, 5}) {
      const Peaks peaks = peaks_of(turns, mesh, layout);
      const auto planned = static_cast<double>(peaks.planned);
      const auto measured = static_cast<double>(peaks.measured);
      // Without an iteration the peak is after the loop, where kernels reuse memory in place.
      EXPECT_LE(planned, (turns == 0 ? 1.2 : 1 + kTolerance) * measured)
          << turns << " turns on \"" << mesh << "\" under \"" << layout << '"';
      EXPECT_GE(planned, (1 - kTolerance) * measured)
          << turns << " turns on \"" << mesh << "\" under \"" << layout << '"';
    }
  }
}

}  // namespace
}  // namespace goban::train::mesh
