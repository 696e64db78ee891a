#!/bin/bash
# Makes regular.otf and bold.otf: the characters of the words of pages and findings, of Latin-1 and a few signs, from Noto Sans CJK SC.
# Needs: apt-get install fonts-noto-cjk; pip install fonttools. Run it again when TestFont names characters that are missing.
set -eu
cd "$(dirname "$0")"
report=../../../..
{ git ls-files -z "$report/page/*.go" "$report/lang/*.go" "$report/findings/*.go" "$report/stages/*.go" | xargs -0 cat; printf '…–—·×÷≤≥≈±−µσ°→←↑↓'; } | grep -oP '[^\x00-\x7F]' | sort -u | tr -d '\n' >characters.txt
for weight in Regular Bold; do
	pyftsubset "/usr/share/fonts/opentype/noto/NotoSansCJK-$weight.ttc" --font-number=2 \
		--unicodes=U+0020-007E,U+00A0-00FF --text-file=characters.txt --output-file="$(echo $weight | tr RB rb).otf" \
		--layout-features= --no-hinting --desubroutinize --name-IDs=0,1,2,13,14
done
rm characters.txt
