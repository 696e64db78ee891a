package workload

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"llmsweep/client/note"
)

// words all have four letters. A tokenizer that knows English has one token for each with the space before it; one that
// spells has the same number of tokens for each. Either way a text of n words costs a + b*n tokens, and two counts by
// the server give a and b.
var words = strings.Fields(`
able acid aged also area army away baby back ball band bank base bath bear beat been beer bell belt best bill bird blow
blue boat body bomb bond bone book boom born boss both bowl bulk burn bush busy call calm came camp card care case cash
cast cell chat chip city club coal coat code cold come cook cool cope copy core cost crew crop dark data date dawn days
dead deal dean dear debt deep deny desk dial diet disc disk does done door dose down draw drew drop drug dual duke dust
duty each earn ease east easy edge else even ever evil exit face fact fail fair fall farm fast fate fear feed feel feet
fell felt file fill film find fine fire firm fish five flat flow food foot ford form fort four free from fuel full fund
gain game gate gave gear gene gift girl give glad goal goes gold golf gone good gray grew grey grow gulf hair half hall
hand hang hard harm hate have head hear heat held help here hero high hill hire hold hole holy home hope host hour huge
hung hunt hurt idea inch into iron item jack join jump jury just keen keep kept kick kind king knee knew know lack lady
laid lake land lane last late lead left less life lift like line link list live load loan lock long look lord lose loss
lost love luck made mail main make male many mark mass meal mean meat meet menu mere mile milk mill mind mine miss mode
mood moon more most move much must name navy near neck need news next nice nine none nose note okay once only onto open
oral over pace pack page paid pain pair palm park part pass past path peak pick pink pipe plan play plot plug plus poll
pool poor port post pull pure push race rail rain rank rare rate read real rear rely rent rest rice rich ride ring rise
risk road rock role roll roof room root rose rule rush safe said sake sale salt same sand save seat seed seek seem seen
self sell send sent ship shop shot show shut sick side sign site size skin slip slow snow soft soil sold sole some song
soon sort soul spot star stay step stop such suit sure take tale talk tall tank tape task team tech tell tend term test
text than that them then they thin this thus till time tiny told toll tone took tool tour town tree trip true tune turn
twin type unit upon used user vary vast very vice view vote wage wait wake walk wall want ward warm wash wave ways weak
wear week well went were west what when whom wide wife wild will wind wine wing wire wise wish with wood word wore work
yard yeah year your zero zone`)

// fillers fill up what is left where no whole word fits. Each costs one token in some tokenizers; the server is asked
// which.
var fillers = [...]string{" a", ".", " I", " 1", "\n"}

// Calibration has the token counts of made-up texts on a server.
type Calibration struct {
	Base   float64 // tokens of the chat template and of the number that opens each prompt
	Word   float64 // tokens of a word
	Filler string  // a text of one token; empty where none was found
	Source string  // who counted
}

// Counter returns the numbers of tokens that the server under test counts for texts of a user, the chat template
// included, and how they were counted. It may count them at the same time.
type Counter func(ctx context.Context, texts ...string) (tokens []int, source string, err error)

// calibrate has the server count texts and returns what they cost. target is the usual length of prompts, in tokens.
func calibrate(ctx context.Context, count Counter, target int) (Calibration, error) {
	n := sampleWords(target)
	counts, source, err := count(ctx, opening(0), allWords(n))
	for n > minWords && err != nil && ctx.Err() == nil { // it may be too long for the server
		if _, _, err := count(ctx, opening(0)); err != nil {
			return Calibration{}, err
		}
		n = max(n/8, minWords)
		counts, source, err = count(ctx, opening(0), allWords(n))
	}
	if err != nil {
		return Calibration{}, err
	}
	a, b := counts[0], counts[1]
	if b <= a {
		return Calibration{}, fmt.Errorf("the server counts %d tokens for a number and %d with %d words behind it", a, b, n)
	}
	c := Calibration{Base: float64(a), Word: float64(b-a) / float64(n), Source: source}
	if c.Word < fineWord {
		return c, nil
	}
	c.Filler, err = findFiller(ctx, count, a)
	return c, err
}

const (
	minWords = 48  // that are counted
	fineWord = 1.5 // tokens of a word below which no filler is needed: whole words come near enough to a length
)

