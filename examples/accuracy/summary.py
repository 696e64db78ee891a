#!/usr/bin/env python3
"""Prints results.jsonl (or the file named) as Markdown tables: each tool's numbers beside the server's truth."""
import json, os, sys

rows = [json.loads(x) for x in open(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "results.jsonl"))]
num = lambda v, d=1: "n/a" if v is None else f"{v:.{d}f}"
q = lambda s, k, p: (((s or {}).get(k)) or {}).get(p)
both = lambda r, k, p: f"{num(q(r['says'], k, p))} / {num(q(r['truth'], k, p))}"

print("Closed loop. Each pair: what the tool reports / what the server sent, ms. ITL pooled: all gaps; ITL mean: one mean per request.\n")
print("| N | phases | tool | TTFT p50 | TTFT p99 | ITL pooled p50 | ITL pooled p99 | ITL mean p50 | ITL mean p99 | streams | ok | core | CPU s | RSS MB | server core |")
print("|---|" * 1 + "---|" * 14)
for r in sorted((r for r in rows if r["job"] == "closed"), key=lambda r: (r["mode"], r["load"])):
    s = r["says"] or {}
    print(f"| {r['load']} | {r['mode']} | {r['tool']} | " + " | ".join(both(r, k, p) for k in ("ttft_ms", "itl_ms", "request_mean_itl_ms") for p in ("p50", "p99"))
          + f" | {num(s.get('concurrency'), 0)} / {num(r['truth'].get('mean_streams'), 0)} | {num(s.get('ok'), 0)}/{r['requests']}"
          + f" | {num(r.get('tool_core_share_under_load'), 2)} | {num(r.get('cpu_s'))} | {num(r['peak_rss_sum_mb'], 0)} | {num(r.get('server_core_share'), 2)} |")
print("\nOpen loop, constant gaps, 4 tokens 1 ms apart.\n")
print("| asked req/s | tool | server saw, whole span | server saw, each second | tool reports req/s | TTFT p50 | TTFT p99 | ok | core | CPU s |")
print("|---|---|---|---|---|---|---|---|---|---|")
for r in sorted((r for r in rows if r["job"] == "rate"), key=lambda r: r["load"]):
    s = r["says"] or {}
    print(f"| {r['load']} | {r['tool']} | {num(r['truth'].get('offered_per_s'), 0)} | {' '.join(map(str, r['truth'].get('arrivals_each_s') or []))} | {num(s.get('requests_per_s'), 0)}"
          f" | {both(r, 'ttft_ms', 'p50')} | {both(r, 'ttft_ms', 'p99')} | {num(s.get('ok'), 0)}/{r['requests']} | {num(r.get('tool_core_share_under_load'), 2)} | {num(r.get('cpu_s'))} |")
for r in rows:
    if r.get("exit") != 0 or r.get("problem"):
        print(f"\n{r['name']}: exit {r.get('exit')} {r.get('problem', '')}")
