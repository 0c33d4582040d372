// The options of every command that reads accounting records.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "history/job_reader.hpp"
#include "records/record_reader.hpp"

namespace goban::cli {

/// How an input is to be read, as the command line says.
struct ReadingArguments {
  std::string format;  ///< "" = told by the first line
  int64_t procs_per_gpu = 1;
  records::SiteOptions site;

  void apply(records::ReadOptions& options) const {
    options.format = format;
    options.procs_per_gpu = procs_per_gpu;
    options.site = site;
  }
};

/// --format, --procs-per-gpu, --zone, --gpu-resource, --gpus-per-node.
void add_reading_options(CLI::App& c, ReadingArguments& arguments);

/// Reads a history from a file, a folder, standard input or a store. Errors: those of
/// history::read_jobs and store::JobStore::open.
[[nodiscard]] base::Result<history::ReadResult> read_history_input(
    const std::string& location, const history::ReadOptions& options);

}  // namespace goban::cli
