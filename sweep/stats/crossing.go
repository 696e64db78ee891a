package stats

import (
	"cmp"
	"math"
	"slices"
)

// Point is a value measured at X, which is above 0 or 0, with its standard error.
type Point struct {
	X, Y, SE float64
	// Of reports whether Y is the log-odds of a share of so many, less those of the share At; 0 says that it is not.
	Of, At float64
}

// Share is the point of a share among n at x, against the share at. One more that is at that is counted in, so that none of n, or
// all, have odds too, and little weight.
func Share(x, share, n, at float64) Point {
	share = (n*share + at) / (n + 1)
	return Point{X: x, Y: logit(share) - logit(at), SE: 1 / math.Sqrt((n+1)*share*(1-share)), Of: n + 1, At: at}
}

func logit(p float64) float64 { return math.Log(p / (1 - p)) }

// about is the point as a step of Fisher's scoring has it, once a line tells what is expected there: shares average as they are
// and not by their odds, of which the mean is too low, and weigh by what is expected and not by what chance made of it
// (McCullagh and Nelder, Generalized Linear Models, 1989).
func (p Point) about(l line) (y, se float64) {
	if p.Of == 0 || l.slope == 0 {
		return p.Y, p.SE
	}
	const most = 3 // far from the line its tangent says little
	expected := min(max(l.level+l.slope*(p.X-l.mid), -most), most)
	share, mean := expit(p.Y+logit(p.At)), expit(expected+logit(p.At))
	step := (share - mean) / (mean * (1 - mean))
	return expected + min(max(step, -most), most), 1 / math.Sqrt(p.Of*mean*(1-mean))
}

func expit(y float64) float64 { return 1 / (1 + math.Exp(-y)) }

// Root is where a rising curve reaches 0, with a 95 % interval; all are +Inf or -Inf where that is beyond the points on one
// side, and NaN where there are none.
type Root struct{ At, Low, High float64 }

// Crossing finds where the rising curve that noisy points lie on reaches 0. Which two points that is between, an isotonic fit
// tells; where exactly, a straight line through those about it, by weighted least squares (Cleveland, JASA 74 (1979)):
// it is less noisy than any two of them. The line reaches to either side by a share of X, or further for want of points. A
// point is taken to be off by scatter, a share of X, besides its own error. The interval is by the delta method, widened
// where the points differ by more than their errors (Birge, Physical Review 40 (1932)).
func Crossing(points []Point, reach, scatter float64) Root {
	points = slices.Clone(points)
	slices.SortStableFunc(points, func(a, b Point) int { return cmp.Compare(a.X, b.X) })
	at, low, high := isotonicRoot(points)
	root := Root{at, low, high}
	if math.IsInf(at, 0) || math.IsNaN(at) {
		return root
	}
	var before line
	for range 20 { // each line is centred where the one before reached 0
		line, ok := fitLine(points, root.At, reach, scatter, before)
		if !ok {
			break
		}
		next := line.root()
		next.At = min(max(next.At, root.At*(1-reach)), root.At*(1+reach))
		moved := math.Abs(next.At - root.At)
		if root, before = next, line; moved < 1e-6*root.At {
			break
		}
	}
	first, last := points[0].X, points[len(points)-1].X
	within := func(x float64) float64 { return min(max(x, first), last) }
	at = within(root.At)
	return Root{at, min(at, within(root.Low)), max(at, within(root.High))}
}

// isotonicRoot is where the isotonic fit, linear between points, reaches 0, and the points that it does so between. No point
// counts for more than three of its errors, lest a lone exception outvote its neighbours.
func isotonicRoot(points []Point) (at, low, high float64) {
	const most = 3
	y := make([]float64, len(points))
	for i, p := range points {
		y[i] = min(max(p.Y/p.SE, -most), most)
	}
	fit := Isotonic(y, nil)
	i := slices.IndexFunc(fit, func(v float64) bool { return v >= 0 })
	switch {
	case len(fit) == 0:
		return math.NaN(), math.NaN(), math.NaN()
	case i < 0:
		return math.Inf(1), math.Inf(1), math.Inf(1)
	case i == 0:
		return math.Inf(-1), math.Inf(-1), math.Inf(-1)
	}
	a, b := points[i-1], points[i]
	from, to := fit[i-1], fit[i]
	if a.Y < 0 && b.Y >= 0 { // nothing was pooled here
		from, to = a.Y, b.Y
	}
	return a.X + (b.X-a.X)*-from/(to-from), a.X, b.X
}

// line is y = level + slope (x - mid), with the variances of both.
type line struct {
	mid, level, slope, varLevel, varSlope float64
	freedom                               int
}

// fitLine fits a line to the points about x, those nearer weighing more, and reaches further until there are a few on both
// sides and they rise. ok is false where no such line is found.
func fitLine(points []Point, x, reach, scatter float64, before line) (l line, ok bool) {
	off := before.slope * scatter * x
	for width := reach * x; width < 20*reach*x; width *= 1.25 {
		var near []Point
		var weights []float64
		below := 0
		for _, p := range points {
			k := 1 - math.Pow(math.Abs(p.X-x)/width, 3)
			if k <= 0 {
				continue
			}
			if p.X < x {
				below++
			}
			p.Y, p.SE = p.about(before)
			near, weights = append(near, p), append(weights, k*k*k/(p.SE*p.SE+off*off))
		}
		if len(near) < 4 || below < 1 || below == len(near) {
			continue
		}
		if l = leastSquares(near, weights); l.slope > 0 {
			return l, true
		}
	}
	return l, false
}

// leastSquares is the line through weighted points, at least three, not all at one place.
func leastSquares(points []Point, weights []float64) line {
	var l line
	var sw, sxx, sxy, chi2 float64
	for i, p := range points {
		sw += weights[i]
		l.mid += weights[i] * p.X
		l.level += weights[i] * p.Y
	}
	l.mid, l.level = l.mid/sw, l.level/sw
	for i, p := range points {
		sxx += weights[i] * (p.X - l.mid) * (p.X - l.mid)
		sxy += weights[i] * (p.X - l.mid) * (p.Y - l.level)
	}
	l.slope = sxy / sxx
	for i, p := range points {
		r := p.Y - l.level - l.slope*(p.X-l.mid)
		chi2 += weights[i] * r * r
	}
	l.freedom = len(points) - 2
	excess := math.Max(1, chi2/float64(l.freedom))
	l.varLevel, l.varSlope = excess/sw, excess/sxx
	return l
}

// root is where the line reaches 0.
func (l line) root() Root {
	d := -l.level / l.slope
	half := StudentQuantile(0.975, float64(l.freedom)) * math.Sqrt(l.varLevel+d*d*l.varSlope) / l.slope
	return Root{l.mid + d, l.mid + d - half, l.mid + d + half}
}
