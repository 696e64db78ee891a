#!/usr/bin/env python3
"""One load generator against the paced server of known truth, one JSON line of results.

  bench.py TOOL closed N  [--tokens 128] [--rounds 4] [--mode uniform|step|arrival]   N streams at 30 ms ITL
  bench.py TOOL rate R    [--seconds 5]                                               R req/s of 4 tokens, 1 ms apart

TOOL: llmsweep, guidellm (its default of up to 10 worker processes), guidellm-1w (one worker), aiperf, vllm.
The server (and this driver) run on core 0, the tool on core 1. The line goes to results.jsonl, everything else to
runs/NAME/: command, output, the tool's own files, truth.json (the server's), time.txt (/usr/bin/time -v).
"""

import argparse, bisect, glob, json, os, re, shutil, signal, subprocess, sys, threading, time, urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))  # with llmsweep, paced-server and the virtual environments guidellm-venv, aiperf-venv, vllm-venv
PORT = 18200
URL = f"http://127.0.0.1:{PORT}"
TOKENIZER = os.environ.get("TOKENIZER", "local/tiny")  # an entry of the hub's cache in HF_HOME: any will do
VLLM_MODEL = os.environ.get("VLLM_MODEL", TOKENIZER)  # likewise, or a directory
TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


def commands(a, run):
    """The command line, its environment beside the common one, and how many requests it sends."""
    n = a.requests
    closed = a.job == "closed"
    load = a.load
    if a.tool == "llmsweep":
        c = [f"{HERE}/llmsweep", "run", URL, "--prompt-tokens", "64", "--output-tokens", str(a.tokens),
             "--requests", str(n), "--warmup", "0", "--plain", "--format", "serving", "--out", f"{run}/out"]
        c += ["--concurrency", str(load)] if closed else ["--rate", str(load), "--arrivals", "constant"]
        return c, {}
    if a.tool in ("guidellm", "guidellm-1w"):
        profile = f"kind=concurrent,streams={load}" if closed else f"kind=constant,rate={load}"
        c = [f"{HERE}/guidellm-venv/bin/guidellm", "run",
             "--backend", f"kind=openai_http,target={URL},model=tiny",
             "--tokenizer", f"kind=huggingface_auto,model={TOKENIZER}",
             "--data", f"kind=synthetic_text,prompt_tokens=64,output_tokens={a.tokens}",
             "--profile", profile, "--constraint", f"kind=max_requests,count={n}",
             "--metrics", "kind=generative,sample_size=0",
             "--output", f"kind=json,path={run}/out.json", "--output", "kind=console", "--disable-console-interactive"]
        if not closed:
            c += ["--constraint", f"kind=max_duration,seconds={3 * a.seconds:g}"]
        return c, {"GUIDELLM__MAX_WORKER_PROCESSES": "1"} if a.tool.endswith("1w") else {}
    if a.tool == "aiperf":
        c = [f"{HERE}/aiperf-venv/bin/aiperf", "profile", "--model", "tiny", "--url", URL, "--endpoint-type", "chat",
             "--streaming", "--tokenizer", TOKENIZER, "--isl", "64", "--isl-stddev", "0",
             "--osl", str(a.tokens), "--osl-stddev", "0", "--extra-inputs", "ignore_eos:true",
             "--extra-inputs", f"min_tokens:{a.tokens}", "--request-count", str(n), "--use-server-token-count",
             "--no-server-metrics", "--no-gpu-telemetry", "--ui", "none", "--export-level", "summary",
             "--artifact-dir", f"{run}/out"]
        c += ["--concurrency", str(load)] if closed else ["--request-rate", str(load), "--arrival-pattern", "constant"]
        return c, {}
    if a.tool == "vllm":
        c = [f"{HERE}/vllm-venv/bin/vllm", "bench", "serve", "--backend", "openai-chat", "--base-url", URL,
             "--endpoint", "/v1/chat/completions", "--model", "tiny", "--tokenizer", VLLM_MODEL,
             "--dataset-name", "random", "--random-input-len", "64", "--random-output-len", str(a.tokens),
             "--ignore-eos", "--num-prompts", str(n), "--percentile-metrics", "ttft,tpot,itl,e2el",
             "--metric-percentiles", "50,90,99", "--disable-tqdm", "--save-result", "--result-dir", run,
             "--result-filename", "out.json"]
        # a gamma distribution of that shape has gaps within 1 % of each other
        c += ["--max-concurrency", str(load)] if closed else ["--request-rate", str(load), "--burstiness", "10000"]
        return c, {"VLLM_TARGET_DEVICE": "cpu", "VLLM_NO_USAGE_STATS": "1"}
    sys.exit(f"no tool is called {a.tool}")


