// Training curves of a job that writes TensorBoard event files: it names their folder at the
// beginning of its log, and they are read with its owner's permissions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/event_file.hpp"
#include "live/job/job_spec.hpp"

namespace goban::serve::api {

/// The folder in the first hint of the form `tensorboard --logdir FOLDER` (or `--logdir=FOLDER`,
/// quoted or not), as training libraries print it; nullopt if there is none. The log is untrusted.
[[nodiscard]] std::optional<std::string> events_folder(std::string_view log);

/// Values of one tag in one run, by step. Each step occurs once.
class ScalarCurve {
 public:
  static constexpr size_t kMost = 400;
  /// Thins as it grows, so that memory is bounded.
  void add(const base::Scalar& scalar);
  /// The next scalar is of a later file of the run: a restarted training repeats its steps, which
  /// replace the earlier ones.
  void begin_file() { new_file_ = true; }
  /// At most `kMost` points; the first and the last are among them.
  [[nodiscard]] std::vector<base::Scalar> points() const;
  [[nodiscard]] int64_t not_finite() const { return not_finite_; }

 private:
  std::vector<base::Scalar> kept_{};
  std::optional<base::Scalar> last_{};
  int64_t seen_ = 0;
  int64_t stride_ = 1;  ///< every how many are kept
  int64_t not_finite_ = 0;
  bool new_file_ = false;
};

struct EventCurve {
  std::string run{};  ///< the folder of its files, relative to the one that was named; or "."
  std::string tag{};
  ScalarCurve curve{};
};

struct EventCurves {
  std::vector<EventCurve> curves{};  ///< by run, then in the order of the files
  int64_t files = 0;
  bool was_cut = false;                 ///< there is more: files, curves or bytes
  std::vector<std::string> problems{};  ///< files that are damaged or must not be shown, with why
};

/// Reads all event files below a folder, a bounded number and size. Symbolic links below it are
/// ignored, and files must belong to the owner. Nothing there is no error: a job names its folder
/// before it writes. May hang as the file system does. Errors: Failed if the owner's permissions
/// cannot be taken, or the owner is no user of this machine.
[[nodiscard]] base::Result<EventCurves> read_event_curves(const live::job::Owner& owner,
                                                          const std::string& folder);

}  // namespace goban::serve::api
