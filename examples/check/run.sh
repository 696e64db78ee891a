#!/usr/bin/env bash
# Lets other tools measure a simulated server through llmsweep record, and writes what llmsweep check says of their figures beside this file.
# The tools are installed by the user: VLLM, GUIDELLM and AIPERF are the paths of their programs, TOKENIZER is a directory or name that they load.
# SGLANG is its Python with the package sglang.
#   VLLM=~/vllm/bin/vllm SGLANG=~/sglang/bin/python GUIDELLM=~/guidellm/bin/guidellm AIPERF=~/aiperf/bin/aiperf TOKENIZER=Qwen/Qwen2-7B-Instruct examples/check/run.sh 50
set -euo pipefail
streams=${1:-50} requests=$((2 * ${1:-50}))
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$work"' EXIT
(cd "$here/../.." && go build -o "$work/llmsweep" ./cmd/llmsweep)
cd "$work"
url=http://127.0.0.1:19000
# The server and the recorder have a core of their own, so that a tool delays itself only.
first=() others=()
if command -v taskset >/dev/null && [ "$(nproc)" -gt 1 ]; then
	first=(taskset -c 0) others=(taskset -c "1-$(($(nproc) - 1))")
fi
"${first[@]}" ./llmsweep sim --listen 127.0.0.1:18000 --preset plain8 --max-num-seqs 2000 --first-token 100ms --per-token 50ms >/dev/null &

# check NAME VERSION RESULT COMMAND... lets a tool measure, and checks its result.
check() {
	local name=$1 version=$2 result=$3
	shift 3
	"${first[@]}" ./llmsweep record http://127.0.0.1:18000 --check --listen 127.0.0.1:19000 --out "traffic-$name" >"record-$name.log" 2>&1 &
	local recorder=$!
	until curl -s -o /dev/null "$url/v1/models"; do
		kill -0 $recorder || { cat "record-$name.log"; return 1; }
		sleep 0.1
	done
	"${others[@]}" "$@" >"$name.log" 2>&1 || { tail -5 "$name.log"; return 1; }
	kill $recorder
	wait $recorder || true
	{
		printf '# %s %s, %d streams\n\n' "$name" "$version" "$streams"
		./llmsweep check "traffic-$name" "$result" --format markdown || true
	} >"$here/$name-$streams.md"
}

check llmsweep "$(./llmsweep version | head -1 | cut -d' ' -f2 | tr -d ,)" own ./llmsweep run $url --api chat --concurrency "$streams" --requests "$requests" \
	--prompt-tokens 100 --output-tokens 40 --warmup 0 --no-selftest --plain --out own
if [ -n "${VLLM:-}" ]; then
	check vllm-bench "$("$VLLM" --version 2>/dev/null | tail -1)" vllm.json "$VLLM" bench serve --backend openai-chat --base-url $url \
		--endpoint /v1/chat/completions --model plain8 --tokenizer "$TOKENIZER" --dataset-name random --random-input-len 100 --random-output-len 40 \
		--num-prompts "$requests" --max-concurrency "$streams" --save-result --result-filename vllm.json --percentile-metrics ttft,tpot,itl,e2el \
		--metric-percentiles 50,90,99 --ignore-eos
fi
if [ -n "${SGLANG:-}" ]; then
	check sglang-bench "$("$SGLANG" -c 'import importlib.metadata as m; print(m.version("sglang"))')" sglang.jsonl "$SGLANG" -m sglang.bench_serving \
		--backend sglang-oai-chat --base-url $url --model plain8 --tokenizer "$TOKENIZER" --dataset-name random-ids --random-input-len 100 \
		--random-output-len 40 --random-range-ratio 1 --num-prompts "$requests" --max-concurrency "$streams" --warmup-requests 0 --output-file sglang.jsonl
fi
if [ -n "${GUIDELLM:-}" ]; then
	check guidellm "$("$GUIDELLM" --version | cut -d' ' -f3)" guidellm.json "$GUIDELLM" run --backend "kind=openai_http,target=$url,model=plain8" \
		--profile "kind=concurrent,streams=$streams" --constraint "kind=max_requests,count=$requests" --tokenizer "kind=hf_auto,model=$TOKENIZER" \
		--data kind=synthetic_text,prompt_tokens=100,output_tokens=40 --output kind=json,path=guidellm.json --disable-console-interactive
fi
if [ -n "${AIPERF:-}" ]; then
	check aiperf "$("$AIPERF" --version | tail -1)" aiperf/profile_export_aiperf.json "$AIPERF" profile --model plain8 --url $url --endpoint-type chat --streaming \
		--concurrency "$streams" --request-count "$requests" --tokenizer "${TOKENIZER_AIPERF:-$TOKENIZER}" --use-server-token-count \
		--synthetic-input-tokens-mean 100 --synthetic-input-tokens-stddev 0 --output-tokens-mean 40 --output-tokens-stddev 0 \
		--extra-inputs ignore_eos:true --artifact-dir aiperf --ui none
fi
