package note

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var sample = Kind{"sample", []string{"rate", "wait", "stage", "names", "parts"}}

func TestNotesSurviveJSON(t *testing.T) {
	in := sample.New(12.5, 3*time.Second, "poisson@1.00", []string{"a", "b"}, []Note{Text.New("x")})
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out Note
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(in, out); diff != "" {
		t.Errorf("%s (-want +got):\n%s", b, diff)
	}
}

func TestOldTextIsANote(t *testing.T) {
	var out []Note
	if err := json.Unmarshal([]byte(`["was killed", ""]`), &out); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Note{Text.New("was killed"), {}}, out); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestUndefinedNumbersAreLeftOut(t *testing.T) {
	n := Kind{"k", []string{"x"}}.New(math.NaN())
	if _, ok := n.Number("x"); ok || n.Args != nil {
		t.Errorf("got %v", n)
	}
}

func TestAddKeepsOneOfEach(t *testing.T) {
	notes := Add(Add(nil, Text.New("a")), Text.New("a"))
	if len(notes) != 1 {
		t.Errorf("got %v", notes)
	}
}
