// Test support: small runs on threads, in a temporary folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "train/trainer/options.hpp"

namespace goban::train::trainer {

/// A folder with a set of images (test_images.hpp), removed at the end, and options of a run on it:
/// an MLP, 10 steps per epoch.
class TestRuns {
 protected:
  explicit TestRuns(const std::string& name);
  ~TestRuns();
  TestRuns(const TestRuns&) = delete;
  TestRuns& operator=(const TestRuns&) = delete;

  /// Trains on one thread per device of the mesh; returns rank 0's results.
  [[nodiscard]] static base::Result<std::vector<EpochResult>> run(const TrainOptions& options);
  /// Options of a language model on this file, fast enough for a test.
  [[nodiscard]] TrainOptions language_model(const std::string& text) const;
  /// Path of the checkpoint of runs that save to the folder "saved".
  [[nodiscard]] std::string saved() const;
  [[nodiscard]] static std::string contents(const std::string& path);

  std::filesystem::path folder_;
  TrainOptions options_;
};

}  // namespace goban::train::trainer
