package load

import (
	"llmsweep/client"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"testing"
	"time"
)

func BenchmarkRecord(b *testing.B) {
	d, err := store.Create(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	res := &client.Result{}
	res.Reset(time.Time{})
	res.Status, res.Sent, res.End = client.StatusOK, 0, 2*time.Second
	for i := range 128 {
		res.Token(time.Second+time.Duration(i)*11*time.Millisecond, 1, false)
	}
	r := &rundir.Record{}
	b.ReportAllocs()
	for b.Loop() {
		fillRecord(r, res, turnInfo{stage: "x", seq: 1, asked: 128}, time.Second)
		if err := d.Append(r); err != nil {
			b.Fatal(err)
		}
	}
}