def spread(p50, p99, mean=None, scale=1.0):
    return {k: round(v * scale, 3) for k, v in (("p50", p50), ("p99", p99), ("mean", mean)) if v is not None}


def parse(tool, run):
    """What the tool itself printed, in ms. itl: gaps between chunks, pooled over all requests. request_mean_itl: one mean per request."""
    if tool == "llmsweep":
        s = json.load(open(f"{run}/out/run.json"))
        client, s = s["client"], s["stages"][0]
        f = lambda k: spread(s[k].get("p50"), s[k].get("p99"), s[k].get("mean"), 1e3) if s.get(k) else None
        return {"ttft_ms": f("ttft_s"), "itl_ms": f("itl_s"), "request_mean_itl_ms": f("tpot_s"), "e2e_ms": f("latency_s"),
                "lag_ms": f("lag_s"), "ok": s["requests"]["ok"], "failed": s["requests"]["error"] + s["requests"]["incomplete"],
                "requests_per_s": s["rates"]["completed"], "concurrency": s.get("concurrency", {}).get("mean"),
                "verdict": s.get("verdict"), "client": client}
    if tool.startswith("guidellm"):
        b = json.load(open(f"{run}/out.json"))["benchmarks"][0]
        m = b["metrics"]
        def f(k, scale=1.0):
            d = m[k]["successful"]
            return spread(d["percentiles"]["p50"], d["percentiles"]["p99"], d["mean"], scale) if d and d["count"] else None
        return {"ttft_ms": f("time_to_first_token_ms"), "itl_ms": None, "request_mean_itl_ms": f("inter_token_latency_ms"),
                "e2e_ms": f("request_latency", 1e3), "ok": m["request_totals"]["successful"],
                "failed": m["request_totals"]["errored"] + m["request_totals"]["incomplete"],
                "requests_per_s": m["requests_per_second"]["successful"]["mean"],
                "concurrency": m["request_concurrency"]["successful"]["mean"]}
    if tool == "aiperf":
        d = json.load(open(glob.glob(f"{run}/out/profile_export_aiperf.json")[0]))
        f = lambda k: spread(d[k].get("p50"), d[k].get("p99"), d[k].get("avg")) if d.get(k) else None
        return {"ttft_ms": f("time_to_first_token"), "itl_ms": f("inter_chunk_latency"),
                "request_mean_itl_ms": f("inter_token_latency"), "e2e_ms": f("request_latency"),
                "ok": d["request_count"]["avg"], "failed": (d.get("error_request_count") or {}).get("avg", 0),
                "requests_per_s": d["request_throughput"]["avg"],
                "concurrency": (d.get("effective_concurrency") or {}).get("avg")}
    d = json.load(open(f"{run}/out.json"))
    f = lambda k: spread(d[f"p50_{k}_ms"], d[f"p99_{k}_ms"], d[f"mean_{k}_ms"])
    return {"ttft_ms": f("ttft"), "itl_ms": f("itl"), "request_mean_itl_ms": f("tpot"), "e2e_ms": f("e2el"),
            "ok": d["completed"], "failed": d["failed"], "requests_per_s": d["request_throughput"],
            # vLLM prints no mean concurrency (only a peak by whole seconds): Little's law on its own figures
            "concurrency": d["request_throughput"] * d["mean_e2el_ms"] / 1e3}


def get(path):
    return urllib.request.urlopen(URL + path, timeout=60).read()


def tree(pid):
    todo, seen = [pid], []
    while todo:
        p = todo.pop()
        seen.append(p)
        try:
            for t in os.listdir(f"/proc/{p}/task"):
                todo += [int(c) for c in open(f"/proc/{p}/task/{t}/children").read().split()]
        except OSError:
            pass
    return seen


