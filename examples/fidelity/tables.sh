#!/usr/bin/env bash
# Makes the tables from the run directories: tables.sh LLMSWEEP
set -euo pipefail
llmsweep=$(realpath "$1")
cd "$(dirname "$0")"
runs=(llamacpp-f32 llamacpp-f16 llamacpp-q8_0 llamacpp-q4_0 vllm-f32 vllm-bf16)
for lang in en zh; do
  name=table.md; [ $lang = en ] || name=table.zh.md
  "$llmsweep" compare --fidelity "${runs[@]}" --format markdown --lang $lang > "$name"
  (cd canaries && "$llmsweep" compare without-1 with-1 without-2 with-2 --format markdown --lang $lang) > "canaries${name#table}"
  (cd perplexity && "$llmsweep" compare f32 bf16 4bit --format markdown --lang $lang | sed -n '/^##* .*nethttp.txt/,$p') > "perplexity${name#table}"
  { [ $lang = en ] && echo "# Under load" || echo "# 负载下"; echo
    for run in "${runs[@]}"; do "$llmsweep" report "$run" --format markdown --lang $lang | grep -E '^- .*(nswers under load|负载下的回答|负载下)' | head -n 1 | sed "s/^- /- $run: /"; done
  } > "load${name#table}"
done
