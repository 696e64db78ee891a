package main

import (
	"bytes"
	"testing"

	"llmsweep/cmd/llmsweep/console"
)

// TestChineseErrors tests that --lang zh holds for errors too, even where the command line cannot be parsed.
func TestChineseErrors(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"sweep", "sim:", "--lang", "zh", "--points", "0"}, "llmsweep: --points 必须在 1 到 1000 之间\n"},
		{[]string{"sweep", "sim:", "--lang=zh", "--frob"}, "llmsweep: 没有参数 --frob\n"},
		{[]string{"choose", "--lang", "zh", "/no/such/directory", "--slo", "ttft:p99<1s", "--demand", "1rps"}, "llmsweep: 无法打开 /no/such/directory：没有这个文件或目录\n"},
		{[]string{"sweep", "sim:", "--points", "0"}, "llmsweep: --points must be between 1 and 1000\n"},
	} {
		var out, errs bytes.Buffer
		if code := executeAgain(c.args, console.NewConsole(t.Context(), &out, &errs)); code != console.WrongUsage || errs.String() != c.want {
			t.Errorf("%v: exit %d, %q, want %q", c.args, code, errs.String(), c.want)
		}
	}
}
