// Reads for which workload a twin is asked: lengths, or those of a trace.

package twin

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"llmsweep/sweep/workload"
)

// ParseLengths reads 512/32, or a trace.
func ParseLengths(ctx context.Context, text string) (m Mixed, err error) {
	if _, err := os.Stat(text); err == nil {
		return LengthTrace(ctx, text)
	}
	var l [2]int
	p, o, ok := strings.Cut(text, "/")
	l[0], err = strconv.Atoi(strings.TrimSpace(p))
	if err == nil {
		l[1], err = strconv.Atoi(strings.TrimSpace(o))
	}
	if !ok || err != nil || min(l[0], l[1]) < 1 {
		return m, fmt.Errorf("--ask %s: write tokens of prompt and answer, such as 512/32, or the file of a trace", text)
	}
	return Mixed{Lengths: [][2]int{l}}, nil
}

// LengthTrace reads the lengths of a trace.
func LengthTrace(ctx context.Context, file string) (Mixed, error) {
	const most = 20_000 // requests: more change nothing
	t, err := workload.OpenTrace(ctx, file, workload.TraceOptions{Limit: most})
	if err != nil {
		return Mixed{}, err
	}
	m := Mixed{Name: filepath.Base(file)}
	for r := range t.All() {
		m.Lengths = append(m.Lengths, [2]int{r.Prompt, r.Output})
	}
	return m, nil
}
