package draw

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/srwiley/rasterx"
)

// command is a letter of a path and its numbers.
var (
	command = regexp.MustCompile(`[A-Za-z][^A-Za-z]*`)
	number  = regexp.MustCompile(`-?[0-9]*\.?[0-9]+`)
)

// numbers reads numbers that stand one after another.
func numbers(s string) ([]float64, error) {
	if rest := number.ReplaceAllString(s, ""); strings.Trim(rest, " ,") != "" {
		return nil, unknown(s)
	}
	var all []float64
	for _, text := range number.FindAllString(s, -1) {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// arity returns how many numbers a command takes, by its small letter.
func arity(letter byte) (n int, ok bool) {
	n, ok = map[byte]int{'m': 2, 'l': 2, 'h': 1, 'v': 1, 'a': 7, 'z': 0}[letter]
	return n, ok
}

// trace returns a path in pixels of the picture, and the places of its lines of no length.
func (p *page) trace(d string) (path rasterx.Path, dots [][2]float64, err error) {
	if rest := command.ReplaceAllString(d, ""); rest != "" {
		return nil, nil, unknown(d)
	}
	var x, y, startX, startY float64
	open := false
	for _, c := range command.FindAllString(d, -1) {
		letter := c[0] | 0x20
		v, err := numbers(c[1:])
		if err != nil {
			return nil, nil, err
		}
		if n, ok := arity(letter); !ok || len(v) != n {
			return nil, nil, unknown(c)
		}
		fromX, fromY := x, y
		var ofX, ofY float64 // what numbers count from
		if c[0] == letter {
			ofX, ofY = x, y
		}
		switch letter {
		case 'm', 'l':
			x, y = ofX+v[0], ofY+v[1]
		case 'h':
			x = ofX + v[0]
		case 'v':
			y = ofY + v[0]
		case 'a':
			x, y = ofX+v[5], ofY+v[6]
		case 'z':
			x, y = startX, startY
		}
		toX, toY := p.at(x, y)
		switch {
		case letter == 'm':
			if open {
				path.Stop(false)
			}
			startX, startY, open = x, y, true
			path.Start(rasterx.ToFixedP(toX, toY))
		case letter == 'z':
			path.Stop(true)
			open = false
		case letter == 'a':
			if err := p.halfCircle(&path, [2]float64{fromX, fromY}, [2]float64{x, y}, v); err != nil {
				return nil, nil, err
			}
		case x == fromX && y == fromY:
			dots = append(dots, [2]float64{toX, toY})
		default:
			path.Line(rasterx.ToFixedP(toX, toY))
		}
	}
	if open {
		path.Stop(false)
	}
	return path, dots, nil
}

// halfCircle adds an arc that is half a circle: there are no others. numbers are those of the arc.
func (p *page) halfCircle(path *rasterx.Path, from, to [2]float64, numbers []float64) error {
	const near = 0.01
	if r := math.Hypot(to[0]-from[0], to[1]-from[1]) / 2; numbers[0] != numbers[1] || math.Abs(r-numbers[0]) > near {
		return unknown(fmt.Sprint("arc ", numbers))
	}
	turn := 1.0 // with the clock
	if numbers[4] == 0 {
		turn = -1
	}
	fromX, fromY := p.at(from[0], from[1])
	toX, toY := p.at(to[0], to[1])
	x, y := (fromX+toX)/2, (fromY+toY)/2
	rx, ry := fromX-x, fromY-y         // the radius at the beginning
	qx, qy := -turn*ry, turn*rx        // and a quarter of a turn later
	const k = 4 * (math.Sqrt2 - 1) / 3 // of the radius: where the handles of a quarter circle stand
	for range 2 {
		path.CubeBezier(rasterx.ToFixedP(x+rx+k*qx, y+ry+k*qy), rasterx.ToFixedP(x+qx+k*rx, y+qy+k*ry), rasterx.ToFixedP(x+qx, y+qy))
		rx, ry, qx, qy = qx, qy, -rx, -ry
	}
	return nil
}
