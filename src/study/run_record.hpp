// run.json: what a simulated run was made from, so that it can be run again exactly.
#pragma once

#include <string>
#include <vector>

#include "base/file_checksum.hpp"
#include "cli/shell/options.hpp"
#include "cli/study/simulate_options.hpp"

namespace goban::cli {

/// One run of `goban simulate`. The arguments are those that decide what happens, not where it is
/// written or printed; paths are as they were given.
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

/// The arguments of a parsed `goban simulate`.
[[nodiscard]] std::vector<std::string> deciding_arguments(const Command& command);

/// Checksums of all input files that the options name. Errors: Failed if one cannot be read.
[[nodiscard]] base::Result<RunRecord> record_run(const SimulateOptions& options);

/// Writes folder/run.json for one policy; reads it back.
[[nodiscard]] base::Status write_run_record(const std::string& folder, const std::string& policy,
                                            const RunRecord& record);
/// Errors: Failed, BadData (no such file, not a run record, of a later version).
[[nodiscard]] base::Result<RunRecord> read_run_record(const std::string& folder);

/// The options as they were, for this one policy. Errors: BadData if an input changed since, came
/// from standard input, or an argument is not known any more.
[[nodiscard]] base::Result<SimulateOptions> restore_options(const RunRecord& record,
                                                            const std::string& folder);

}  // namespace goban::cli
