// TFRecord files and the tf.train.Example messages in them (TensorFlow's format: length, masked
// CRC-32C of the length, bytes, masked CRC-32C of the bytes).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "train/data/sample.hpp"

namespace goban::train::data {

/// A record as stored.
[[nodiscard]] std::string tfrecord(std::string_view bytes);

/// A sample as a tf.train.Example: the key as the feature "__key__", fields in the order of their
/// names, each a bytes_list of one value. Equal to protobuf's deterministic serialisation.
[[nodiscard]] std::string to_example(const Sample& sample);

/// The features of a tf.train.Example as fields: bytes as they are, integers and floats as decimal
/// text separated by blanks. The feature "__key__" is the key. Errors: BadData without a place.
[[nodiscard]] base::Status from_example(std::string_view message, Sample& sample);

/// Reads the records of a file, plain or gzip, as Examples; a record without "__key__" has its
/// number as key. Errors: Failed if it cannot be opened.
[[nodiscard]] base::Result<std::unique_ptr<ShardReader>> open_tfrecords(const std::string& path);
/// The same from memory, which must outlive the reader.
[[nodiscard]] std::unique_ptr<ShardReader> read_tfrecords(std::string_view bytes,
                                                          const std::string& name);

}  // namespace goban::train::data
