package lang

// twinWords are the errors of twins and of what uses them.
func twinWords() [][2]string {
	return [][2]string{
		{"%s failed its held-out check: what it does is not what the server does; fit it again on a quiet machine, or use it anyway with --unchecked", "%s 未通过留出检验：其行为与真实服务不符；请在安静的机器上重新拟合，或用 --unchecked 强制使用"},
		{"plan needs at least one --slo, such as --slo 'ttft:p99<1s'", "plan 至少需要一个 --slo，如 --slo 'ttft:p99<1s'"},
		{"plan needs twins: files that llmsweep fit writes", "plan 需要孪生模型：llmsweep fit 写出的文件"},
		{"--minutes is a share of the minutes, above 0 and at most 1, such as 0.99", "--minutes 是分钟的比例，大于 0 且不超过 1，如 0.99"},
		{"--prefix-hits is the share of each prompt that is cached, from 0 to below 1", "--prefix-hits 是每个提示词中已缓存的比例，从 0 到小于 1"},
		{"--lost must not be negative, and below --max-replicas", "--lost 不得为负，且须小于 --max-replicas"},
		{"--min-replicas must be at least 1, and at most --max-replicas", "--min-replicas 至少为 1，且不超过 --max-replicas"},
		{"--draws must be from 0 to 1000", "--draws 须为 0 到 1000"},
		{"--what-if %s: write prompts=2x, answers=2x, requests=2x, bandwidth=2x, compute=2x, max-num-seqs=128, step-tokens=4096 or prefix-hits=0.5", "--what-if %s：请写 prompts=2x、answers=2x、requests=2x、bandwidth=2x、compute=2x、max-num-seqs=128、step-tokens=4096 或 prefix-hits=0.5"},
		{"the demand is empty: give --rate, --users with --requests-per-user-hour, --trace or --profile", "需求为空：请给出 --rate、--users 与 --requests-per-user-hour、--trace 或 --profile"},
		{"the demand has more than %d requests; give a shorter --duration", "需求超过 %d 个请求；请给出更短的 --duration"},
		{"--profile %s: write hours of the day and requests per second, such as 0=2,8=10,9:30=20,18=12", "--profile %s：请写一天中的时刻与每秒请求数，如 0=2,8=10,9:30=20,18=12"},
		{"--users and --requests-per-user-hour belong together: give both, or --rate", "--users 与 --requests-per-user-hour 须同时给出；或改用 --rate"},
		{"--rate and --users contradict each other: give one of them", "--rate 与 --users 互相矛盾：请只给一个"},
		{"--profile and --trace contradict each other: give one of them", "--profile 与 --trace 互相矛盾：请只给一个"},
		{"--prefix-cache needs --trace with hash_ids; --prefix-hits needs none", "--prefix-cache 需要带 hash_ids 的 --trace；--prefix-hits 不需要"},
		{"a fleet needs at least one replica", "至少需要一个副本"},
		{"a server with habits or of fixed times cannot be simulated as a replica", "带有不良行为或固定时间的服务不能作为副本模拟"},
		{"the records hold too few tokens, one by one, to see the steps of the engine: measure with llmsweep sweep --for-fit", "记录中逐个到达的 token 太少，看不出引擎的步：请用 llmsweep sweep --for-fit 测量"},
		{"it does not begin with the line twin: 1; llmsweep fit writes such files", "文件没有 twin: 1 一行；这类文件由 llmsweep fit 写出"},
		{"slots and step_tokens must be at least 1", "slots 与 step_tokens 至少为 1"}, {"a number in it is negative", "其中有负数"},
		{"draw %d has %d numbers and not %d", "第 %d 个 draw 有 %d 个数，应为 %d 个"}, {"%s is not a twin: %w; llmsweep fit writes one from a run directory", "%s 不是孪生模型：%s；llmsweep fit 可由运行目录生成孪生模型"},
		{"it is larger than 1 MiB", "文件超过 1 MiB"}, {"a step of one token takes no time", "一个 token 的步不占时间"},
		{"a cost of the step time is negative, or a probability above 1", "步时间的某项开销为负，或概率大于 1"},
		{"--ask %s: write tokens of prompt and answer, such as 512/32, or the file of a trace", "--ask %s：请写提示词与回答的 token 数，如 512/32，或 trace 文件"},
		{"a twin predicts any workload: name the wanted one with --prompt-tokens and --output-tokens, or with --trace", "孪生模型可预测任何负载：请用 --prompt-tokens 和 --output-tokens，或用 --trace 指明所需负载"},
		{"the results were measured with a data set: name the wanted lengths with --trace, or with --prompt-tokens and --output-tokens", "结果是用数据集测得的：请用 --trace，或用 --prompt-tokens 和 --output-tokens 指明所需长度"},
		{"--prompt-tokens and --output-tokens belong together: give both", "--prompt-tokens 与 --output-tokens 须同时给出"},
		{"--trace has the lengths: leave out --prompt-tokens and --output-tokens", "--trace 已有长度：请去掉 --prompt-tokens 和 --output-tokens"},
		{"--twin takes one run directory", "--twin 只接受一个运行目录"},
		{"--twin prints console, markdown, csv, json or html", "--twin 只能输出 console、markdown、csv、json 或 html"},
		{"--for-fit varies the lengths of prompts and answers by design: leave out --adaptive, --repeats, --slo, --prompt, --dataset, --prefix-tokens and --turns", "--for-fit 会有意改变提示词与回答的长度：请去掉 --adaptive、--repeats、--slo、--prompt、--dataset、--prefix-tokens 和 --turns"},
	}
}
