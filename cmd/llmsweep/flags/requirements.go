package flags

import (
	"os"

	"llmsweep/report/choose"
	"llmsweep/report/table"
	"llmsweep/sweep/slo"
)

// Requirements holds the flags of what is needed, and what GPUs cost.
type Requirements struct {
	SLO      []string `name:"slo" sep:"none" placeholder:"TERM" help:"Objective, such as 'ttft:p99<500ms'; may be repeated." group:"Choice"`
	Demand   string   `placeholder:"20req/s" help:"Demand, such as 20req/s, 5000tok/s or 500users." group:"Choice"`
	Price    []string `sep:"none" placeholder:"GPU=N,.." help:"Prices of one GPU for one hour: L20=1.2,A100=3.6." group:"Choice"`
	Prices   string   `placeholder:"FILE" help:"Prices in a YAML file, one 'L20: 1.2' a line." group:"Choice"`
	Currency string   `placeholder:"NAME" help:"Currency of the prices, such as CNY, to print." hidden:"" group:"Choice"`
	MaxGPUs  int      `name:"max-gpus" placeholder:"N" positive:"" help:"Use at most N GPUs (no limit)." group:"Choice"`
	Headroom float64  `default:"0.2" placeholder:"SHARE" help:"Share of each replica to keep free (${default})." group:"Choice"`
}

// Options parses the flags.
func (f *Requirements) Options() (choose.Options, error) {
	o := choose.Options{MaxGPUs: f.MaxGPUs, Headroom: f.Headroom, Prices: choose.Prices{},
		Currency: table.Clean(f.Currency)}
	var err error
	if o.Terms, err = slo.ParseAll(f.SLO); err != nil {
		return o, err
	}
	if f.Demand != "" {
		if o.Demand, err = choose.ParseDemand(f.Demand); err != nil {
			return o, err
		}
	}
	if f.Prices != "" {
		file, err := os.Open(f.Prices)
		if err != nil {
			return o, err
		}
		defer file.Close()
		if o.Prices, err = choose.ReadPrices(f.Prices, file); err != nil {
			return o, err
		}
	}
	return o, o.Prices.Add(f.Price)
}
