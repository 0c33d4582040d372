// goban doctor: what held a finished training run back, from its files.
#include <fmt/format.h>
#include <memory>

#include "base/files.hpp"
#include "base/output_file.hpp"
#include "base/reports/time_table.hpp"
#include "cli/jobs/commands.hpp"
#include "cli/shell/command.hpp"
#include "cli/shell/options.hpp"

namespace goban::cli {
namespace {

struct RunArguments {
  std::string folder, html;
  bool json = false;
};

int doctor_run(const RunArguments& arguments) {
  const std::string& folder = arguments.folder;
  const std::string path = folder + "/time_table.json";
  const auto text = base::read_small_file(path, base::reports::kLargestTimeTable);
  if (!text) {
    base::Error error = text.error();
    error.remedy =
        base::exists(path)
            ? "goban-train writes at most some megabytes, readable by its user: restore the file, "
              "or run again"
            : "give the folder that the run had as --out (goban-train writes it at its end)";
    return report_error(error);
  }
  const auto table = base::reports::parse_time_table(*text, path);
  if (!table) return report_error(table.error());
  if (!arguments.html.empty()) {
    const auto written =
        base::write_file(arguments.html, base::reports::to_html(*table, "Run in " + folder));
    if (!written) return report_error(written.error());
  }
  fmt::print("{}",
             arguments.json ? base::reports::to_json(*table) : base::reports::to_text(*table));
  return 0;
}

}  // namespace

void add_doctor(Command& app, Action& action) {
  const auto arguments = std::make_shared<RunArguments>();
  Command* doctor =
      app.add_subcommand("doctor", "Find what slows down a training run or a machine");
  doctor->require_subcommand(1);
  doctor->footer(
      "Examples:\n"
      "  goban doctor run results/ --html timeline.html\n"
      "  goban doctor topology\n"
      "  goban doctor nccl --export");
  Command* run = doctor->add_subcommand("run", "Print where a run spent its time");
  run->add_option("DIR", arguments->folder, "The run's folder: --out of goban-train")->required();
  run->add_flag("--json", arguments->json, "Print JSON only");
  run->add_option("--html", arguments->html, "Write a timeline of the run to this HTML file")
      ->type_name("FILE");
  run->footer("Example:\n  goban doctor run results/ --html timeline.html");
  run->callback([arguments, &action] { action = [arguments] { return doctor_run(*arguments); }; });
  add_doctor_topology(*doctor, action);
}

}  // namespace goban::cli
