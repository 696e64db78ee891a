#!/usr/bin/env bash
# Compares routers in front of two servers with the direct connection to one of them, and writes what README.md's table is made from.
#
#   measure.sh sim LLMSWEEP OUT [ROUTER ...]                        two simulated servers: 6 ms to the first token, then 2 ms for each
#   measure.sh llamacpp LLMSWEEP OUT [ROUTER ...]                   two llama-servers; LLAMA_SERVER and MODEL tell which
#
# ROUTER: nginx-buffering nginx sglang-router litellm; all by default. It needs nginx, and sglang_router and litellm[proxy] of PYTHON.
# Servers and routers run on core 0, llmsweep on core 1.
set -euo pipefail
kind=$1 llmsweep=$2 out=$3; shift 3
routers=("$@"); [ ${#routers[@]} -gt 0 ] || routers=(nginx-buffering nginx sglang-router litellm)
here=$(cd "$(dirname "$0")" && pwd) python=${PYTHON:-python3}
base=$((20000 + RANDOM % 10000)) work=$(mktemp -d) pids=()
trap 'kill "${pids[@]}" 2>/dev/null; wait 2>/dev/null; rm -rf "$work"' EXIT
mkdir -p "$out"

one=127.0.0.1:$((base + 1)) two=127.0.0.1:$((base + 2)) router=127.0.0.1:$((base + 3))
background() { # NAME CMD...: on core 0
  local name=$1; shift
  taskset -c 0 "$@" > "$work/$name.log" 2>&1 9>&- &
  pids+=($!)
}
answers() { # ADDRESS PATH
  for _ in $(seq 240); do curl -sf -o "$work/answer" "http://$1$2" && return; kill -0 ${pids[-1]} 2>/dev/null || break; sleep 0.5; done
  echo "nothing at $1$2"; tail -n 5 "$work"/*.log; exit 1
}
for server in $one $two; do
  case $kind in
  sim) background "sim$server" "$llmsweep" sim --engine "${ENGINE:-vllm}" --listen $server --max-num-seqs 64 --first-token 6ms --per-token 2ms ;;
  llamacpp) background "llama$server" "$LLAMA_SERVER" -m "$MODEL" --host 127.0.0.1 --port "${server#*:}" -t 1 -tb 1 -c 8192 -np 4 --skip-chat-parsing ${LLAMA_FLAGS:-} ;;
  esac
  answers $server /v1/models
done
model=$(grep -o '"id": *"[^"]*"' "$work/answer" | head -1 | cut -d'"' -f4)
settings() { sed "s/SERVER1/$one/; s#MODEL#$model#; s/SERVER2/$two/; s/PORT/${router#*:}/; s/BUFFERING/${2:-off}/; s/version HTTP/version ${3:-1.1}/" "$here/$1" > "$work/$1"; } # FILE [BUFFERING [HTTP]]
for name in "${routers[@]}"; do
  case $name in
  nginx-buffering) settings nginx.conf on 1.0; background $name nginx -p "$work" -c "$work/nginx.conf" ;;
  nginx) settings nginx.conf off; background $name nginx -p "$work" -c "$work/nginx.conf" ;;
  sglang-router) background $name "$python" -m sglang_router.launch_router --host 127.0.0.1 --port "${router#*:}" --worker-urls "http://$one" "http://$two" --policy round_robin --prometheus-port $((base + 4)) ;;
  litellm) settings litellm.yaml; background $name "$python" -m litellm.proxy.proxy_cli --config "$work/litellm.yaml" --host 127.0.0.1 --port "${router#*:}" ;;
  esac
  pid=${pids[-1]}
  answers $router /v1/models
  rm -rf "$work/pair"
  named=${NAMED:---model $model}
  [ $kind != llamacpp ] || [ $name != sglang-router ] || named=${NAMED:-} # it calls the model of a server that is not SGLang "unknown", and llama.cpp takes any name
  taskset -c 1 "$llmsweep" compare --live "http://$one" "http://$router" $named --api chat --concurrency 1,8 ${RATE:---rate 8} \
    --prompt-tokens 64 --output-tokens 32 --stage-time "${STAGE:-3s}" --budget "${BUDGET:-110s}" --out "$work/pair" ${FLAGS:-} 2>&1 | tail -n 40 || echo "exit ${PIPESTATUS[0]}"
  [ ! -e "$work/pair" ] || "$llmsweep" compare "$work/pair" --format json > "$out/$kind-$name.json"
  [ $kind != sim ] || taskset -c 1 "$llmsweep" sweep "http://$router" $named --api chat --prompt-tokens 64 --output-tokens 32 --points 1 --stage-time 2s \
    --max-concurrency 8 --no-selftest --out "$work/sweep-$name" > "$work/sweep.out" 2>&1 || tail -n 5 "$work/sweep.out"
  [ $kind != sim ] || "$llmsweep" report "$work/sweep-$name" --format json > "$out/$kind-$name.sweep.json"
  kill $pid; wait $pid 2>/dev/null || true
done
