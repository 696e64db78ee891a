package page

import (
	"fmt"
	"math"
	"strconv"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

func requestName(p tracePoint) string {
	if p.Turn > 0 {
		return fmt.Sprintf("%d.%d", p.Seq, p.Turn)
	}
	return strconv.Itoa(p.Seq)
}

func statusText(p tracePoint) string {
	if p.Error != "" {
		return table.Clean(p.Error)
	}
	return table.Clean(p.Status)
}

func tableHeads(all ...lang.Text) [][2]string {
	var out [][2]string
	for _, t := range all {
		out = append(out, [2]string{t.EN, t.ZH})
	}
	return out
}

func shortNumber(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	f, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64) // what FormatFloat wrote
	return f
}

// scriptNumber makes a lower bound a text.
func scriptNumber(n rundir.Number) any {
	switch {
	case n.IsZero():
		return nil
	case n.Bound():
		return "> " + lang.Short(n.Value(), true)
	}
	return shortNumber(n.Value())
}
