// Job profiles learned from runs: the first complete run of an application becomes its profile.
// Later submissions of the same application that do not state memory, utilisation or class get them
// from the profile. One base::reports::JobProfile per file in `<state>/profiles/`; the file name
// starts with the user's number.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/reports/job_profile.hpp"
#include "base/result.hpp"
#include "core/knowledge/learned_classes.hpp"
#include "live/controller/job_book.hpp"

namespace goban::serve::stores {

/// The job profiles by application. An application is identified by user, `--model` (without it:
/// the job's name, script and arguments), batch size and number of GPUs. Thread-safe.
class ProfileBook {
 public:
  /// Minimum time for which a run must hold its GPUs to become a profile.
  static constexpr double kShortest_s = 5;
  /// Factor on the measured peak memory; a later run may use somewhat more.
  static constexpr double kMemoryReserve = 1.2;

  /// Default number of application classes.
  static constexpr size_t kClasses = 3;

  /// `payloads`: folder of the PayloadStore; `gpu_type`: GPU model of this machine; `num_classes`:
  /// number of classes in the score table. Creates the folder. Errors: Failed.
  [[nodiscard]] static base::Result<std::unique_ptr<ProfileBook>> open(
      std::string folder, std::string payloads, std::string gpu_type,
      size_t num_classes = kClasses);

  /// Fills the fields that a submission leaves unset from the profile of its application. The class
  /// follows from the GPU use of earlier runs, otherwise from the model's name.
  void fill(live::job::JobSpec& spec, std::string_view payload) const;
  /// Learns from a finished job, before its payload is removed. Only complete, exclusive runs
  /// count. An existing profile gets a higher peak memory and values that it lacks. Step and epoch
  /// times are measured between the job's first and last progress report if these cover enough of
  /// the run, otherwise over the whole run. Errors: Failed if the profile cannot be written.
  [[nodiscard]] base::Status learn(const live::controller::LiveJob& job);
  /// Number of the job's application, unique per user; 0 = unknown. Available while the payload
  /// exists, or if it was requested before.
  [[nodiscard]] uint32_t application_of(const live::controller::LiveJob& job);
  /// The profile of the job's application as JSON; empty if there is none or the application is no
  /// longer known.
  [[nodiscard]] std::string find(const live::controller::LiveJob& job);

 private:
  ProfileBook(std::string folder, std::string payloads, std::string gpu_type, size_t num_classes)
      : folder_(std::move(folder)),
        payloads_(std::move(payloads)),
        gpu_type_(std::move(gpu_type)),
        classes_(num_classes) {}
  void read_classes();
  void fill_class(live::job::JobSpec& spec,
                  const std::optional<base::reports::JobProfile>& known) const;
  [[nodiscard]] std::optional<core::model::AppClass> class_of(
      const base::reports::JobProfile& profile) const;
  /// None if there is no such file. Renames a file of release 0.1 to the present naming scheme.
  [[nodiscard]] std::optional<base::reports::JobProfile> read(const std::string& name) const;
  /// File name of the application of a job in the job table; empty if its payload was removed.
  [[nodiscard]] std::string file_of(const live::controller::LiveJob& job);

  std::string folder_;
  std::string payloads_;
  std::string gpu_type_;
  mutable std::mutex mutex_;
  std::map<core::model::JobId, std::string> files_;  ///< guarded by mutex_
  core::knowledge::LearnedClasses classes_;          ///< by file name; guarded by mutex_
};

/// Removes the profiles of a user's applications, and those of release 0.1, which do not name their
/// user. Returns the number removed.
size_t forget_profiles(const std::string& folder, uint32_t uid);

}  // namespace goban::serve::stores
