#include "study/run_record.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/output_file.hpp"
#include "base/text_file.hpp"

namespace goban::study {
namespace {

using base::Result;
using base::Status;
using nlohmann::ordered_json;

std::string path_of(const std::string& folder) { return folder + "/run.json"; }

}  // namespace

tl::unexpected<base::Error> bad_run_record(const std::string& folder, std::string message) {
  return base::bad_data({path_of(folder), 0, 0, ""}, std::move(message),
                        "give the folder of one policy, written by goban simulate --out");
}

Result<RunRecord> record_run(const StudyOptions& options) {
  RunRecord record;
  record.arguments = options.arguments;
  for (const std::string& path : options.files.input_paths()) {
    std::error_code ignored;
    const auto kind = std::filesystem::status(path, ignored);
    if (path == "-" || std::filesystem::is_fifo(kind) || std::filesystem::is_character_file(kind)) {
      record.from_stdin = true;  // what was read from a pipe is gone
      continue;
    }
    const auto checksum = base::checksum_of(path);
    if (!checksum) return base::failure(checksum.error());
    record.inputs.push_back({path, *checksum});
  }
  return record;
}

Status write_run_record(const std::string& folder, const std::string& policy,
                        const RunRecord& record) {
  ordered_json inputs = ordered_json::array();
  for (const RunRecord::Input& input : record.inputs) {
    inputs.push_back({{"path", input.path},
                      {"bytes", input.checksum.bytes},
                      {"crc32", fmt::format("{:08x}", input.checksum.crc32)}});
  }
  const ordered_json document = {{"goban_run", RunRecord::kVersion},
                                 {"policy", policy},
                                 {"arguments", record.arguments},
                                 {"inputs", std::move(inputs)},
                                 {"from_stdin", record.from_stdin}};
  auto file = base::OutputFile::create(path_of(folder));
  if (!file) return base::failure(file.error());
  file->buffer() = document.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
  return file->commit();
}

Result<RunRecord> read_run_record(const std::string& folder) {
  constexpr size_t kBytesMax = size_t{16} << 20;
  const std::string path = path_of(folder);
  const auto text = base::read_text_file(path, kBytesMax);
  if (!text) {
    return base::failed(fmt::format("cannot read {}", path),
                        "give the folder of one policy, written by goban simulate --out");
  }
  try {
    const auto document = nlohmann::json::parse(*text);
    if (document.at("goban_run").get<int>() != RunRecord::kVersion) {
      return bad_run_record(folder,
                            fmt::format("unsupported version {}; this program reads version {}",
                                        document.at("goban_run").dump(), RunRecord::kVersion));
    }
    RunRecord record;
    record.policy = document.at("policy").get<std::string>();
    record.arguments = document.at("arguments").get<std::vector<std::string>>();
    record.from_stdin = document.at("from_stdin").get<bool>();
    for (const auto& input : document.at("inputs")) {
      RunRecord::Input& each = record.inputs.emplace_back();
      each.path = input.at("path").get<std::string>();
      each.checksum.bytes = input.at("bytes").get<int64_t>();
      each.checksum.crc32 =
          static_cast<uint32_t>(std::stoul(input.at("crc32").get<std::string>(), nullptr, 16));
    }
    return record;
  } catch (const std::exception& problem) {
    return bad_run_record(folder, fmt::format("not a run record: {}", problem.what()));
  }
}

Status check_unchanged(const RunRecord& record, const std::string& folder) {
  if (record.from_stdin) {
    return base::bad_data({path_of(folder), 0, 0, ""},
                          "the run read its jobs from standard input or a pipe",
                          "run goban simulate on a file to explain its jobs");
  }
  for (const RunRecord::Input& input : record.inputs) {
    const auto now = base::checksum_of(input.path);
    if (!now) {
      return base::failed(now.error().message,
                          "run goban explain in the folder in which goban simulate ran");
    }
    if (*now != input.checksum) {
      return base::bad_data({input.path, 0, 0, ""}, "the file changed since the run was made",
                            "run goban simulate again");
    }
  }
  return {};
}

}  // namespace goban::study
