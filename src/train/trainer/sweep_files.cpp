#include "train/trainer/sweep_files.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/field_splitter.hpp"
#include "base/files.hpp"
#include "base/number.hpp"
#include "base/output_file.hpp"
#include "base/shell_word.hpp"
#include "train/trainer/environment.hpp"
#include "train/trainer/sweep_claims.hpp"
#include "train/trainer/sweep_report.hpp"

namespace goban::train::trainer {
namespace {

constexpr size_t kColumns = 9;

/// A CSV field; quoted also if it contains spaces.
std::string quoted(const std::string& text) {
  return text.find_first_of(",\" ") == std::string::npos ? text : "\"" + text + "\"";
}

using nlohmann::json;

std::string largest_path(const SweepOptions& options) { return options.out + "/largest.json"; }

/// What the search depends on, besides the settings that a folder's runs have in common.
json search_of(const SweepOptions& options) {
  return {{"limit_bytes", options.largest_limit_bytes},
          {"hidden", options.hidden.front()},
          {"device", options.train.device}};
}

}  // namespace

base::Result<std::vector<EpochResult>> read_metrics(const std::string& path) {
  std::vector<EpochResult> out;
  std::ifstream in(path, std::ios::binary);
  std::string line;
  base::FieldSplitter splitter;
  for (int number = 1; std::getline(in, line); ++number) {
    if (number == 1) continue;
    if (in.eof()) break;  // no newline: truncated
    std::vector<double> values;
    const bool whole = splitter.split(line) && splitter.fields().size() == kColumns;
    for (const std::string_view field : splitter.fields()) {
      const auto value = base::parse_double(field);
      if (!value) break;
      values.push_back(*value);
    }
    if (!whole || values.size() != kColumns) {
      return base::bad_data({path, number, 0, ""}, "is not a line of metrics: '" + line + "'",
                            "remove the run's folder to train it again");
    }
    EpochResult row;
    row.epoch = static_cast<int64_t>(values[2]);
    row.step = static_cast<int64_t>(values[3]);
    row.train_loss = values[4];
    row.test_loss = values[5];
    row.test_accuracy = values[6];
    row.train_s = values[7];
    row.samples_per_s = values[8];
    out.push_back(row);
  }
  return out;
}

std::string sweep_csv(const std::vector<SweepRun>& runs) {
  std::string out =
      "batch,seed,epoch,step,train_loss,test_loss,test_acc,wall_s,images_s,control,hidden,layout,"
      "learning_rate\n";
  for (const SweepRun& run : runs) {
    const SweepPoint& p = run.point;
    for (const EpochResult& row : run.rows) {
      out += fmt::format("{},{},{},{},{:.9g},{:.9g},{:.9g},{:.4f},{:.1f},{},{},{},{}\n", p.batch,
                         p.seed, row.epoch, row.step, row.train_loss, row.test_loss,
                         row.test_accuracy, row.train_s, row.samples_per_s, control_name(p.control),
                         p.hidden, quoted(p.layout), base::number_text(p.learning_rate));
    }
  }
  return out;
}

std::string mpirun_script(const std::string& command, int ranks) {
  return fmt::format(R"(#!/bin/bash
# Runs or resumes the sweep of this folder. Start it directly, as a job of Goban (goban submit) or
# in a Slurm allocation. Under mpirun every rank sees the GPU of its local rank among the GPUs of
# the job.
set -eu
cd {2}
launched="${{PMIX_RANK:-}}${{PMI_RANK:-}}${{PMI_SIZE:-}}${{OMPI_MCA_ess_base_jobid:-}}"
if [ {0} -gt 1 ] && [ -z "$launched" ] && [ "${{OMPI_COMM_WORLD_SIZE:-1}}" -le 1 ]; then
  exec mpirun -n {0} bash "$0"
fi
rank=${{OMPI_COMM_WORLD_LOCAL_RANK:-${{SLURM_LOCALID:-0}}}}
IFS=, read -ra gpus <<< "${{CUDA_VISIBLE_DEVICES:-}}"
[ ${{#gpus[@]}} -eq 0 ] || rank=${{gpus[$((rank % ${{#gpus[@]}}))]}}
export CUDA_VISIBLE_DEVICES="$rank"
exec {1}
)",
                     ranks, command, base::shell_quoted(std::filesystem::current_path().string()));
}

std::string claims_csv(const std::vector<Claim>& claims) {
  std::string out = "claim,verdict,text,holds_if,measured\n";
  for (const Claim& each : claims) {
    out += fmt::format("{},{},{},{},{}\n", each.id, quoted(verdict_name(each.verdict)),
                       quoted(each.text), quoted(each.rule), quoted(each.measured));
  }
  return out;
}

std::vector<Largest> read_largest(const SweepOptions& options) {
  const auto text = base::read_small_file(largest_path(options));
  const json kept = text ? json::parse(*text, nullptr, false) : json();
  if (!kept.is_object() || kept.value("of", json()) != search_of(options)) return {};
  std::vector<Largest> out;
  try {
    for (const json& each : kept.at("largest")) {
      out.push_back({.ranks = each.at("ranks"),
                     .layout = each.at("layout"),
                     .predicted = each.at("predicted"),
                     .found = each.at("found"),
                     .planned_bytes = each.at("planned_bytes"),
                     .measured_bytes = each.at("measured_bytes"),
                     .refused = each.at("refused")});
    }
  } catch (const json::exception&) {
    return {};  // it is searched again
  }
  return out;
}

base::Status write_largest(const SweepOptions& options, const std::vector<Largest>& all) {
  json kept = {{"of", search_of(options)}, {"largest", json::array()}};
  for (const Largest& each : all) {
    kept["largest"].push_back({{"ranks", each.ranks},
                               {"layout", each.layout},
                               {"predicted", each.predicted},
                               {"found", each.found},
                               {"planned_bytes", each.planned_bytes},
                               {"measured_bytes", each.measured_bytes},
                               {"refused", each.refused}});
  }
  return base::write_file(largest_path(options), kept.dump(2) + "\n");
}

base::Status write_sweep_files(const SweepOptions& options, int ranks, const SweepResult& result) {
  // Runs at the same time are threads of one process.
  const std::string script = mpirun_script(options.command, options.jobs > 1 ? 1 : ranks);
  if (auto s = base::write_file(options.out + "/sweep.csv", sweep_csv(result.runs)); !s) return s;
  if (auto s = base::write_file(options.out + "/run.sh", script); !s) return s;
  SweepReport report;
  report.options = &options;
  report.result = &result;
  report.claims = claims_of(options, result);
  if (auto s = base::write_file(options.out + "/claims.csv", claims_csv(report.claims)); !s) {
    return s;
  }
  report.environment = environment_rows(ranks, options.train.device);
  report.script = script;
  return base::write_file(options.out + "/report.html", sweep_html(report));
}

}  // namespace goban::train::trainer
