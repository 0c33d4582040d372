#!/usr/bin/env python3
"""The models of bench/train_bench.cpp in PyTorch: prints the images (lm: tokens) per second of all
processes together.

Written in ordinary PyTorch style, with every optimisation that is free: data in memory, selected by index;
gradients set to None; fused AdamW. Under RANK and WORLD_SIZE (torchrun, or bench/against_torch) it uses
DistributedDataParallel, gloo on the CPU, nccl on GPUs. Unlike goban-train, it does not count correct predictions.

usage: torch_peer.py mlp|conv|lm BATCH sgd|adamw|adafactor fp32|bf16 SECONDS [--compile] [--device cuda]
"""

import argparse
import contextlib
import os
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

SAMPLES = 12_000
LENGTH, VOCABULARY, WIDTH, HEADS, INNER, BLOCKS = 128, 256, 256, 8, 1024, 4  # of lm


class Model(nn.Module):
    def __init__(self, conv):
        super().__init__()
        self.conv = conv
        if conv:
            self.conv0 = nn.Conv2d(1, 16, 9, padding=4, bias=False)
            self.conv1 = nn.Conv2d(16, 16, 9, padding=4, bias=False)
        self.hidden1 = nn.Linear(784, 512)
        self.hidden2 = nn.Linear(512, 512)
        self.logits = nn.Linear(512, 10)

    def forward(self, x):
        if self.conv:
            x = F.relu(self.conv1(F.relu(self.conv0(x.view(-1, 1, 28, 28))))).mean(1).flatten(1)
        return self.logits(F.relu(self.hidden2(F.relu(self.hidden1(x)))))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH, 1e-6), nn.LayerNorm(WIDTH, 1e-6)
        self.query_key_value = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.output = nn.Linear(WIDTH, WIDTH, bias=False)
        self.wide, self.narrow = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)

    def forward(self, x):
        batch, length, _ = x.shape
        parts = self.query_key_value(self.norm1(x)).view(batch, length, 3, HEADS, -1)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.output(mixed.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.narrow(F.gelu(self.wide(self.norm2(x)), approximate="tanh"))


class Transformer(nn.Module):
    """Pre-norm, causal, embedding and softmax tied."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Parameter(torch.zeros(LENGTH, WIDTH))
        self.blocks = nn.Sequential(*(Block() for _ in range(BLOCKS)))
        self.norm = nn.LayerNorm(WIDTH, 1e-6)

    def forward(self, tokens):
        x = self.blocks(self.embedding(tokens) + self.positions)
        return F.linear(self.norm(x), self.embedding.weight).flatten(0, 1)


def make_optimizer(name, parameters):
    if name == "sgd":
        return torch.optim.SGD(parameters, lr=0.05)
    if name == "momentum":
        return torch.optim.SGD(parameters, lr=0.05, momentum=0.9)
    if name == "adamw":
        try:
            return torch.optim.AdamW(parameters, lr=1e-3, fused=True)
        except (TypeError, RuntimeError):  # older versions fuse on GPUs only
            return torch.optim.AdamW(parameters, lr=1e-3)
    return torch.optim.Adafactor(parameters)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", choices=["mlp", "conv", "lm"])
    parser.add_argument("batch", type=int)
    parser.add_argument("optimizer", choices=["sgd", "momentum", "adamw", "adafactor"])
    parser.add_argument("precision", choices=["fp32", "tf32", "bf16"])
    parser.add_argument("seconds", type=float)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    chosen = parser.parse_args()

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    world, rank = int(os.environ.get("WORLD_SIZE", "1")), int(os.environ.get("RANK", "0"))
    device = torch.device(chosen.device)
    if chosen.device == "cuda":
        device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
        torch.cuda.set_device(device)
        torch.set_float32_matmul_precision("high" if chosen.precision == "tf32" else "highest")
    if world > 1:
        dist.init_process_group("nccl" if chosen.device == "cuda" else "gloo")

    torch.manual_seed(1)
    text = chosen.model == "lm"
    model = (Transformer() if text else Model(chosen.model == "conv")).to(device)
    if world > 1:
        model = nn.parallel.DistributedDataParallel(model)
    optimizer = make_optimizer(chosen.optimizer, model.parameters())
    if chosen.compile:
        model = torch.compile(model)
    images = torch.randint(0, 256, (SAMPLES, 784), dtype=torch.uint8)
    labels = torch.randint(0, 10, (SAMPLES,))
    order = torch.randperm(SAMPLES)
    tokens = torch.randint(0, VOCABULARY, (SAMPLES * LENGTH + 1,))
    share = chosen.batch // world
    half = chosen.precision == "bf16"

    def feed(begin):
        if text:
            first, count = begin * LENGTH, share * LENGTH
            x = tokens[first:first + count].view(share, LENGTH)
            return x.to(device), tokens[first + 1:first + 1 + count].to(device)
        picked = order[begin:begin + share]
        return images[picked].to(device).float().div_(255), labels[picked].to(device)

    def step(number):
        x, y = feed(number * chosen.batch % (SAMPLES - chosen.batch) + rank * share)
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(chosen.device, torch.bfloat16) if half else contextlib.nullcontext():
            loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    warm = 5 if not chosen.compile else 12
    for number in range(warm):
        begin = time.perf_counter()
        step(number)
        last = time.perf_counter() - begin
    steps = torch.tensor([max(3, int(chosen.seconds / last))])
    if world > 1:
        steps = steps.to(device)
        dist.broadcast(steps, 0)
    count = int(steps.item())
    begin = time.perf_counter()
    for number in range(count):
        step(warm + number)
    took = time.perf_counter() - begin
    if rank == 0:
        if text:
            print(f"{count * chosen.batch * LENGTH / took:.0f} tokens/s")
        else:
            print(f"{count * chosen.batch / took:.0f} images/s")
    if world > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
