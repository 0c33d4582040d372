// run.json: the arguments and inputs of a simulated run, so that it can be repeated exactly.
#pragma once

#include <string>
#include <vector>

#include "base/file_checksum.hpp"
#include "study/study_options.hpp"

namespace goban::study {

/// One run of `goban simulate`. Only arguments that affect decisions are recorded, not those about
/// output. Paths are recorded as they were given.
struct RunRecord {
  static constexpr int kVersion = 1;
  struct Input {
    std::string path;
    base::FileChecksum checksum;
  };
  std::string policy;
  std::vector<std::string> arguments;  ///< "--name=value"
  std::vector<Input> inputs;
  bool from_stdin = false;  ///< the jobs cannot be read again
};

/// Checksums of all input files that the options name. Errors: Failed if one cannot be read.
[[nodiscard]] base::Result<RunRecord> record_run(const StudyOptions& options);

/// Writes folder/run.json for one policy. Errors: Failed.
[[nodiscard]] base::Status write_run_record(const std::string& folder, const std::string& policy,
                                            const RunRecord& record);
/// Reads folder/run.json. Errors: Failed, BadData (no such file, not a run record, of a later
/// version).
[[nodiscard]] base::Result<RunRecord> read_run_record(const std::string& folder);

/// Checks that the run can be repeated: its inputs are files and did not change. Errors: BadData if
/// not; Failed if one cannot be read.
[[nodiscard]] base::Status check_unchanged(const RunRecord& record, const std::string& folder);

/// The error for an invalid run.json.
[[nodiscard]] tl::unexpected<base::Error> bad_run_record(const std::string& folder,
                                                         std::string message);

}  // namespace goban::study