// sampleWords returns how many words are counted for prompts of so many tokens: each word of the list as often, which
// gives the mean cost of a random one exactly. A small vocabulary spells some words, and the first few are not the
// average.
func sampleWords(target int) int {
	return max(1, int(float64(target)-Guess.Base)/len(words)) * len(words)
}

// allWords returns a text of n words behind an opening, in a random order that is always the same.
func allWords(n int) string {
	text, order := make([]string, n), rand.New(rand.NewPCG(1, 2)).Perm(len(words))
	for i := range text {
		text[i] = words[order[i%len(words)]]
	}
	return compose(opening(1), text, "")
}

// calibrateOrGuess is calibrate for a server that may not count tokens: then it returns [Guess], and a note. The error
// is that of ctx alone.
func calibrateOrGuess(ctx context.Context, count Counter, target int) (Calibration, []note.Note, error) {
	costs, err := calibrate(ctx, count, target)
	switch {
	case ctx.Err() != nil:
		return costs, nil, context.Cause(ctx)
	case err != nil:
		return Guess, []note.Note{noteLengthGuess.New(err)}, nil
	}
	return costs, nil, nil
}

// findFiller returns a text that costs one token behind an opening; empty for none.
func findFiller(ctx context.Context, count Counter, openingTokens int) (string, error) {
	const tries = 8
	var texts []string
	for _, filler := range fillers {
		texts = append(texts, compose(opening(2), nil, strings.Repeat(filler, tries)))
	}
	counts, _, err := count(ctx, texts...)
	if err != nil {
		return "", err
	}
	for i, n := range counts {
		if n-openingTokens == tries {
			return fillers[i], nil
		}
	}
	return "", nil
}

// MostCounts returns how many texts the server counts at most for prompts of so many tokens, and about how many tokens
// they have: the first two once more where they were counted in vain while something else was found out, and those of
// [Synthetic.Check].
func MostCounts(target int) (texts, tokens int) {
	const short = 64 // tokens of an opening or a few fillers, chat template included
	return 4 + len(fillers) + samples, (2+len(fillers))*short + 2*(sampleWords(target)+short) + samples*max(target, short)
}

// Guess is the calibration for a server that counts nothing: one token per word, and a chat template of usual length.
var Guess = Calibration{Base: 12, Word: 1, Source: "guess"}

// Fit returns how many words and fillers make a text of the given number of tokens; none where the template alone is
// longer.
func (c Calibration) Fit(tokens int) (n, fill int) {
	n = max(0, int(math.Floor((float64(tokens)-c.Base)/c.Word+1e-9)))
	if c.Filler == "" {
		return max(0, int(math.Round((float64(tokens)-c.Base)/c.Word))), 0
	}
	return n, max(0, int(math.Round(float64(tokens)-c.Base-c.Word*float64(n))))
}

// Tokens returns what the server is expected to count for a text that is made to have the given number of tokens.
func (c Calibration) Tokens(tokens int) int {
	n, fill := c.Fit(tokens)
	return int(math.Round(c.Base+c.Word*float64(n))) + fill
}

// Write returns a text of the given number of tokens, template included, that begins with opening.
func (c Calibration) Write(opening string, tokens int, rng *rand.Rand) string {
	size, fill := c.Fit(tokens)
	return compose(opening, randomWords(size, rng), strings.Repeat(c.Filler, fill))
}

// reply returns a text of the given number of tokens without a template: a later message of a conversation.
func (c Calibration) reply(tokens int, rng *rand.Rand) string {
	c.Base = 0
	size, fill := c.Fit(tokens)
	return compose("", randomWords(max(1, size), rng), strings.Repeat(c.Filler, fill))
}

// Usable returns the calibration, or [Guess] where there is none.
func (c Calibration) Usable() Calibration {
	if c.Word > 0 {
		return c
	}
	return Guess
}

func randomWords(n int, rng *rand.Rand) []string {
	text := make([]string, n)
	for i := range text {
		text[i] = words[rng.IntN(len(words))]
	}
	return text
}

func compose(opening string, text []string, filler string) string {
	size := len(opening) + len(filler)
	for _, w := range text {
		size += 1 + len(w)
	}
	var b strings.Builder
	b.Grow(size)
	b.WriteString(opening)
	for i, w := range text {
		if i > 0 || opening != "" {
			b.WriteByte(' ')
		}
		b.WriteString(w)
	}
	b.WriteString(filler)
	return b.String()
}
