package main

import (
	"sync"

	"github.com/alecthomas/kong"

	"llmsweep/cmd/llmsweep/console"
)

// parsers holds each *usedParser that no command uses. Making a parser takes 7 ms of processor time, which is more than
// most commands of the tests take.
var parsers sync.Pool

// usedParser is a parser that parses one command line after another.
type usedParser struct {
	*kong.Kong
	exited         func() int
	grammar, blank *cli // what the last command line filled in; what it was before
}

// parserFor returns a parser in which nothing is left of earlier command lines.
func parserFor(c *console.Console) *usedParser {
	p, ok := parsers.Get().(*usedParser)
	if !ok {
		p = &usedParser{grammar: &cli{}}
		p.Kong, p.exited = newParser(c, p.grammar)
		blank := *p.grammar
		p.blank = &blank
		return p
	}
	*p.grammar = *p.blank
	for _, o := range []kong.Option{kong.Writers(c.Out, c.Err), kong.Bind(c)} {
		if err := o.Apply(p.Kong); err != nil {
			panic(err)
		}
	}
	forget := func(of kong.Visitable, next kong.Next) error {
		switch of := of.(type) {
		case *kong.Node:
			of.Active = false
		case *kong.Value:
			of.Set, of.Active = false, false
		}
		return next(nil)
	}
	if err := kong.Visit(p.Model, forget); err != nil {
		panic(err)
	}
	return p
}

// free lets another command have the parser. --help and --version end one for good.
func (p *usedParser) free() {
	if p.exited() < 0 {
		parsers.Put(p)
	}
}

// executeAgain is execute with a parser of an earlier command.
func executeAgain(args []string, c *console.Console) int {
	p := parserFor(c)
	defer p.free()
	return executeWith(p.Kong, p.exited, args, c)
}
