#!/bin/sh
#GOBAN --gpus 4 --time 90m --deadline 12h --name "my job"
#GOBAN --type rt_F=2 --signal USR1@2m --class B --share
./train
