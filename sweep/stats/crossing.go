package stats

import (
	"cmp"
	"math"
	"slices"
)

// Point is a value Y measured at X >= 0, with its standard error SE.
type Point struct {
	X, Y, SE float64
	// Of is 0, or Y is the log-odds of a share among Of observations, less the log-odds of the share At.
	Of, At float64
	// Chance is a covariate of which 0 is expected at any X: what is known of the point's error. 0 where nothing is.
	Chance float64
}

// Prior is what is known beforehand of by how much Y is off per unit of Chance: its mean and standard deviation.
type Prior struct{ Mean, SD float64 }

// Share returns the point of a share among n observations at x, relative to the share at. One observation is added in which the
// share is at, so that shares of 0 and 1 have finite odds, and little weight.
func Share(x, share, n, at float64) Point {
	share = (n*share + at) / (n + 1)
	return Point{X: x, Y: logit(share) - logit(at), SE: 1 / math.Sqrt((n+1)*share*(1-share)), Of: n + 1, At: at}
}

// logit returns the log-odds of a share.
func logit(p float64) float64 { return math.Log(p / (1 - p)) }

// about returns the point's value and standard error for a step of Fisher scoring, given the line so far (McCullagh and Nelder,
// Generalized Linear Models, 1989). Shares are then averaged themselves and not by their log-odds, whose mean is biased; and each
// is weighted by the share that the line expects and not by the one observed.
func (p Point) about(l line) (y, se float64) {
	if p.Of == 0 || l.slope == 0 {
		return p.Y, p.SE
	}
	const most = 3 // log-odds: farther from the line its tangent is a poor approximation
	expected := min(max(l.at(Point{X: p.X}), -most), most)
	share, mean := expit(p.Y+logit(p.At)), expit(expected+logit(p.At))
	chance := l.chance * p.Chance // it adds to the share and not to its log-odds, so that what is expected of it is 0
	step := (share-mean)/(mean*(1-mean)) - chance
	return expected + chance + min(max(step, -most), most), 1 / math.Sqrt(p.Of*mean*(1-mean))
}

// expit returns the share with the given log-odds.
func expit(y float64) float64 { return 1 / (1 + math.Exp(-y)) }

// Root is the point at which a rising curve crosses 0, with a 95 % confidence interval. All three are +Inf or -Inf where that is beyond the
// points on one side, and NaN where there are no points.
type Root struct {
	At, Low, High float64
	Fitted        bool // by a line through several points; else the interval reaches to the points on either side
}

// Crossing returns where a rising curve, given by noisy points, crosses 0. An isotonic fit finds the two points that this is
// between. A straight line through the points around them, by weighted least squares (Cleveland, JASA 74 (1979)), then finds the
// place: it is less noisy than any two points. The line uses points within reach, a share of X, or farther where there are
// few. scatter, a share of X, is an error of each point in addition to its own. The interval is that of Fieller's theorem, widened where the
// points differ from the line by more than their errors (Birge, Physical Review 40 (1932)). What chance has to do with the points is fitted
// along with the line, as a control variate, and taken off.
func Crossing(points []Point, reach, scatter float64, chance Prior) Root {
	points = slices.Clone(points)
	slices.SortStableFunc(points, func(a, b Point) int { return cmp.Compare(a.X, b.X) })
	at, low, high := isotonicRoot(points, chance)
	root := Root{At: at, Low: low, High: high}
	if math.IsInf(at, 0) || math.IsNaN(at) {
		return root
	}
	var before line
	const steps, settled = 20, 1e-6 // at most; a share of X
	for range steps {               // each line is centred where the one before crossed 0
		line, ok := fitLine(points, root.At, reach, scatter, chance, before)
		if !ok {
			break
		}
		next := line.root()
		if math.IsNaN(next.Low) || math.IsNaN(next.High) { // too close together for floating point
			break
		}
		next.At = min(max(next.At, root.At*(1-reach)), root.At*(1+reach))
		moved := math.Abs(next.At - root.At)
		if root, before = next, line; moved < settled*root.At {
			break
		}
	}
	first, last := points[0].X, points[len(points)-1].X
	within := func(x float64) float64 { return min(max(x, first), last) }
	at = within(root.At)
	return Root{at, min(at, within(root.Low)), max(at, within(root.High)), root.Fitted}
}

