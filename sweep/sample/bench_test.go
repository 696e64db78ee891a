package sample

import (
	"strconv"
	"testing"
	"time"
)

// A completion costs the same in a closed loop of any width.
func BenchmarkWaves(b *testing.B) {
	for _, width := range []int{1, 64, 4096, 100_000} {
		b.Run(strconv.Itoa(width), func(b *testing.B) {
			w := NewWaves(width)
			for i := range 2 * width {
				w.Add(time.Duration(i))
			}
			at := 2 * width
			for b.Loop() {
				w.Add(time.Duration(at))
				at++
			}
		})
	}
}

func BenchmarkSample(b *testing.B) {
	for name, limit := range map[string]int{"kept": 1 << 30, "counted": 1} {
		b.Run(name, func(b *testing.B) {
			s := New(limit)
			for i := 0; b.Loop(); i++ {
				s.Add(float64(i/128), float64(i%1000)/1000)
			}
		})
	}
}
