package habit

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Habit{
		"collapses:0.3":                         Collapses{Share: 0.3},
		"collapses":                             Collapses{Share: 0.3},
		"Collapses: 30% , recovery = 20s":       Collapses{Share: 0.3, Recovery: 20 * time.Second},
		"collapses:0.2,worst=3,recovery=never":  Collapses{Share: 0.2, Worst: 3, Recovery: Never},
		"collapses:1,from=2":                    Collapses{Share: 1, From: 2},
		"sheds:8":                               Sheds{Waiting: 8, Status: 429, After: RefusalTime},
		"sheds:0,status=503,retry=2s,after=1ms": Sheds{Waiting: 0, Status: 503, RetryAfter: 2 * time.Second, After: time.Millisecond},
		"rate-limited":                          RateLimited{RPM: 600, After: RefusalTime},
		"rate-limited:RPM=120,TPM=6000,burst=4": RateLimited{RPM: 120, TPM: 6000, Burst: 4, After: RefusalTime},
		"rate-limited:tpm=6000,token-burst=500": RateLimited{TPM: 6000, TokenBurst: 500, After: RefusalTime},
		"drifts:0.05":                           Drifts{0.05},
		"scales:2@3m":                           Scales{2, 3 * time.Minute},
		"scales:0.5@90s":                        Scales{0.5, 90 * time.Second},
		"pauses:10s,500ms":                      Pauses{10 * time.Second, 500 * time.Millisecond},
		"pauses:length=1s,every=20s":            Pauses{20 * time.Second, time.Second},
		"batches:200ms":                         Batches{Time: 200 * time.Millisecond},
		"batches:16":                            Batches{Tokens: 16},
		"caches:0.25,after=2ms":                 Caches{Share: 0.25, After: 2 * time.Millisecond},
		"caches:repeats":                        Caches{Repeats: true, After: CacheTime},
		"drops:3,500ms":                         Drops{3, 500 * time.Millisecond},
		"freezes@10s":                           Freezes{10 * time.Second},
		"ties:5%,from=3":                        Ties{0.05, 3},
		"confuses":                              Confuses{0.01, 2},
		"rounds:20%,shift=0.1":                  Rounds{0.2, 0.1},
		"samples:0.3":                           Samples{0.3},
		"freezes:1m30s":                         Freezes{90 * time.Second},
	} {
		got, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
		again, err := Parse(got.String())
		if err != nil || again != got {
			t.Errorf("%s is written as %s, which reads as %v (%v)", text, got, again, err)
		}
	}
}

func TestErrorsTeach(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "there are collapses, sheds",
		"shed:8":                     "did you mean sheds?",
		"rate-limit:rpm=5":           "did you mean rate-limited?",
		"nonsense":                   "there are collapses, sheds",
		"sheds:x":                    `waiting is no whole number: "x"; want sheds:N`,
		"sheds:8,9":                  `"9" is one value too many`,
		"sheds:8,stat=503":           "did you mean status?",
		"sheds:8,status=500":         "must be 429 or 503",
		"sheds:8,after=0s":           "must take some time",
		"sheds:8,waiting=9":          "waiting was given twice",
		"collapses:-1":               "above 0",
		"collapses:0.3,worst=1":      "above 1",
		"collapses:NaN":              "no number",
		"rate-limited:burst=4":       "RPM, TPM or both",
		"rate-limited:tpm=4,burst=4": "token-burst",
		"drifts:0":                   "such as drifts:0.05",
		"scales:1@3m":                "not 1",
		"scales:2@soon":              `at is no time such as 500ms, 20s or 3m: "soon"`,
		"pauses:1s,2s":               "shorter than",
		"batches:0":                  "above 0",
		"batches:often":              "no time such as",
		"caches:1":                   "between 0 and 1",
		"drops:0,1s":                 "at least 1",
		"freezes@-1s":                "not be negative",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error with %q", text, err, want)
		}
	}
}

func TestKindsAreWhole(t *testing.T) {
	for _, k := range Kinds() {
		h, err := Parse(k.Example)
		if err != nil || h.Name() != k.Name || !strings.HasPrefix(k.Form, k.Name) || k.About == "" {
			t.Errorf("%+v: %v, %v", k, h, err)
		}
		if _, err := Parse(k.Name); err != nil {
			t.Errorf("%s without parameters: %v", k.Name, err)
		}
	}
}

func TestList(t *testing.T) {
	l, err := ParseList([]string{"sheds:8", "drifts:0.1"})
	if err != nil || l.String() != "sheds:8 drifts:0.1" {
		t.Errorf("%v %v", l, err)
	}
	if d, ok := Find[Drifts](l); !ok || d.Share != 0.1 {
		t.Errorf("found %v %v", d, ok)
	}
	if _, ok := Find[Drops](l); ok {
		t.Error("found a habit that is not there")
	}
	if _, err := ParseList([]string{"sheds:8", "sheds:9"}); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("the same habit twice: %v", err)
	}
	if (List{Drifts{math.Inf(1)}}).Validate() == nil {
		t.Error("an infinite share is valid")
	}
}
