package twin

import (
	"math"
	"math/rand/v2"
	"slices"

	"llmsweep/client/sim"

	"gonum.org/v1/gonum/mat"
)

// terms is how many costs each of the two sums of a step time has.
const terms = 4

// fitRow is an observation as the regression sees it: the terms of either sum, in units of the time that was seen.
type fitRow struct {
	read, compute [terms]float64
	seconds       float64
	prefills      bool // there is a prompt in the step
	block         int  // neighbours, which are alike, share a block
}

// misses are the probabilities that a token does not use a given expert that are tried: of no experts, and of usual mixtures.
func misses() []float64 { return []float64{0, 0.75, 0.875, 0.9375, 0.96875} }

// fitRowOf returns an observation's row. Sums over several steps are no longer the longer of two sums; each of them but the last is a whole
// budget of prompt tokens, so that the same sum is the longer in all.
func fitRowOf(o observation, miss float64, block int) fitRow {
	r := fitRow{seconds: o.seconds, prefills: prefills(o), block: block}
	for _, b := range o.batches {
		experts := 0.0
		if miss > 0 {
			experts = 1 - math.Pow(miss, float64(b.Tokens))
		}
		for i, v := range [terms]float64{1, float64(b.Context + b.Tokens), float64(b.Tokens), experts} {
			r.read[i] += v / o.seconds
		}
		for i, v := range [terms]float64{1, float64(b.Tokens), float64(b.Samples), float64(b.Pairs)} {
			r.compute[i] += v / o.seconds
		}
	}
	return r
}

// solution is the costs in the order of a row.
type solution struct{ read, compute [terms]float64 }

func dot(a, b *[terms]float64) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] + a[3]*b[3] }

// ratio returns the predicted time over the one that was seen, and whether the server computed rather than read.
func (s *solution) ratio(r *fitRow) (v float64, computes bool) {
	read, compute := dot(&s.read, &r.read), dot(&s.compute, &r.compute)
	return max(read, compute), compute > read
}

// costs returns the solution as the simulator takes it.
func (s *solution) costs(miss float64) sim.Costs {
	c := sim.Costs{
		Read:    sim.ReadCosts{Fixed: s.read[0], Context: s.read[1], Token: s.read[2], Experts: s.read[3], ExpertMiss: miss},
		Compute: sim.ComputeCosts{Fixed: s.compute[0], Token: s.compute[1], Sample: s.compute[2], Pair: s.compute[3]},
	}
	if miss == 0 {
		c.Read.Experts = 0
	}
	return c
}

// gram has the normal equations of a sum.
type gram struct {
	a [terms][terms]float64
	b [terms]float64
	n float64
}

func (g *gram) add(x *[terms]float64, weight float64) {
	for i := range terms {
		w := weight * x[i]
		for j := range i + 1 {
			g.a[i][j] += w * x[j]
		}
		g.b[i] += w
	}
	g.n += weight
}

func (g *gram) plus(o *gram, times float64) {
	for i := range terms {
		for j := range i + 1 {
			g.a[i][j] += times * o.a[i][j]
		}
		g.b[i] += times * o.b[i]
	}
	g.n += times * o.n
}

// solve returns the least squares with no cost below 0. With four terms all choices of those that are not 0 can be tried.
func (g *gram) solve() (best [terms]float64) {
	loss := math.Inf(1)
	for set := 1; set < 1<<terms; set++ {
		x, ok := g.among(set)
		if !ok || slices.Min(x[:]) < 0 {
			continue
		}
		l := 0.0 // |1 - x r|^2, less the constant
		for i := range terms {
			for j := range terms {
				l += x[i] * x[j] * g.a[max(i, j)][min(i, j)]
			}
			l -= 2 * x[i] * g.b[i]
		}
		if l < loss {
			loss, best = l, x
		}
	}
	return best
}

