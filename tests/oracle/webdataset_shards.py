#!/usr/bin/env python3
"""Writes with the Python libraries what src/train/data/shards_test.cpp writes, and prints the MD5 of the bytes.

The sums are recorded in that test. Needs: pip install webdataset==1.0.2 tfrecord==1.14.6 (oracle only).
"""

import hashlib
import io

import webdataset
from tfrecord import example_pb2
from tfrecord.writer import TFRecordWriter


def samples():
    for i in range(7):
        yield f"part.x/{i:03d}", {"cls": str(i % 3).encode(), "bin": bytes((i * j) % 256 for j in range(i * 211))}
    yield "long/" + "k" * 110, {"txt": b"long"}
    yield "\u00e9/\u00fc", {"seg.txt": b"accents"}


def tar():
    out = io.BytesIO()
    writer = webdataset.TarWriter(out, mtime=0, encoder=False)
    for key, fields in samples():
        writer.write({"__key__": key, **fields})
    writer.close()
    return out.getvalue()


def tfrecords(path="/tmp/oracle.tfrecord"):
    writer = TFRecordWriter(path)
    for key, fields in samples():
        features = {"__key__": key.encode(), **fields}
        message = example_pb2.Example(features=example_pb2.Features(feature={
            name: example_pb2.Feature(bytes_list=example_pb2.BytesList(value=[value]))
            for name, value in features.items()}))
        record = message.SerializeToString(deterministic=True)
        length = len(record).to_bytes(8, "little")
        writer.file.write(length + writer.masked_crc(length) + record + writer.masked_crc(record))
    writer.close()
    with open(path, "rb") as file:
        return file.read()


for name, data in (("tar", tar()), ("tfrecord", tfrecords())):
    print(name, len(data), hashlib.md5(data).hexdigest())
