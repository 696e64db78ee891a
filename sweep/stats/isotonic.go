package stats

// isotonic returns the series without a falling step that lies nearest to y, by least squares with weights w. It smooths a
// series that is known to grow, such as a percentile with the load, only where noise makes it fall. It pools adjacent violators
// (Ayer and others, Annals of Mathematical Statistics 26 (1955)). A nil w weighs all values alike; weights must be above 0.
func isotonic(y, w []float64) []float64 {
	type pool struct {
		mean, weight float64
		n            int
	}
	var pools []pool
	for i, v := range y {
		p := pool{v, 1, 1}
		if w != nil {
			p.weight = w[i]
		}
		for len(pools) > 0 && pools[len(pools)-1].mean >= p.mean {
			before := pools[len(pools)-1]
			pools = pools[:len(pools)-1]
			weight := before.weight + p.weight
			p = pool{before.mean + (p.mean-before.mean)*p.weight/weight, weight, before.n + p.n}
		}
		pools = append(pools, p)
	}
	fit := make([]float64, 0, len(y))
	for _, p := range pools {
		for range p.n {
			fit = append(fit, p.mean)
		}
	}
	return fit
}
