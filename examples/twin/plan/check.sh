#!/usr/bin/env bash
# Plans for a day's trace with one lost replica, then starts as many simulated servers behind nginx, replays the trace, and kills one of them at the
# instant of the plan. Writes what README.md's table is made from:
#
#   check.sh LLMSWEEP OUT
set -euo pipefail
llmsweep=$1 out=$2 here=$(cd "$(dirname "$0")" && pwd)
base=$((20000 + RANDOM % 10000)) work=$(mktemp -d) pids=()
trap 'kill "${pids[@]}" 2>/dev/null; wait 2>/dev/null; rm -rf "$work"' EXIT
mkdir -p "$out"

"$llmsweep" plan "$here/server.yaml" --trace "$here/trace.jsonl" --slo 'ttft:p95<1s' --slo 'ttft:p50<200ms' --slo 'itl:p50<50ms' --slo 'itl:p99<100ms' --minutes 0.75 --headroom 0 --lost 1 \
  --router least-loaded --draws 10 --format json > "$out/plan.json" 2> "$work/plan.log"
replicas=$(grep -o '"gpus": [0-9]*' "$out/plan.json" | head -1 | grep -o '[0-9]*')
lost=$(grep -o '"lost_at_s": [0-9.]*' "$out/plan.json" | head -1 | grep -o '[0-9.]*$')
echo "$replicas replicas; one is lost after $lost s"

servers=
for i in $(seq "$replicas"); do
  taskset -c 0 "$llmsweep" sim --preset "$here/server.yaml" --seed "$i" --listen 127.0.0.1:$((base + i)) > "$work/sim$i.log" 2>&1 &
  pids+=($!)
  servers+="        server 127.0.0.1:$((base + i)) fail_timeout=600s;\n"
done
sed "s#SERVERS#${servers%\\n}#; s/PORT/$base/" "$here/nginx.conf" > "$work/nginx.conf"
taskset -c 0 nginx -p "$work" -c "$work/nginx.conf" > "$work/nginx.log" 2>&1 &
pids+=($!)
for _ in $(seq 100); do curl -sf "http://127.0.0.1:$base/v1/models" > /dev/null && break; sleep 0.1; done

# llmsweep opens its connections and sends a warm-up first: the trace begins when its stage does, which run.json tells afterwards.
taskset -c 1 "$llmsweep" run "http://127.0.0.1:$base" --arrivals "trace:$here/trace.jsonl" --no-selftest --warmup 4 --plain --out "$work/run" > "$work/run.log" 2>&1 &
run=$!
until grep -q '"state": "running"' "$work/run/run.json" 2>/dev/null && [ -s "$work/run/records.jsonl" ]; do kill -0 $run || { cat "$work/run.log"; exit 1; }; sleep 0.05; done
sleep "$lost"
kill -9 "${pids[0]}"; date +%s.%N > "$out/killed"
wait $run || { cat "$work/run.log"; exit 1; }
cp "$work/run/run.json" "$out/run.json"; gzip -9 -n -c "$work/run/records.jsonl" > "$out/records.jsonl.gz"
