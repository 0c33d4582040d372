#include "train/trainer/test_runs.hpp"

#include <fstream>
#include <iterator>
#include <unistd.h>

#include "train/comm/thread_world.hpp"
#include "train/mesh/layout.hpp"
#include "train/trainer/test_images.hpp"
#include "train/trainer/trainer.hpp"

namespace goban::train::trainer {

namespace fs = std::filesystem;

TestRuns::TestRuns(const std::string& name)
    : folder_(fs::temp_directory_path() / ("goban_" + name + "_" + std::to_string(getpid()))) {
  fs::remove_all(folder_);
  write_images(folder_ / "mnist");
  options_.model = "mlp";
  options_.hidden = 16;
  options_.batch_size = 24;
  options_.data_dir = folder_.string();
  options_.epochs = 4;
  options_.quiet = true;
}

TestRuns::~TestRuns() { fs::remove_all(folder_); }

base::Result<std::vector<EpochResult>> TestRuns::run(const TrainOptions& options) {
  const auto mesh = mesh::MeshShape::parse(options.mesh);
  if (!mesh) return base::failure(mesh.error());
  std::vector<EpochResult> out;
  const auto status =
      comm::run_threads(static_cast<int>(mesh->devices()), {}, [&](comm::Communicator& end) {
        auto result = train(options, end);
        if (result && end.rank() == 0) out = *result;
        return result ? base::Status{} : base::Status(base::failure(result.error()));
      });
  if (!status) return base::failure(status.error());
  return out;
}

TrainOptions TestRuns::language_model(const std::string& text) const {
  TrainOptions lm = options_;
  lm.task = "lm";
  lm.texts = {text};
  lm.batch_size = 16;
  lm.epochs = 6;
  lm.optimizer.kind = mesh::OptimizerOptions::Kind::AdamW;
  lm.optimizer.learning_rate = 0.005;
  return lm;
}

std::string TestRuns::saved() const { return (folder_ / "saved" / "checkpoint.goban").string(); }

std::string TestRuns::contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace goban::train::trainer
