// Job profiles that make themselves: the first whole run of an application is its profile, and
// later submissions of the same application that say nothing of memory, utilisation and class get
// them from it. One base::reports::JobProfile a file in `<state>/profiles/`, under its user's
// number.
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
#include "serve/api/daemon_parts.hpp"

namespace goban::serve::daemon {

/// An application is what one user runs under one name: `--model` if it is given, else the job's
/// name with its script and arguments; at a batch size, on so many GPUs. Threads: any.
class ProfileBook final : public api::Profiles {
 public:
  /// A run has to hold its GPUs so long to say anything.
  static constexpr double kShortest_s = 5;
  /// Of the measured peak; a later run may take somewhat more.
  static constexpr double kMemoryReserve = 1.2;

  /// Applications are told apart into so many classes if nobody says more.
  static constexpr size_t kClasses = 3;

  /// `payloads`: folder of the PayloadStore; `gpu_type`: name of the GPUs here; `num_classes`: that
  /// the GPUs have scores for. Makes the folder. Errors: Failed.
  [[nodiscard]] static base::Result<std::unique_ptr<ProfileBook>> open(
      std::string folder, std::string payloads, std::string gpu_type,
      size_t num_classes = kClasses);

  /// Adds what is known of its application to a submission, where it says nothing itself. Its class
  /// is by what earlier runs did with their GPUs, else by the name of its model.
  void fill(live::job::JobSpec& spec, std::string_view payload) const override;
  /// Takes a job that is over, before its payload is removed. What is no whole run alone on its
  /// GPUs is ignored; to an application that is known it adds a higher peak of memory, and what no
  /// run before said. Times of steps and epochs are those between the job's first and last line, as
  /// far as its lines tell; else of the whole run.
  /// Errors: Failed if the profile cannot be written.
  [[nodiscard]] base::Status learn(const live::controller::LiveJob& job);
  /// A number of the job's application among its user's; 0 = it cannot be told. As long as its
  /// payload is there, or if it was asked for before.
  [[nodiscard]] uint32_t application_of(const live::controller::LiveJob& job);
  /// The profile of the job's application as JSON; empty: there is none, or nobody knows any more
  /// which it is.
  [[nodiscard]] std::string find(const live::controller::LiveJob& job) override;

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
  /// None: there is no such file. One of 0.1 gets its name of today.
  [[nodiscard]] std::optional<base::reports::JobProfile> read(const std::string& name) const;
  /// File of the application of a job in the book; empty: its script is gone.
  [[nodiscard]] std::string file_of(const live::controller::LiveJob& job);

  std::string folder_;
  std::string payloads_;
  std::string gpu_type_;
  mutable std::mutex mutex_;
  std::map<core::model::JobId, std::string> files_;  ///< guarded by mutex_
  core::knowledge::LearnedClasses classes_;          ///< by name of file; guarded by mutex_
};

/// Removes the profiles of a user's applications, and those of 0.1, which do not say whose they
/// are. Returns how many.
size_t forget_profiles(const std::string& folder, uint32_t uid);

}  // namespace goban::serve::daemon
