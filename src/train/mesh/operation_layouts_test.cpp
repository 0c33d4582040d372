#include <ATen/ops/equal.h>
#include <algorithm>
#include <gmock/gmock.h>

#include "train/mesh/test_exact_layouts.hpp"
#include "train/mesh/test_layouts.hpp"

namespace goban::train::mesh {
namespace {

constexpr double kTolerance = 2e-5;  // fp32, sums of at most some hundred terms

TEST(OperationLayouts, EveryLegalLayoutGivesTheUnsplitResultAndGradients) {
  size_t runs = 0, split_runs = 0, exact_runs = 0;
  for (const auto& [name, build] : operation_cases(DType::F32)) {
    const auto whole = run_on_threads(build, {"", ""});
    ASSERT_TRUE(whole) << name << ": " << whole.error().text();
    for (const char* mesh : {"x:1", "x:2", "x:4", "x:2;y:2"}) {
      for (const LayoutCase& layout : legal_layouts(build, mesh)) {
        const auto split = run_on_threads(build, layout);
        ASSERT_TRUE(split) << name << " " << mesh << " \"" << layout.layout
                           << "\": " << split.error().text();
        EXPECT_EQ(difference(*split, *whole, kTolerance), "")
            << name << " on " << mesh << " under \"" << layout.layout << '"';
        if (same_bits_expected(build, layout)) {
          EXPECT_TRUE(std::equal(split->begin(), split->end(), whole->begin(), at::equal))
              << name << " on " << mesh << " under \"" << layout.layout << "\": other bits";
          exact_runs += layout.layout.empty() ? 0 : 1;
        }
        ++runs;
        split_runs += layout.layout.empty() ? 0 : 1;
      }
    }
  }
  std::printf("%zu runs, %zu of them split, %zu of those with the bits of the unsplit run\n", runs,
              split_runs, exact_runs);
  EXPECT_GT(split_runs, 500U);
}

}  // namespace
}  // namespace goban::train::mesh