// isotonicRoot returns where the isotonic fit, linear between points, crosses 0, and the points on either side. A point counts for
// at most three of its standard errors, so that a single outlier does not outweigh its neighbours.
func isotonicRoot(points []Point, chance Prior) (at, low, high float64) {
	const most = 3
	points = slices.Clone(points)
	y := make([]float64, len(points))
	for i := range points {
		p := &points[i]
		p.Y -= chance.Mean * p.Chance
		y[i] = min(max(p.Y/p.SE, -most), most)
	}
	fit := isotonic(y, nil)
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

// line is y = level + slope (x - mid), with the variances of both, and besides chance times the points' Chance.
type line struct {
	mid, level, slope, varLevel, varSlope float64
	chance                                float64
	freedom                               int
}

// at returns what the line expects of a point.
func (l line) at(p Point) float64 { return l.level + l.slope*(p.X-l.mid) + l.chance*p.Chance }

// fitLine fits a line to the points around x, nearer ones with more weight (Cleveland's tricube). It widens its reach until there
// are four points, some on either side, and the line rises beyond doubt, or at all where it never does so. ok is false where there is no such line.
func fitLine(points []Point, x, reach, scatter float64, chance Prior, before line) (l line, ok bool) {
	const fewest, widest, wider = 4, 20, 1.25 // points; times the reach; factor from one try to the next
	const doubt, farthest = 3, 2.5            // standard errors of the slope; times the reach up to which they are asked for
	off := before.slope * scatter * x
	for width := reach * x; width < widest*reach*x; width *= wider {
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
		if len(near) < fewest || below < 1 || below == len(near) {
			continue
		}
		fitted := leastSquares(near, weights, chance)
		if fitted.slope > 0 && !ok {
			l, ok = fitted, true
		}
		if ok && (fitted.slope > doubt*math.Sqrt(fitted.varSlope) || width > farthest*reach*x) {
			if fitted.slope > 0 {
				l = fitted
			}
			break
		}
	}
	return l, ok
}

// leastSquares returns the line through weighted points: at least three, at more than one X. The prior counts as one more observation, of what chance
// does.
func leastSquares(points []Point, weights []float64, chance Prior) line {
	var l line
	var sw, mean, sxx, sxy, sxc, scc, scy, chi2 float64 // mean: of Chance
	for i, p := range points {
		sw += weights[i]
		l.mid += weights[i] * p.X
		l.level += weights[i] * (p.Y - chance.Mean*p.Chance)
		mean += weights[i] * p.Chance
	}
	l.mid, l.level, mean = l.mid/sw, l.level/sw, mean/sw
	for i, p := range points {
		x, y, c := p.X-l.mid, p.Y-chance.Mean*p.Chance-l.level, p.Chance-mean
		sxx += weights[i] * x * x
		sxy += weights[i] * x * y
		sxc += weights[i] * x * c
		scc += weights[i] * c * c
		scy += weights[i] * c * y
	}
	varChance := 0.0
	if chance.SD > 0 {
		scc += 1 / (chance.SD * chance.SD)
		varChance = 1 / (scc - sxc*sxc/sxx)
	}
	more := varChance * (scy - sxc*sxy/sxx) // than the prior's mean
	l.chance = chance.Mean + more
	l.slope = (sxy - more*sxc) / sxx
	l.level -= more * mean
	for i, p := range points {
		r := p.Y - l.at(p)
		chi2 += weights[i] * r * r
	}
	l.freedom = len(points) - 2
	excess := math.Max(1, chi2/float64(l.freedom))
	l.varLevel, l.varSlope = excess*(1/sw+mean*mean*varChance), excess*(1/sxx+sxc*sxc/(sxx*sxx)*varChance)
	return l
}

// root returns where the line crosses 0. Its interval (Fieller, J. R. Stat. Soc. B 16 (1954)) is wide where the slope is hardly known, and has no end on
// a side where the line may not rise: at x from mid it may cross 0 where (level + slope x)^2 <= q^2 (varLevel + x^2 varSlope).
func (l line) root() Root {
	q, d := StudentQuantile(0.975, float64(l.freedom)), -l.level/l.slope
	a, b, c := l.slope*l.slope-q*q*l.varSlope, l.level*l.slope, l.level*l.level-q*q*l.varLevel
	root := Root{l.mid + d, math.Inf(-1), math.Inf(1), true}
	if inside := b*b - a*c; inside >= 0 && a != 0 {
		for _, sign := range [2]float64{-1, 1} {
			if x := (-b + sign*math.Sqrt(inside)) / a; x <= d {
				root.Low = max(root.Low, l.mid+x)
			} else {
				root.High = min(root.High, l.mid+x)
			}
		}
	}
	return root
}