class Sampler(threading.Thread):
    """Twice a second: the CPU time that the tool's processes have used, their resident sizes added up, their number."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.stop = pid, threading.Event()
        self.at, self.cpu, self.peak_rss, self.peak_processes = [], [], 0, 0
        self.each = {}

    def run(self):
        while not self.stop.wait(0.5):
            rss = processes = 0
            for p in tree(self.pid):
                try:
                    f = open(f"/proc/{p}/stat").read().rsplit(") ", 1)[1].split()
                    self.each[p] = (int(f[11]) + int(f[12])) / TICK  # those that have ended keep their last
                    rss += int(f[21]) * PAGE
                    processes += 1
                except OSError:
                    pass
            self.at.append(time.time())
            self.cpu.append(sum(self.each.values()))
            self.peak_rss, self.peak_processes = max(self.peak_rss, rss), max(self.peak_processes, processes)

    def between(self, a, b):
        """CPU seconds between two instants, to half a second."""
        if not self.at:
            return None
        i = max(0, bisect.bisect_right(self.at, a) - 1)
        j = min(len(self.at) - 1, bisect.bisect_left(self.at, b))
        return round(self.cpu[j] - self.cpu[i], 2)


def resources(path):
    text = open(path).read()
    f = lambda k: float(re.search(rf"{k}.*: ([\d.]+)", text)[1])
    return {"cpu_s": round(f("User time") + f("System time"), 2), "max_process_rss_mb": round(f("Maximum resident set size") / 1024, 1)}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("tool")
    p.add_argument("job", choices=["closed", "rate"])
    p.add_argument("load", type=int)
    p.add_argument("--tokens", type=int)
    p.add_argument("--rounds", type=float, default=4, help="closed: requests = rounds x N")
    p.add_argument("--seconds", type=float, default=5, help="rate: requests = seconds x R")
    p.add_argument("--mode", default=None, help="the server's phases")
    p.add_argument("--timeout", type=float, default=150)
    p.add_argument("--results", default=f"{HERE}/results.jsonl")
    p.add_argument("--note", default="")
    p.add_argument("--nice", type=int, default=0, help="for trials on a busy machine")
    a = p.parse_args()
    closed = a.job == "closed"
    a.tokens = a.tokens or (128 if closed else 4)
    a.mode = a.mode or ("uniform" if closed else "arrival")
    a.requests = int(a.load * (a.rounds if closed else a.seconds))

    os.sched_setaffinity(0, {0})
    name = f"{time.strftime('%H%M%S')}-{a.tool}-{a.job}-{a.load}"
    run = f"{HERE}/runs/{name}"
    os.makedirs(run)
    ttft, itl = ("100ms", "30ms") if closed else ("1ms", "1ms")
    server = subprocess.Popen(["taskset", "-c", "0", f"{HERE}/paced-server", "-listen", f"127.0.0.1:{PORT}", "-ttft", ttft, "-itl", itl,
                               "-mode", a.mode, "-quantum", "250us" if closed else "50us"], stdout=open(f"{run}/truth-at-exit.json", "w"), stderr=open(f"{run}/server.log", "w"))
    result = {"name": name, "tool": a.tool, "job": a.job, "load": a.load, "requests": a.requests, "tokens": a.tokens, "mode": a.mode, "note": a.note}
    try:
        for _ in range(100):
            try:
                get("/health")
                break
            except OSError:
                time.sleep(0.05)
        else:
            sys.exit("the server does not answer: is the port taken?")
        if server.poll() is not None:
            sys.exit(open(f"{run}/server.log").read())
        get("/reset")
        command, extra = commands(a, run)
        env = {**os.environ, "HF_HOME": f"{HERE}/hf", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false",
               "NO_COLOR": "1", "COLUMNS": "160", **extra}
        pinned = ["/usr/bin/time", "-v", "-o", f"{run}/time.txt", "taskset", "-c", "1"] + command
        if a.nice:
            pinned = ["nice", "-n", str(a.nice)] + pinned
        result["command"] = " ".join(command)
        open(f"{run}/command.txt", "w").write(" ".join(f"{k}={v}" for k, v in extra.items()) + " " + " ".join(pinned) + "\n")
        began = time.time()
        tool = subprocess.Popen(pinned, cwd=run, env=env, stdout=open(f"{run}/stdout.txt", "w"), stderr=subprocess.STDOUT, start_new_session=True)
        sampler = Sampler(tool.pid)
        sampler.start()
        try:
            result["exit"] = tool.wait(a.timeout)
        except subprocess.TimeoutExpired:
            result["exit"] = "timeout"
            own = tree(tool.pid)
            os.killpg(tool.pid, signal.SIGINT)
            try:
                tool.wait(10)
            except subprocess.TimeoutExpired:
                pass
            for pid in own[::-1]:  # those of its own that are left
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            tool.wait()
        sampler.stop.set()
        result["wall_s"] = round(time.time() - began, 2)
        truth = json.loads(get(f"/truth?last={a.requests}"))
        json.dump(truth, open(f"{run}/truth.json", "w"), indent=1)
        raw = [json.loads(x) for x in get("/raw").decode().splitlines()]
    finally:
        server.terminate()
        server.wait()
    raw = sorted(raw, key=lambda r: r["t0"])[-a.requests:]
    if raw:
        first, last = raw[0]["t0"] / 1e9, max(r["t0"] / 1e9 + r["e2e_us"] / 1e6 for r in raw)
        result["startup_s"] = round(first - began, 2)
        result["after_s"] = round(began + result["wall_s"] - last, 2)
        result["tool_cpu_under_load_s"] = sampler.between(first, last)
        result["load_span_s"] = round(last - first, 2)
        if result["load_span_s"]:
            result["server_core_share"] = round(truth["server_cpu_s"] / result["load_span_s"], 3)  # near 1: the server was the limit
            result["tool_core_share_under_load"] = round(result["tool_cpu_under_load_s"] / result["load_span_s"], 3)
    try:
        result |= resources(f"{run}/time.txt")
    except (OSError, TypeError):
        pass
    result |= {"peak_rss_sum_mb": round(sampler.peak_rss / 2**20, 1), "peak_processes": sampler.peak_processes}
    try:
        result["says"] = parse(a.tool, run)
    except (OSError, KeyError, IndexError, TypeError, ValueError) as e:
        result["says"] = None
        result["problem"] = f"{type(e).__name__}: {e}"
    keep = ["n", "arrived", "completed", "aborted", "connections", "peak_streams", "mean_streams", "requests_per_s", "offered_per_s",
            "arrivals_each_s", "ttft_ms", "itl_ms", "request_mean_itl_ms", "e2e_ms", "server_cpu_s", "blocked_writes", "unstamped_reads"]
    result["truth"] = {k: truth.get(k) for k in keep}
    result["load_average"] = os.getloadavg()
    with open(a.results, "a") as f:
        f.write(json.dumps(result) + "\n")
    shutil.rmtree(f"{run}/out/logs", ignore_errors=True)
    show(result)


def show(r):
    t, s = r["truth"], r["says"] or {}
    print(f"{r['tool']} {r['job']} {r['load']}: exit {r.get('exit')}, {r['wall_s']} s ({r.get('startup_s')} s before, {r.get('after_s')} s after the load)")
    for k in ("ttft_ms", "itl_ms", "request_mean_itl_ms"):
        said, true = s.get(k) or {}, t.get(k) or {}
        print(f"  {k:20} p50 {said.get('p50', 'n/a'):>10} true {true.get('p50', 'n/a'):>10}   p99 {said.get('p99', 'n/a'):>10} true {true.get('p99', 'n/a'):>10}")
    print(f"  requests {s.get('ok')} ok, {s.get('failed')} failed; server completed {t['completed']}; streams mean {t.get('mean_streams')} peak {t.get('peak_streams')} (tool says {s.get('concurrency')})")
    print(f"  req/s: tool {s.get('requests_per_s')}, server saw {t.get('offered_per_s')} offered, by second {t.get('arrivals_each_s')}")
    print(f"  tool CPU {r.get('cpu_s')} s, of it {r.get('tool_cpu_under_load_s')} s in {r.get('load_span_s')} s of load; RSS {r['peak_rss_sum_mb']} MB in {r['peak_processes']} processes, largest {r.get('max_process_rss_mb')} MB; server CPU {t['server_cpu_s']} s, {r.get('server_core_share')} of its core")


if __name__ == "__main__":
    main()
