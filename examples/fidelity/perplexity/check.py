"""Computes with transformers what llmsweep measures of a text: check.py MODEL TEXT RUN.JSON"""
import json, math, sys
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

folder, file, run = sys.argv[1:4]
torch.set_num_threads(1)
score = json.load(open(run))["perplexity"]
raw = open(file, "rb").read()
half = score["window"] // 2


def cut(at, after):
    blank = lambda i: raw[i] in b" \t\r\n"
    for i in range(at, max(after, at - 64), -1):
        if i == len(raw) or blank(i) and not blank(i - 1):
            return i
    while at < len(raw) and raw[at] & 0xC0 == 0x80:
        at -= 1
    return at


cuts = [0]
for at in range(half, len(raw) + 1, half):
    cuts.append(cut(at, cuts[-1]))
tokenizer = AutoTokenizer.from_pretrained(folder)
for dtype in (torch.float32, torch.bfloat16):
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype).eval()
    nll = tokens = scored = 0
    wanted, worst = {s["at"]: s for s in score["scores"]}, 0
    with torch.no_grad():
        for k in range(len(cuts) - 2):
            if cuts[k] not in wanted:
                continue
            text = raw[cuts[k]:cuts[k + 2]].decode()
            enc = tokenizer(text, return_offsets_mapping=True, return_tensors="pt")
            ids, logits = enc["input_ids"], None
            logp = torch.log_softmax(model(ids).logits[0, :-1].float(), -1)
            own = -logp[torch.arange(ids.shape[1] - 1), ids[0, 1:]]
            context = len(raw[cuts[k]:cuts[k + 1]].decode())
            first = next(i for i, (a, b) in enumerate(enc["offset_mapping"][0].tolist()) if a >= context)
            begins = enc["offset_mapping"][0][first][0].item()
            sum_ = own[first - 1:].sum().item()
            nll, tokens, scored = nll + sum_, tokens + ids.shape[1] - first, scored + len(text[begins:].encode())
            worst = max(worst, abs(sum_ / wanted[cuts[k]]["nll_nats"] - 1))
    print(dtype, "perplexity", round(math.exp(nll / tokens), 4), "nats", round(nll / tokens, 5), "bits/byte", round(nll / math.log(2) / scored, 5), "tokens", tokens, "bytes", scored, "windows", len(wanted), "largest relative difference of a window", f"{worst:.2e}")
print("llmsweep", "perplexity", round(score["perplexity"]["mean"], 4), "nats", round(score["nll_nats_per_token"]["mean"], 5), "bits/byte", round(score["bits_per_byte"]["mean"], 5), "tokens", score["tokens"], "bytes", score["scored_bytes"], "windows", score["windows"])
