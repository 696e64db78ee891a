module llmsweep

go 1.26.0

require (
	github.com/HdrHistogram/hdrhistogram-go v1.4.0 // percentiles of many values
	github.com/alecthomas/kong v1.17.0 // flags and commands
	github.com/chromedp/cdproto v0.0.0-20250724212937-08a3db8b4327 // test: pages in a browser
	github.com/chromedp/chromedp v0.14.2 // test: pages in a browser
	github.com/go-faster/jx v1.2.0 // JSON without allocation: chunks of answers, records
	github.com/goccy/go-yaml v1.19.2 // --config, price lists
	github.com/google/go-cmp v0.7.0 // test: differences
	github.com/mattn/go-runewidth v0.0.31 // width of text on a terminal
	github.com/montanaflynn/stats v0.14.0 // means and quantiles
	github.com/prometheus/client_model v0.6.3 // a server's /metrics
	github.com/prometheus/common v0.72.1 // a server's /metrics
	github.com/rogpeppe/go-internal v1.16.0 // test: scripts of commands
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // test: files follow their schemas
	github.com/sugarme/tokenizer v0.3.0 // --tokenizer
	github.com/tidwall/gjson v1.20.0 // JSON of others: answers, datasets, documents
	github.com/yuin/goldmark v1.8.7 // test: Markdown as readers see it
	golang.org/x/net v0.62.0 // names of hosts and headers; test: HTML as browsers read it
	golang.org/x/sys v0.49.0 // sockets, timers, disks
	golang.org/x/term v0.47.0 // terminals
	golang.org/x/time v0.16.0 // rate limits of hosted APIs
	gonum.org/v1/gonum v0.17.0 // Student and beta distributions
	pgregory.net/rapid v1.3.0 // test: properties
)

require (
	github.com/chromedp/sysutil v1.1.0 // indirect
	github.com/clipperhouse/uax29/v2 v2.7.0 // indirect
	github.com/emirpasic/gods v1.18.1 // indirect
	github.com/go-faster/errors v0.7.1 // indirect
	github.com/go-json-experiment/json v0.0.0-20250725192818-e39067aee2d2 // indirect
	github.com/gobwas/httphead v0.1.0 // indirect
	github.com/gobwas/pool v0.2.1 // indirect
	github.com/gobwas/ws v1.4.0 // indirect
	github.com/mitchellh/colorstring v0.0.0-20190213212951-d06e56a500db // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/patrickmn/go-cache v2.1.0+incompatible // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	github.com/schollz/progressbar/v2 v2.15.0 // indirect
	github.com/segmentio/asm v1.2.1 // indirect
	github.com/sugarme/regexpset v0.0.0-20200920021344-4d4ec8eaf93c // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.2.0 // indirect
	golang.org/x/exp v0.0.0-20231006140011-7918f672742d // indirect
	golang.org/x/text v0.43.0 // indirect
	golang.org/x/tools v0.51.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)
