// Fields of the API in the words of the command line: a user gave --gpus, not num_gpus.
#pragma once

#include <string>
#include <string_view>

namespace goban::cli {

/// The option that a field of a request comes from: "--gpus" of "num_gpus". A field that no option
/// sets is its own name.
[[nodiscard]] std::string option_of_field(std::string_view field);

/// "num_gpus: requests 9 GPUs" as "--gpus: requests 9 GPUs".
[[nodiscard]] std::string in_words_of_options(std::string_view text);

}  // namespace goban::cli