// among solves for a choice of the terms.
func (g *gram) among(set int) (x [terms]float64, ok bool) {
	var index []int
	for i := range terms {
		if set>>i&1 == 1 {
			if g.a[i][i] <= 0 {
				return x, false
			}
			index = append(index, i)
		}
	}
	n := len(index)
	a, b := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	for p, i := range index { // scaled, for the sizes of the terms differ by powers of ten
		for q, j := range index[:p+1] {
			a.SetSym(p, q, g.a[i][j]/math.Sqrt(g.a[i][i]*g.a[j][j]))
		}
		b.SetVec(p, g.b[i]/math.Sqrt(g.a[i][i]))
	}
	var c mat.Cholesky
	const worst = 1e11 // condition number
	if !c.Factorize(a) || c.Cond() > worst {
		return x, false
	}
	var v mat.VecDense
	if c.SolveVecTo(&v, b) != nil {
		return x, false
	}
	for p, i := range index {
		x[i] = v.AtVec(p) / math.Sqrt(g.a[i][i])
	}
	return x, true
}

// robust is beyond how many spreads a step counts for less (Huber): a stall is not the step's cost.
const robust = 4

// regress finds the longer of two sums that is nearest to what was seen, beginning with a guess of which steps compute: those with more
// tokens than a limit.
func regress(rows []fitRow, guess func(r *fitRow) bool) (solution, float64) {
	const rounds = 25
	var s solution
	computes := make([]bool, len(rows))
	weights := make([]float64, len(rows))
	for i := range rows {
		computes[i], weights[i] = guess(&rows[i]), 1
	}
	loss := math.Inf(1)
	for range rounds {
		var read, compute gram
		for i := range rows {
			if computes[i] {
				compute.add(&rows[i].compute, weights[i])
			} else {
				read.add(&rows[i].read, weights[i])
			}
		}
		s.read, s.compute = read.solve(), compute.solve()
		ratios, residuals := make([]float64, len(rows)), make([]float64, len(rows))
		changed := false
		for i := range rows {
			v, is := s.ratio(&rows[i])
			changed = changed || is != computes[i]
			computes[i], ratios[i], residuals[i] = is, v, offBy(v)
		}
		width := robust * max(spreadOf(residuals), 1e-4)
		now := 0.0
		for i, e := range residuals {
			weights[i] = weightOf(ratios[i], width)
			now += min(e, width) * min(e, width)
		}
		done := !changed || math.Abs(now-loss) < 1e-6*now
		loss = now
		if done {
			break
		}
	}
	return s, s.loss(rows)
}

// least is the smallest ratio of a predicted time to the one that was seen that counts: longer stalls are all alike.
const leastRatio = 0.05

// offBy returns by how much the time that was seen is off the predicted one, as a share of the predicted, from the ratio of the second to the first.
func offBy(ratio float64) float64 { return math.Abs(1/max(ratio, leastRatio) - 1) }

// weightOf returns the weight of a step in the normal equations. Rows are in units of the time that was seen; errors are wanted in units of the
// predicted one, because a long step would otherwise count for less than a short one, so that the costs would be those of the quicker steps.
func weightOf(ratio, width float64) float64 {
	v := max(ratio, leastRatio)
	return min(1, width/max(offBy(ratio), 1e-12)) / (v * v)
}

// loss returns the mean of the relative errors, half of them those of steps with prompts: these are few, and take much of the time.
func (s *solution) loss(rows []fitRow) float64 {
	var sums, n [2]float64
	for i := range rows {
		kind := 0
		if rows[i].prefills {
			kind = 1
		}
		v, _ := s.ratio(&rows[i])
		sums[kind] += math.Min(offBy(v), 1)
		n[kind]++
	}
	return (sums[0]/max(1, n[0]) + sums[1]/max(1, n[1])) / 2
}

// spreadOf returns the standard deviation of a normal distribution with these absolute deviations.
func spreadOf(deviations []float64) float64 {
	const normal = 1.4826
	sorted := slices.Clone(deviations)
	slices.Sort(sorted)
	return normal * sorted[len(sorted)/2]
}

