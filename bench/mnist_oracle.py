#!/usr/bin/env python3
"""An independent implementation of Mesh TensorFlow's MNIST example, in PyTorch, from its description.

Measures how much the test accuracy after one epoch varies over seeds, for comparison with goban-train:
an ordinary SAME convolution on 28 x 28 instead of blocks and halos, autograd instead of graph
gradients, and its own Adafactor. Prints one line per seed, like goban-train.

    bench/mnist_oracle.py --data ~/.cache/goban/data/mnist --batch-size 250 --seeds 1,2,3
"""

import argparse
import gzip
import math
import os

import torch
from torch import nn

HIDDEN, CHANNELS, CLASSES = 512, 16, 10


def idx(folder, name):
    path = os.path.join(folder, name)
    raw = gzip.open(path + ".gz").read() if os.path.exists(path + ".gz") else open(path, "rb").read()
    return torch.frombuffer(bytearray(raw[4 + 4 * raw[3]:]), dtype=torch.uint8)


class Model(nn.Module):
    def __init__(self):
        super().__init__()

        def glorot(h, w, i, o):  # Glorot-uniform, fans by position
            bound = math.sqrt(6 / (h * w * (i + o)))
            return nn.Parameter(torch.empty(o, i, h, w).uniform_(-bound, bound))

        def dense(i, o):  # truncated normal, standard deviation sqrt(1 / fan in) before truncation
            w = nn.init.trunc_normal_(torch.empty(i, o), 0, 1, -2, 2) * math.sqrt(1 / i)
            return nn.Parameter(w), nn.Parameter(torch.zeros(o))

        self.conv0, self.conv1 = glorot(9, 9, 1, CHANNELS), glorot(9, 9, CHANNELS, CHANNELS)
        self.w1, self.b1 = dense(784, HIDDEN)
        self.w2, self.b2 = dense(HIDDEN, HIDDEN)
        self.w3, self.b3 = dense(HIDDEN, CLASSES)

    def forward(self, x):
        x = torch.relu(nn.functional.conv2d(x.view(-1, 1, 28, 28), self.conv0, padding=4))
        x = torch.relu(nn.functional.conv2d(x, self.conv1, padding=4)).mean(1).flatten(1)
        x = torch.relu(x @ self.w1 + self.b1)
        return torch.relu(x @ self.w2 + self.b2) @ self.w3 + self.b3


class Adafactor:
    """Shazeer and Stern 2018 with Mesh TensorFlow's defaults."""

    def __init__(self, parameters, never):
        self.never = never
        self.parameters, self.step, self.slots = list(parameters), 0, {}

    @torch.no_grad()
    def update(self):
        self.step += 1
        rate, decay = min(1 / math.sqrt(self.step), 0.01), 1 - self.step ** -0.8
        for p in self.parameters:
            squared = p.grad ** 2 + 1e-30
            # Factored over the two largest dimensions, if both have at least 128 elements. The example's
            # first dense kernel has five (blocks, rows and columns of the image), so it is not.
            if p.dim() == 2 and p is not self.never and min(p.shape) >= 128:
                r, c = self.slots.setdefault(p, (torch.zeros(p.shape[0]), torch.zeros(p.shape[1])))
                r.mul_(decay).add_(squared.mean(1), alpha=1 - decay)
                c.mul_(decay).add_(squared.mean(0), alpha=1 - decay)
                change = p.grad * (r / r.mean()).rsqrt()[:, None] * c.rsqrt()[None, :]
            else:
                v = self.slots.setdefault(p, torch.zeros_like(p))
                v.mul_(decay).add_(squared, alpha=1 - decay)
                change = p.grad * v.rsqrt()
            change /= max(1.0, change.square().mean().sqrt().item())
            size = max(1e-3, p.square().mean().sqrt().item())
            p.sub_(change, alpha=rate * size)


def run(args, seed):
    torch.manual_seed(seed)
    read = lambda name: idx(args.data, name)
    x, y = read("train-images-idx3-ubyte").view(-1, 784), read("train-labels-idx1-ubyte").long()
    tx, ty = read("t10k-images-idx3-ubyte").view(-1, 784), read("t10k-labels-idx1-ubyte").long()
    model = Model()
    optimizer = Adafactor(model.parameters(), never=model.w1)
    for epoch in range(args.epochs):
        order, total = torch.randperm(len(x)), 0.0
        for chosen in order.split(args.batch_size):
            loss = nn.functional.cross_entropy(model(x[chosen] / 255.0), y[chosen])
            for p in optimizer.parameters:
                p.grad = None
            loss.backward()
            optimizer.update()
            total += loss.item() * len(chosen)
        with torch.no_grad():
            logits = torch.cat([model(part / 255.0) for part in tx.split(500)])
        right = (logits.argmax(1) == ty).float().mean().item()
        print(f"batch {args.batch_size} seed {seed} epoch {epoch + 1} train_loss "
              f"{total / len(x):.5f} test_acc {right:.4f} "
              f"test_loss {nn.functional.cross_entropy(logits, ty).item():.5f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="folder of the four IDX files")
    parser.add_argument("--batch-size", type=int, default=250)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--seeds", default="1")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    for seed in args.seeds.split(","):
        run(args, int(seed))


if __name__ == "__main__":
    main()
