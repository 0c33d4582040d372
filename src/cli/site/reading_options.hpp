// The options of every command that reads accounting records.
#pragma once

#include <cstdint>
#include <string>

#include "cli/shell/options.hpp"
#include "site/records/record_reader.hpp"
#include "study/history/job_reader.hpp"

namespace goban::cli {

/// How an input is to be read, as the command line says.
struct ReadingArguments {
  std::string format;  ///< "" = told by the first line
  int64_t procs_per_gpu = 1;
  site::records::SiteOptions site;

  void apply(site::records::ReadOptions& options) const {
    options.format = format;
    options.procs_per_gpu = procs_per_gpu;
    options.site = site;
  }
};

/// --format, --procs-per-gpu, --zone, --gpu-resource, --gpus-per-node.
void add_reading_options(Command& c, ReadingArguments& arguments);

/// Gives the records of a file, a folder, standard input or a store to a sink. Errors: those of
/// site::records::read_records and site::store::JobStore::open.
[[nodiscard]] base::Result<site::records::ReadSummary> read_records_input(
    const std::string& location, const site::records::ReadOptions& options,
    site::records::RecordSink& sink);

/// Reads a history from a file, a folder, standard input or a store. Errors: those of
/// study::history::read_jobs and site::store::JobStore::open.
[[nodiscard]] base::Result<study::history::ReadResult> read_history_input(
    const std::string& location, const study::history::ReadOptions& options);

}  // namespace goban::cli