// fitted is a regression's result.
type fitted struct {
	solution
	miss   float64
	loss   float64 // mean of the absolute relative error
	jitter float64 // spread of the logarithm of step times
	scale  float64 // the mean step over the usual one
	draws  []solution
	stages []stageOff
	rows   []fitRow
}

// mostRows bounds the rows of a regression: more do not make it better, only slower. Steps with prompts in them are all kept.
const mostRows = 12000

// fitCosts finds the costs of a step.
func fitCosts(seen []observation, rng *rand.Rand) fitted {
	seen = thin(seen, rng)
	best := fitted{loss: math.Inf(1)}
	for _, miss := range misses() {
		rows := make([]fitRow, len(seen))
		for i, o := range seen {
			rows[i] = fitRowOf(o, miss, o.block)
		}
		for _, limit := range []float64{24, 96, 320, 1000} {
			guess := func(r *fitRow) bool { return r.compute[1] > limit*r.compute[0] }
			s, loss := regress(rows, guess)
			if s.oneSided() {
				loss /= better
			}
			if loss < worth(best.loss)*best.loss || miss == best.miss && loss < best.loss {
				best = fitted{solution: s, miss: miss, loss: loss, rows: rows}
			}
		}
	}
	if best.rows == nil {
		return best
	}
	best.spread()
	return best
}

// better is by how much the loss must fall for a choice that is not the usual one.
const better = 0.97

// worth returns by how much the loss must fall for a further assumption, experts. Where steps vary much, it falls by chance.
func worth(loss float64) float64 {
	const noisy, muchBetter = 0.1, 0.9
	if loss > noisy && !math.IsInf(loss, 1) {
		return muchBetter
	}
	return better
}

// oneSided reports whether one of the two sums explains all steps: then the cost of the context of short steps, or that of the arithmetic of long
// ones, is in none.
func (s *solution) oneSided() bool {
	return s.read == [terms]float64{} || s.compute == [terms]float64{}
}

// thin leaves out steps without prompts where there are too many.
func thin(seen []observation, rng *rand.Rand) []observation {
	decodes := 0
	for _, o := range seen {
		if !prefills(o) {
			decodes++
		}
	}
	rest := len(seen) - decodes
	kept := seen[:0:0]
	for _, o := range seen {
		n, most := decodes, mostRows/2
		if prefills(o) {
			n = rest
		}
		if n <= most || rng.Float64()*float64(n) < float64(most) {
			kept = append(kept, o)
		}
	}
	return kept
}

func prefills(o observation) bool {
	b := o.batches[len(o.batches)-1]
	return len(o.batches) > 1 || b.Tokens > b.Samples
}

// spread scales the costs of a server whose steps vary much, so that all steps together take the time that was seen: the regression is
// after the usual step, and a log-normal factor of mean 1 comes on top. It finds the spread of that factor from the steps that are not far off.
func (f *fitted) spread() {
	var logs, off []float64
	seen, predicted := 0.0, 0.0
	for i := range f.rows {
		v, _ := f.ratio(&f.rows[i])
		logs = append(logs, math.Log(v))
		seen, predicted = seen+f.rows[i].seconds, predicted+v*f.rows[i].seconds
	}
	slices.Sort(logs)
	for _, l := range logs {
		off = append(off, math.Abs(l-logs[len(logs)/2]))
	}
	f.jitter = spreadOf(off)
	f.scale = 1
	const ragged = 0.15    // no server's steps vary as much by themselves
	if f.jitter > ragged { // else the two hardly differ, and the few longest steps would decide
		f.scale = seen / predicted
	}
	f.solution = f.scaled(f.scale)
}

// scaled returns the costs times a factor.
func (s *solution) scaled(factor float64) (all solution) {
	for i := range terms {
		all.read[i], all.compute[i] = factor*s.read[i], factor*s.compute[i]
	}
	return all
}
