package stats

import "math"

// StudentQuantile is the p-quantile of Student's t distribution with df degrees of freedom, df >= 1 and not
// necessarily whole: Newton's method on the incomplete beta function.
func StudentQuantile(p, df float64) float64 {
	if p == 0.5 {
		return 0
	}
	if p < 0.5 {
		return -StudentQuantile(1-p, df)
	}
	t := math.Max(0.5, math.Sqrt2*math.Erfinv(2*p-1)) // the normal point lies below t's, from where Newton climbs
	for range 200 {
		step := (p - studentCDF(t, df)) / studentDensity(t, df)
		t += math.Min(step, t) // a far tail's Newton step overshoots: at most double
		if math.Abs(step) < 1e-12*t {
			break
		}
	}
	return t
}

func studentDensity(t, df float64) float64 {
	a, _ := math.Lgamma((df + 1) / 2)
	b, _ := math.Lgamma(df / 2)
	return math.Exp(a-b-(df+1)/2*math.Log1p(t*t/df)) / math.Sqrt(df*math.Pi)
}

// studentCDF is the distribution function for t >= 0.
func studentCDF(t, df float64) float64 {
	return 1 - incompleteBeta(df/2, 0.5, df/(df+t*t))/2
}

// incompleteBeta is the regularised incomplete beta function by its continued fraction (DLMF 8.17.22), evaluated by
// Lentz's method on the side where it converges quickly.
func incompleteBeta(a, b, x float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2):
		return 1 - incompleteBeta(b, a, 1-x)
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab - la - lb + a*math.Log(x) + b*math.Log1p(-x))
	const tiny = 1e-300
	f, c, d := 1.0, 1.0, 0.0
	for i := range 400 {
		m := float64(i / 2)
		num := 1.0
		switch {
		case i == 0:
		case i%2 == 0:
			num = m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		default:
			num = -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		}
		d = 1 / nonZero(1+num*d, tiny)
		c = nonZero(1+num/c, tiny)
		f *= c * d
		if math.Abs(1-c*d) < 1e-15 {
			break
		}
	}
	return front * (f - 1) / a
}

func nonZero(x, tiny float64) float64 {
	if math.Abs(x) < tiny {
		return tiny
	}
	return x
}
