// Scripts of login shells (`#!/bin/bash -l`): /etc/profile sets PATH anew, and the folder of the
// commands that `goban shims` wrote would be lost.
#pragma once

#include <string>
#include <string_view>

namespace goban::live::engine::local {

/// The script with its first line replaced by one that puts `folder` at the front of PATH, if it
/// names a shell that is started as a login shell; otherwise unchanged. A shell takes its first
/// line as a comment, so lines keep their numbers. `folder`: absolute, else the script is
/// unchanged.
[[nodiscard]] std::string with_shims(std::string_view script, const std::string& folder);

}  // namespace goban::live::engine::local
