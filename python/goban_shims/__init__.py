"""Slurm's commands on top of goban, for a site of one machine: one module per command.

goban_slurm.py calls them; what they share is in client, options, hosts and jobs."""
