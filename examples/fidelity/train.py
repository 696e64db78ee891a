"""Trains a small model of the Llama architecture on the comments of Go's standard library.

    python train.py OUT-DIR [MINUTES-OF-PROCESSOR-TIME]

Needs torch, transformers, tokenizers and a Go installation. The model has 3.3 million parameters and a byte-level tokenizer
of 2048 entries, trained on the same text. Half of the text has the form of a chat: the first part of a comment as the
question, the rest as the answer, so that answers end by themselves. 2 % of the files are left out for the loss.
"""
import pathlib
import random
import subprocess
import sys
import time

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

CONTEXT, BATCH, RATE = 256, 8, 3e-3
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{m['role']}}\n{{m['content']}}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def comments(file):
    """Returns the comments of a Go file of at least 40 characters, without their slashes."""
    found, lines = [], []
    for line in file.read_text(errors="replace").splitlines() + [""]:
        line = line.strip()
        if line.startswith("// ") or line == "//":
            lines.append(line[3:])
        elif lines:
            found.append("\n".join(lines))
            lines = []
    return [c for c in found if len(c) >= 40 and "Copyright" not in c]


def chat(comment, draw):
    """Splits a comment between two words into a question and its answer."""
    words = comment.split(" ")
    if len(words) < 8:
        return comment
    cut = draw.randrange(3, len(words) - 3)
    question, answer = " ".join(words[:cut]), " ".join(words[cut:])
    return f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n{answer}<|im_end|>\n"


def train_tokenizer(texts, out):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=2048, special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    fast = PreTrainedTokenizerFast(tokenizer_object=t, eos_token="<|im_end|>", pad_token="<|endoftext|>", model_max_length=4096)
    fast.chat_template = TEMPLATE
    fast.save_pretrained(out)
    return t


def encode(t, texts):
    return torch.tensor([i for e in t.encode_batch(texts) for i in e.ids + [0]])


def loss_of(model, tokens, rows):
    x = torch.stack([tokens[i:i + CONTEXT] for i in rows])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return model(input_ids=x, labels=x).loss


def main():
    out, minutes = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 10
    draw = random.Random(1)
    torch.manual_seed(1)
    torch.set_num_threads(1)
    root = subprocess.check_output(["go", "env", "GOROOT"], text=True).strip()
    files = sorted(p for p in pathlib.Path(root, "src").rglob("*.go") if p.is_file() and "testdata" not in p.parts)
    draw.shuffle(files)
    held = len(files) // 50
    plain = [c for f in files[held:] for c in comments(f)]
    unseen = [c for f in files[:held] for c in comments(f)]
    t = train_tokenizer(plain, out)
    texts = [c if draw.random() < 0.5 else chat(c, draw) for c in plain]
    draw.shuffle(texts)
    tokens, test = encode(t, texts), encode(t, [c if i % 2 else chat(c, draw) for i, c in enumerate(unseen)])
    print(f"{len(texts)} comments, {len(tokens)} tokens; {len(test)} tokens left out", flush=True)

    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=2048, hidden_size=256, intermediate_size=640, num_hidden_layers=4, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=4096, tie_word_embeddings=True,
        bos_token_id=0, eos_token_id=2, pad_token_id=0))
    print(f"{sum(p.numel() for p in model.parameters())} parameters", flush=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.95), weight_decay=0.1)
    start, step, mean = time.process_time(), 0, None
    while (done := (time.process_time() - start) / (60 * minutes)) < 1:
        for g in optimizer.param_groups:
            g["lr"] = RATE * min(1, (step + 1) / 100) * max(0.02, 1 - done)
        loss = loss_of(model, tokens, [draw.randrange(len(tokens) - CONTEXT) for _ in range(BATCH)])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        step, mean = step + 1, loss.item() if mean is None else 0.98 * mean + 0.02 * loss.item()
        if step % 50 == 0:
            print(f"step {step}, {60 * minutes * done:.0f} s: loss {mean:.3f}", flush=True)

    model.eval()
    with torch.no_grad():
        rows = range(0, len(test) - CONTEXT, CONTEXT)
        unseen_loss = sum(loss_of(model, test, [i]).item() for i in rows) / len(rows)
    print(f"{step} steps of {BATCH * CONTEXT} tokens; loss {mean:.3f}, of files left out {unseen_loss:.3f} nats a token")
    model.save_pretrained(out)
    for question in ("Close closes the", "ReadFull reads exactly len(buf) bytes from r into"):
        text = f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"
        ids = torch.tensor([t.encode(text).ids])
        answer = model.generate(ids, max_new_tokens=60, do_sample=False, eos_token_id=2, pad_token_id=0)
        print(f"{question} -> {t.decode(answer[0][ids.shape[1]:].tolist())}")


if __name__ == "__main__":
    main()
