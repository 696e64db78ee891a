#!/bin/bash
# The whole comparison, for a quiet machine: matrix.sh core (about 12 minutes) or matrix.sh more (the loads that core leaves out).
# Each run appends a line to results.jsonl; summary.py prints them as tables. TOOLS="llmsweep vllm" runs these tools only.
cd "$(dirname "$0")" || exit 1
tools=${TOOLS:-llmsweep vllm aiperf guidellm}
echo "load before: $(cut -d' ' -f1-3 /proc/loadavg)"
each() { for t in $tools; do timeout 240 python3 bench.py $t "$@" || echo "$t $*: failed"; done; }
case ${1:-core} in
core) for n in 100 500 1000 2000; do each closed $n --rounds 3; done
      for r in 1000 5000; do each rate $r --seconds 4 --timeout 90; done ;;
more) for r in 500 2000; do each rate $r --seconds 5; done
      for n in 500 1000; do each closed $n --rounds 3 --mode step; done
      for n in 1000 2000; do python3 bench.py guidellm-1w closed $n --rounds 3; done
      for r in 1000 5000; do python3 bench.py guidellm-1w rate $r --seconds 4; done ;;
*) echo "core or more?"; exit 2 ;;
esac
python3 summary.py
