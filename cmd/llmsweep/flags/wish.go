package flags

import (
	"os"

	"llmsweep/report/choose"
	"llmsweep/report/table"
	"llmsweep/sweep/slo"
)

// Requirements holds the flags of what is needed, and what GPUs cost.
type Requirements struct {
	SLO      []string `json:"slo,omitempty" name:"slo" sep:"none" placeholder:"TERM" help:"Service level objective, such as 'ttft:p99<500ms' or 'errors<1%'; may be repeated. See llmsweep help slo." group:"Choice"`
	Demand   string   `json:"demand,omitempty" placeholder:"20rps" help:"Demand: requests (20rps) or output tokens (5000tok/s) per second, or users (500users, of sweeps --by users)." group:"Choice"`
	Price    []string `json:"price,omitempty" sep:"none" placeholder:"GPU=N,.." help:"Prices of one GPU for one hour: L20=1.2,A100=3.6. There are no built-in prices." group:"Choice"`
	Prices   string   `json:"prices,omitempty" placeholder:"FILE" help:"YAML file of prices, one 'L20: 1.2' a line; --price wins." group:"Choice"`
	Currency string   `json:"currency,omitempty" placeholder:"NAME" help:"Currency of the prices, such as CNY. It stands beside costs." group:"Choice"`
	MaxGPUs  int      `json:"max_gpus,omitempty" name:"max-gpus" placeholder:"N" positive:"" help:"Use at most N GPUs." group:"Choice"`
	Headroom float64  `json:"headroom" default:"0.2" placeholder:"SHARE" help:"Share of each replica's capacity to keep free (${default})." group:"Choice"`
}

// Options parses the flags.
func (f *Requirements) Options() (choose.Options, error) {
	o := choose.Options{MaxGPUs: f.MaxGPUs, Headroom: f.Headroom, Prices: choose.Prices{}, Currency: table.Clean(f.Currency)}
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
