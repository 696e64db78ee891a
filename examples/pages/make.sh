#!/usr/bin/env bash
# Makes the pages of this directory again: examples/pages/make.sh, from anywhere in the repository. It takes two minutes, because the live
# comparison is measured. With a directory as argument, that comparison is taken from there.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
llmsweep=${LLMSWEEP:-$work/llmsweep}
[ -n "${LLMSWEEP:-}" ] || go build -o "$llmsweep" ./cmd/llmsweep
"$llmsweep" report examples/real/vllm-cpu --format html --force -o examples/pages/sweep.html
"$llmsweep" compare examples/document/en/report.md --format html --force -o examples/pages/published.html
pair=${1:-$work/pair}
[ $# -gt 0 ] || (cd "$work" && "$llmsweep" compare --live sim: sim: --concurrency 4 --stage-time 2s --budget 90s --out pair)
"$llmsweep" compare "$pair" --format html --force -o examples/pages/live.html >/dev/null
