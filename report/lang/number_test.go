package lang

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		got, want string
	}{
		{Time(rundir.Exactly(0.09557)), "95.6 ms"}, {Time(rundir.Exactly(0.0004123)), "0.412 ms"},
		{Time(rundir.Exactly(0.9996)), "1.00 s"}, {Time(rundir.Exactly(9.996)), "10.0 s"},
		{Time(rundir.Exactly(1090.02)), "1090 s"}, {Time(rundir.Over(9.849)), "> 9.84 s"}, {Time(rundir.Number{}), "n/a"},
		{Number(rundir.Exactly(0.51), Rate), "0.51"}, {Number(rundir.Exactly(0.00213), Rate), "0.00213"},
		{Number(rundir.Exactly(0), Rate), "0.00"}, {Number(rundir.Over(58.309), Rate), "> 58.30"},
		{Number(NonZero(rundir.Exactly(0)), Rate), "n/a"}, {Number(rundir.Exactly(99.96), Tenths), "100.0"},
		{Clock(192), "03:12"}, {Clock(3803), "1:03:23"},
		{Number(rundir.Exactly(1e308), Short), "1.00e+308"}, // of a damaged file
		{Number(rundir.Exactly(1e308), Rate), "1.00e+308"}, {Number(rundir.Exactly(1e308), Tenths), "1.00e+308"},
		{Number(rundir.Exactly(1e308), Fixed(2)), "1.00e+308"},
		{FlagValue(0.2), "1s"}, {FlagValue(45), "45s"}, {FlagValue(90), "1m30s"}, {FlagValue(480), "8m"},
		{FlagValue(600), "10m"}, {FlagValue(3600), "1h"}, {FlagValue(5400), "1h30m"}, {FlagValue(4210), "1h10m10s"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// TestBoundsHold: what is printed of a lower bound is a lower bound too.
func TestBoundsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(1e-6, 1e6).Draw(t, "v")
		for _, p := range []Printer{Short, Rate, Tenths, Fixed(2)} {
			printed, err := strconv.ParseFloat(p(v, true), 64)
			if err != nil || printed > v*(1+1e-9)+1e-9 {
				t.Errorf("%v printed as %q", v, p(v, true))
			}
		}
	})
}

// Thousands are set apart in large numbers, and in nothing that only looks like one.
func TestGrouped(t *testing.T) {
	for s, want := range map[string]string{
		"9999": "9999", "10000": "10,000", "1234567.25": "1,234,567.25", "> 20000": "> 20,000", "12345?": "12,345?",
		"0.123456": "0.123456", "n/a": "n/a", "": "",
		"127.0.0.1:18101": "127.0.0.1:18101", "asynchronous@12345": "asynchronous@12345", "12000 - 13000": "12000 - 13000",
		"12345 ms": "12,345 ms", "1 - 12345": "1 - 12345",
	} {
		if got := Grouped(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

// TestSentences: optional parts, alternatives, notes within notes, and lengths as words in a text and values of flags.
func TestSentences(t *testing.T) {
	words := Words{
		"optional": Say("{n:count row rows}[ of {all}]", "{n} 行[，共 {all} 行]"),
		"repeat": Say("at {rate:rate} req/s[, repetition {repeat:times}]",
			"{rate:rate} req/s[，第 {repeat:times} 次]"),
		"either": Say("[because {error}|without a reason]", "[因为 {error}|没有原因]"),
		"span":   Say("{left:span}: --budget {left:flag}", "{left:span}：--budget {left:flag}"),
		"nested": Say("{stage}: {why:note}", "{stage}：{why:note}"),
	}
	optional := note.Kind{Code: "optional", Args: []string{"n", "all"}}
	repeat := note.Kind{Code: "repeat", Args: []string{"rate", "repeat"}}
	either := note.Kind{Code: "either", Args: []string{"error"}}
	span := note.Kind{Code: "span", Args: []string{"left"}}
	nested := note.Kind{Code: "nested", Args: []string{"stage", "why"}}
	late := []note.Note{note.Text.New("late"), optional.New(2, 3)}
	for _, c := range []struct {
		n      note.Note
		en, zh string
	}{
		{optional.New(1, 3), "1 row of 3.", "1 行，共 3 行。"},
		{note.Note{Code: "optional", Args: map[string]any{"n": 1e6}}, "1000000 rows.", "1000000 行。"},
		{repeat.New(12.346, 1), "At 12.35 req/s.", "12.35 req/s。"},
		{repeat.New(12.346, 2), "At 12.35 req/s, repetition 2.", "12.35 req/s，第 2 次。"},
		{either.New("x"), "Because x.", "因为 x。"}, {note.Note{Code: "either"}, "Without a reason.", "没有原因。"},
		{nested.New("poisson@1.00", late), "asynchronous@1.00: late, 2 rows of 3.",
			"asynchronous@1.00：late，2 行，共 3 行。"},
		{span.New(9.2), "10 s: --budget 10s.", "10 秒：--budget 10s。"},
		{span.New(150), "2.5 min: --budget 2m30s.", "2.5 分钟：--budget 2m30s。"},
		{span.New(9000), "2.5 h: --budget 2h30m.", "2.5 小时：--budget 2h30m。"},
		{note.Text.New("was killed"), "was killed", "was killed"},
		{note.Note{Code: "new.code", Args: map[string]any{"b": 2.0, "a": "x"}}, "", ""},
	} {
		if en, zh := words.Sentence(c.n, English), words.Sentence(c.n, Chinese); en != c.en || zh != c.zh {
			t.Errorf("%q, %q; want %+v", en, zh, c)
		}
	}
}
