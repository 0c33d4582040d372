"""A training script independent of Goban, for wrap.py: DDP on CPU, one checkpoint per epoch.

    ddp_training.py CHECKPOINT EPOCHS [SLOW_RANK]
"""

import os
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def main():
    path, epochs = sys.argv[1], int(sys.argv[2])
    slow_rank = int(sys.argv[3]) if len(sys.argv) > 3 else -1
    torch.set_num_threads(1)
    torch.manual_seed(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    data = TensorDataset(torch.randn(128, 16), torch.randn(128, 1))
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=8, sampler=sampler)
    model = DistributedDataParallel(
        torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 10)
    first = 0
    if os.path.exists(path):
        saved = torch.load(path)
        model.module.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        first = saved["epoch"]
    for epoch in range(first, epochs):
        sampler.set_epoch(epoch)
        for inputs, targets in loader:
            time.sleep(0.03 if rank == slow_rank else 0.005)  # the work
            loss = torch.nn.functional.mse_loss(model(inputs), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        schedule.step()
        if rank == 0:
            state = {"model": model.module.state_dict(), "optimizer": optimizer.state_dict(),
                     "epoch": epoch + 1}
            torch.save(state, path + ".new")
            os.replace(path + ".new", path)
    total = sum(parameter.double().abs().sum().item() for parameter in model.parameters())
    print(f"rank {rank} done from epoch {first}: {total:.12f}")


main()
