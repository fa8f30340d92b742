#!/usr/bin/env bash
# Runs a command N times, until it fails, and prints what it printed last: repeat.sh N COMMAND…. For runs that fail by moments.
n=$1; shift
for _ in $(seq "$n"); do said=$("$@") || exit; done
printf '%s\n' "$said"
