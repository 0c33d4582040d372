#include "mesh/checkpoint.hpp"

#include <ATen/ATen.h>
#include <filesystem>
#include <gmock/gmock.h>
#include <unistd.h>

#include "comm/thread_world.hpp"
#include "mesh/layers.hpp"

namespace goban::mesh {
namespace {

namespace fs = std::filesystem;

/// A parameter of these types, saved or loaded on a mesh; rank 0's whole value.
base::Result<at::Tensor> visit(const VariableTypes& types, const char* mesh, const char* layout,
                               const std::string& path, bool save) {
  const MeshShape shape = *MeshShape::parse(mesh);
  at::Tensor out;
  const auto status = comm::run_threads(
      static_cast<int>(shape.devices()), {}, [&](comm::Communicator& end) -> base::Status {
        Graph g;
        Layers layers(g, types);
        (void)layers.parameter("w", {{"a", 4}, {"b", 6}}, {Initializer::Kind::Normal, 1});
        Variables variables(g, shape, *LayoutRules::parse(layout), end);
        if (save) {
          variables.initialize(3);
          if (auto s = save_checkpoint(path, variables, {}); !s) return s;
        } else if (auto loaded = load_checkpoint(path, variables); !loaded) {
          return base::failure(loaded.error());
        }
        const auto whole = variables.whole(0);
        if (!whole) return base::failure(whole.error());
        if (end.rank() == 0) out = *whole;
        return {};
      });
  if (!status) return base::failure(status.error());
  return out;
}

TEST(Checkpoint, MasterTypeIsThatOfTheFileAndSlicesThatOfTheDevices) {
  const std::string path =
      (fs::path(::testing::TempDir()) / ("goban_checkpoint_" + std::to_string(getpid()))).string();
  const VariableTypes mixed{DType::F32, DType::BF16, DType::BF16};
  const auto saved = visit(mixed, "x:2", "a:x", path, true);
  ASSERT_TRUE(saved) << saved.error().text();
  EXPECT_EQ(saved->scalar_type(), at::kBFloat16);
  const auto exact =
      visit({}, "x:2;y:3", "a:x;b:y", path, false);  // fp32 slices read the same file
  ASSERT_TRUE(exact) << exact.error().text();
  EXPECT_EQ(exact->scalar_type(), at::kFloat);
  EXPECT_TRUE(at::equal(*exact, saved->to(at::kFloat)));
  const auto again = visit(mixed, "", "", path, false);
  ASSERT_TRUE(again);
  EXPECT_TRUE(at::equal(*again, *saved));
  const auto other = visit({DType::F64, DType::F32, DType::F32}, "", "", path, false);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().text(), ::testing::HasSubstr("holds 'w fp32 4 6"));
  fs::remove(path);
}

}  // namespace
}  // namespace goban::mesh
