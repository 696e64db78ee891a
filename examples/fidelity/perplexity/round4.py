"""Rounds the weights of a model to 4 bits in groups of 32, as Q4_0 does: round4.py MODEL OUT"""
import sys, torch
from transformers import AutoModelForCausalLM, AutoTokenizer
model = AutoModelForCausalLM.from_pretrained(sys.argv[1], dtype=torch.float32)
for name, p in model.named_parameters():
    if p.dim() != 2 or p.shape[1] % 32:
        continue
    g = p.data.reshape(-1, 32)
    most = g.gather(1, g.abs().argmax(1, keepdim=True))
    scale = (most / -8).half().float()
    q = torch.where(scale == 0, torch.zeros_like(g), g / torch.where(scale == 0, torch.ones_like(scale), scale)).round().clamp(-8, 7)
    p.data = (q * scale).reshape(p.shape)
model.save_pretrained(sys.argv[2]); AutoTokenizer.from_pretrained(sys.argv[1]).save_pretrained(sys.argv[2])
